# SPDX-License-Identifier: GPL-2.0
r"""Runs inside a guest: builds the path with Mininet, sends one flow over it, leaves raw results.

    sender -- router -- link1 -- receiver        data: the router's queues are the bottlenecks,
         \         `--- link2 ----/  /           each link then delays, loses, reorders
          `-------------------------'            acknowledgements: straight back, delayed at the receiver

Reads plan.json from the results folder and writes there: iperf3's two reports, the sender's counters before and after,
the queues' statistics, the commands that made the network, and on request a trace and captures.
Uses Mininet and the standard library only; the clock stands still while it computes.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from mininet.link import Link
from mininet.node import Node

RESULTS = Path(os.environ["LAB_RESULTS"])
TRACING = Path("/sys/kernel/tracing")
PORT, SENDER_PORT = 5201, 5202
# What the receiver waits for: larger is faster, and up to this much is not counted at the end.
BLOCK = "32K"
# Enough for any delay line; netem counts the packets it delays.
DELAY_LINE_PACKETS = 1_000_000
FRAME_BYTES = 1514
CAPTURED_BYTES = 128
# Seconds until tcpdump surely listens, and until it has written what it has heard.
CAPTURE_SETTLES_S = 2
TRACE_KB = 96 * 1024
# Seconds the flow may take longer than asked for until it is given up.
PATIENCE_S = 120

SYSCTLS = {
    4: {
        "net.ipv4.conf.all.rp_filter": 0,
        "net.ipv4.conf.default.rp_filter": 0,
        "net.ipv6.conf.default.disable_ipv6": 1,
    },
    6: {
        "net.ipv6.conf.default.addr_gen_mode": 1,
        "net.ipv6.conf.default.accept_ra": 0,
        "net.ipv6.conf.default.accept_dad": 0,
    },
}
# What follows an address: IPv6 would not use one before its link is up, but for nodad.
PREFIX = {4: "/24", 6: "/64 nodad"}
ALONE = {4: "", 6: " nodad"}
FORWARDING = {4: {"net.ipv4.ip_forward": 1}, 6: {"net.ipv6.conf.all.forwarding": 1}}


class MeasurementError(Exception):
    """The measurement cannot be made; the message says why."""


class Box:
    """A Mininet node whose configuration is collected, kept with the results, and applied at once."""

    def __init__(self, name: str, family: int, *, forwards: bool) -> None:
        self.node = Node(name)
        self.name, self.family = name, family
        self.ip: list[str] = []
        self.tc: list[str] = []
        self.nft: list[str] = []
        self.sysctl(SYSCTLS[family] | (FORWARDING[family] if forwards else {}))

    def run(self, *argv: str) -> str:
        """Run a program here; raises MeasurementError with what it said when it fails."""
        done = self.node.popen(list(argv), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = done.communicate()
        if done.returncode:
            raise MeasurementError(f"{' '.join(argv)} failed on {self.name}: {(err or out).strip()}")
        return out

    def start(self, argv: list[str], output: Path, **environment: str) -> subprocess.Popen:
        """Start a program here with its output, and what it complains of, in files."""
        with output.open("w") as out, output.with_suffix(".err").open("w") as err:
            return self.node.popen(argv, stdout=out, stderr=err, env=os.environ | environment)

    def sysctl(self, settings: dict[str, object]) -> None:
        """Set what /proc/sys/net has of this namespace."""
        if settings:
            self.run("sysctl", "-q", "-w", *(f"{name}={value}" for name, value in settings.items()))

    def apply(self) -> None:
        """Apply what has been collected."""
        for lines, argv in (
            (self.ip, ["ip", f"-{self.family}", "-batch"]),
            (self.tc, ["tc", "-batch"]),
            (self.nft, ["nft", "-f"]),
        ):
            if lines:
                script = RESULTS / "network" / f"{self.name}.{argv[0]}"
                script.write_text("\n".join(lines) + "\n")
                self.run(*argv, str(script))


class Network:
    """The boxes, the links between them, and the two addresses the flow is between."""

    def __init__(self, plan: dict) -> None:
        self.plan, self.family, self.connections = plan, plan["family"], 0
        self.sender_address, self.receiver_address = self.address(0, 1), self.address(0, 2)
        self.sender = Box("sender", self.family, forwards=False)
        self.router = Box("router", self.family, forwards=True)
        self.links = [Box(f"link{number}", self.family, forwards=True) for number in range(1, len(plan["links"]) + 1)]
        self.receiver = Box("receiver", self.family, forwards=False)
        self.boxes = [self.sender, self.router, *self.links, self.receiver]

        (RESULTS / "network").mkdir()
        self.route(self.sender, self.router, self.receiver_address, source=self.sender_address)
        several = len(self.links) > 1
        for number, (link, box) in enumerate(zip(plan["links"], self.links, strict=True), start=1):
            self.route(self.router, box, self.receiver_address, table=number if several else 0)
            if several:
                self.router.ip.append(f"rule add fwmark {number} lookup {number}")
            self.route(box, self.receiver, self.receiver_address)
            self.router.tc.append(
                f"qdisc add dev router-{box.name} root tbf "
                f"rate {link['rate_bps']}bit burst {FRAME_BYTES} limit {link['queue_bytes']}"
            )
            self.delay(box, self.receiver, link["netem"])
        self.route(self.receiver, self.sender, self.sender_address, source=self.receiver_address)
        self.delay(self.receiver, self.sender, plan["reverse"])
        if several:
            self.router.nft.append(self.split())
        for box in self.boxes:
            box.apply()
        self.offload("on" if plan["offloads"] else "off")

    def address(self, subnet: int, host: int) -> str:
        """Return an address; subnet 0 holds the two ends of the flow, the others one link each."""
        return f"10.0.{subnet}.{host}" if self.family == 4 else f"fd00:{subnet}::{host}"

    def route(self, box: Box, towards: Box, destination: str, source: str = "", table: int = 0) -> None:
        """Connect two boxes and send what goes to a destination from the first to the second, by a table if given.

        An end of the flow is given its source address here; it takes packets to that address from all its links.
        """
        self.connections += 1
        ends = ((box, towards, 1), (towards, box, 2))
        macs = {host: f"02:00:00:00:{self.connections:02x}:{host:02x}" for host in (1, 2)}
        names = {host: f"{mine.name}-{other.name}" for mine, other, host in ends}
        Link(box.node, towards.node, intfName1=names[1], intfName2=names[2], addr1=macs[1], addr2=macs[2])
        addresses = {host: self.address(self.connections, host) for host in (1, 2)}
        for mine, _, host in ends:
            peer = 3 - host
            mine.ip += [
                f"addr add {addresses[host]}{PREFIX[self.family]} dev {names[host]}",
                f"link set {names[host]} up",
                f"neigh add {addresses[peer]} lladdr {macs[peer]} dev {names[host]} nud permanent",
            ]
        if source:
            box.ip.append(f"addr add {source}{ALONE[self.family]} dev {names[1]}")
        words = [f"src {source}"] * bool(source) + [f"table {table}"] * bool(table)
        box.ip.append(" ".join([f"route add {destination} via {addresses[2]}", *words]))

    def delay(self, box: Box, towards: Box, words: str) -> None:
        """Treat what goes from one box to the next as netem words say; no words, no delay."""
        if words:
            box.tc.append(f"qdisc add dev {box.name}-{towards.name} root netem limit {DELAY_LINE_PACKETS} {words}")

    def split(self) -> str:
        """Return the nftables rule that marks packets, in turn, with the number of the link to take."""
        turns = self.plan["turns"]
        marks = ", ".join(f"{turn} : {link + 1}" for turn, link in enumerate(turns))
        return f"""table inet split {{
	chain prerouting {{
		type filter hook prerouting priority mangle
		iifname "router-sender" meta mark set numgen inc mod {len(turns)} map {{ {marks} }}
	}}
}}"""

    def offload(self, state: str) -> None:
        """Switch what makes or takes packets larger than the links' on or off at both ends."""
        for box in (self.sender, self.receiver):
            for interface in box.node.intfNames():
                box.run(
                    "ethtool",
                    "-K",
                    interface,
                    *(word for name in ("tx", "tso", "gso", "gro") for word in (name, state)),
                )

    def stop(self) -> None:
        """End the boxes' shells."""
        for box in self.boxes:
            box.node.terminate()


