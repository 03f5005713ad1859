"""Claims as sentences. The expected texts are written by hand from the numbers of each claim."""

import base64
import html
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import factories
from priolane.figure.panels import describe
from priolane.model.folders import STUDY
from priolane.report.sentences import finding, headline, reason_text, title_is_claim_alone, verdict_text
from priolane.report.sentences.flagged import flag_texts
from priolane.report.sentences.places import place_text
from priolane.report.sentences.values import estimate_text, listed
from priolane.results.cause import Cause, CauseKind
from priolane.results.estimate import Average, Estimate
from priolane.results.report import Claim, Direction, Flag, MeasuredQuantity, Side, Source, Verdict
from priolane.results.results import load
from priolane.study.recorded_claims import claims_of

LOAD = "group.all.load.value"


def side(path: str, at: Mapping[str, Any] | None = None) -> Side:
    quantity, of_class, scheme = path.split(".")
    return Side(quantity, of_class, scheme, at or {})


def ratio(mean: float, low: float | None, high: float | None) -> Estimate:
    return Estimate(mean, low, high, 4, Average.GEOMETRIC)


def value(paths: str, estimate: Estimate, at: Mapping[str, Any] | None = None, unit: str = "1") -> MeasuredQuantity:
    """A metric, or the comparison of two with a slash between them."""
    sides = tuple(side(path.strip()) for path in paths.split("/"))
    return MeasuredQuantity(paths, at or {}, estimate, unit, Verdict.REPRODUCED, sides=sides)


def claim(test: Mapping[str, Any], *contrasts: MeasuredQuantity, says: str = "it is so") -> Claim:
    return Claim(
        section="§1",
        text=says,
        source=Source.PAPER,
        criterion="",
        test=test,
        measured=(),
        contrasts=contrasts,
        verdict=Verdict.REPRODUCED,
        uncorrected_verdict=Verdict.REPRODUCED,
        direction=Direction.NONE,
        reason="",
        reason_code="",
    )


def in_words(judged_claim: Claim) -> str:
    return finding(judged_claim).replace("\N{NO-BREAK SPACE}", " ")


def test_every_recorded_claim_is_a_sentence() -> None:
    texts = []
    for path in sorted(STUDY.glob("**/record.json")):
        for grid in json.loads(path.read_text(encoding="utf-8"))["grids"]:
            for judged_claim in claims_of(grid):
                texts.append(in_words(judged_claim))
                assert verdict_text(judged_claim)
                assert judged_claim.verdict is not Verdict.UNDECIDED or reason_text(judged_claim)
    assert len(texts) > 850
    begins = re.compile("pHost |[^a-z]")
    assert all(text.endswith(".") and begins.match(text) and "None" not in text for text in texts)
    assert [text for text in texts if "{" in text or "nan" in text.split()] == []


def test_an_order_of_two_schemes_is_told_by_its_ratio() -> None:
    small = value("gain.small.pias / gain.small.dctcp", ratio(2.92, 1.93, 4.41), {LOAD: 0.5})
    more = value("gain.small.pias / gain.small.dctcp", ratio(3.51, 3.0, 4.2), {LOAD: 0.8})
    assert in_words(claim({"kind": "order"}, small)) == (
        "Small flows finish 2.9 times [1.9, 4.4] as fast with pias as with dctcp."
    )
    assert in_words(claim({"kind": "order"}, small, more)) == (
        "Small flows finish 2.9 times [1.9, 4.4] as fast with pias as with dctcp at load 0.5, and 3.5 times [3.0, 4.2] "
        "at load 0.8."
    )
    slower = value("fct.mice.es8 / fct.mice.nos2", ratio(1.5, 1.4, 1.6))
    assert (
        in_words(claim({"kind": "order"}, slower)) == "Mice take 1.50 times [1.40, 1.60] as long with es8 as with nos2."
    )


