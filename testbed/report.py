# SPDX-License-Identifier: GPL-2.0
"""Shows rows: tables, and verdicts on what they should show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas
from rich import box
from rich.console import Console
from rich.table import Table

from lab.cache import LabError
from testbed.runs import COUNTERS, Measurement
from testbed.scenario import AS_GIVEN, IN_ORDER, describe

BELOW = {"ceiling": "of_ceiling", "links": "of_links"}


@dataclass(frozen=True)
class Claim:
    """A sender gets at least `least` times another sender's goodput, or its ceiling's or the links' rate, or Mbit/s."""

    sender: str
    least: float
    than: str

    def __str__(self) -> str:
        """Return what is claimed, in words."""
        if self.than == "mbps":
            return f"{self.sender} gets at least {self.least:g} Mbit/s"
        return f"{self.sender} gets at least {self.least:g} x {'its ceiling' if self.than == 'ceiling' else self.than}"


def means(rows: Sequence[dict], measurement: Measurement) -> pandas.DataFrame:
    """Return the mean over runs of every sender's numbers on the path as given, with its ceiling if there is one."""
    frame = pandas.DataFrame([row for row in rows if row["title"] == measurement.title])
    columns = ["goodput_mbps", *COUNTERS]
    grouped = frame[frame["path"] == AS_GIVEN].groupby("sender", sort=False)
    table = grouped[columns].mean()
    table["tcp_recovery"] = grouped["tcp_recovery"].first()
    table["of_links"] = table["goodput_mbps"] / (measurement.path.rate_bps / 1e6)
    if measurement.ceiling:
        table["ceiling_mbps"] = frame[frame["path"] == IN_ORDER].groupby("sender")["goodput_mbps"].mean()
        table["of_ceiling"] = table["goodput_mbps"] / table["ceiling_mbps"]
    return table


def show(rows: Sequence[dict], measurement: Measurement, console: Console) -> None:
    """Print a measurement's table."""
    table = Table(
        title=f"{measurement.title}\n{describe(measurement.path)}",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    columns: list[tuple[str, str, Callable[[float], str]]] = [
        ("loss by", "tcp_recovery", lambda value: "RACK" if int(value) & 1 else "dupACKs"),
        ("Mbit/s", "goodput_mbps", "{:.2f}".format),
        ("of rate", "of_links", "{:.0%}".format),
        ("ceiling", "ceiling_mbps", "{:.2f}".format),
        ("of it", "of_ceiling", "{:.0%}".format),
        ("resent", "retransmitted_segs", "{:.0f}".format),
        ("DSACKs", "dsack_segs", "{:.0f}".format),
        ("timeouts", "timeouts", "{:.1f}".format),
        ("reorderings", "reorderings", "{:.0f}".format),
    ]
    frame = means(rows, measurement)
    shown = [column for column in columns if column[1] in frame]
    table.add_column("sender", no_wrap=True)
    for heading, *_ in shown:
        table.add_column(heading, justify="right", no_wrap=True)
    for sender, numbers in frame.iterrows():
        table.add_row(str(sender), *(form(numbers[name]) for _, name, form in shown))
    runs = "1 run" if measurement.runs == 1 else f"mean of {measurement.runs} runs"
    table.caption = f"Linux {measurement.kernel}, {measurement.seconds} s, {runs}, seed {measurement.seed}"
    table.caption_justify = "left"
    console.print(table)


def judge(claims: Sequence[Claim], rows: Sequence[dict], measurement: Measurement, console: Console) -> bool:
    """Print whether each claim holds and return whether all do."""
    frame = means(rows, measurement)
    verdicts = []
    for claim in claims:
        found = value(claim, frame)
        verdicts.append(found >= claim.least)
        colour, word = ("green", "pass") if verdicts[-1] else ("red", "FAIL")
        console.print(f"  [{colour}]{word}[/] {claim}: {found:.3g}", highlight=False)
    return all(verdicts)


def value(claim: Claim, frame: pandas.DataFrame) -> float:
    """Return the number a claim is about."""
    mine = frame.loc[claim.sender]
    if claim.than == "mbps":
        return float(mine["goodput_mbps"])
    if claim.than in BELOW:
        return float(mine[BELOW[claim.than]])
    return float(mine["goodput_mbps"] / frame.loc[claim.than]["goodput_mbps"])


def check_claims(claims: Sequence[Claim], measurement: Measurement) -> None:
    """Raise LabError for claims on what is not measured."""
    names = [sender.text for sender in measurement.senders]
    for claim in claims:
        if claim.sender not in names or claim.than not in (*names, *BELOW, "mbps"):
            raise LabError(f"'{claim}' cannot be judged: the senders are {', '.join(names)}")
        if claim.than == "ceiling" and not measurement.ceiling:
            raise LabError(f"'{claim}' cannot be judged: the ceiling is not measured")
