# SPDX-License-Identifier: GPL-2.0
"""Timings, which depend on the machine and are therefore no tests: how fast the lab is, what the module costs."""

import statistics
import tempfile
import time
from pathlib import Path

import click

from lab import kernel, modules
from testbed import experiments, runs

LONG_S = 1000
COST_S = 200
PAIRS = 5
IN_ORDER = {"rate": "10mbit", "forward": "delay 50ms"}
TWO_LINKS = {"paths": ["rate 10mbit delay 5ms", "rate 10mbit delay 25ms"]}


def run() -> None:
    """Print, on a machine that should have nothing else to do, simulated seconds per real one and ratios of cost."""
    for version in ("6.12", "7.2"):
        try:
            kernel.build(version)
        except kernel.KernelUnavailable as reason:
            click.echo(f"Linux {version}: {reason}")
            continue
        took_s = _time(IN_ORDER, "reno", version, LONG_S)
        click.echo(
            f"Linux {version}: {LONG_S} simulated seconds of one 10 Mbit/s flow in {took_s:.1f} s, "
            f"{LONG_S / took_s:.0f} times real time (boot and Mininet included)"
        )
    modules.build(kernel.build("6.12"))
    for what, path in (("in order", IN_ORDER), ("two links in turn", TWO_LINKS)):
        senders = ("avgdev", "reno@recovery=0")
        pairs = [[_time(path, sender, "6.12", COST_S) for sender in senders] for _ in range(PAIRS)]
        ratios = [ours / theirs for ours, theirs in pairs]
        click.echo(
            f"{what}: a whole run with avgdev takes {statistics.median(ratios):.2f} times one with reno "
            f"({min(ratios):.2f} to {max(ratios):.2f} in {PAIRS} pairs)"
        )


def _time(path: dict[str, object], sender: str, version: str, seconds: int) -> float:
    """Return the real seconds that one flow takes on one CPU, from before the boot until the results are read."""
    settings = {"title": sender, "senders": sender, "kernel": version, "seconds": seconds, "runs": 1}
    measurement = experiments.measurement(settings | path)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        runs.execute([measurement], Path(folder), runs.cpus(1), lambda *_: None)
        return time.monotonic() - begin
