# SPDX-License-Identifier: GPL-2.0
"""Turns what is asked for into guests, side by side, and what they leave behind into rows."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache as once
from pathlib import Path

from lab import cache, guest, kernel, modules
from lab.cache import CHECKOUT, LabError
from testbed import senders
from testbed.scenario import Path as NetworkPath
from testbed.senders import Sender

READS_SOURCE = Path(__file__).with_name("full_reads.c")
TOOLS = Path("/run/lab/tools")
# Real seconds: what any guest may take, and what a simulated second of 10 Mbit/s may take on a slow, busy machine.
PATIENCE_S = 120
PATIENCE_PER_10MBIT = 0.3
COUNTERS = {
    "retransmitted_segs": ("TcpRetransSegs",),
    "dsack_segs": ("TcpExtTCPDSACKRecvSegs",),
    "timeouts": ("TcpExtTCPTimeouts",),
    "reorderings": ("TcpExtTCPSACKReorder", "TcpExtTCPTSReorder"),
}
# Data segments that the receiver threw away because their timestamps were older than the newest it had accepted.
PAWS_DISCARDS = "TcpExtPAWSEstab"


@dataclass(frozen=True)
class Measurement:
    """Some senders on one path: everything that a run depends on."""

    title: str
    path: NetworkPath
    senders: Sequence[Sender]
    kernel: str
    seconds: int
    runs: int
    seed: int
    ceiling: bool = False
    offloads: bool = False
    family: int = 4
    sysctls: dict[str, str] = field(default_factory=dict)
    trace: bool = False
    pcap: bool = False

    def paths(self) -> list[NetworkPath]:
        """Return the path as given and, if wanted, the one that keeps packets in order."""
        return [self.path, self.path.in_order()] if self.ceiling else [self.path]


@dataclass(frozen=True)
class Run:
    """One flow of one sender, in a guest of its own; number counts from 1."""

    measurement: Measurement
    path: NetworkPath
    sender: Sender
    number: int
    folder: Path

    def __str__(self) -> str:
        """Return what tells a run from the others."""
        return f"{self.measurement.title}: {self.sender.text}, {self.path.name}, run {self.number}"

    @property
    def seed(self) -> int:
        """The seed of all random draws, the same for every sender."""
        return self.measurement.seed + self.number - 1

    def plan(self) -> dict[str, object]:
        """Return what the program in the guest is told."""
        measurement, sender = self.measurement, self.sender
        return self.path.plan() | {
            "sender": asdict(sender),
            "seconds": measurement.seconds,
            "offloads": measurement.offloads,
            "family": measurement.family,
            "sysctls": measurement.sysctls,
            "trace": measurement.trace,
            "pcap": measurement.pcap,
            "preload": str(TOOLS / full_reads().name),
        }

    def patience_s(self) -> float:
        """Return the real seconds after which the guest is given up."""
        return PATIENCE_S + PATIENCE_PER_10MBIT * self.measurement.seconds * self.path.rate_bps / 10**7


def execute(
    measurements: Sequence[Measurement], results: Path, cpus: Sequence[int], done: Callable[[Run, int, int], None]
) -> list[dict[str, object]]:
    """Run everything in guests, one a CPU, and return a row for each run, in the order asked for.

    done() is told of every finished run, with how many are finished and how many there are. Raises LabError when a
    kernel, a module or a run cannot be had; the raw results are kept below `results`.
    """
    runs = plan_runs(measurements, results)
    built = {version: kernel.build(version) for version in dict.fromkeys(run.measurement.kernel for run in runs)}
    folders = {version: modules.build(built[version]) for version in built if _needs_modules(runs, version)}
    for run in runs:
        if run.sender.ours:
            senders.check_parameters(run.sender, folders[run.measurement.kernel])
    full_reads()
    by_folder = {run.folder: run for run in runs}
    finished: list[Run] = []

    def note(job: guest.Job, outcome: guest.GuestResult) -> None:
        run = by_folder[job.results]
        if not outcome.passed:
            raise LabError(f"{run}: {_explain(outcome)}; all it left is in {run.folder}")
        finished.append(run)
        done(run, len(finished), len(runs))

    jobs = [_prepare(run, built[run.measurement.kernel], folders.get(run.measurement.kernel)) for run in runs]
    with guest.Pool(cpus) as pool:
        pool.run(jobs, note)
    return [row(run, built[run.measurement.kernel]) for run in runs]


def plan_runs(measurements: Sequence[Measurement], results: Path) -> list[Run]:
    """Return all runs of some measurements, each with its folder below `results`."""
    return [
        Run(
            measurement,
            path,
            sender,
            number,
            results / f"{place}" / slug(sender.text) / slug(path.name) / f"run-{number}",
        )
        for place, measurement in enumerate(measurements, start=1)
        for path in measurement.paths()
        for sender in measurement.senders
        for number in range(1, measurement.runs + 1)
    ]


def row(run: Run, built: kernel.Kernel) -> dict[str, object]:
    """Return a finished run's results and all conditions it was made under."""
    measurement, sender = run.measurement, run.sender
    report = json.loads((run.folder / "iperf3-receiver.json").read_text())
    before, after = (_counters(run.folder / f"counters-{when}.json") for when in ("before", "after"))
    values = {name: sum(after[each] - before[each] for each in sources) for name, sources in COUNTERS.items()}
    return {
        "sender": sender.text,
        "kernel": measurement.kernel,
        "tcp_recovery": int((run.folder / "recovery").read_text()),
        "run": run.number,
        "seed": run.seed,
        "seconds": measurement.seconds,
        "goodput_mbps": round(report["end"]["sum_received"]["bits_per_second"] / 1e6, 6),
        **values,
        "paws_discards": _counters(run.folder / "counters-receiver.json")[PAWS_DISCARDS],
        **run.path.conditions(),
        "title": measurement.title,
        "offloads": measurement.offloads,
        "ip": measurement.family,
        "sysctls": measurement.sysctls | dict(sender.sysctls),
        "module_parameters": dict(sender.parameters),
        "kernel_release": built.release,
        "kernel_build": built.key,
        "commit": commit(),
        "tools": tool_versions(),
    }


