# SPDX-License-Identifier: GPL-2.0
"""Draws rows as bars, and traces as lines over time."""

import re
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import pandas
from matplotlib.figure import Figure

from testbed import report
from testbed.runs import Measurement, Run
from testbed.scenario import describe

mpl.rcParams["svg.hashsalt"] = "tcp-reorder"
FORMATS = (".png", ".svg")
EVENT = re.compile(r"\s(\d+\.\d+): (\w+): (.*)")
FIELD = re.compile(r"(\w+)=(\S+)")
SERIES = {
    "tcp_probe": {"snd_cwnd": "cwnd", "ssthresh": "ssthresh", "srtt": "srtt_us"},
    "tcp_reorder_threshold": {"new": "dupthresh"},
}
UNDO = "tcp_reorder_undo"
# The slow start threshold as it is before there is one.
NO_SSTHRESH = 0x7FFFFFFF


def bars(rows: Sequence[dict], measurements: Sequence[Measurement], file: Path) -> list[Path]:
    """Draw every sender's goodput on each path, ceilings as outlines; return the files, a PNG and an SVG."""
    figure = Figure(
        figsize=(7, 0.9 + sum(0.75 + 0.34 * len(each.senders) for each in measurements)), layout="constrained"
    )
    panels = figure.subplots(
        len(measurements),
        squeeze=False,
        gridspec_kw={"height_ratios": [1 + len(each.senders) for each in measurements]},
    )
    for axes, measurement in zip(panels[:, 0], measurements, strict=True):
        frame = report.means(rows, measurement).iloc[::-1]
        drawn = axes.barh(frame.index, frame["goodput_mbps"], color="#3b6fb6", label="received")
        axes.bar_label(drawn, labels=[f"{value:.2f}" for value in frame["goodput_mbps"]], padding=3, fontsize=8)
        if measurement.ceiling:
            axes.barh(
                frame.index,
                frame["ceiling_mbps"],
                fill=False,
                edgecolor="#888888",
                linestyle="--",
                label="same path, in order",
            )
        axes.set_xlim(0, 1.12 * measurement.path.rate_bps / 1e6)
        axes.set_title(f"{measurement.title}\n{describe(measurement.path)}", fontsize=8, loc="left")
        axes.tick_params(labelsize=8)
    if any(each.ceiling for each in measurements):
        figure.legend(*panels[0, 0].get_legend_handles_labels(), fontsize=7, loc="outside lower right", ncols=2)
    panels[-1, 0].set_xlabel(
        f"goodput, Mbit/s (Linux {', '.join(dict.fromkeys(each.kernel for each in measurements))})", fontsize=8
    )
    return save(figure, file)


def lines(run: Run, file: Path) -> list[Path]:
    """Draw a run's window and threshold over time from its trace, kept as series.csv.gz; return the files drawn."""
    series = keep_series(run)
    figure = Figure(figsize=(7, 5), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    cwnd = series[series["name"] == "cwnd"]
    upper.plot(cwnd["time_s"], cwnd["value"], drawstyle="steps-post", linewidth=0.7, label="cwnd")
    for undo in series[series["name"] == "undo"]["time_s"]:
        upper.axvline(undo, color="#d08020", linewidth=0.3)
    upper.set_ylabel("packets")
    upper.legend(fontsize=7)
    threshold = series[series["name"] == "dupthresh"]
    if len(threshold):
        threshold = pandas.concat([threshold, threshold.tail(1).assign(time_s=series["time_s"].max())])
        lower.plot(
            threshold["time_s"],
            threshold["value"],
            drawstyle="steps-post",
            linewidth=0.7,
            color="#a03050",
            label="dupthresh",
        )
        lower.set_ylabel("segments")
    else:
        rtt = series[series["name"] == "srtt_us"]
        lower.plot(rtt["time_s"], rtt["value"] / 1000, linewidth=0.7, color="#508030", label="smoothed RTT")
        lower.set_ylabel("ms")
    lower.legend(fontsize=7)
    lower.set_xlabel("s")
    upper.set_title(
        f"{run.sender.text}, {run.path.name}, run {run.number}\n{describe(run.path)}", fontsize=8, loc="left"
    )
    return save(figure, file)


def keep_series(run: Run) -> pandas.DataFrame:
    """Turn the raw trace into (time_s, name, value), time from the first event on; replaces the far larger raw file."""
    raw, kept = run.folder / "trace.txt", run.folder / "series.csv.gz"
    if raw.exists():
        with raw.open() as text:
            points = [point for line in text if (match := EVENT.search(line)) for point in _points(*match.groups())]
        series = pandas.DataFrame(points, columns=["time_s", "name", "value"])
        series["time_s"] = (series["time_s"] - series["time_s"].min()).round(6)
        series.to_csv(kept, index=False)
        raw.unlink()
    return pandas.read_csv(kept)


def save(figure: Figure, file: Path) -> list[Path]:
    """Write a figure as PNG and SVG beside each other."""
    files = [file.with_suffix(suffix) for suffix in FORMATS]
    for each in files:
        each.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(each, dpi=150, metadata={"Date": None} if each.suffix == ".svg" else None)
    return files


def _points(time: str, event: str, fields: str) -> list[tuple[float, str, int]]:
    values = dict(FIELD.findall(fields))
    if event == UNDO:
        return [(float(time), "undo", int(values["new"]))]
    names = SERIES.get(event, {})
    found = [(float(time), name, int(values[field])) for field, name in names.items()]
    return [point for point in found if point[1] != "ssthresh" or point[2] < NO_SSTHRESH]
