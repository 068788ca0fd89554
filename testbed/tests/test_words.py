# SPDX-License-Identifier: GPL-2.0
"""What the testbed makes of the words it is given."""

import pytest

from lab.cache import LabError
from testbed import experiments, netem, scenario, senders
from testbed.report import Claim, check_claims
from testbed.runs import Measurement

JITTER = "delay 200ms 67ms distribution normal loss 0.2%"


@pytest.mark.parametrize(
    "words",
    [
        JITTER,
        "delay 1ms",
        "",
        "loss 1%",
        "delay 50ms 10ms 25%",
        "delay 10ms reorder 25% 50% gap 5",
        "delay 1.5s loss gemodel 1% 10% 70% 0.1% duplicate 1% corrupt 0.1%",
        "loss random 0.3% 25%",
    ],
)
def test_netem_words_come_back_as_given(words):
    assert str(netem.parse(words)) == words


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("dealy 200ms", "'dealy'"),
        ("delay", "'delay' needs a value"),
        ("delay 200", "'200'"),
        ("delay 200ms 67ms 101%", "'101%'"),
        ("delay 200ms 67ms 1% 2%", "'2%'"),
        ("delay 200ms distribution normal", "needs a jitter"),
        ("delay 200ms 67ms distribution gauss", "'gauss'"),
        ("loss 0.2", "'0.2'"),
        ("loss", "'loss' needs a value"),
        ("loss 1% delay 2ms loss 3%", "twice"),
        ("delay 1ms rate 5mbit", "'rate'"),
        ("delay 1ms limit 5", "'limit'"),
        ("delay 1ms seed 5", "--seed"),
        ("reorder 25%", "needs a delay"),
        ("delay 1ms gap 5", "'gap' goes with 'reorder'"),
        ("delay 1ms reorder 25% gap none", "'none'"),
    ],
)
def test_bad_netem_words_are_named(words, named):
    with pytest.raises(LabError) as error:
        netem.parse(words)
    assert named in str(error.value)
    assert "\n" not in str(error.value)


def test_the_ceiling_has_the_same_loss_and_mean_delay_in_order():
    path = scenario.single("10mbit", JITTER, "delay 1ms", 100)
    ceiling = path.in_order()
    assert [str(link.netem) for link in ceiling.links] == ["delay 200000us loss 0.2%"]
    assert (ceiling.rate_bps, ceiling.name) == (path.rate_bps, scenario.IN_ORDER)


def test_packets_that_skip_the_delay_lower_its_mean():
    assert netem.parse("delay 10ms reorder 25%").in_order().delay_ms == 7.5


def test_the_ceiling_of_links_is_one_link_of_their_rate_and_weighted_delay_and_loss():
    path = scenario.several(["rate 30mbit delay 5ms", "rate 10mbit delay 25ms loss 0.4%"], "3:1", "delay 1ms", 100)
    (link,) = path.in_order().links
    assert (link.rate_bps, link.queue, str(link.netem)) == (40_000_000, 200, "delay 10000us loss 0.1%")


def test_the_ceiling_of_unlike_loss_models_is_refused():
    path = scenario.several(["rate 1mbit loss 1%", "rate 1mbit loss gemodel 1% 10%"], None, "", 100)
    with pytest.raises(LabError, match="leave out --ceiling"):
        path.in_order()


@pytest.mark.parametrize(
    ("split", "turns"), [("1:1", [0, 1]), ("2:2", [0, 1]), ("3:1", [0, 0, 1, 0]), ("1:2:1", [1, 0, 2, 1])]
)
def test_turns_are_spread(split, turns):
    paths = [f"rate 10mbit delay {number}ms" for number in range(1, len(split.split(":")) + 1)]
    assert scenario.several(paths, split, "delay 1ms", 100).turns() == turns


@pytest.mark.parametrize("split", ["1", "1:0", "1:1:1", "a:b", "1:x", "-1:1", "1000:1", ""])
def test_bad_splits_are_refused(split):
    with pytest.raises(LabError, match="bad split"):
        scenario.parse_split(split, 2)


