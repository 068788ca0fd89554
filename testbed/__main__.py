# SPDX-License-Identifier: GPL-2.0
"""The testbed's command line."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import pandas
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lab import kernel, progress
from lab.cache import CHECKOUT, LabError
from testbed import bench, experiments, plot, report, runs, senders
from testbed.report import Claim
from testbed.runs import Measurement, Run
from testbed.scenario import DEFAULT_QUEUE, describe

# Columns of a table that does not go to a terminal.
TABLE_WIDTH = 110

HELP = f"""Measure TCP senders on paths that reorder packets, on real kernels in simulated time.

A sender is {senders.GRAMMAR}: a congestion control of the kernel or of this project. `recovery` sets the
loss detector (net.ipv4.tcp_recovery: 0 is by duplicate ACKs, 1 is RACK); keys with dots are sysctls, others are
parameters of the module. avgdev comes with recovery=0 and net.ipv4.tcp_timestamps=0, the others as the kernel is.

\b
  testbed/run list                    what experiments there are
  testbed/run first-look              today's senders and avgdev on two reordering paths, in under a minute
  testbed/run path --rate 10mbit --fwd "delay 200ms 67ms distribution normal loss 0.2%" --senders avgdev,reno --ceiling
  testbed/run path --rate 10mbit --fwd "delay 50ms" --senders "reno,reno@recovery=0,avgdev@profile=paper"
  testbed/run paths --path "rate 10mbit delay 5ms" --path "rate 10mbit delay 25ms" --senders cubic,avgdev

The exit status is 0 when all went well, 1 when an experiment does not show what it should, 2 for a wrong call.
"""


class ExperimentGroup(click.Group):
    """Commands, and experiments called by their names."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Take what is no command for an experiment."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            return "experiment", experiment, args
        return super().resolve_command(ctx, args)


@click.group(cls=ExperimentGroup, help=HELP, subcommand_metavar="NAME|path|paths|list [OPTIONS]")
def cli() -> None:
    """Show nothing before what was asked for."""


def options(*shared: Callable) -> Callable:
    """Return a decorator that adds several options, shown in the order given."""

    def add(function: Callable) -> Callable:
        for option in reversed(shared):
            function = option(function)
        return function

    return add


OVERRIDES = options(
    click.option("--seconds", type=click.IntRange(1, 100_000), help="Simulated seconds of each flow.  [default: 200]"),
    click.option(
        "--runs", type=click.IntRange(1, 1000), help="Flows of each sender; the i-th has seed SEED+i-1.  [default: 3]"
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**32),
        help="Seed of all random draws, the same for all senders.  [default: 1]",
    ),
    click.option("--kernel", help="Linux version.  [default: 6.12]"),
    click.option(
        "--offloads",
        type=click.Choice(["on", "off"]),
        help="Large packets at the ends (TSO, GSO, GRO).  [default: off]",
    ),
    click.option("--ipv6", is_flag=True, default=None, help="Use IPv6."),
    click.option("--trace", is_flag=True, default=None, help="Keep and draw window and threshold at every ACK."),
    click.option("--pcap", is_flag=True, default=None, help="Keep captures of both ends."),
    click.option("--sysctl", "sysctls", multiple=True, metavar="KEY=VALUE", help="Set at both ends; may be repeated."),
)
OUTPUT = options(
    click.option(
        "--json",
        "json_file",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Where rows go.  [default: results.json in --out]",
    ),
    click.option(
        "--plot",
        "plot_file",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Where the plot goes.  [default: beside the JSON]",
    ),
    click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        help="Folder for raw results.  [default: out/NAME-CONDITIONS]",
    ),
    click.option("--jobs", type=click.IntRange(1), help="Guests side by side.  [default: one a CPU]"),
)
PATH_OPTIONS = options(
    click.option(
        "--rev",
        "reverse",
        default="delay 1ms",
        show_default=True,
        metavar="NETEM",
        help="Delay and loss of acknowledgements.",
    ),
    click.option(
        "--senders",
        default="avgdev,reno,cubic,bbr",
        show_default=True,
        metavar="SENDER,...",
        help="Who sends, one flow at a time.",
    ),
    click.option(
        "--ceiling", is_flag=True, help="Also measure each sender with the same loss and mean delay, in order."
    ),
    click.option(
        "--queue",
        type=click.IntRange(1, 10**6),
        default=DEFAULT_QUEUE,
        show_default=True,
        help="Packets that fit before the bottleneck.",
    ),
)


@cli.command("path")
@click.option("--rate", required=True, help="Rate of the bottleneck, such as 10mbit.")
@click.option(
    "--fwd",
    "forward",
    required=True,
    metavar="NETEM",
    help="Delay, jitter, loss and so on of data, after the bottleneck.",
)
@PATH_OPTIONS
@OVERRIDES
@OUTPUT
def path_command(
    json_file: Path | None, plot_file: Path | None, out: Path | None, jobs: int | None, **settings: object
) -> None:
    r"""Measure senders on one path.

    \b
    testbed/run path --rate 10mbit --fwd "delay 200ms 67ms distribution normal loss 0.2%" --rev "delay 1ms" \\
        --senders avgdev,reno,cubic,bbr --ceiling --seconds 200 --runs 3 --seed 1 --kernel 6.12 --json jitter.json
    """
    carry_out(
        "path",
        [experiments.measurement({"title": "One path", **given(settings)})],
        [[]],
        json_file,
        plot_file,
        out,
        jobs,
    )


