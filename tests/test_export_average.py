"""Marks by an average in the files of every target: the next weight that it has, or the loss."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

import export_plans
from priolane.export.deployment import Deployment
from priolane.export.plan import ExportPlan
from priolane.export.tc import Line

AVERAGE = (("scheme.%s.port.ecn.average", "0.002"),)


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    return export_plans.write_experiment(tmp_path)


def changes(target: str, plan: ExportPlan, qdisc: Deployment | None = None) -> list[str]:
    return [str(change) for change in export_plans.run(target, plan, qdisc).findings.changed]


def test_the_weight_of_an_average_is_the_next_power_of_two_or_is_said_to_be_lost(experiment: Path) -> None:
    plan = export_plans.make(experiment, "dctcp", AVERAGE)
    assert plan.marking is not None
    assert plan.marking.average == 0.002
    # 0.002 is nearest to 2^-9 = 1/512.
    for target, file, words in (
        ("eos", "leaf/eos.cfg", "max-mark-probability 100 weight 9\n"),
        ("nxos", "leaf/nxos.cfg", "drop-probability 100 weight 9 ecn\n"),
    ):
        assert words in export_plans.run(target, plan).files[file]
        assert "ecn.average 1/500 is 1/512: switches have powers of two: off by -2.3 %" in changes(target, plan)
    lost = "marks by an average of the queue, ecn.average 0.002: by the queue itself: ConfigDB has no weight"
    assert any(line.startswith(lost) for line in changes("sonic", plan, Deployment(memory=3_000_000)))
    plain = export_plans.make(experiment, "dctcp")
    assert "weight 0\n" in export_plans.run("eos", plain).files["leaf/eos.cfg"]
    assert not any("average of the queue" in line for line in changes("sonic", plain, Deployment(memory=3_000_000)))


def test_red_gets_the_burst_from_which_tc_finds_the_weight(experiment: Path) -> None:
    plan = export_plans.make(experiment, "dctcp", AVERAGE)
    text = export_plans.run("tc", plan).files["leaf/switch.sh"]
    # K is 65 packets of 1514 B at 10G. Of bursts from 65 on, 206 is the first with
    # burst + 1 - 65 > (1 - (1 - 2^-8)^burst) 2^8, so that tc takes 2^-9.
    assert "port swp1 10000000000 98410" in text
    assert re.search(r"^port swp1 10000000000 98410 \d+ 206$", text, re.MULTILINE)
    assert 206 + 1 - 65 > (1 - (1 - 2**-8) ** 206) * 2**8
    assert 205 + 1 - 65 <= (1 - (1 - 2**-8) ** 205) * 2**8
    assert not any("counts half" in line for line in changes("tc", plan))


@pytest.mark.parametrize("packets", [Fraction(11, 10), Fraction(2), Fraction(20), Fraction(65), Fraction(650)])
def test_every_weight_of_red_is_found_again_or_said_to_be_another(packets: Fraction) -> None:
    for exponent in range(1, 21):
        line = Line(None, 10**10, int(1514 * packets), 10**6, 1514, exponent)
        burst, mark = line.red_burst, line.mark / 1514
        # tc_red_eval_ewma of iproute2, from its description: the least n with burst + 1 - min/avpkt below the average.
        weight = next(n for n in range(1, 32) if burst + 1 - mark <= (1 - (1 - 0.5**n) ** burst) / 0.5**n)
        assert weight == line.red_exponent
        assert weight == exponent or packets < 2
