# SPDX-License-Identifier: GPL-2.0
"""Runs commands in guests: User Mode Linux kernels on the host's own files, in simulated time, confined."""

import fcntl
import json
import os
import pwd
import re
import shlex
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from lab import cache, progress, tools
from lab.kernel import Kernel

# Nanoseconds since 1970 at which every guest's clock starts: 2026-01-01 00:00 UTC.
CLOCK_START_NS = 1767225600 * 10**9
GUEST_USER = "nobody"
STAGE = Path(__file__).with_name("stage.py")
GUEST_INIT = Path(__file__).with_name("guest-init")
CONFINED = ("unshare", "--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child", "--mount-proc")
EXIT_STATUS = re.compile(r"lab: exit status (\d+)$", re.MULTILINE)

TROUBLE = re.compile(
    "|".join(
        (
            r"WARNING: ",
            r"\bBUG: ",
            r"\bkernel BUG at ",
            r"\bOops\b",
            r"Kernel panic",
            r"general protection fault",
            r"\bKASAN: ",
            r"\bUBSAN: ",
            r"\bINFO: possible ",
            r"\bINFO: task .* blocked for more",
            r"inconsistent lock state",
            r"suspicious RCU usage",
            r"refcount_t: ",
            r"kmemleak: \d+ new suspected",
            r"rcu: INFO: .* stall",
            r"unregister_netdevice: waiting for",
            r"cannot prepare the guest",
        )
    )
)


@dataclass(frozen=True)
class GuestResult:
    """What came of a command: exit_status is -1 when the guest ended without telling one."""

    exit_status: int
    timed_out: bool
    wall_s: float
    console: Path
    kernel_log: Path
    kernel_warnings: list[str]

    @property
    def passed(self) -> bool:
        """Whether the command succeeded on a kernel that found nothing wrong with itself."""
        return self.exit_status == 0 and not self.kernel_warnings


@dataclass(frozen=True)
class Job:
    """One guest's work, the arguments of run() but for the CPU; name is for progress reports."""

    kernel: Kernel
    command: list[str]
    results: Path
    timeout_s: float
    seed: int = 1
    modules: Path | None = None
    memory_mb: int = 512
    name: str = ""


@dataclass
class Pool:
    """Guests side by side, one a CPU; leaving the `with` block early, also by Ctrl-C, ends them all."""

    cpus: Sequence[int] = field(default_factory=lambda: sorted(os.sched_getaffinity(0)))
    _stop: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Pool":
        """Get ready to run."""
        self._threads = ThreadPoolExecutor(max_workers=len(self.cpus))
        return self

    def __exit__(self, *_: object) -> None:
        """End what still runs."""
        self._stop.set()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def run(self, jobs: Sequence[Job], done: Callable[[Job, GuestResult], None] | None = None) -> list[GuestResult]:
        """Run the jobs, results in their order; done() is called in this thread's stead as each one ends."""

        def one(job: Job) -> GuestResult:
            arguments = {name: value for name, value in vars(job).items() if name != "name"}
            with _free_cpu(self.cpus) as cpu:
                result = run(**arguments, cpu=cpu, stop=self._stop)
            if done:
                done(job, result)
            return result

        return list(self._threads.map(one, jobs))


def run_many(jobs: Sequence[Job], done: Callable[[Job, GuestResult], None] | None = None) -> list[GuestResult]:
    """Run the jobs side by side, one a CPU, and return their results in the order of the jobs."""
    with Pool() as pool:
        return pool.run(jobs, done)


