# SPDX-License-Identifier: GPL-2.0
"""Guests: what they give back, what they cannot reach, and that none outlives its front end."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from lab import cache, guest

pytestmark = pytest.mark.guest

SOME_OF_EVERYTHING = """
head -c 64 /dev/urandom | sha256sum
date +%s%N
python3 -c 'import os, random; print(random.random(), os.getpid())'
ip netns add far
ip link add near type veth peer name eth0 netns far
ip addr add 10.0.0.1/24 dev near; ip link set near up
ip -n far addr add 10.0.0.2/24 dev eth0; ip -n far link set eth0 up
tc qdisc add dev near root netem delay 10ms 3ms loss 1%
cat /sys/class/net/near/address
iperf3 -s -D -1
ip netns exec far iperf3 -c 10.0.0.1 -R -t 20 -b 10M
nstat -az
date +%s%N
"""

WHAT_IS_PROMISED = """
set -ex
[ "$(id -u)" = 0 ]
[ "$PWD" = /run/lab/checkout ]
[ -x lab/run ]
[ "$LAB_CHECKOUT $LAB_RESULTS $LAB_TOOLS" = "/run/lab/checkout /run/lab/results /run/lab/tools" ]
[ "$(command -v iperf3)" = /run/lab/tools/bin/iperf3 ]
ip link show lo | grep -q '<LOOPBACK,UP'
[ -d /sys/kernel/tracing/events/tcp ]
[ -c /dev/ptmx ]
[ "$(zcat /proc/config.gz | grep -x CONFIG_HZ=100)" ]
echo x > /etc/lab-was-here
modprobe tcp_westwood
grep -q westwood /proc/sys/net/ipv4/tcp_available_congestion_control
sysctl -qw net.ipv4.tcp_congestion_control=vegas
ip link add b0 type bond
ip link add i0 type ifb
ip tunnel add t0 mode ipip remote 10.0.0.1
"""

TRY_TO_WRITE_TO_THE_HOST = """
mkdir /tmp/host && mount -t hostfs -o / none /tmp/host || exit 9
for folder in /etc /run /run/lab/checkout /run/lab/kernel /run/lab/tools /tmp /var/tmp /dev/shm /usr/local /root /home
do
	touch /tmp/host$folder/lab-was-here 2> /dev/null && echo "$folder"
done
sh -c 'echo "# lab" >> /tmp/host/etc/passwd' 2> /dev/null && echo passwd
mount -o remount,rw /tmp/host && touch /tmp/host/etc/lab-was-here 2> /dev/null && echo remounted
touch /tmp/host/run/lab/results/allowed
"""


def run(kernel, command, results, **more):
    return guest.run(kernel, ["sh", "-c", command], results=results, **{"timeout_s": 60} | more)


def processes(word):
    """Return the processes of this machine whose command line has a word in it."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if word in (entry / "cmdline").read_bytes().decode(errors="replace"):
                found.append(entry.name)
        except OSError:
            continue
    return found


