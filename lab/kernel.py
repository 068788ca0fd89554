# SPDX-License-Identifier: GPL-2.0
"""Builds User Mode Linux kernels from Debian's kernel sources, or the user's own, once for each set of ingredients."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import apt, cache, progress

CONFIG = Path(__file__).with_name("uml.config")
DEBUG_CONFIG = Path(__file__).with_name("debug.config")
BUILT_IN_TREE = ("include/config", "vmlinux", ".config")


class KernelUnavailable(cache.LabError):
    """The version asked for cannot be had here; the message says so in one sentence."""


@dataclass(frozen=True)
class Kernel:
    """A built kernel: binary runs it, build_dir is what modules are built against, key names its ingredients."""

    version: str
    release: str
    binary: Path
    build_dir: Path
    source_dir: Path
    key: str

    @property
    def has_seccomp(self) -> bool:
        """Whether it can trap system calls by seccomp, which is faster than ptrace."""
        return "seccomp=" in (self.source_dir / "arch/um/os-Linux/start_up.c").read_text()


@dataclass(frozen=True)
class Source:
    """Kernel source: identity changes with its content."""

    tree: Path
    identity: str


def build(version: str, *, debug: bool = False, patches: Sequence[Path] = ()) -> Kernel:
    """Return the kernel of a version such as "6.12", built first if it has not been.

    `debug` adds the kernel's own checks. `patches` are applied to the source in the order given. Raises
    KernelUnavailable when the source cannot be had, LabError when it does not build.
    """
    source = find_source(version)
    fragments = [CONFIG, DEBUG_CONFIG] if debug else [CONFIG]
    key = build_key(source.identity, fragments, patches)
    place = cache.folder("kernels", f"{version}-{key}")
    with cache.locked(cache.folder("locks") / place.name, f"building Linux {version}"):
        if not (place / "linux").exists():
            tree = _patched(source, patches) if patches else source.tree
            _make(tree, place, fragments, f"building Linux {version}{' with debug checks' if debug else ''}")
            (place / "source").unlink(missing_ok=True)
            (place / "source").symlink_to(tree)
            (place / "build/linux").rename(place / "linux")
    release = (place / "build/include/config/kernel.release").read_text().strip()
    return Kernel(version, release, place / "linux", place / "build", (place / "source").resolve(), key)


def build_key(identity: str, fragments: Sequence[Path], patches: Sequence[Path]) -> str:
    """Return what names a kernel: equal for equal source, configuration, patches, machine and compiler."""
    compiler = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout
    contents = [path.read_bytes() for path in (*fragments, *patches)]
    return cache.key(identity, platform.machine(), compiler, str(len(fragments)), *contents)


def find_source(version: str) -> Source:
    """Return the source of a version: what LINUX= names if it is that version, else Debian's package."""
    if not re.fullmatch(r"\d+\.\d+", version):
        raise KernelUnavailable(f"{version!r} is no kernel version such as 6.12")
    if own := os.environ.get("LINUX"):
        source = _own_source(Path(own).absolute())
        if (its := _version_of(source.tree)) == version:
            return source
        cache.say(f"LINUX={own} is Linux {its}; Linux {version} is taken from Debian")
    return _debian_source(version)


def _debian_source(version: str) -> Source:
    place = cache.folder("src") / f"linux-{version}"
    identity = place / ".identity"
    if identity.exists():
        return Source(place, identity.read_text())
    with cache.locked(cache.folder("locks") / place.name, f"fetching the source of Linux {version}"):
        if not identity.exists():
            found = apt.find(re.escape(f"linux-source-{version}"))
            if not found:
                raise KernelUnavailable(
                    f"no Debian suite reachable from this machine has linux-source-{version}; "
                    f"set LINUX= to a tree or tarball of Linux {version} to use that"
                )
            configuration, package, debian_version = found
            work = cache.folder("src") / f"linux-{version}.part"
            shutil.rmtree(work, ignore_errors=True)
            configuration.unpack([package], work)
            _unpack(next(work.glob("usr/src/*.tar.*")), work / "tree", place)
            shutil.rmtree(work)
            identity.write_text(f"{package} {debian_version}")
    return Source(place, identity.read_text())