def run(
    kernel: Kernel,
    command: list[str],
    *,
    results: Path,
    timeout_s: float,
    seed: int = 1,
    cpu: int | None = None,
    modules: Path | None = None,
    memory_mb: int = 512,
    stop: threading.Event | None = None,
    echo: bool = False,
) -> GuestResult:
    """Boot a guest, run a command in it as root, power it off.

    The same kernel, command, modules and seed give the same run. The folder `results` is the one place the guest can
    write to; console.log (the command's output, also shown on stdout with `echo`) and kernel.log are added to it.
    timeout_s is in seconds of the host's time. Setting `stop` ends the guest as a timeout does. Without `cpu` one that
    no other guest uses is taken while there is one. Raises LabError when the host cannot confine a guest.
    """
    if os.geteuid():
        raise cache.LabError("booting a guest needs root, to confine it")
    if not all(path.stat().st_mode & stat.S_IROTH for path in (cache.CHECKOUT, GUEST_INIT)):
        raise cache.LabError(f"guests run as {GUEST_USER}, who cannot read {cache.CHECKOUT}: chmod -R go+rX it")
    if cpu is not None and cpu not in os.sched_getaffinity(0):
        raise cache.LabError(f"there is no CPU {cpu} to run a guest on")
    results = results.absolute()
    results.mkdir(parents=True, exist_ok=True)
    console, kernel_log = results / "console.log", results / "kernel.log"
    user = pwd.getpwnam(GUEST_USER).pw_uid
    begin = time.monotonic()
    with ExitStack() as held:
        if cpu is None:
            cpu = held.enter_context(_free_cpu(sorted(os.sched_getaffinity(0))))
        output, log = (held.enter_context(path.open("wb+")) for path in (console, kernel_log))
        held.enter_context(_lent(results, user))
        guest = held.enter_context(
            subprocess.Popen(
                [*progress.DIE_WITH_PARENT, *CONFINED, sys.executable, "-I", "-S", STAGE],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=log,
                start_new_session=True,
            )
        )
        held.callback(_end, guest)
        plan = _plan(kernel, command, results, user, seed, cpu, modules, memory_mb)
        with suppress(BrokenPipeError):
            guest.stdin.write(json.dumps(plan).encode() + b"\n")
            guest.stdin.flush()
        cut_short = not _wait(guest, begin + timeout_s, stop, console if echo else None)
        _end(guest)
        text = kernel_log.read_text(errors="replace")
    told = EXIT_STATUS.search(text)
    if not cut_short and "Linux version" not in text:
        said = text.strip().splitlines() or ["it said nothing"]
        raise cache.LabError(f"the guest did not start: {said[-1]}")
    return GuestResult(
        exit_status=int(told[1]) if told and not cut_short else -1,
        timed_out=cut_short,
        wall_s=time.monotonic() - begin,
        console=console,
        kernel_log=kernel_log,
        kernel_warnings=find_trouble(text),
    )


def find_trouble(kernel_log: str) -> list[str]:
    """Return the lines in which a kernel complains about itself."""
    return [line.strip() for line in kernel_log.splitlines() if TROUBLE.search(line)]


def _plan(
    kernel: Kernel,
    command: list[str],
    results: Path,
    user: int,
    seed: int,
    cpu: int,
    modules: Path | None,
    memory_mb: int,
) -> dict:
    """Return what stage.py reads; no text in argv differs between runs, as the kernel's random numbers depend on it."""
    binds = {"checkout": cache.CHECKOUT, "results": results, "tools": tools.folder(), "kernel": kernel.binary.parent}
    if modules:
        binds["modules"] = modules.absolute()
    clock = ["time-travel=inf-cpu", f"time-travel-start={CLOCK_START_NS}"]
    root = ["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "init=/run/lab/checkout/lab/guest-init"]
    consoles = ["con=null", "con0=null,fd:2", "con1=null,fd:1"]
    speed = ["seccomp=on"] if kernel.has_seccomp else []
    return {
        "stage": str(cache.folder("stage")),
        "binds": {name: str(path) for name, path in binds.items()},
        "writable": "results",
        "release": kernel.release,
        "command": shlex.join(command) + "\n",
        "uid": user,
        "cpu": cpu,
        "argv": ["/run/lab/kernel/linux", f"mem={memory_mb}M", "umid=lab", *clock, *root, *consoles, *speed],
        "environment": {
            "PATH": os.defpath,
            "HOME": "/tmp",
            "TMPDIR": "/tmp",
            "LD_PRELOAD": "/run/lab/tools/seeded_getrandom.so",
            "LAB_SEED": str(seed),
        },
    }


def _wait(guest: subprocess.Popen, deadline: float, stop: threading.Event | None, echo: Path | None) -> bool:
    """Wait for the guest's end, copying its growing output to stdout if asked; False when it had to be cut short."""
    with (echo or Path(os.devnull)).open("rb") as output:
        while True:
            left = deadline - time.monotonic()
            try:
                guest.wait(max(0, min(left, 0.1)))
                return True
            except subprocess.TimeoutExpired:
                if left <= 0 or (stop and stop.is_set()):
                    return False
            finally:
                sys.stdout.buffer.write(output.read())
                sys.stdout.flush()


def _end(guest: subprocess.Popen) -> None:
    """Let stage.py end the guest, so that nothing of it is left when this returns."""
    with suppress(BrokenPipeError):
        guest.stdin.close()
    try:
        guest.wait(10)
    except subprocess.TimeoutExpired:
        guest.kill()


@contextmanager
def _lent(folder: Path, uid: int) -> Iterator[None]:
    """Let the guest's user write to a folder, then take what it made there back."""
    owner = folder.stat()
    os.chown(folder, uid, -1)
    try:
        yield
    finally:
        for root, folders, files in os.walk(folder):
            for path in (Path(root, name) for name in folders + files):
                if path.lstat().st_uid == uid:
                    os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
        os.chown(folder, owner.st_uid, owner.st_gid)


@contextmanager
def _free_cpu(cpus: Sequence[int]) -> Iterator[int]:
    """Reserve a CPU among guests of all processes; the first one, unreserved, when all are taken."""
    for cpu in cpus:
        with cache.folder("cpus").joinpath(str(cpu)).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield cpu
            return
    yield cpus[os.getpid() % len(cpus)]
