# SPDX-License-Identifier: GPL-2.0
"""Measures TCP senders on paths that reorder, on real kernels, in simulated time."""
