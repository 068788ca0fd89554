# SPDX-License-Identifier: GPL-2.0
"""Runs commands that take a while and shows that they are alive."""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from lab import cache

# Seconds between two lines of progress where lines cannot be overwritten.
PLAIN_PERIOD_S = 5
COMPILED = re.compile(rb"^  (?:CC|AS|LD|AR|HOSTCC) ", re.MULTILINE)
# Put before a command: it is killed when this process ends, in whatever way.
DIE_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL")
# Put before a command: whatever it started is killed with it.
WITH_ALL_CHILDREN = ("unshare", "--pid", "--fork", "--kill-child")
# Seconds for a command to tidy up after the Ctrl-C that it and this process both got.
TIDY_UP_S = 2


class CommandFailed(cache.LabError):
    """A program failed; last_lines are the end of what it said."""

    def __init__(self, sentence: str, last_lines: list[str]) -> None:
        super().__init__(sentence)
        self.last_lines = last_lines


def run(
    argv: Sequence[str | Path],
    what: str,
    log: Path,
    *,
    cwd: Path | None = None,
    unit: tuple[re.Pattern[bytes], str] | None = None,
) -> None:
    """Run a command, its output appended to log; raise LabError, naming the log, when it fails.

    `what` says what is being done; unit is a pattern to count in the output and the name of what it counts.
    """
    console = Console(stderr=True)
    status = console.status(f"lab: {what}") if console.is_terminal else None
    begin = shown = time.monotonic()
    if status:
        status.start()
    else:
        cache.say(what)
    with log.open("ab") as output:
        start = output.tell()
        process = subprocess.Popen(
            [*DIE_WITH_PARENT, *WITH_ALL_CHILDREN, *map(str, argv)],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | {"LC_ALL": "C.UTF-8"},
        )
        try:
            while True:
                try:
                    process.wait(0.5 if status else PLAIN_PERIOD_S)
                    break
                except subprocess.TimeoutExpired:
                    shown = time.monotonic()
                line = f"{what}: {_amount(log, start, unit)}{shown - begin:.0f} s"
                if status:
                    status.update(f"lab: {line}")
                else:
                    cache.say(line)
        except BaseException:
            with suppress(subprocess.TimeoutExpired):
                process.wait(TIDY_UP_S)
            process.kill()
            process.wait()
            raise
        finally:
            if status:
                status.stop()
    if process.returncode:
        with log.open(errors="replace") as text:
            text.seek(start)
            raise CommandFailed(f"{what} failed; everything it said is in {log}", text.read().splitlines()[-15:])
    if status:
        cache.say(f"{what}: done in {time.monotonic() - begin:.0f} s")


def _amount(log: Path, start: int, unit: tuple[re.Pattern[bytes], str] | None) -> str:
    if not unit:
        return ""
    pattern, name = unit
    with log.open("rb") as text:
        text.seek(start)
        return f"{len(pattern.findall(text.read()))} {name}, "
