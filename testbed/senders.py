# SPDX-License-Identifier: GPL-2.0
"""Who sends: congestion controls of the kernel and of this project, with the settings a run gives them."""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.cache import CHECKOUT, LabError
from lab.kernel import CONFIG

GRAMMAR = "NAME[@KEY=VALUE[;KEY=VALUE]...]"
# Senders that decide by a number of duplicate ACKs.
BY_DUPTHRESH = {"avgdev"}
# The first kernel that has no other loss detector than RACK.
RACK_ONLY = (6, 17)
RECOVERY = "net.ipv4.tcp_recovery"
# What such a sender needs: RACK must not decide for it, and with timestamps the receiver discards (PAWS) every original
# that is still under way when a retransmission of something older arrives.
FOR_DUPTHRESH = {RECOVERY: "0", "net.ipv4.tcp_timestamps": "0"}
SYSCTL = re.compile(r"net(\.[a-z0-9_-]+){2,}")
VALUE = re.compile(r"[A-Za-z0-9_.,:+-]+")


@dataclass(frozen=True)
class Sender:
    """A congestion control as asked for; parameters are its module's, sysctls hold in the sender's namespace."""

    text: str
    algorithm: str
    ours: bool
    parameters: Mapping[str, str] = field(default_factory=dict)
    sysctls: Mapping[str, str] = field(default_factory=dict)


def parse_all(text: str, kernel: str) -> list[Sender]:
    """Return the senders of a list such as "avgdev,reno@recovery=0"; raises LabError for what cannot be run."""
    senders = [parse(word.strip(), kernel) for word in text.split(",")]
    names = [sender.text for sender in senders]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise LabError(f"sender {repeated[0]!r} is there twice")
    return senders


def parse(text: str, kernel: str) -> Sender:
    """Return the sender of a text like "reno@recovery=0" or "avgdev@profile=paper" on a kernel like "6.12"."""
    algorithm, _, settings = text.partition("@")
    if not re.fullmatch(r"\d+\.\d+", kernel):
        raise LabError(f"bad kernel {kernel!r}: it must be a version such as 6.12")
    ours = find_ours()
    known = sorted({*find_kernels(), *ours})
    if algorithm not in known:
        raise LabError(f"unknown sender {algorithm!r}: there are {', '.join(known)}")
    rack_only = tuple(map(int, kernel.split("."))) >= RACK_ONLY
    parameters: dict[str, str] = {}
    sysctls: dict[str, str] = {}
    if algorithm in BY_DUPTHRESH and not rack_only:
        sysctls |= FOR_DUPTHRESH
    for setting in settings.split(";") if settings else []:
        name, equals, value = setting.partition("=")
        if not equals or not VALUE.fullmatch(value):
            raise LabError(f"bad sender {text!r}: {setting!r} is not KEY=VALUE")
        if name == "recovery":
            if not value.isdigit() or int(value) > 7:
                raise LabError(f"bad sender {text!r}: recovery is net.ipv4.tcp_recovery, a number from 0 to 7")
            if rack_only and not int(value) & 1:
                raise LabError(
                    f"bad sender {text!r}: Linux {kernel} detects losses by RACK only, recovery={value} changes nothing"
                )
            sysctls[RECOVERY] = value
        elif "." in name:
            sysctls |= dict([parse_sysctl(setting)])
        elif algorithm not in ours:
            raise LabError(f"bad sender {text!r}: {algorithm} takes recovery= and sysctls, not {name!r}")
        else:
            parameters[name] = value
    return Sender(text, algorithm, algorithm in ours, parameters, sysctls)


def parse_sysctl(text: str) -> tuple[str, str]:
    """Return the name and value of "net.ipv4.tcp_sack=0"; raises LabError for anything but a setting below net."""
    name, equals, value = text.partition("=")
    if not equals or not SYSCTL.fullmatch(name) or not VALUE.fullmatch(value.replace(" ", "_")):
        raise LabError(f"bad sysctl {text!r}: it is not like net.ipv4.tcp_sack=0")
    return name, value


def check_parameters(sender: Sender, modules: Path) -> None:
    """Raise LabError if the sender's module, among the built ones in a folder, lacks a parameter it is to be given."""
    if sender.parameters:
        modinfo = ["modinfo", "-F", "parm", modules / f"tcp_{sender.algorithm}.ko"]
        described = subprocess.run(modinfo, capture_output=True, text=True, check=True).stdout
        offered = sorted(line.partition(":")[0] for line in described.splitlines())
        for name in sender.parameters:
            if name not in offered:
                raise LabError(
                    f"bad sender {sender.text!r}: there is no parameter {name!r}, there are {', '.join(offered)}"
                )


def find_ours() -> set[str]:
    """Return the names of this project's senders."""
    return {
        path.stem.removeprefix("tcp_")
        for path in CHECKOUT.glob("tcp_*/tcp_*.c")
        if "struct tcp_congestion_ops" in path.read_text()
    }


def find_kernels() -> set[str]:
    """Return the names of the senders that the lab's kernels have of their own."""
    configured = re.findall(r"^CONFIG_TCP_CONG_(\w+)=[ym]$", CONFIG.read_text(), re.MULTILINE)
    return {"reno", *(name.lower() for name in configured if name != "ADVANCED")}
