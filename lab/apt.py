# SPDX-License-Identifier: GPL-2.0
"""Fetches Debian packages, also from suites the machine does not list, without changing the machine.

A suite that is not listed is reached by an apt configuration of its own in the cache, made from the machine's entries:
the same address, another suite, trusted only if signed with the Debian archive's keys.
"""

import platform
import re
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from debian.debian_support import Version

from lab import cache, progress

RELEASES = ("bookworm", "trixie")
ROLLING = ("testing", "sid")
LISTS_GO_STALE_S = 24 * 3600


@dataclass(frozen=True)
class Entry:
    """One place packages come from: an address and a suite there."""

    address: str
    suite: str


@dataclass(frozen=True)
class Apt:
    """An apt configuration: the machine's own when there are no options."""

    name: str
    options: tuple[str, ...] = ()

    def newest(self, pattern: str) -> tuple[str, str] | None:
        """Return (package, version) of the highest version among packages whose whole name matches a pattern."""
        listed = self._ask("apt-cache", "search", "--names-only", f"^{pattern}$").splitlines()
        found = []
        for package in (line.split(" ", 1)[0] for line in listed):
            shown = self._ask("apt-cache", "show", "--no-all-versions", package)
            if version := re.search(r"^Version: (\S+)$", shown, re.MULTILINE):
                found.append((package, version[1]))
        return max(found, key=lambda pair: Version(pair[1]), default=None)

    def depends(self, package: str) -> list[str]:
        """Return the names of the packages that a package needs directly."""
        shown = self._ask("apt-cache", "depends", "--important", package)
        return re.findall(r"^ *\|?(?:Pre)?Depends: ([^<\s]+)$", shown, re.MULTILINE)

    def unpack(self, packages: Sequence[str], into: Path) -> None:
        """Download packages and unpack their files below a folder."""
        with tempfile.TemporaryDirectory(dir=cache.folder("apt")) as work:
            argv = ["apt-get", "-q", *self.options, "-o", "APT::Sandbox::User=root", "download", *packages]
            what = f"downloading {' '.join(packages)} ({self.name})"
            progress.run(argv, what, cache.folder("logs") / "apt.log", cwd=Path(work))
            for archive in Path(work).glob("*.deb"):
                subprocess.run(["dpkg-deb", "-x", archive, into], check=True)

    def _ask(self, *argv: str) -> str:
        command, *words = argv
        return subprocess.run([command, *self.options, *words], capture_output=True, text=True, check=False).stdout


def find(pattern: str, at_least: str = "0") -> tuple[Apt, str, str] | None:
    """Return (apt, package, version) from the first configuration that has a package whose whole name matches.

    The pattern is a POSIX extended regular expression; at_least is the lowest version that will do.
    """
    for apt in configurations():
        found = apt.newest(pattern)
        if found and Version(found[1]) >= Version(at_least):
            return apt, *found
    return None


def configurations() -> Iterator[Apt]:
    """Yield the machine's own configuration, then one for each release it may lack."""
    yield Apt("this machine's suites")
    listed = debian_entries(listed_entries())
    for release, entries in candidates(listed, platform.freedesktop_os_release().get("VERSION_CODENAME")).items():
        yield _private(release, entries)


def architecture() -> str:
    """Return Debian's name for this machine's architecture."""
    argv = ["dpkg", "--print-architecture"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def listed_entries(*options: str) -> list[Entry]:
    """Return what apt's configuration lists, in both its formats, as apt itself reads it."""
    shown = "$(CREATED_BY) $(COMPONENT) $(RELEASE) $(REPO_URI)"
    argv = ["apt-get", "indextargets", "--no-release-info", *options, "--format", shown]
    lines = subprocess.run(argv, capture_output=True, text=True, check=False).stdout.splitlines()
    fields = [line.split() for line in lines]
    entries = (Entry(f[3], f[2]) for f in fields if len(f) == 4 and f[0] == "Packages" and f[1] == "main")
    return list(dict.fromkeys(entries))


def debian_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries whose suite is named as Debian names its own; the signature check settles the rest."""
    names = {*RELEASES, *ROLLING, "forky", "oldstable", "stable", "unstable"}
    kinds = {"", "updates", "security", "backports"}
    return [entry for entry in entries if _split(entry.suite)[0] in names and _split(entry.suite)[1] in kinds]


def candidates(entries: Sequence[Entry], codename: str | None) -> dict[str, list[Entry]]:
    """Return where packages may be found, by release: this one and each newer one, the rolling ones, the older ones."""
    first = RELEASES.index(codename) if codename in RELEASES else len(RELEASES)
    security = dict.fromkeys(entry.address for entry in entries if _split(entry.suite)[1] == "security")
    archive = dict.fromkeys(entry.address for entry in entries if entry.address not in security)
    found = {}
    for release in (*RELEASES[first:], *ROLLING, *RELEASES[:first]):
        if release in ROLLING:
            found[release] = [Entry(address, release) for address in archive]
            continue
        suites = (release, f"{release}-updates", f"{release}-backports")
        found[release] = [Entry(address, suite) for address in archive for suite in suites]
        found[release] += [Entry(address, f"{release}-security") for address in security]
    return found


def source_text(entries: Iterable[Entry], keyring: Path) -> str:
    """Return a .sources file for entries."""
    return "\n".join(
        f"Types: deb\nURIs: {entry.address}\nSuites: {entry.suite}\nComponents: main\nSigned-By: {keyring}\n"
        for entry in entries
    )


def _split(suite: str) -> tuple[str, str]:
    release, _, kind = suite.partition("-")
    return release, kind.removesuffix("/updates")


def _private(release: str, entries: Sequence[Entry]) -> Apt:
    """Return a configuration that knows one release only, its lists fetched if they are missing or old."""
    keyring = next(Path("/usr/share/keyrings").glob("debian-archive-keyring.[gp][pg]*"))
    text = source_text(entries, keyring)
    place = cache.folder("apt", f"{release}-{cache.key(text)}")
    for name in ("lists/partial", "archives/partial", "sources"):
        (place / name).mkdir(parents=True, exist_ok=True)
    (place / "status").touch()
    (place / "sources" / "lab.sources").write_text(text)
    settings = {
        "Dir::State": place,
        "Dir::State::lists": place / "lists",
        "Dir::State::status": place / "status",
        "Dir::Cache": place,
        "Dir::Cache::archives": place / "archives",
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": place / "sources",
        "Acquire::Languages": "none",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        "APT::Sandbox::User": "root",
    }
    options = tuple(word for name, value in settings.items() for word in ("-o", f"{name}={value}"))
    stamp = place / "updated"
    with cache.locked(cache.folder("locks") / place.name, f"fetching the lists of {release}"):
        if not stamp.exists() or time.time() - stamp.stat().st_mtime > LISTS_GO_STALE_S:
            argv = ["apt-get", "-q", *options, "update"]
            try:
                progress.run(argv, f"looking into {release}", cache.folder("logs") / "apt.log")
                stamp.touch()
            except progress.CommandFailed:
                cache.say(f"not all lists of {release} could be fetched; going on with those that could")
    return Apt(release, options)
