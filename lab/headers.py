# SPDX-License-Identifier: GPL-2.0
"""Debian's stock kernel headers, unpacked in the cache so that modules can be built against each of them here."""

import re
import shutil
import subprocess
from pathlib import Path

from lab import apt, cache, newer
from lab.kernel import KernelUnavailable

VERSIONS = ("6.1", "6.12", "7.2")
# What a kernel's configuration says of the compiler it was made with, and the option that has to exist for it.
COMPILER_ABILITIES = {"CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT": "-fmin-function-alignment=16"}
PARTS = re.compile(r"linux-(headers|kbuild|base)-\d.*")


def fetch(version: str) -> Path:
    """Return the KDIR of Debian's kernel headers of a version, such as "6.12", fetched first if they have not been.

    Raises KernelUnavailable when no suite has them.
    """
    place = cache.folder("headers") / version
    with cache.locked(cache.folder("locks") / f"headers-{version}", f"fetching the headers of Linux {version}"):
        if not place.exists():
            work = place.with_name(f"{place.name}.part")
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            _unpack(version, work)
            _settle(work, place)
            work.rename(place)
    return place / "usr/src" / _flavour(place)


def _unpack(version: str, into: Path) -> None:
    found = apt.find(rf"linux-headers-{version.replace('.', '[.]')}[.+][0-9a-z.+]*(-[0-9]+)?-{apt.architecture()}")
    if not found:
        raise KernelUnavailable(f"no Debian suite reachable from this machine has headers of Linux {version}")
    configuration, package, _ = found
    configuration.unpack([package, *filter(PARTS.fullmatch, configuration.depends(package))], into)
    programs = [path for path in into.glob("usr/lib/linux-kbuild-*/**/*") if newer.is_program(path)]
    if not all(map(newer.runs_here, programs)):
        newer.unpack_libraries(configuration, into / "libraries")
        for program in programs:
            original = program.rename(program.with_name(f"{program.name}.original"))
            newer.wrap(original, into / "libraries", program)


def _flavour(place: Path) -> str:
    """Return the name of the folder that knows a kernel's configuration, beside the one common to all."""
    names = [path.name for path in place.glob("usr/src/linux-headers-*")]
    return next(name for name in names if not name.endswith("-common"))


def _settle(work: Path, place: Path) -> None:
    """Make the headers find each other where they will be moved, and do with this machine's compiler and no pahole."""
    kdir = work / "usr/src" / _flavour(work)
    _edit(kdir / "Makefile", r"/usr/src/", f"{place}/usr/src/")
    _edit(kdir / ".kernelvariables", r"\bgcc-\d+", "gcc")
    for ability, option in COMPILER_ABILITIES.items():
        argv = ["gcc", option, "-E", "-x", "c", "/dev/null", "-o", "/dev/null"]
        if subprocess.run(argv, capture_output=True, check=False).returncode:
            _edit(kdir / "include/config/auto.conf", rf"(?m)^{ability}=y\n", "")
    (kdir / "vmlinux").unlink(missing_ok=True)


def _edit(path: Path, pattern: str, new: str) -> None:
    path.write_text(re.sub(pattern, new, path.read_text()))