@pytest.mark.parametrize(
    ("paths", "text"),
    [
        ("fct_p99.small.a / fct_p99.small.b", "P99 FCT of small flows with a is 2.00 times [0.80, 3.20] that with b."),
        (
            "fct.BE.paccp / fct.DS.paccp",
            "With paccp, mean FCT of class BE is 2.00 times [0.80, 3.20] that of class DS.",
        ),
        ("fct_p50.all.a / fct.all.a", "With a, median FCT is 2.00 times [0.80, 3.20] mean FCT."),
        (
            "port_wait.edge.a / port_wait.edge.b",
            "Port wait at ports of edge with a is 2.00 times [0.80, 3.20] that with b.",
        ),
    ],
)
def test_sides_differ_in_scheme_class_or_quantity(paths: str, text: str) -> None:
    assert in_words(claim({"kind": "order"}, value(paths, ratio(2.0, 0.8, 3.2)))) == text


def test_sides_at_two_points_are_told_apart() -> None:
    sides = (side("rate.BE.a", {"time.warmup": "1ms"}), side("rate.BE.a", {"time.warmup": "9ms"}))
    judged_claim = replace(value("rate.BE.a / rate.BE.a", ratio(2.0, 1.95, 2.05)), sides=sides)
    assert in_words(claim({"kind": "order"}, judged_claim)) == (
        "Mean rate of class BE with a at time warmup 1ms is 2.00 times [1.95, 2.05] that with a at time warmup 9ms."
    )


def test_a_chain_has_a_ratio_for_each_step_and_differences_are_no_factors() -> None:
    steps = (value("cv.all.a / cv.all.b", ratio(1.4, 1.3, 1.5)), value("cv.all.b / cv.all.c", ratio(1.2, 1.1, 1.3)))
    assert in_words(claim({"kind": "order"}, *steps)) == (
        "It is so: ratios of 1.40 [1.30, 1.50] at a over b, and 1.20 [1.10, 1.30] at b over c; asked: above 1."
    )
    difference = value("timeouts.all.a / timeouts.all.b", Estimate(12.0, 8.0, 16.0, 4))
    assert (
        in_words(claim({"kind": "order"}, difference)) == "It is so: differences of 12.0 [8.0, 16.0]; asked: above 0."
    )


def test_ratio_bound_equal_agree_tell_what_is_asked() -> None:
    rate = value("rate.DS.paccp", ratio(6.042, 5.87, 6.22), unit="Gbit/s")
    assert in_words(
        claim({"kind": "ratio", "paper": 6.21, "within": 0.15}, rate, says="a flow of DS gets 6.21 Gbps")
    ) == ("A flow of DS gets 6.21 Gbps: 6.04 [5.87, 6.22] Gbit/s here, 6.21 Gbit/s in the paper; asked: within 15 %.")
    missed = value("deadline_miss_rate.all.a", Estimate(0.0412, 0.031, 0.051, 4), unit="part")
    assert (
        in_words(claim({"kind": "bound", "below": 0.05}, missed)) == "It is so: 4.1 [3.1, 5.1] %; asked: below 5.00 %."
    )
    assert in_words(
        claim({"kind": "bound", "above": 0.9, "below": 2.0}, value("cv.all.a", ratio(1.17, 1.03, 1.3)))
    ) == ("It is so: 1.17 [1.03, 1.30]; asked: above 0.900 and below 2.00.")
    alike = value("fct.all.a / fct.all.b", ratio(1.105, 1.102, 1.108))
    assert in_words(claim({"kind": "equal", "within": 0.1}, alike)) == (
        "All flows take 1.105 times [1.102, 1.108] as long with a as with b; asked: equal within 10 %."
    )
    assert in_words(claim({"kind": "agree", "within": 0.01}, value("fct.all.a", ratio(1.002, 1.0, 1.004)))) == (
        "It is so: measured over stated is 1.002 [1.000, 1.004]; asked: 1 within 1 %."
    )