def _own_source(path: Path) -> Source:
    if path.is_dir():
        if not (path / "Makefile").exists():
            raise cache.LabError(f"LINUX={path} is no kernel source tree")
        if any((path / sign).exists() for sign in BUILT_IN_TREE):
            raise cache.LabError(f"LINUX={path} has been built in: run `make mrproper` there first")
        return Source(path, _fingerprint(path))
    if not path.exists():
        raise cache.LabError(f"LINUX={path} does not exist")
    identity = f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}"
    place = cache.folder("src") / f"own-{cache.key(identity)}"
    with cache.locked(cache.folder("locks") / place.name, f"unpacking {path}"):
        if not place.exists():
            work = place.with_name(f"{place.name}.part")
            shutil.rmtree(work, ignore_errors=True)
            _unpack(path, work, place)
    return Source(place, identity)


def _fingerprint(tree: Path) -> str:
    """Return what changes when any file of a tree is changed, added or removed."""
    seen = [str(tree)]
    for root, folders, files in os.walk(tree):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(files):
            status = Path(root, name).lstat()
            seen.append(f"{root}/{name} {status.st_size} {status.st_mtime_ns}")
    return cache.key(*seen)


def _unpack(tarball: Path, work: Path, place: Path) -> None:
    """Unpack a tarball of one folder into work, then move that folder to place."""
    work.mkdir(parents=True)
    argv = ["tar", "-xf", tarball, "-C", work, "--strip-components=1"]
    progress.run(argv, f"unpacking {tarball.name}", cache.folder("logs") / "unpack.log")
    if not (work / "Makefile").exists():
        raise cache.LabError(f"{tarball} holds no kernel source")
    work.rename(place)


def _version_of(tree: Path) -> str:
    text = (tree / "Makefile").read_text()
    return ".".join(re.search(rf"^{name} = (\d+)$", text, re.MULTILINE)[1] for name in ("VERSION", "PATCHLEVEL"))


def _patched(source: Source, patches: Sequence[Path]) -> Path:
    """Return a copy of a source tree with patches applied; unchanged files are shared with the original."""
    place = cache.folder("src") / f"patched-{cache.key(source.identity, *(path.read_bytes() for path in patches))}"
    if place.exists():
        return place
    work, log = place.with_name(f"{place.name}.part"), cache.folder("logs") / f"{place.name}.log"
    shutil.rmtree(work, ignore_errors=True)
    progress.run(["cp", "-al", source.tree, work], "copying the source to patch", log)
    for path in patches:
        argv = ["patch", "-p1", "--fuzz=0", "--forward", "-i", path.absolute()]
        progress.run(argv, f"applying {path.name}", log, cwd=work)
    work.rename(place)
    return place


def _make(tree: Path, place: Path, fragments: Sequence[Path], what: str) -> None:
    """Configure and build, going on where an interrupted build stopped."""
    out, log = place / "build", place / "build.log"
    out.mkdir(exist_ok=True)
    make = ["make", "-C", tree, f"O={out}", "ARCH=um", "KBUILD_BUILD_TIMESTAMP=@0", "KBUILD_BUILD_USER=lab"]
    make += ["KBUILD_BUILD_HOST=lab", "DEPMOD=true", f"INSTALL_MOD_PATH={place / 'installed'}"]
    wanted = "".join(path.read_text() for path in fragments)
    progress.run([*make, "tinyconfig"], f"configuring {tree.name}", log)
    with (out / ".config").open("a") as config:
        config.write(wanted)
    progress.run([*make, "olddefconfig"], f"configuring {tree.name}", log)
    if missing := not_honoured(wanted, (out / ".config").read_text()):
        raise cache.LabError(f"{tree.name} does not know these settings: {' '.join(missing)}")
    unit = (progress.COMPILED, "of about 1300 files made")
    progress.run([*make, f"-j{os.cpu_count()}", "all"], what, log, unit=unit)
    shutil.rmtree(place / "installed", ignore_errors=True)
    progress.run([*make, "modules_install"], f"{what}: modules", log)
    shutil.rmtree(place / "modules", ignore_errors=True)
    next((place / "installed/lib/modules").iterdir()).rename(place / "modules")


def not_honoured(wanted: str, config: str) -> list[str]:
    """Return the settings of a fragment that a .config does not have; the last word on each counts."""
    settings = re.compile(r"^(?:# )?(CONFIG_\w+)(?:=| is not set$).*", re.MULTILINE)
    last, have = ({match[1]: match[0] for match in settings.finditer(text)} for text in (wanted, config))
    return [line for name, line in last.items() if have.get(name, f"# {name} is not set") != line]
