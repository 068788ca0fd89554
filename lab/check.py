# SPDX-License-Identifier: GPL-2.0
"""Static checks of the whole project: the kernel's own checkers for C, ruff for Python, shellcheck for shell."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lab import cache, headers, kernel, modules

CLEAN = "total: 0 errors, 0 warnings, 0 checks"


def run() -> bool:
    """Print one line a check, with what a failed one found; return whether all passed."""
    passed = True
    for name, findings in _checks():
        print(f"{'not ok' if findings else 'ok'} - {name}", *findings[:40], sep="\n    ", flush=True)
        passed = passed and not findings
    return passed


def _checks() -> Iterator[tuple[str, list[str]]]:
    sources = [path for path in _tracked("*.c", "*.h") if path.split("/")[0] not in modules.NOT_MODULES]
    scripts = kernel.find_source("6.12").tree / "scripts"
    yield f"checkpatch --strict: {len(sources)} files", _checkpatch(scripts / "checkpatch.pl", sources)
    documented = [path for path in sources if path.startswith("tcp_")]
    yield "kernel-doc", _lines([str(scripts / "kernel-doc"), "-none", "-Wall", *documented])
    for version in headers.VERSIONS:
        yield f"W=1 and sparse: Debian's headers of Linux {version}", _compile(headers.fetch(version))
    yield "ruff", _lines([str(Path(sys.executable).with_name("ruff")), "check", "--quiet", "--no-cache", "."])
    shell = [path for path in _tracked() if _is_shell(cache.CHECKOUT / path)]
    yield f"shellcheck: {len(shell)} files", _lines(["shellcheck", "--format=gcc", "-x", *shell])


def _tracked(*patterns: str) -> list[str]:
    argv = ["git", "-c", f"safe.directory={cache.CHECKOUT}", "ls-files", "--", *patterns]
    return subprocess.run(argv, cwd=cache.CHECKOUT, capture_output=True, text=True, check=True).stdout.splitlines()


def _lines(argv: list[str]) -> list[str]:
    """Return what a checker says; silence and success are the same."""
    done = subprocess.run(argv, cwd=cache.CHECKOUT, capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr).splitlines()
    return said or ([f"exit status {done.returncode}"] if done.returncode else [])


def _checkpatch(checkpatch: Path, sources: list[str]) -> list[str]:
    argv = ["perl", str(checkpatch), "--strict", "--no-tree", "--terse", "--max-line-length=80", "-f", *sources]
    return [line for line in _lines(argv) if CLEAN not in line]


def _compile(kdir: Path) -> list[str]:
    """Return the warnings of a build with W=1 and sparse that name a file of ours."""
    with tempfile.TemporaryDirectory() as folder:
        for path in modules.find_sources(cache.CHECKOUT):
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(cache.CHECKOUT / path, target)
        argv = ["make", "-C", str(kdir), f"M={folder}", "W=1", "C=2", "modules"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        said = done.stderr.splitlines()
        if done.returncode:
            return said
        return [line for line in said if folder in line and ("warning:" in line or "error:" in line)]


def _is_shell(path: Path) -> bool:
    return path.is_file() and path.read_bytes()[:64].split(b"\n")[0] in (b"#!/bin/sh", b"#!/bin/bash")