@cli.command("paths")
@click.option(
    "--path",
    "paths",
    multiple=True,
    required=True,
    metavar='"rate RATE NETEM"',
    help="One of the paths; repeat for each.",
)
@click.option("--split", help="Packets each path takes in turn, such as 3:1.  [default: 1 each]")
@PATH_OPTIONS
@OVERRIDES
@OUTPUT
def paths_command(
    json_file: Path | None, plot_file: Path | None, out: Path | None, jobs: int | None, **settings: object
) -> None:
    r"""Measure senders whose packets take several paths in turn.

    \b
    testbed/run paths --path "rate 10mbit delay 5ms" --path "rate 10mbit delay 25ms" --split 1:1 \\
        --senders avgdev,cubic,reno@recovery=0 --ceiling --seconds 60
    """
    title = f"{len(settings['paths'])} paths in turn"
    carry_out(
        "paths", [experiments.measurement({"title": title, **given(settings)})], [[]], json_file, plot_file, out, jobs
    )


@click.command()
@click.argument("name", metavar="NAME")
@OVERRIDES
@OUTPUT
def experiment(
    name: str, json_file: Path | None, plot_file: Path | None, out: Path | None, jobs: int | None, **settings: object
) -> None:
    """Run an experiment; the options replace what its file says."""
    found = experiments.load(name, given(settings))
    carry_out(name, found.measurements, found.claims, json_file, plot_file, out, jobs)


@cli.command("list")
def list_command() -> None:
    """List the experiments."""
    for name in experiments.names():
        click.echo(f"{name:20}{experiments.load(name, {}).about}")


@cli.command("bench")
def bench_command() -> None:
    """Time the lab and the module; takes some minutes and wants a machine with nothing else to do."""
    bench.run()


def given(settings: dict[str, object]) -> dict[str, object]:
    """Return the settings that were given, in the form experiments know."""
    kept = {name: value for name, value in settings.items() if value not in (None, ())}
    if "offloads" in kept:
        kept["offloads"] = kept["offloads"] == "on"
    return kept


def carry_out(
    name: str,
    measurements: Sequence[Measurement],
    claims: Sequence[Sequence[Claim]],
    json_file: Path | None,
    plot_file: Path | None,
    out: Path | None,
    jobs: int | None,
) -> None:
    """Measure, show, keep and judge; exits with status 1 when a claim does not hold."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else TABLE_WIDTH)
    out = out or Path("out") / default_folder(name, measurements)
    json_file = json_file or out / "results.json"
    plot_file = plot_file or json_file
    for version in dict.fromkeys(measurement.kernel for measurement in measurements):
        kernel.build(version)
    for file in (json_file, plot_file):
        file.parent.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    rows = run_with_progress(measurements, out.absolute(), runs.cpus(jobs))
    took = time.monotonic() - begin
    pandas.DataFrame(rows).to_json(json_file, orient="records", indent=1)

    good = True
    for measurement, wanted in zip(measurements, claims, strict=True):
        report.show(rows, measurement, console)
        good &= report.judge(wanted, rows, measurement, console)
    files = plot.bars(rows, measurements, plot_file)
    for run in runs.plan_runs(measurements, out.absolute()):
        if run.measurement.trace:
            files += plot.lines(run, run.folder / "trace")[:1]
    simulated = sum(row["seconds"] for row in rows)
    console.print(f"{len(rows)} flows, {simulated} simulated seconds in {took:.0f} s.")
    console.print(f"Rows: {shown(json_file)}   raw: {shown(out)}/", soft_wrap=True)
    console.print(f"Plots: {' '.join(map(shown, files))}", soft_wrap=True)
    if not good:
        sys.exit(1)


def run_with_progress(measurements: Sequence[Measurement], out: Path, cpus: Sequence[int]) -> list[dict[str, object]]:
    """Run everything, showing how far it is: a bar on a terminal, else a line for each finished flow."""
    console = Console(stderr=True)
    if not console.is_terminal:

        def say(run: Run, finished: int, total: int) -> None:
            print(f"testbed: {finished}/{total} {run}", file=sys.stderr, flush=True)

        return runs.execute(measurements, out, cpus, say)

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        return runs.execute(
            measurements,
            out,
            cpus,
            lambda run, finished, total: bar.update(task, completed=finished, total=total, description=str(run)),
        )


def default_folder(name: str, measurements: Sequence[Measurement]) -> str:
    """Return a folder's name that tells an experiment's conditions."""
    first = measurements[0]
    words = [name]
    if name in ("path", "paths"):
        words.append(describe(first.path))
    words += [first.kernel, f"{first.seconds}s", f"seed {first.seed}"]
    return runs.slug(" ".join(words))[:200]


def shown(path: Path) -> str:
    """Return a path as short as it can be told from here."""
    return os.path.relpath(path) if path.is_absolute() and path.is_relative_to(CHECKOUT) else str(path)


def main() -> None:
    """Run the command line; what the user can act on is one sentence on stderr and exit status 2."""
    try:
        sys.exit(cli(prog_name="testbed/run", standalone_mode=False))
    except click.ClickException as error:
        fail(error.format_message())
    except progress.CommandFailed as failure:
        print(*failure.last_lines, sep="\n", file=sys.stderr)
        fail(str(failure))
    except (LabError, OSError) as error:
        fail(str(error))
    except (KeyboardInterrupt, click.Abort):
        print("testbed: interrupted", file=sys.stderr)
        sys.exit(130)


def fail(sentence: str) -> None:
    """Say what is wrong and end."""
    print(f"testbed: {sentence}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
