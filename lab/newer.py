# SPDX-License-Identifier: GPL-2.0
"""Makes programs of a newer Debian release run here: with that release's loader and libraries, unpacked beside them."""

import os
import subprocess
from pathlib import Path

from lab import apt

LIBRARIES = ("libc6", "libelf1(t64)?", "libiperf0", "libsctp1", "libssl3(t64)?", "libzstd1", "zlib1g")
LOADER = "usr/lib64/ld-linux-x86-64.so.2"
LIBRARY_FOLDER = "usr/lib/x86_64-linux-gnu"
WRAPPER = """#!/bin/sh
# Runs the program of this name that is kept beside it with the libraries it was made for.
here=${{0%/*}}
exec "$here/{root}/{loader}" --argv0 "$0" --library-path "$here/{root}/{libraries}" "$here/{program}" "$@"
"""


def unpack_libraries(configuration: apt.Apt, root: Path) -> None:
    """Unpack the loader and the libraries of a release below root."""
    found = map(configuration.newest, LIBRARIES)
    configuration.unpack([package for package, _ in filter(None, found)], root)


def is_program(path: Path) -> bool:
    """Whether a file is a dynamically linked program."""
    if not path.is_file() or path.is_symlink() or not os.access(path, os.X_OK):
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF" and not path.name.endswith(".so")


def runs_here(program: Path) -> bool:
    """Whether this machine's loader and libraries satisfy a program."""
    found = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return found.returncode == 0 and "not found" not in found.stdout + found.stderr


def wrap(program: Path, root: Path, wrapper: Path) -> None:
    """Write a wrapper that runs a program with the libraries below root; the three may be moved together."""
    paths = {"program": program, "root": root}
    relative = {name: os.path.relpath(path, wrapper.parent) for name, path in paths.items()}
    wrapper.unlink(missing_ok=True)
    wrapper.write_text(WRAPPER.format(loader=LOADER, libraries=LIBRARY_FOLDER, **relative))
    wrapper.chmod(0o755)