@once
def full_reads() -> Path:
    """Return the library preloaded into iperf3's receiver, compiled into the cache if need be."""
    library = cache.folder("tools") / f"full_reads-{cache.key(READS_SOURCE.read_bytes())}.so"
    if not library.exists():
        part = library.with_suffix(f".{os.getpid()}")
        subprocess.run(["gcc", "-O2", "-Wall", "-shared", "-fPIC", "-o", part, READS_SOURCE], check=True)
        part.rename(library)
    return library


@once
def commit() -> str:
    """Return the project's commit, with "-dirty" if the checkout differs from it; "unknown" outside of git."""
    git = ["git", "-C", CHECKOUT, "-c", f"safe.directory={CHECKOUT}", "describe", "--always", "--abbrev=12", "--dirty"]
    return subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


@once
def tool_versions() -> dict[str, str]:
    """Return the versions of the programs that make the network and the traffic."""
    packages = ["dpkg-query", "--show", "--showformat", "${Package} ${Version}\n", "iproute2", "mininet", "nftables"]
    iperf3 = [cache.folder("tools", "bin") / "iperf3", "--version"]
    said = [subprocess.run(argv, capture_output=True, text=True, check=True).stdout for argv in (iperf3, packages)]
    return {"iperf3": said[0].split()[1], **dict(line.split() for line in said[1].splitlines())}


def slug(text: str) -> str:
    """Return a text as part of a folder's name."""
    return re.sub(r"[^A-Za-z0-9.%@=_+-]+", "-", text).strip("-")


def _needs_modules(runs: Sequence[Run], version: str) -> bool:
    return any(run.sender.ours for run in runs if run.measurement.kernel == version)


def _prepare(run: Run, built: kernel.Kernel, folder: Path | None) -> guest.Job:
    shutil.rmtree(run.folder, ignore_errors=True)
    run.folder.mkdir(parents=True)
    (run.folder / "plan.json").write_text(json.dumps(run.plan(), indent=1) + "\n")
    # Mininet imports distutils, which setuptools replaces by something slow where Python still has its own.
    environment = ["env", "SETUPTOOLS_USE_DISTUTILS=stdlib"] if sys.version_info < (3, 12) else []
    return guest.Job(
        kernel=built,
        command=[*environment, "/usr/bin/python3", "testbed/guest.py"],
        results=run.folder,
        timeout_s=run.patience_s(),
        seed=run.seed,
        modules=folder if run.sender.ours else None,
        name=str(run),
    )


def _explain(outcome: guest.GuestResult) -> str:
    if outcome.kernel_warnings:
        return f"the kernel complained: {outcome.kernel_warnings[0]}"
    if outcome.timed_out:
        return f"no end after {outcome.wall_s:.0f} s"
    said = outcome.console.read_text(errors="replace").strip().splitlines()
    return said[-1] if said else f"exit status {outcome.exit_status}"


def _counters(file: Path) -> dict[str, int]:
    return json.loads(file.read_text())["kernel"]


def cpus(jobs: int | None) -> list[int]:
    """Return the CPUs to run guests on; raises LabError for fewer than one."""
    available = sorted(os.sched_getaffinity(0))
    if jobs is not None and jobs < 1:
        raise LabError(f"bad number of jobs {jobs}: it must be 1 or more")
    return available[:jobs]
