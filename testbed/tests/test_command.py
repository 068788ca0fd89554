# SPDX-License-Identifier: GPL-2.0
"""Wrong calls: one sentence on stderr, exit status 2, nothing written."""

import sys

import pytest

from lab.kernel import KernelUnavailable
from testbed import __main__, runs

PATH = ["path", "--rate", "10mbit", "--fwd", "delay 20ms"]
PATHS = ["paths", "--path", "rate 10mbit delay 5ms", "--path", "rate 10mbit delay 25ms"]


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Call the command line in an empty folder; gives the exit status and what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["testbed/run", *words])
        with pytest.raises(SystemExit) as ended:
            __main__.main()
        return ended.value.code or 0, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["frist-look"], "unknown experiment 'frist-look'"),
        ([*PATH, "--senders", "avgdevv"], "unknown sender 'avgdevv'"),
        ([*PATH, "--rev", "delay 1"], "bad netem words 'delay 1'"),
        ([*PATH, "--kernel", "latest"], "bad kernel 'latest'"),
        ([*PATH, "--seconds", "0"], "--seconds"),
        ([*PATH, "--jobs", "0"], "--jobs"),
        ([*PATH, "--queue", "0"], "--queue"),
        ([*PATH, "--sysctl", "net.ipv4.tcp_sack"], "bad sysctl"),
        ([*PATH, "--offloads", "maybe"], "--offloads"),
        ([*PATH, "--no-such-option"], "--no-such-option"),
        (["path", "--rate", "ten", "--fwd", "delay 20ms"], "bad rate 'ten'"),
        (["path", "--fwd", "delay 20ms"], "--rate"),
        ([*PATHS, "--split", "1:2:3"], "bad split '1:2:3'"),
        (PATHS[:3], "2 to 16 paths"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_status_2(words, named, call, tmp_path):
    status, said, complaint = call(*words)
    assert (status, said) == (2, "")
    assert named in complaint
    assert complaint.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_missing_kernel_is_one_sentence_and_status_2(monkeypatch, call):
    def unavailable(_version):
        raise KernelUnavailable("there is no such kernel")

    monkeypatch.setattr(runs.kernel, "build", unavailable)
    assert call(*PATH) == (2, "", "testbed: there is no such kernel\n")


@pytest.mark.parametrize("words", [["--help"], ["path", "--help"], ["paths", "--help"], ["jitter", "--help"]])
def test_help_shows_how_to_call(words, call):
    status, said, _ = call(*words)
    assert (status, "testbed/run" in said) == (0, True)


def test_the_list_names_all_experiments(call):
    status, said, _ = call("list")
    assert (status, "first-look" in said) == (0, True)
