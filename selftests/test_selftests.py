# SPDX-License-Identifier: GPL-2.0
"""The shell tests in guests, and the tests of the arithmetic as a KUnit module and as an ordinary program.

Every selected shell test boots in a guest of its own, side by side, before the first of them is judged.
SELFTESTS_KERNEL names another kernel version than 6.12, SELFTESTS_DEBUG=1 takes the kernel with its own checks.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tap.parser import Parser

from lab import cache, guest, kernel, modules

HERE = Path(__file__).parent
SCRIPTS = sorted(path.stem for path in HERE.glob("*.sh") if path.name != "lib.sh")
NEEDS_RACK_ONLY = {"refusal"}
RACK_ONLY_VERSION = "7.2"
DEBUG = bool(int(os.environ.get("SELFTESTS_DEBUG") or "0"))
VERSION = os.environ.get("SELFTESTS_KERNEL") or "6.12"
# Seconds of the host's time; KASAN and lockdep are slow.
TIMEOUT_S = 600 if DEBUG else 120
SKIPPED = 4
LOG_LINES = 25


@pytest.fixture(scope="session")
def default_kernel():
    """Return the kernel under test."""
    return built(VERSION)


@pytest.fixture(scope="session")
def shell_runs(request, tmp_path_factory):
    """Run the selected scripts and return, by name, what became of each guest: a result, or why there was none."""
    selected = {item.callspec.params["script"] for item in request.session.items if "shell_runs" in item.fixturenames}
    runs, jobs = {}, []
    for script in sorted(selected):
        try:
            if script in NEEDS_RACK_ONLY:
                chosen = kernel.build(RACK_ONLY_VERSION)
            else:
                chosen = kernel.build(VERSION, debug=DEBUG)
        except kernel.KernelUnavailable as reason:
            runs[script] = reason
            continue
        jobs.append(
            guest.Job(
                kernel=chosen,
                command=[f"selftests/{script}.sh"],
                results=tmp_path_factory.mktemp(script),
                timeout_s=TIMEOUT_S,
                modules=modules.build(chosen),
                name=script,
            )
        )
    runs.update(zip((job.name for job in jobs), guest.run_many(jobs), strict=True))
    return runs


def built(version):
    """Return a kernel, or skip the test that asks for it."""
    try:
        return kernel.build(version, debug=DEBUG)
    except kernel.KernelUnavailable as reason:
        pytest.skip(str(reason))


def failures_of(text):
    """Return what is wrong with a TAP stream: tests that failed with their diagnostics, or an unkept plan."""
    lines = list(Parser().parse_text(text))
    wrong, in_failure = [], False
    for line in lines:
        if line.category == "test":
            in_failure = not line.ok
        if line.category == "bail" or (in_failure and line.category in ("test", "diagnostic")):
            wrong.append(str(line))
    plans = [line for line in lines if line.category == "plan"]
    tests = [line for line in lines if line.category == "test"]
    if len(plans) != 1 or plans[0].expected_tests != len(tests):
        wrong.append(f"{len(tests)} results, planned: {' '.join(map(str, plans)) or 'nothing'}")
    return wrong


def tail(path):
    """Return the end of a log."""
    return "\n".join(path.read_text(errors="replace").splitlines()[-LOG_LINES:])


def judge(result):
    """Fail or skip as a guest's TAP, exit status and kernel log tell."""
    text = result.console.read_text(errors="replace")
    told = f"\n--- end of its output\n{tail(result.console)}\n--- end of the kernel log\n{tail(result.kernel_log)}"
    assert not result.timed_out, f"not done after {result.wall_s:.0f} s{told}"
    assert not result.kernel_warnings, "the kernel complains: " + "\n".join(result.kernel_warnings) + told
    if result.exit_status == SKIPPED:
        pytest.skip(next((line.partition("# SKIP ")[2] for line in text.splitlines() if "# SKIP " in line), text))
    wrong = failures_of(text)
    assert not wrong, "\n".join(wrong) + told
    assert result.exit_status == 0, f"exit status {result.exit_status}{told}"


@pytest.mark.guest
@pytest.mark.parametrize("script", SCRIPTS)
def test_shell(script, shell_runs):
    result = shell_runs[script]
    if not isinstance(result, guest.GuestResult):
        pytest.skip(str(result))
    judge(result)


@pytest.mark.guest
def test_kunit(default_kernel, tmp_path):
    for name in ("selftests", "tcp_reorder", "tcp_avgdev"):
        shutil.copytree(cache.CHECKOUT / name, tmp_path / name)
    source, built_modules = tmp_path / "selftests/kunit", tmp_path / "modules"
    make = ["make", "-C", default_kernel.build_dir, f"M={source}", "ARCH=um", f"-j{os.cpu_count()}", "modules"]
    done = subprocess.run(make, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    built_modules.mkdir()
    shutil.move(source / "reorder_kunit.ko", built_modules)

    result = guest.run(
        default_kernel,
        ["insmod", "/run/lab/modules/reorder_kunit.ko"],
        results=tmp_path / "results",
        modules=built_modules,
        timeout_s=TIMEOUT_S,
    )
    assert result.exit_status == 0, tail(result.kernel_log)
    assert not result.kernel_warnings, result.kernel_warnings
    # The kernel's own, empty, results come first.
    log = result.kernel_log.read_text()
    *_, begin = re.finditer(r"^\[[ .0-9]*\] KTAP version", log, re.MULTILINE)
    kunit = default_kernel.source_dir / "tools/testing/kunit/kunit.py"
    parse = [sys.executable, "-B", kunit, "parse"]
    parsed = subprocess.run(parse, input=log[begin.start() :], capture_output=True, text=True, check=False)
    assert parsed.returncode == 0, parsed.stdout


def test_unit_program(tmp_path):
    program = tmp_path / "unit"
    subprocess.run([HERE / "unit/build", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert not failures_of(done.stdout), done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
