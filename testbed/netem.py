# SPDX-License-Identifier: GPL-2.0
"""The words of tc's netem that a path may use, checked before anything is booted."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lab.cache import LabError

TIME = re.compile(r"(\d+(?:\.\d+)?)(s|secs?|ms|msecs?|us|usecs?)")
PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")
MILLISECONDS = {"s": 1e3, "m": 1.0, "u": 1e-3}
DISTRIBUTIONS = ("usr/lib/tc/*.dist", "usr/lib/*/tc/*.dist", "usr/share/tc/*.dist")
NOT_HERE = {
    "rate": "a netem with a rate keeps packets in order: say the rate outside the netem words",
    "limit": "the testbed gives the delay line all the room it needs",
    "seed": "the seed of all random draws is --seed",
}
PERCENT_WORDS = ("duplicate", "corrupt")


@dataclass(frozen=True)
class Netem:
    """What happens to packets between a bottleneck and the next box; delays in milliseconds, parts in percent."""

    delay_ms: float = 0
    delay: tuple[str, ...] = ()
    reorder: tuple[str, ...] = ()
    reorder_percent: float = 0
    loss: tuple[str, ...] = ()
    loss_percent: float | None = 0
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the words as tc takes them."""
        return " ".join((*self.delay, *self.reorder, *self.loss, *self.others))

    def in_order(self) -> "Netem":
        """Return the same with its mean delay for every packet, so that none overtakes another."""
        mean = self.delay_ms * (1 - self.reorder_percent / 100)
        return replace(self.with_delay(mean), reorder=(), reorder_percent=0)

    def with_delay(self, delay_ms: float) -> "Netem":
        """Return the same with a constant delay."""
        return replace(self, delay_ms=delay_ms, delay=("delay", f"{delay_ms * 1000:.0f}us"))


def parse(text: str) -> Netem:
    """Return what netem words such as "delay 200ms 67ms distribution normal loss 0.2%" mean.

    Raises LabError, one sentence that names the words, when tc would not take them or the testbed has no use for them.
    """
    words = text.split()
    parts: dict[str, list[str]] = {}
    name = None
    for word in words:
        if word in NOT_HERE:
            raise LabError(f"bad netem words {text!r}: {word!r} is not for you to set, {NOT_HERE[word]}")
        if word in ("delay", "distribution", "reorder", "gap", "loss", *PERCENT_WORDS):
            if word in parts:
                raise LabError(f"bad netem words {text!r}: {word!r} is there twice")
            name = word
            parts[name] = []
        elif name is None:
            raise LabError(f"bad netem words {text!r}: {word!r} is none of delay, loss, reorder, duplicate, corrupt")
        else:
            parts[name].append(word)

    check = _Checker(text)
    delay, reorder, loss = parts.get("delay", []), parts.get("reorder", []), parts.get("loss", [])
    if "delay" in parts:
        check.count("delay", delay, 1, 3)
        times = [check.time("delay", word) for word in delay[:2]]
        check.percents("delay", delay[2:])
    if "distribution" in parts:
        check.distribution(parts["distribution"], jitter=len(delay) > 1)
        delay = [*delay, "distribution", *parts["distribution"]]
    if "reorder" in parts:
        check.reorder(reorder, delay)
    if "gap" in parts:
        if "reorder" not in parts:
            check.fail("'gap' goes with 'reorder'")
        check.gap(parts["gap"])
        reorder = [*reorder, "gap", *parts["gap"]]
    loss_percent = check.loss(loss) if "loss" in parts else 0
    for word in PERCENT_WORDS:
        if word in parts:
            check.count(word, parts[word], 1, 2)
            check.percents(word, parts[word])
    return Netem(
        delay_ms=times[0] if delay else 0,
        delay=("delay", *delay) if delay else (),
        reorder=("reorder", *reorder) if reorder else (),
        reorder_percent=float(reorder[0][:-1]) if reorder else 0,
        loss=("loss", *loss) if loss else (),
        loss_percent=loss_percent,
        others=tuple(_flat((word, *parts[word]) for word in PERCENT_WORDS if word in parts)),
    )


def _flat(groups: Iterator[tuple[str, ...]]) -> Iterator[str]:
    for group in groups:
        yield from group


class _Checker:
    """Refuses single words, naming the text they are from."""

    def __init__(self, text: str) -> None:
        self.text = text

    def fail(self, why: str) -> None:
        raise LabError(f"bad netem words {self.text!r}: {why}")

    def count(self, name: str, words: list[str], least: int, most: int) -> None:
        if len(words) < least:
            self.fail(f"{name!r} needs a value")
        if len(words) > most:
            self.fail(f"{words[most]!r} is one word too many after {name!r}")

    def time(self, name: str, word: str) -> float:
        match = TIME.fullmatch(word)
        if not match:
            self.fail(f"{word!r} after {name!r} is no time such as 200ms")
        return float(match[1]) * MILLISECONDS[match[2][0]]

    def percents(self, name: str, words: list[str]) -> list[float]:
        found = []
        for word in words:
            match = PERCENT.fullmatch(word)
            if not match or float(match[1]) > 100:
                self.fail(f"{word!r} after {name!r} is no percentage such as 0.2%")
            found.append(float(match[1]))
        return found

    def distribution(self, words: list[str], *, jitter: bool) -> None:
        self.count("distribution", words, 1, 1)
        known = {"uniform", *(file.stem for pattern in DISTRIBUTIONS for file in Path("/").glob(pattern))}
        if words[0] not in known:
            self.fail(f"{words[0]!r} is none of the distributions {', '.join(sorted(known))}")
        if not jitter:
            self.fail("a distribution needs a jitter: delay MEAN JITTER distribution NAME")

    def reorder(self, words: list[str], delay: list[str]) -> None:
        self.count("reorder", words, 1, 2)
        self.percents("reorder", words)
        if not delay:
            self.fail("'reorder' lets packets skip the delay, so it needs a delay")

    def gap(self, words: list[str]) -> None:
        self.count("gap", words, 1, 1)
        if not words[0].isdigit() or not int(words[0]):
            self.fail(f"{words[0]!r} after 'gap' is no number of packets")

    def loss(self, words: list[str]) -> float | None:
        """Return the percentage lost, None when it depends on a model's state."""
        kind = words[0] if words and words[0] in ("random", "gemodel", "state") else ""
        values = words[1:] if kind else words
        most = {"": 2, "random": 2, "gemodel": 4, "state": 5}[kind]
        self.count("loss", values, 1, most)
        percents = self.percents("loss", values)
        return percents[0] if kind in ("", "random") else None