def test_a_trend_counts_its_steps() -> None:
    means = [1.0, 2.0, 1.5, 3.0]
    line = tuple(
        MeasuredQuantity(f"fct.all.a at {x}", {}, Estimate(mean, mean, mean, 4), "s") for x, mean in enumerate(means)
    )
    ends = (side("fct.all.a", {LOAD: 0.8}), side("fct.all.a", {LOAD: 0.2}))
    fitted = replace(value("fct.all.a / fct.all.a", ratio(2.3, 2.1, 2.5)), sides=ends)
    judged_claim = replace(claim({"kind": "trend", "goes": "up"}, fitted, says="FCT grows with load"), measured=line)
    # 1 to 2 and 1.5 to 3 rise, 2 to 1.5 falls.
    assert (
        in_words(judged_claim)
        == "FCT grows with load: it rises in 2 of 3 steps, 2.30 times [2.10, 2.50] from 0.2 to 0.8; asked: in all."
    )


def test_many_values_are_a_range_and_the_one_that_is_furthest_off() -> None:
    values = [
        replace(value("gain.all.a / gain.all.b", ratio(mean, mean - 0.1, mean + 0.1), {LOAD: load}), verdict=verdict)
        for load, mean, verdict in (
            (0.5, 1.3, Verdict.REPRODUCED),
            (0.6, 1.2, Verdict.REPRODUCED),
            (0.7, 0.8, Verdict.CONTRADICTED),
            (0.8, 0.7, Verdict.CONTRADICTED),
        )
    ]
    whole = claim({"kind": "order"}, *values)
    assert in_words(whole) == "All flows finish 0.700 to 1.30 times (4 values) as fast with a as with b."
    not_so = replace(whole, verdict=Verdict.CONTRADICTED)
    assert in_words(not_so) == (
        "All flows finish 0.700 to 1.30 times (4 values), furthest off 0.70 times [0.60, 0.80] at load "
        "0.8 as fast with a as with b."
    )


def test_what_is_not_shown_to_be_so_does_not_read_as_a_result() -> None:
    judged_claim = claim({"kind": "bound", "above": 1.0}, value("cv.all.a", ratio(1.17, 0.9, 1.4)))
    beginnings = {verdict: headline(replace(judged_claim, verdict=verdict)).partition("It")[0] for verdict in Verdict}
    assert beginnings == {
        Verdict.REPRODUCED: "",
        Verdict.CONTRADICTED: "Not so here: ",
        Verdict.UNDECIDED: "Open: ",
        Verdict.INCOMPLETE: "Not finished: ",
    }
    assert finding(replace(judged_claim, verdict=Verdict.UNDECIDED)).startswith("It is so: ")
    assert headline(claim({"kind": "order"})) == "Not finished: It is so (not measured)"


def test_a_number_that_no_run_can_have_is_impossible_and_not_merely_contradicted() -> None:
    judged_claim = claim(
        {"kind": "ratio", "paper": 10.0, "within": 0.1}, value("fct.all.a", ratio(9.0, 9.0, 9.0)), says="it ends at 10"
    )
    contradicted = replace(judged_claim, verdict=Verdict.CONTRADICTED)
    proven = replace(contradicted, cause=Cause(CauseKind.PAPER, proof="tests/test_x.py::test_it"))
    assert headline(contradicted).startswith("Not so here: ")
    assert headline(proven).startswith("Impossible as printed: It ends at 10")
    assert (contradicted.word, proven.word) == ("contradicted", "impossible as printed")
    # A number that is reproduced after all is none.
    assert replace(proven, verdict=Verdict.REPRODUCED).word == "reproduced"
    # What a paper does not state is no proof against it.
    unstated = replace(contradicted, cause=Cause(CauseKind.UNSTATED, proof="tests/test_x.py::test_it"))
    assert unstated.word == "contradicted"


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_number_that_a_parameter_was_fitted_to_is_fitted_whatever_its_verdict(verdict: Verdict) -> None:
    rate = {"kind": "ratio", "paper": 10.0, "within": 0.1}
    judged_claim = replace(
        claim(rate, value("late.all.a", ratio(9.9, 9.8, 10.0)), says="PA misses 10"), verdict=verdict
    )
    proof = Cause(CauseKind.PAPER, proof="tests/test_x.py::test_it")
    fitted = replace(judged_claim, fitted="the deadlines of H", reason="the interval is wide", cause=proof)
    assert headline(fitted).startswith("Fitted: PA misses 10")
    assert (fitted.word, verdict_text(fitted)) == ("fitted", "fitted")
    assert reason_text(fitted) == "The deadlines of H were fitted to it."
    assert fitted.notes == ("the deadlines of H were fitted to it",)


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (Verdict.REPRODUCED, "All flows take 1.20 times as long with dctcp as with pias"),
        (Verdict.CONTRADICTED, "Not so here: Short flows lose with PIAS"),
        (Verdict.UNDECIDED, "Open: Short flows lose with PIAS"),
    ],
)
def test_a_measurement_is_no_title_below_a_verdict_that_would_deny_it(verdict: Verdict, expected: str) -> None:
    pair = value("fct.all.dctcp / fct.all.pias", ratio(1.2, 1.1, 1.3))
    judged_claim = replace(claim({"kind": "order"}, pair, says="short flows lose with PIAS"), verdict=verdict)
    assert headline(judged_claim).replace("\N{NO-BREAK SPACE}", " ") == expected
    assert title_is_claim_alone(judged_claim) == (verdict is not Verdict.REPRODUCED)


