# SPDX-License-Identifier: GPL-2.0
"""Builds the project's modules for a kernel, out of a copy, so that the checkout stays clean."""

import os
import shutil
from pathlib import Path

from lab import cache, progress
from lab.kernel import Kernel

SOURCE_NAMES = ("*.c", "*.h", "Kbuild", "Makefile")
NOT_MODULES = {"lab", "testbed", "patches"}


def build(kernel: Kernel) -> Path:
    """Return the folder of .ko files made from the checkout as it is now; raises LabError when it does not build."""
    sources = find_sources(cache.CHECKOUT)
    content = cache.key(*(part for path in sources for part in (str(path), (cache.CHECKOUT / path).read_bytes())))
    place = cache.folder("modules") / f"{kernel.version}-{kernel.key}-{content}"
    with cache.locked(cache.folder("locks") / place.name, "building the modules"):
        if not place.exists():
            work = place.with_name(f"{place.name}.part")
            shutil.rmtree(work, ignore_errors=True)
            for path in sources:
                target = work / "source" / path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(cache.CHECKOUT / path, target)
            make = ["make", "-C", kernel.build_dir, f"M={work / 'source'}", "ARCH=um", f"-j{os.cpu_count()}", "modules"]
            progress.run(make, f"building the modules for {kernel.release}", cache.folder("logs") / f"{place.name}.log")
            for module in (work / "source").rglob("*.ko"):
                module.rename(work / module.name)
            shutil.rmtree(work / "source")
            work.rename(place)
    return place


def find_sources(checkout: Path) -> list[Path]:
    """Return the files modules are made of, relative to the checkout, in a fixed order."""
    found = []
    for name in SOURCE_NAMES:
        for path in checkout.rglob(name):
            relative = path.relative_to(checkout)
            hidden = any(part.startswith(".") for part in relative.parts)
            if not hidden and relative.parts[0] not in NOT_MODULES and not path.name.endswith(".mod.c"):
                found.append(relative)
    return sorted(found)
