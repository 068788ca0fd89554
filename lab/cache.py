# SPDX-License-Identifier: GPL-2.0
"""Where the lab keeps what it downloads and builds, and how it works there without getting in its own way."""

import fcntl
import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

# Seconds between two lines of a process that waits for another.
WAITING_PERIOD_S = 5
CHECKOUT = Path(__file__).resolve().parent.parent
# Guests run as another user and read what is made here.
os.umask(0o022)


class LabError(Exception):
    """Something the user can act on; the message is one sentence."""


def folder(*names: str) -> Path:
    """Return a folder of the cache, made if missing; TCP_REORDER_CACHE overrides its place."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    root = os.environ.get("TCP_REORDER_CACHE") or base / "tcp-reorder"
    path = Path(root, *names).absolute()
    path.mkdir(parents=True, exist_ok=True)
    return path


def key(*parts: str | bytes) -> str:
    """Return 16 hex digits that differ whenever any part, their order or their number differs."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:16]


def _try(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file `path`; tell, every few seconds, that another process is at `what` while it is waited for."""
    with path.open("w") as lock:
        waited = 0
        while not _try(lock):
            if waited % WAITING_PERIOD_S == 0:
                say(f"another process is at it: {what}; waiting for it, {waited} s")
            time.sleep(1)
            waited += 1
        yield


def say(text: str) -> None:
    """Tell the user, on stderr, what the lab does."""
    print(f"lab: {text}", file=sys.stderr, flush=True)
