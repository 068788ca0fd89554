# SPDX-License-Identifier: GPL-2.0
"""Builds and boots the kernels on which the project's experiments and tests run."""