def title(test: Mapping[str, Any], estimate: Estimate, says: str, paths: str = "rate.DS.paccp") -> str:
    """The title of a contradicted claim."""
    judged_claim = replace(claim(test, value(paths, estimate), says=says), verdict=Verdict.CONTRADICTED)
    return headline(judged_claim).replace("\N{NO-BREAK SPACE}", " ")


def test_a_title_has_its_values_in_brackets_after_the_statement() -> None:
    rate = ratio(1.2, 1.1, 1.3)
    printed = {"kind": "ratio", "paper": 1.6, "within": 0.15}
    assert title(printed, rate, "a weight is worth 1.6 (we take 15 %)") == (
        "Not so here: A weight is worth 1.6 (1.20 here, 1.60 in the paper)"
    )
    assert title({"kind": "bound", "above": 2.0}, rate, "it doubles (per class)") == "Not so here: It doubles (1.20)"
    assert title({"kind": "equal", "within": 0.1}, rate, "", "fct.all.a / fct.all.b") == (
        "Not so here: All flows take 1.20 times as long with a as with b, where equal within 10 % is asked"
    )


def test_a_title_has_one_colon_at_most() -> None:
    says = "O1: the low one yields: 0 Gbps"
    assert title({"kind": "bound", "above": 2.0}, ratio(1.2, 1.1, 1.3), says) == (
        "Not so here \N{EN DASH} O1 \N{EN DASH} the low one yields: 0 Gbps (1.20)"
    )
    for path in sorted(STUDY.glob("**/record.json")):
        for grid in json.loads(path.read_text(encoding="utf-8"))["grids"]:
            titles = [headline(judged_claim) for judged_claim in claims_of(grid)]
            assert [text for text in titles if text.count(": ") > 1 or text.count("(") != text.count(")")] == []


def test_an_undecided_claim_says_why_and_what_it_leans_to() -> None:
    judged_claim = replace(claim({"kind": "order"}), verdict=Verdict.UNDECIDED, uncorrected_verdict=Verdict.UNDECIDED)
    wide = replace(judged_claim, reason_code="interval", reason="the interval is wide", seeds_needed=(17, 17))
    assert (verdict_text(wide), reason_text(wide)) == ("undecided", "About 17 seeds would decide it.")
    assert verdict_text(replace(wide, direction=Direction.OPPOSES)) == "undecided, leans no"
    assert reason_text(replace(wide, seeds_needed=(9, 30))) == "9 to 30 seeds would decide it."
    assert reason_text(replace(wide, seeds_needed=(9, None))) == "9 seeds or many more would decide it."
    assert reason_text(replace(wide, seeds_needed=None)) == "The interval is wide."
    assert (
        reason_text(replace(judged_claim, reason_code="one_seed")) == "One seed has no interval: run at least 3 seeds."
    )
    alone = replace(wide, reason_code="claims", uncorrected_verdict=Verdict.CONTRADICTED, source=Source.OURS)
    assert verdict_text(alone) == "undecided (alone: does not hold)"
    assert reason_text(alone) == "Alone it does not hold; among all claims it is open. About 17 seeds would decide it."
    assert reason_text(replace(wide, verdict=Verdict.REPRODUCED)) == ""
    cause = Cause(CauseKind.UNSTATED, reading="any_host")
    assert reason_text(replace(wide, verdict=Verdict.CONTRADICTED, cause=cause)) == (
        "A choice that the paper does not state decides: the claim is reproduced under the reading any_host."
    )
    assert reason_text(replace(wide, verdict=Verdict.CONTRADICTED)) == ""


