# SPDX-License-Identifier: GPL-2.0
"""The lab's command line."""

import os
import sys
import tempfile
from pathlib import Path

import click

from lab import cache, check, guest, headers, kernel, modules, progress, tools

KERNEL = click.option(
    "--kernel", "version", default="6.12", show_default=True, metavar="VERSION", help="Linux version, such as 7.2."
)
LINUX = click.option(
    "--linux",
    envvar="LINUX",
    metavar="PATH",
    help="Kernel tree or tarball of your own, used for the version it is. [environment: LINUX]",
)
DEBUG = click.option("--debug", is_flag=True, help="Use a kernel with its own checks: KASAN, lockdep, kmemleak.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    r"""Build real Linux kernels and boot them as guests, in simulated time, on this machine's own files.

    A guest is User Mode Linux: an ordinary process with a real kernel in it. Its clock jumps while it is idle and
    stands still while it computes, so 1000 simulated seconds take a few real ones and the machine's load does not
    show. It sees this machine's files read-only, its own writes vanish, and what it puts into its results folder
    stays.

    \b
    lab/run boot -- uname -a
    lab/run boot --kernel 7.2 --results /tmp/out -- sh -c 'sleep 1000; date > /run/lab/results/later'

    Everything downloaded or built goes to ~/.cache/tcp-reorder (TCP_REORDER_CACHE names another place).
    """


@cli.command()
@KERNEL
@LINUX
@DEBUG
def build(version: str, linux: str | None, debug: bool) -> None:
    """Build a guest kernel, unless that was done before, and print its path.

    The source is Debian's linux-source package of that version, found in whatever suite has it.
    """
    _use(linux)
    click.echo(kernel.build(version, debug=debug).binary)


@cli.command()
@KERNEL
@LINUX
@DEBUG
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help="Decides all randomness.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=600,
    show_default=True,
    metavar="SECONDS",
    help="End the guest after this much real time.",
)
@click.option("--cpu", type=click.IntRange(min=0), help="CPU to run on.  [default: one without a guest]")
@click.option("--memory", type=click.IntRange(min=64), default=512, show_default=True, metavar="MB", help="Memory.")
@click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder the guest can write to, at /run/lab/results; console.log and kernel.log are kept there.  "
    "[default: a new one below /tmp]",
)
@click.option("--modules/--no-modules", "with_modules", default=True, help="Make this project's modules loadable.")
@click.argument("command", nargs=-1, required=True)
def boot(
    version: str,
    linux: str | None,
    debug: bool,
    seed: int,
    timeout: float,
    cpu: int | None,
    memory: int,
    results: Path | None,
    with_modules: bool,
    command: tuple[str, ...],
) -> None:
    """Boot a guest, run COMMAND in it as root, and exit as COMMAND did.

    The guest has the checkout at /run/lab/checkout (where COMMAND starts), a writable folder at /run/lab/results,
    tracefs, network namespaces, and `modprobe` knows this project's modules. Nothing is loaded beforehand.

    Exits 1 when the kernel warns of a fault of its own, whatever COMMAND did, and 124 after a timeout.
    """
    _use(linux)
    built = kernel.build(version, debug=debug)
    results = results or Path(tempfile.mkdtemp(prefix="lab-"))
    result = guest.run(
        built,
        list(command),
        results=results,
        timeout_s=timeout,
        seed=seed,
        cpu=cpu,
        modules=modules.build(built) if with_modules else None,
        memory_mb=memory,
        echo=True,
    )
    for line in result.kernel_warnings:
        cache.say(f"kernel: {line}")
    if result.timed_out:
        cache.say(f"ended after {timeout:g} s; its output is in {results}")
        sys.exit(124)
    if result.exit_status < 0:
        raise cache.LabError(f"the guest's kernel stopped before the command was done; see {result.kernel_log}")
    if result.kernel_warnings:
        cache.say(f"the kernel found a fault of its own; see {result.kernel_log}")
        sys.exit(1)
    sys.exit(result.exit_status)


@cli.command(name="headers")
def headers_command() -> None:
    """Fetch Debian's stock kernel headers 6.1, 6.12 and 7.2 and print a KDIR to build modules against for each."""
    unavailable = []
    for version in headers.VERSIONS:
        try:
            click.echo(headers.fetch(version))
        except kernel.KernelUnavailable as reason:
            unavailable.append(reason)
    if unavailable:
        raise cache.LabError("; ".join(map(str, unavailable)))


@cli.command(name="modules")
@KERNEL
@LINUX
@DEBUG
def modules_command(version: str, linux: str | None, debug: bool) -> None:
    """Build this project's modules for a guest kernel and print the folder they are in."""
    _use(linux)
    click.echo(modules.build(kernel.build(version, debug=debug)))


@cli.command(name="check")
def check_command() -> None:
    """Check the project's C, Python and shell without running it; exits 1 when anything is found."""
    sys.exit(not check.run())


@cli.command(name="tools", hidden=True)
def tools_command() -> None:
    """Make the programs guests need and this machine lacks (part of lab/setup)."""
    tools.prepare()


def _use(linux: str | None) -> None:
    if linux:
        os.environ["LINUX"] = linux


def main() -> None:
    """Run the command line; what the user can act on is one sentence on stderr and exit status 2."""
    try:
        cli(prog_name="lab/run")
    except progress.CommandFailed as failure:
        print(*failure.last_lines, sep="\n", file=sys.stderr)
        cache.say(str(failure))
        sys.exit(2)
    except (cache.LabError, OSError) as error:
        cache.say(str(error))
        sys.exit(2)


if __name__ == "__main__":
    main()