def wait_until(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_status_output_and_results_come_back(any_kernel, tmp_path):
    result = run(any_kernel, "uname -r; echo told > $LAB_RESULTS/file; exit 7", tmp_path)
    assert (result.exit_status, result.timed_out, result.kernel_warnings) == (7, False, [])
    assert result.console.read_text() == f"{any_kernel.release}\n"
    assert (tmp_path / "file").read_text() == "told\n"
    assert {path.stat().st_uid for path in (tmp_path, *tmp_path.iterdir())} == {os.getuid()}


def test_the_command_reaches_the_guest_word_by_word(long_term_kernel, tmp_path):
    words = ["a b", "'", '"', "$HOME", "*", "back\\slash", "ü", ""]
    result = guest.run(long_term_kernel, ["printf", "<%s>\\n", *words], results=tmp_path, timeout_s=60)
    assert result.console.read_text() == "".join(f"<{word}>\n" for word in words)


def test_the_guest_is_as_promised(any_kernel, tmp_path):
    result = run(any_kernel, WHAT_IS_PROMISED, tmp_path)
    assert result.passed, result.console.read_text()
    assert not Path("/etc/lab-was-here").exists()


def test_guest_root_cannot_write_to_the_host(any_kernel, tmp_path):
    seen = {path: path.stat().st_mtime_ns for path in (Path("/etc"), Path("/etc/passwd"), cache.CHECKOUT)}
    result = run(any_kernel, TRY_TO_WRITE_TO_THE_HOST, tmp_path)
    written = result.console.read_text().split()
    assert set(written) <= {"/tmp", "/dev/shm"}, "those two are memory of the guest's own"
    assert (tmp_path / "allowed").exists()
    assert {path: path.stat().st_mtime_ns for path in seen} == seen
    assert not any(Path(folder, "lab-was-here").exists() for folder in ("/tmp", "/dev/shm", "/etc"))


def test_the_guest_sees_no_process_and_no_network_of_the_host(long_term_kernel, tmp_path):
    command = (
        "mkdir /tmp/p; mount -t hostfs -o /proc none /tmp/p; readlink /tmp/p/1/ns/net /tmp/p/self/ns/net; ls /tmp/p"
    )
    spaces, processes = [], []
    for line in run(long_term_kernel, command, tmp_path).console.read_text().splitlines():
        (spaces if line.startswith("net:") else processes).append(line)
    assert len(spaces) == 1, "the first process is root's, out of the guest's reach"
    assert spaces[0] != str(Path("/proc/self/ns/net").readlink())
    assert str(os.getpid()) not in processes


def test_a_kernel_complaint_fails_the_run(long_term_kernel, tmp_path):
    result = run(long_term_kernel, "echo 'BUG: sleeping function called from invalid context' > /dev/kmsg", tmp_path)
    assert result.exit_status == 0
    assert len(result.kernel_warnings) == 1
    assert not result.passed


def test_a_dying_kernel_is_told_from_a_failing_command(long_term_kernel, tmp_path):
    result = run(long_term_kernel, "echo c > /proc/sysrq-trigger; sleep 5", tmp_path)
    assert result.exit_status == -1
    assert not result.timed_out
    assert any("panic" in line for line in result.kernel_warnings)


def test_a_timeout_ends_everything(long_term_kernel, tmp_path):
    result = run(long_term_kernel, "echo begun; while :; do :; done", tmp_path, timeout_s=3, memory_mb=131)
    assert result.timed_out
    assert result.exit_status == -1
    assert result.wall_s < 6
    assert result.console.read_text() == "begun\n"
    assert not processes("mem=131M")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_process_outlives_its_front_end(long_term_kernel, tmp_path, number):
    memory_mb = 140 + number
    argv = [sys.executable, "-m", "lab", "boot", "--no-modules", f"--memory={memory_mb}", f"--results={tmp_path}", "--"]
    # Where this runs in the background of a script, SIGINT is ignored, and a child would inherit that.
    heeds = partial(signal.signal, number, signal.SIG_DFL) if number != signal.SIGKILL else None
    command = [*argv, "sh", "-c", "while :; do :; done"]
    front_end = subprocess.Popen(command, cwd=cache.CHECKOUT, preexec_fn=heeds)
    wait_until(lambda: processes(f"mem={memory_mb}M"), 20)
    front_end.send_signal(number)
    front_end.wait(10)
    wait_until(lambda: not processes(f"mem={memory_mb}M"), 5)


def test_the_same_seed_gives_the_same_run_and_another_does_not(any_kernel, tmp_path):
    jobs = [
        guest.Job(any_kernel, ["sh", "-c", SOME_OF_EVERYTHING], tmp_path / str(number), 120, seed)
        for number, seed in enumerate((1, 1, 2))
    ]
    results = guest.run_many(jobs)
    assert all(result.passed for result in results)
    first, second, other = (result.console.read_text() for result in results)
    assert first == second
    assert first.splitlines()[0] != other.splitlines()[0]
    assert first.splitlines()[-1] != other.splitlines()[-1]
    assert results[0].kernel_log.read_text() == results[1].kernel_log.read_text()


def test_guests_run_side_by_side_each_on_a_cpu(long_term_kernel, tmp_path):
    cpus = sorted(os.sched_getaffinity(0))
    command = ["sh", "-c", "sleep 1000; echo > $LAB_RESULTS/mine"]
    jobs = [guest.Job(long_term_kernel, command, tmp_path / str(number), 60) for number in range(2 * len(cpus))]
    done = []
    with guest.Pool() as pool:
        results = pool.run(jobs, lambda job, result: done.append((job.results.name, result.exit_status)))
    assert [result.console.parent for result in results] == [job.results for job in jobs]
    assert sorted(done) == sorted((str(number), 0) for number in range(len(jobs)))
    assert all((job.results / "mine").exists() for job in jobs)
