# SPDX-License-Identifier: GPL-2.0
"""What guests do with a plan: the same packets for the same seed, turns kept, traces, refusals."""

import json
import subprocess
from dataclasses import replace

import pytest

from lab.cache import LabError
from testbed import experiments, plot, runs

pytestmark = pytest.mark.guest

SHORT = {
    "title": "t",
    "seconds": 5,
    "runs": 1,
    "rate": "10mbit",
    "forward": "delay 50ms 10ms distribution normal loss 0.2%",
}
TWO = {"title": "t", "seconds": 5, "runs": 1, "paths": ["rate 10mbit delay 5ms", "rate 10mbit delay 25ms"]}


def run(folder, **settings):
    """Carry out one measurement; gives its runs and rows."""
    measurement = experiments.measurement(settings)
    rows = runs.execute([measurement], folder, runs.cpus(None), lambda *_: None)
    return runs.plan_runs([measurement], folder), rows


def captures(found):
    return {file.name: file.read_bytes() for file in found.folder.glob("*.pcap")}


def test_a_seed_repeats_every_packet_and_another_does_not(tmp_path):
    seeds = {"first": 1, "again": 1, "other": 2}
    done = {name: run(tmp_path / name, **SHORT, senders="cubic", pcap=True, seed=seed) for name, seed in seeds.items()}
    packets = {name: captures(found) for name, ((found,), _) in done.items()}
    counters = {name: (found.folder / "counters-after.json").read_bytes() for name, ((found,), _) in done.items()}
    assert len(packets["first"]) == 4
    assert min(map(len, packets["first"].values())) > 10_000
    assert packets["again"] == packets["first"]
    assert counters["again"] == counters["first"]
    assert done["again"][1] == done["first"][1]
    assert all(packets["other"][name] != content for name, content in packets["first"].items())


def test_waiting_for_full_reads_changes_no_packet(tmp_path, monkeypatch):
    # Nothing here is random but for sequence numbers, which another program draws differently; losses are the queue's.
    exact = SHORT | {"forward": "delay 50ms", "queue": 50, "senders": "cubic", "sysctls": ["net.ipv4.tcp_timestamps=0"]}
    (found,), _ = run(tmp_path / "with", **exact, pcap=True)
    plan = runs.Run.plan
    monkeypatch.setattr(runs.Run, "plan", lambda self: plan(self) | {"preload": ""})
    (plain,), _ = run(tmp_path / "without", **exact, pcap=True)
    assert data_packets(found, "sender-router") == data_packets(plain, "sender-router")
    assert data_packets(found, "receiver-sender") == data_packets(plain, "receiver-sender")


def data_packets(found, interface):
    """Return what tcpdump tells of the flow's packets from its third to its end, after which iperf3 hangs up."""
    tcpdump = ["tcpdump", "-n", "-ttttt", "-r", found.folder / f"{interface}.pcap", "port 5202"]
    lines = subprocess.run(tcpdump, capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    lines = [line for line in lines if line.split()[0] < "00:00:05"]
    assert len(lines) > 1000
    return lines


@pytest.mark.parametrize("ipv6", [False, True])
@pytest.mark.parametrize(("split", "shares"), [("1:1", (1, 1)), ("3:1", (3, 1))])
def test_links_take_their_turns(tmp_path, ipv6, split, shares):
    (found,), (row,) = run(tmp_path, **TWO, senders="reno@recovery=0", split=split, ipv6=ipv6)
    queues = json.loads((found.folder / "queues-router.json").read_text())
    first, second = (queue["packets"] + queue["drops"] for queue in queues if queue["kind"] == "tbf")
    assert row["goodput_mbps"] > 1
    # IPv6 sends some packets of its own.
    assert abs(first * shares[1] - second * shares[0]) <= 20 * shares[0]


def test_a_trace_has_the_window_and_the_threshold(tmp_path):
    (found,), (row,) = run(tmp_path, **SHORT, senders="avgdev", trace=True)
    series = plot.keep_series(found)
    assert {"cwnd", "dupthresh"} <= set(series["name"])
    assert len(series[series["name"] == "cwnd"]) > 1000
    assert all(file.stat().st_size for file in plot.lines(found, tmp_path / "trace"))
    assert row["tcp_recovery"] == 0


def test_an_unknown_module_parameter_is_refused_before_booting(tmp_path):
    with pytest.raises(LabError, match="no parameter 'colour'"):
        run(tmp_path, **SHORT, senders="avgdev@colour=blue")
    assert not list(tmp_path.iterdir())


def test_a_value_the_module_refuses_is_told(tmp_path):
    with pytest.raises(LabError, match="profile is one of: linux paper"):
        run(tmp_path, **SHORT, senders="avgdev@profile=nonsense")


def test_what_goes_wrong_in_a_guest_is_told(tmp_path):
    measurement = replace(experiments.measurement(SHORT | {"senders": "reno"}), sysctls={"net.ipv4.no_such": "1"})
    with pytest.raises(LabError, match="no_such"):
        runs.execute([measurement], tmp_path, runs.cpus(None), lambda *_: None)
