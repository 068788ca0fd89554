# SPDX-License-Identifier: GPL-2.0
VERSIONS = ("6.1", "6.12", "7.2")
