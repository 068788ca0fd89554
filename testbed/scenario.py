# SPDX-License-Identifier: GPL-2.0
"""What a measurement is made on: one path, or several used per packet in turn."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd

from lab.cache import LabError
from testbed import netem
from testbed.netem import Netem

RATE = re.compile(r"(\d+(?:\.\d+)?)([kmg]?)bit", re.IGNORECASE)
FACTOR = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
# A full-sized packet as queues count it: MTU and Ethernet header.
FRAME_BYTES = 1514
# What a router of such a link might have, 240 ms at 10 Mbit/s; a sender's own overshoot is lost, as it would be.
DEFAULT_QUEUE = 200
MOST_LINKS = 16
MOST_SHARES = 1000

AS_GIVEN = "as given"
IN_ORDER = "in order (ceiling)"


@dataclass(frozen=True)
class Link:
    """A bottleneck of rate_bps with room for queue full-sized packets, then netem; takes `share` packets a round."""

    rate_bps: int
    queue: int
    netem: Netem
    share: int = 1

    def __str__(self) -> str:
        """Return the link in the words of --path."""
        return f"rate {format_rate(self.rate_bps)} {self.netem}".strip()


@dataclass(frozen=True)
class Path:
    """Links that data packets use in turn by their shares; everything comes back over one reverse link."""

    links: tuple[Link, ...]
    reverse: Netem
    name: str = AS_GIVEN

    @property
    def rate_bps(self) -> int:
        """The rate of all links together."""
        return sum(link.rate_bps for link in self.links)

    @property
    def split(self) -> str:
        """The shares as the command line takes them."""
        return ":".join(str(link.share) for link in self.links)

    def turns(self) -> list[int]:
        """Return which link each packet of a round takes, every link's turns spread as evenly as they can be."""
        turns = [
            ((turn + 0.5) / link.share, number) for number, link in enumerate(self.links) for turn in range(link.share)
        ]
        return [number for _, number in sorted(turns)]

    def in_order(self) -> "Path":
        """Return one link of the summed rate and queue, the mean delay for every packet, and the same loss."""
        shares = sum(link.share for link in self.links)
        flat = [link.netem.in_order() for link in self.links]
        mean = flat[0].with_delay(
            sum(link.share * each.delay_ms for link, each in zip(self.links, flat, strict=True)) / shares
        )
        if any((each.loss, each.others) != (mean.loss, mean.others) for each in flat):
            if any(each.loss_percent is None or each.others for each in flat):
                raise LabError(
                    "the ceiling of links that lose packets by different models is not defined: leave out --ceiling"
                )
            loss = sum(link.share * each.loss_percent for link, each in zip(self.links, flat, strict=True)) / shares
            mean = replace(mean, loss=("loss", f"{loss:g}%"), loss_percent=loss)
        link = Link(self.rate_bps, sum(link.queue for link in self.links), mean)
        return replace(self, links=(link,), name=IN_ORDER)

    def conditions(self) -> dict[str, object]:
        """Return what rows say about the path."""
        return {
            "path": self.name,
            "rate": [format_rate(link.rate_bps) for link in self.links],
            "queue": [link.queue for link in self.links],
            "forward": [str(link.netem) for link in self.links],
            "reverse": str(self.reverse),
            "split": self.split,
        }

    def plan(self) -> dict[str, object]:
        """Return what the guest builds."""
        links = [
            {"rate_bps": link.rate_bps, "queue_bytes": link.queue * FRAME_BYTES, "netem": str(link.netem)}
            for link in self.links
        ]
        return {"links": links, "turns": self.turns(), "reverse": str(self.reverse)}


def single(rate: str, forward: str, reverse: str, queue: int) -> Path:
    """Return one path from words such as "10mbit", "delay 200ms 67ms distribution normal" and "delay 1ms"."""
    return Path((Link(parse_rate(rate), queue, netem.parse(forward)),), netem.parse(reverse))


def several(paths: Sequence[str], split: str | None, reverse: str, queue: int) -> Path:
    """Return links from texts such as "rate 10mbit delay 5ms", used by turns as "1:1" tells (evenly by default)."""
    if not 2 <= len(paths) <= MOST_LINKS:
        raise LabError(
            f"a split is over 2 to {MOST_LINKS} paths, each given by --path; there is {len(paths) or 'none'}"
        )
    shares = parse_split(split, len(paths)) if split else [1] * len(paths)
    links = []
    for text, share in zip(paths, shares, strict=True):
        words = text.split()
        if len(words) < 2 or words[0] != "rate":
            raise LabError(f"bad path {text!r}: it must start with its rate, as in 'rate 10mbit delay 5ms'")
        links.append(Link(parse_rate(words[1]), queue, netem.parse(" ".join(words[2:])), share))
    return Path(tuple(links), netem.parse(reverse))


def parse_rate(text: str) -> int:
    """Return bits per second of "10mbit"; raises LabError."""
    match = RATE.fullmatch(text)
    bits = round(float(match[1]) * FACTOR[match[2].lower()]) if match else 0
    if not 8_000 <= bits <= 100 * 10**9:
        raise LabError(f"bad rate {text!r}: it must be like 10mbit, from 8kbit to 100gbit")
    return bits


def format_rate(bits: int) -> str:
    """Return bits per second the way tc reads them."""
    for unit in ("g", "m", "k"):
        if bits >= FACTOR[unit]:
            return f"{bits / FACTOR[unit]:.10g}{unit}bit"
    return f"{bits}bit"


def parse_split(text: str, paths: int) -> list[int]:
    """Return the packets each path takes in a round, smallest numbers of their ratio; raises LabError."""
    words = text.split(":")
    if not all(word.isdecimal() and int(word) for word in words):
        raise LabError(f"bad split {text!r}: it must be whole numbers above 0 such as 1:1")
    if len(words) != paths:
        raise LabError(f"bad split {text!r}: it is for {len(words)} paths, but there are {paths}")
    shares = [int(word) for word in words]
    divisor = gcd(*shares)
    if sum(shares) // divisor > MOST_SHARES:
        raise LabError(f"bad split {text!r}: a round may have at most {MOST_SHARES} packets")
    return [share // divisor for share in shares]


def describe(path: Path) -> str:
    """Return the path in words, for titles."""
    links = " | ".join(str(link) for link in path.links)
    turns = f", {path.split} in turn" if len(path.links) > 1 else ""
    return f"{links}{turns}; back {path.reverse}"