def test_a_flag_has_the_numbers_of_the_worst_scheme_and_the_names_of_the_others() -> None:
    flags = [
        Flag("timeouts", f"flows of {scheme} hold {100 * part:.0f} %", scheme, "small", part, 0.1)
        for scheme, part in (("dctcp", 0.26), ("pias", 0.75))
    ]
    few = Flag("few_flows", "class `large` of `pias` has 60 flows a run", "pias", "large", 60.0, 500.0)
    judged_claim = replace(claim({"kind": "order"}), flags=(*flags, few))
    # 500 / 60 is 8.3 times, 0.75 / 0.1 is 7.5 times.
    assert flag_texts([judged_claim, judged_claim]) == [
        "Class `large` of `pias` has 60 flows a run.",
        "Flows of pias hold 75 %; also dctcp.",
    ]


@pytest.mark.parametrize(
    ("estimate", "unit", "text"),
    [
        # Half of the interval is 1.24: it begins with 1 and keeps two digits.
        (ratio(2.92, 1.93, 4.41), "1", "2.9 [1.9, 4.4]"),
        (ratio(4.17, 0.335, 8.01), "1", "4.17 [0.34, 8.01]"),
        (ratio(1234.0, 934.0, 1534.0), "1", "1230 [930, 1530]"),
        (ratio(0.0058, 0.0053, 0.0063), "1", "0.0058 [0.0053, 0.0063]"),
        (ratio(0.00297, 0.00297, 0.00297), "s", "2.97 ms"),
        (ratio(0.904, None, None), "part", "90.4 %"),
        (Estimate(None, None, None, 0), "1", "no value"),
    ],
)
def test_an_interval_decides_the_decimals(estimate: Estimate, unit: str, text: str) -> None:
    assert estimate_text(estimate, unit).replace("\N{NO-BREAK SPACE}", " ") == text


def test_three_values_are_listed_and_four_are_a_range() -> None:
    rows = [(f"load 0.{nth}", ratio(1.0 + nth, 0.9 + nth, 1.1 + nth)) for nth in range(1, 5)]
    assert listed(rows[:2], "1") == "2.00 [1.90, 2.10] at load 0.1, and 3.00 [2.90, 3.10] at load 0.2"
    assert listed(rows, "1") == "2.00 to 5.00 (4 values)"


def test_a_point_is_told_by_what_differs_and_a_table_key_by_key() -> None:
    points = [{LOAD: 0.5, "group.mrg": {"w": 2, "plan": "vbp"}}, {LOAD: 0.5, "group.mrg": {"w": 4, "plan": "vbp"}}]
    assert [place_text(point, points) for point in points] == ["w 2", "w 4"]
    assert place_text(points[0]) == "load 0.5, w 2, plan vbp"


def test_a_cell_of_a_notebook_has_the_same_sentences_and_the_first_figure(tmp_path: Path) -> None:
    results = load(factories.make_results(tmp_path / "grid", panels=1))
    bare = results._repr_html_()
    for judged_claim in results.report.claims:
        assert html.escape(finding(judged_claim)) in bare
    assert "<b>✗ contradicted</b>: NOS2 varies" in bare
    (picture,) = re.findall(r'<img alt="([^"]+)" style="[^"]+" src="data:image/svg\+xml;base64,([^"]+)">', bare)
    assert picture[0] == html.escape(describe(results.report.drawn[0]))
    drawn = ET.fromstring(base64.b64decode(picture[1]))  # noqa: S314 - made just now
    assert drawn.get("aria-label") == results.report.drawn[0].title
    marks = [element for element in drawn.iter("{http://www.w3.org/2000/svg}g") if element.get("class") == "m"]
    assert len(marks) == sum(len(series.marks) for series in results.report.drawn[0].series)
