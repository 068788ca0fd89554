# SPDX-License-Identifier: GPL-2.0
"""Where packages are looked for, told from the machine's own apt configuration."""

from pathlib import Path

import pytest

from lab import apt

ARCHIVE, SECURITY, OTHER = "http://mirror.example/debian/", "http://mirror.example/security/", "http://other.example/"

DEB822 = f"""\
Types: deb deb-src
URIs: {ARCHIVE}
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: {SECURITY}
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://disabled.example/
Suites: bookworm
Components: main

Types: deb
URIs: {OTHER}
Suites: nodistro
Components: main
"""

ONE_LINE = f"""\
# deb http://commented.example/ bookworm main
deb [arch=amd64] {ARCHIVE} bookworm main
deb {ARCHIVE} bookworm-updates main
deb-src {ARCHIVE} bookworm main contrib
deb {SECURITY} bookworm-security main
deb {OTHER} bookworm-pgdg main
deb {OTHER} ./
"""

LISTED = [
    apt.Entry(ARCHIVE, "bookworm"),
    apt.Entry(ARCHIVE, "bookworm-updates"),
    apt.Entry(SECURITY, "bookworm-security"),
]


@pytest.mark.parametrize(
    ("name", "text"), [("debian.sources", DEB822), ("sources.list", ONE_LINE)], ids=["deb822", "one-line"]
)
def test_both_formats_are_read_and_others_ignored(tmp_path, name, text):
    (tmp_path / "parts").mkdir()
    (tmp_path / ("parts" if name.endswith(".sources") else ".") / name).write_text(text)
    listed = apt.listed_entries(
        *("-o", f"Dir::Etc::sourcelist={tmp_path / 'sources.list'}"),
        *("-o", f"Dir::Etc::sourceparts={tmp_path / 'parts'}"),
    )
    assert apt.debian_entries(listed) == LISTED


def test_candidates_are_this_release_then_newer_ones():
    found = apt.candidates(LISTED, "bookworm")
    assert list(found) == ["bookworm", "trixie", "testing", "sid"]
    assert apt.Entry(ARCHIVE, "trixie-backports") in found["trixie"]
    assert apt.Entry(SECURITY, "trixie-security") in found["trixie"]
    assert {entry.address for entries in found.values() for entry in entries} == {ARCHIVE, SECURITY}


def test_an_older_release_comes_last():
    assert list(apt.candidates(LISTED, "trixie")) == ["trixie", "testing", "sid", "bookworm"]
    assert list(apt.candidates(LISTED, None)) == ["testing", "sid", "bookworm", "trixie"]


def test_the_private_configuration_trusts_only_the_debian_archive(tmp_path):
    text = apt.source_text([apt.Entry(ARCHIVE, "trixie")], Path("/keys.gpg"))
    (tmp_path / "lab.sources").write_text(text)
    assert "Signed-By: /keys.gpg" in text
    options = ("-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={tmp_path}")
    assert apt.listed_entries(*options) == [apt.Entry(ARCHIVE, "trixie")]