@pytest.mark.parametrize("rate", ["10", "10mbits", "0mbit", "mbit", "1kbit", "-5mbit", "200gbit"])
def test_bad_rates_are_refused(rate):
    with pytest.raises(LabError, match="bad rate"):
        scenario.parse_rate(rate)


@pytest.mark.parametrize("rate", ["10mbit", "1.5gbit", "64kbit"])
def test_rates_come_back_as_given(rate):
    assert scenario.format_rate(scenario.parse_rate(rate)) == rate


@pytest.mark.parametrize("paths", [[], ["rate 1mbit"], ["rate 1mbit"] * 17, ["delay 5ms", "rate 1mbit"]])
def test_bad_paths_are_refused(paths):
    with pytest.raises(LabError):
        scenario.several(paths, None, "delay 1ms", 100)


def test_avgdev_comes_with_dupthresh_and_others_with_the_default():
    assert senders.parse("avgdev", "6.12").sysctls[senders.RECOVERY] == "0"
    assert senders.parse("avgdev@recovery=1;profile=paper", "6.12").sysctls[senders.RECOVERY] == "1"
    assert senders.parse("avgdev@profile=paper", "6.12").parameters == {"profile": "paper"}
    assert senders.parse("reno", "6.12").sysctls == {}
    assert senders.parse("reno@recovery=0;net.ipv4.tcp_early_retrans=0", "6.12").sysctls == {
        senders.RECOVERY: "0",
        "net.ipv4.tcp_early_retrans": "0",
    }


@pytest.mark.parametrize(
    ("text", "kernel", "named"),
    [
        ("rneo", "6.12", "unknown sender"),
        ("", "6.12", "unknown sender"),
        ("reno@recovery", "6.12", "KEY=VALUE"),
        ("reno@recovery=zero", "6.12", "0 to 7"),
        ("reno@recovery=0", "7.2", "RACK"),
        ("reno@profile=paper", "6.12", "'profile'"),
        ("avgdev@profile=a b", "6.12", "KEY=VALUE"),
        ("reno@kernel.panic.x=1", "6.12", "bad sysctl"),
        ("reno,reno", "6.12", "twice"),
        ("reno", "six", "bad kernel"),
    ],
)
def test_bad_senders_are_refused(text, kernel, named):
    with pytest.raises(LabError, match=named):
        senders.parse_all(text, kernel)


def test_every_experiment_can_be_read():
    assert all(experiments.load(name, {}).measurements for name in experiments.names())


def test_options_replace_what_an_experiment_says():
    (measurement,) = experiments.load("jitter", {"seconds": 5, "seed": 7}).measurements
    assert (measurement.seconds, measurement.seed) == (5, 7)


ONE = 'about = "x"\n[[path]]\ntitle = "t"\nrate = "1mbit"\nforward = "delay 1ms"\nsenders = "reno"\n'


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("about = ", "experiment x"),
        ('about = "x"\n', "'path' is missing"),
        (ONE.replace('rate = "1mbit"\n', ""), "'rate' is missing"),
        (ONE + "secons = 5\n", "'secons'"),
        (ONE + 'at_least = [{ sender = "cubic", mbps = 1 }]\n', "senders are reno"),
        (ONE + 'at_least = [{ sender = "reno", times = 1, of = "ceiling" }]\n', "not measured"),
    ],
)
def test_bad_experiments_are_refused(text, named):
    with pytest.raises(LabError, match=named):
        experiments.parse("x", text, {})


def test_claims_are_in_words():
    assert str(Claim("avgdev", 0.95, "ceiling")) == "avgdev gets at least 0.95 x its ceiling"
    assert str(Claim("avgdev", 18.5, "mbps")) == "avgdev gets at least 18.5 Mbit/s"


def test_claims_may_be_on_the_rate():
    path = scenario.single("1mbit", "delay 1ms", "", 10)
    check_claims(
        [Claim("reno", 0.5, "links")], Measurement("t", path, senders.parse_all("reno", "6.12"), "6.12", 1, 1, 1)
    )