def load(sender: dict) -> None:
    """Load the module of a congestion control of ours, with its parameters; the kernel finds its own."""
    if sender["ours"]:
        words = [f"{name}={value}" for name, value in sender["parameters"].items()]
        done = subprocess.run(
            ["modprobe", f"tcp_{sender['algorithm']}", *words], capture_output=True, text=True, check=False
        )
        if done.returncode:
            log = subprocess.run(["dmesg", "--notime"], capture_output=True, text=True, check=True).stdout.splitlines()
            told = [line for line in log if re.match(r"tcp_\w+: (?!loading out-of-tree)", line)]
            raise MeasurementError(f"cannot load tcp_{sender['algorithm']}: {[*told, done.stderr.strip()][0]}")


def count(box: Box, name: str) -> None:
    """Keep all counters of a box's namespace."""
    (RESULTS / name).write_text(box.run("nstat", "-a", "-s", "-z", "-j"))


def start_trace() -> None:
    """Record what the kernel knows of the sender's connection at every acknowledgement, and our modules' events."""
    settings = {"buffer_size_kb": TRACE_KB, "trace_clock": "mono"}
    events = TRACING / "events"
    settings["events/tcp/tcp_probe/filter"] = f"sport == {SENDER_PORT}"
    settings["events/tcp/tcp_probe/enable"] = 1
    if (events / "tcp_reorder").exists():
        settings["events/tcp_reorder/filter"] = f"sport == {SENDER_PORT}"
        settings["events/tcp_reorder/enable"] = 1
    for name, value in settings.items():
        (TRACING / name).write_text(str(value))


