# SPDX-License-Identifier: GPL-2.0
"""Experiments: one TOML file each, which says what is measured and what it should show."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.cache import LabError
from testbed import scenario, senders
from testbed.report import Claim, check_claims
from testbed.runs import Measurement
from testbed.scenario import DEFAULT_QUEUE

FOLDER = Path(__file__).with_name("experiments")
COMMON = {
    "seconds": 200,
    "runs": 3,
    "seed": 1,
    "kernel": "6.12",
    "ceiling": False,
    "offloads": False,
    "ipv6": False,
    "trace": False,
}
COMMON |= {"pcap": False, "sysctls": [], "reverse": "delay 1ms", "queue": DEFAULT_QUEUE}
OF_ONE_PATH = {"title", "rate", "forward", "paths", "split", "senders", "at_least"}


@dataclass(frozen=True)
class Experiment:
    """A named set of measurements and the claims on each."""

    name: str
    about: str
    measurements: list[Measurement]
    claims: list[list[Claim]]


def names() -> list[str]:
    """Return the names of all experiments."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str, overrides: Mapping[str, object]) -> Experiment:
    """Return an experiment, some of its common settings replaced; raises LabError for an unknown name or a bad file."""
    if name not in names():
        raise LabError(f"unknown experiment {name!r}: there are {', '.join(names())}")
    return parse(name, (FOLDER / f"{name}.toml").read_text(), overrides)


def parse(name: str, text: str, overrides: Mapping[str, object]) -> Experiment:
    """Return the experiment that a TOML text describes; raises LabError for what is wrong with it.

    At the top: about, and any of the settings in COMMON. Then [[path]] tables: a title, either rate and forward or
    paths and split, senders, and at_least, the claims on what comes out. A path may have common settings of its own.
    """
    try:
        content = tomllib.loads(text)
        tables = content.pop("path")
        about = content.pop("about")
        measurements, claims = [], []
        for table in tables:
            if unknown := sorted({*content, *table} - OF_ONE_PATH - set(COMMON)):
                raise LabError(f"experiment {name}: unknown setting {unknown[0]!r}")
            wanted = [_claim(words) for words in table.pop("at_least", [])]
            measurements.append(measurement(content | table | dict(overrides)))
            check_claims(wanted, measurements[-1])
            claims.append(wanted)
    except KeyError as missing:
        raise LabError(f"experiment {name}: {missing} is missing") from missing
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"experiment {name}: {error}") from error
    return Experiment(name, about, measurements, claims)


def measurement(settings: Mapping[str, object]) -> Measurement:
    """Return what is to be measured, all words checked; raises LabError for a bad one, KeyError for a missing one."""
    chosen = COMMON | settings
    if "paths" in chosen:
        path = scenario.several(chosen["paths"], chosen.get("split"), chosen["reverse"], chosen["queue"])
    else:
        path = scenario.single(chosen["rate"], chosen["forward"], chosen["reverse"], chosen["queue"])
    found = Measurement(
        title=chosen["title"],
        path=path,
        senders=senders.parse_all(chosen["senders"], chosen["kernel"]),
        kernel=chosen["kernel"],
        family=6 if chosen["ipv6"] else 4,
        sysctls=dict(senders.parse_sysctl(text) for text in chosen["sysctls"]),
        **{name: chosen[name] for name in ("seconds", "runs", "seed", "ceiling", "offloads", "trace", "pcap")},
    )
    found.paths()
    return found


def _claim(words: Mapping[str, object]) -> Claim:
    if "mbps" in words:
        return Claim(words["sender"], words["mbps"], "mbps")
    return Claim(words["sender"], words["times"], words["of"])
