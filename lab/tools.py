# SPDX-License-Identifier: GPL-2.0
"""The programs guests need and the machine lacks; setup makes them, every guest sees them at /run/lab/tools."""

import shutil
from pathlib import Path

from lab import apt, cache, newer, progress

PRELOAD_SOURCE = Path(__file__).with_name("seeded_getrandom.c")
# The first iperf3 that waits instead of polling the clock, which would stand still for it in a guest.
IPERF3_AT_LEAST = "3.16"


def folder() -> Path:
    """Return the folder of tools: bin/ goes first in a guest's PATH."""
    return cache.folder("tools")


def prepare() -> None:
    """Make all tools."""
    work, log = folder() / "seeded_getrandom.part", cache.folder("logs") / "tools.log"
    compile_it = ["gcc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", work, PRELOAD_SOURCE]
    progress.run(compile_it, "compiling the seeded getrandom()", log)
    work.rename(work.with_suffix(".so"))
    wrapper = cache.folder("tools", "bin") / "iperf3"
    if not wrapper.exists():
        _fetch_iperf3(wrapper)


def _fetch_iperf3(wrapper: Path) -> None:
    """Unpack iperf3 and its libraries from the first Debian suite where it is new enough."""
    found = apt.find("iperf3", IPERF3_AT_LEAST)
    if not found:
        raise cache.LabError(f"no Debian suite reachable from this machine has iperf3 {IPERF3_AT_LEAST} or newer")
    configuration, package, _ = found
    work, root = folder() / "root.part", folder() / "root"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    configuration.unpack([package], work)
    newer.unpack_libraries(configuration, work)
    shutil.rmtree(root, ignore_errors=True)
    work.rename(root)
    newer.wrap(root / "usr/bin/iperf3", root, wrapper)