def stop_trace() -> None:
    """Keep what was recorded."""
    (TRACING / "tracing_on").write_text("0")
    with (TRACING / "trace").open("rb") as trace, (RESULTS / "trace.txt").open("wb") as kept:
        while block := trace.read(1 << 20):
            kept.write(block)


def capture(box: Box) -> list[subprocess.Popen]:
    """Start keeping the heads of all packets at a box's interfaces, to the nanosecond."""
    words = ["-n", "-s", str(CAPTURED_BYTES), "--time-stamp-precision=nano", "-w", "-"]
    return [box.start(["tcpdump", "-i", name, *words], RESULTS / f"{name}.pcap") for name in box.node.intfNames()]


def send(network: Network, plan: dict) -> None:
    """Run one flow for the planned time; raises MeasurementError if iperf3 reports an error."""
    limit = str(plan["seconds"] + PATIENCE_S)
    server_words = ["iperf3", "--server", "--one-off", "--json", "--interval", "0", "--port", str(PORT)]
    server = network.receiver.start(
        ["timeout", limit, *server_words], RESULTS / "iperf3-receiver.json", LD_PRELOAD=plan["preload"]
    )
    # At a whole second, so that the kernel's ticks fall alike in all flows; the server listens by then.
    time.sleep(2 - time.time() % 1)
    words = ["iperf3", "--client", network.receiver_address, "--port", str(PORT), "--cport", str(SENDER_PORT)]
    words += ["--time", str(plan["seconds"]), "--congestion", plan["sender"]["algorithm"], "--length", BLOCK]
    words += ["--interval", "0", "--json"]
    report = RESULTS / "iperf3-sender.json"
    status = network.sender.start(["timeout", limit, *words], report).wait()
    if status:
        server.terminate()
    server.wait()
    try:
        error = json.loads(report.read_text()).get("error")
    except ValueError:
        error = report.with_suffix(".err").read_text().strip() or f"it ended with status {status}"
    if error:
        raise MeasurementError(f"iperf3: {error}")


def measure(plan: dict) -> None:
    """Do all there is to do in this guest."""
    sender = plan["sender"]
    network = Network(plan)
    load(sender)
    network.sender.sysctl(plan["sysctls"] | sender["sysctls"])
    network.receiver.sysctl(plan["sysctls"])
    captures = [*capture(network.sender), *capture(network.receiver)] if plan["pcap"] else []
    if captures:
        time.sleep(CAPTURE_SETTLES_S)
    if plan["trace"]:
        start_trace()
    count(network.sender, "counters-before.json")
    send(network, plan)
    count(network.sender, "counters-after.json")
    count(network.receiver, "counters-receiver.json")
    if plan["trace"]:
        stop_trace()
    if captures:
        time.sleep(CAPTURE_SETTLES_S)
    for each in captures:
        each.send_signal(signal.SIGINT)
        if each.wait():
            raise MeasurementError("tcpdump failed")
    (RESULTS / "recovery").write_text(network.sender.run("sysctl", "-n", "net.ipv4.tcp_recovery"))
    for box in network.boxes[1:]:
        (RESULTS / f"queues-{box.name}.json").write_text(box.run("tc", "-s", "-j", "qdisc", "show"))
    network.stop()


def main() -> int:
    """Measure; the sentence that says what went wrong is the last line of the output."""
    try:
        measure(json.loads((RESULTS / "plan.json").read_text()))
    except MeasurementError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
