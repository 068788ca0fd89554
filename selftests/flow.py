#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""One TCP connection, step by step, and what the kernel tells of it.

flow.py receive PORT [--connections N] [--rcvbuf BYTES] [--pause SECONDS]
    Accept N connections (default 1), one after the other or side by side, read each to its end, print "N bytes", or
    "N bytes, reset". --pause: wait before the first read.

flow.py send [--times N] ADDRESS PORT STEP...
    Connect, then take the steps in order:
      data:N        send N segments of 1000 bytes in one call
      drip:N:MS     send N segments, one each MS milliseconds
      acked         wait until all data is acknowledged
      sleep:MS      do nothing
      info:LABEL    print a line LABEL NAME=VALUE... of TCP_INFO, and of AVG-DEV's own where that is in use
      ss:LABEL      print the same connection as ss(8) sees it
      cc:NAME       choose the congestion control
      sndbuf:BYTES  bound the send buffer
      mss:BYTES     bound the segment size; before connecting, as are cc and sndbuf if they come first
      run:COMMAND   run a shell command
      close         close with data in flight
      abort         reset the connection
    Without close or abort the connection is closed when all is acknowledged. --times: that many connections in turn.
"""

import argparse
import fcntl
import selectors
import socket
import struct
import subprocess
import sys
import termios
import time

SEGMENT = bytes(1000)
TCP_CC_INFO = 26
POLL_S = 0.005
# struct tcp_info of linux/tcp.h up to tcpi_snd_wnd, and the names of what the tests look at
TCP_INFO = struct.Struct("@8B24I4Q6I4Q2I2Q4I")
TCP_INFO_NAMES = {
    1: "ca_state",
    2: "retransmits",
    8: "rto",
    10: "snd_mss",
    12: "unacked",
    13: "sacked",
    14: "lost",
    15: "retrans",
    23: "rtt",
    24: "rttvar",
    25: "ssthresh",
    26: "cwnd",
    28: "reordering",
    31: "total_retrans",
    47: "delivered_ce",
    50: "dsack_dups",
    51: "reord_seen",
}
AVGDEV_INFO = struct.Struct("@5I")
AVGDEV_INFO_NAMES = ("threshold", "avg_q16", "mdev_q16", "samples", "timeouts")
BEFORE_CONNECTING = ("cc", "sndbuf", "mss")


def info(sock: socket.socket) -> str:
    """Return NAME=VALUE words for the state of a connection."""
    values = TCP_INFO.unpack(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO.size))
    words = {name: values[index] for index, name in TCP_INFO_NAMES.items()}
    control = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
    words["cc"] = control
    if control == "avgdev":
        own = AVGDEV_INFO.unpack(sock.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, AVGDEV_INFO.size))
        words.update(zip(AVGDEV_INFO_NAMES, own, strict=True))
    return " ".join(f"{name}={value}" for name, value in words.items())


def seen_by_ss(sock: socket.socket) -> str:
    """Return the line ss(8) prints for a connection."""
    query = ["ss", "-tinOH", f"sport = :{sock.getsockname()[1]}"]
    return subprocess.run(query, check=True, capture_output=True, text=True).stdout.strip()


def wait_acked(sock: socket.socket) -> None:
    """Wait until the peer has acknowledged everything, or the connection is gone."""
    while struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)))[0]:
        if error := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(error, "connection lost")
        time.sleep(POLL_S)


def set_option(sock: socket.socket, step: str, value: str) -> None:
    """Take one of the steps that may come before connecting."""
    if step == "cc":
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, value.encode())
    elif step == "sndbuf":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, int(value))
    else:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, int(value))


def take(sock: socket.socket, step: str, value: str) -> None:
    """Take one step of a connected sender."""
    match step:
        case "data":
            sock.sendall(SEGMENT * int(value))
        case "drip":
            count, pause_ms = value.split(":")
            for _ in range(int(count)):
                sock.sendall(SEGMENT)
                time.sleep(int(pause_ms) / 1000)
        case "acked":
            wait_acked(sock)
        case "sleep":
            time.sleep(int(value) / 1000)
        case "info":
            print(value, info(sock), flush=True)
        case "ss":
            print(value, seen_by_ss(sock), flush=True)
        case "run":
            sys.stdout.flush()
            subprocess.run(value, shell=True, check=True)
        case "close":
            sock.close()
        case "abort":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()
        case _ if step in BEFORE_CONNECTING:
            set_option(sock, step, value)
        case _:
            raise SystemExit(f"flow.py: no step {step!r}")


def send(address: str, port: int, steps: list[str], times: int) -> None:
    """Run connections, one after the other."""
    for _ in range(times):
        connect_and_send(address, port, steps)


def connect_and_send(address: str, port: int, steps: list[str]) -> None:
    """Run one connection."""
    todo = [step.partition(":")[::2] for step in steps]
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while todo and todo[0][0] in BEFORE_CONNECTING:
            set_option(sock, *todo.pop(0))
        sock.connect((address, port))
        for step, value in todo:
            take(sock, step, value)
        if sock.fileno() >= 0:
            wait_acked(sock)


def read(sock: socket.socket) -> tuple[int, str]:
    """Return how many bytes could be read, 0 at the end, and a word on an end that is none."""
    try:
        return len(sock.recv(1 << 20)), ""
    except ConnectionError:
        return 0, ", reset"


def receive(port: int, connections: int, rcvbuf: int, pause: float) -> None:
    """Read connections to their ends, side by side."""
    server = socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    with selectors.DefaultSelector() as ready, server:
        if rcvbuf:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        ready.register(server, selectors.EVENT_READ, None)
        while ready.get_map():
            for key, _ in ready.select():
                if key.data is None:
                    connection, _ = server.accept()
                    time.sleep(pause)
                    ready.register(connection, selectors.EVENT_READ, [0])
                    connections -= 1
                    if not connections:
                        ready.unregister(server)
                    continue
                got, how = read(key.fileobj)
                key.data[0] += got
                if not got:
                    print(f"{key.data[0]} bytes{how}", flush=True)
                    ready.unregister(key.fileobj)
                    key.fileobj.close()


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    roles = parser.add_subparsers(dest="role", required=True)
    sender = roles.add_parser("send")
    sender.add_argument("--times", type=int, default=1)
    sender.add_argument("address")
    sender.add_argument("port", type=int)
    sender.add_argument("steps", nargs="*")
    receiver = roles.add_parser("receive")
    receiver.add_argument("port", type=int)
    receiver.add_argument("--connections", type=int, default=1)
    receiver.add_argument("--rcvbuf", type=int, default=0)
    receiver.add_argument("--pause", type=float, default=0)
    options = vars(parser.parse_args())
    {"send": send, "receive": receive}[options.pop("role")](**options)


if __name__ == "__main__":
    main()
