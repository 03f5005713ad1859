"""The forest plot of claims: values over what is asked, by hand and against the verdicts of all records."""

import itertools
import math
import re
from dataclasses import replace

import pytest
from test_sentences import LOAD, claim, ratio, value

from priolane.figure.draw import draw_rows
from priolane.figure.forest import ForestRow, draw_forest, scale_of
from priolane.figure.layout import TICK_PX, width_of
from priolane.report.forest_rows import allowed_band, forest_rows
from priolane.results.estimate import Estimate
from priolane.results.report import Claim, Verdict
from priolane.study import catalogue
from priolane.study.record import records
from priolane.study.recorded_claims import claims_of

AN_ORDER = claim({"kind": "order"}, value("gain.small.pias / gain.small.dctcp", ratio(2.9, 1.9, 4.4)))


def only_row(claim: Claim) -> ForestRow:
    (row,) = forest_rows([claim])
    return row


def test_values_are_divided_by_what_is_asked() -> None:
    # 6.04 of 6.21 Gbit/s, within 15 %.
    rate = claim({"kind": "ratio", "paper": 6.21, "within": 0.15}, value("rate.DS.paccp", ratio(6.04, 5.87, 6.22)))
    row = only_row(rate)
    assert row.mean == pytest.approx(0.97262, rel=1e-4)
    assert row.interval == pytest.approx((0.94525, 1.00161), rel=1e-4)
    assert row.band == pytest.approx((0.85, 1.15))
    assert row.description == "reproduced: It is so: 0.973 [0.945, 1.002] of what is claimed; allowed: 0.85 to 1.15"
    # Above 0.9 and below 1.8: in parts of 0.9.
    both = claim({"kind": "bound", "above": 0.9, "below": 1.8}, value("gain.large.pias", ratio(1.35, None, None)))
    assert only_row(both).mean == pytest.approx(1.5)
    assert only_row(both).band == pytest.approx((1.0, 2.0))
    assert only_row(both).interval is None
    assert only_row(claim({"kind": "bound", "below": 0.5}, value("timed_out.all.a", ratio(0.1, 0.05, 0.2)))).band == (
        0,
        1,
    )
    assert only_row(AN_ORDER).band == (1.0, math.inf)
    equal = claim({"kind": "equal", "within": 0.25}, value("fct.all.a / fct.all.b", ratio(1.1, 1.0, 1.2)))
    assert only_row(equal).band == pytest.approx((0.8, 1.25))
    falls = claim({"kind": "trend", "goes": "down"}, value("fct.all.a / fct.all.a", ratio(0.5, 0.4, 0.6)))
    assert (only_row(falls).mean, only_row(falls).band) == (0.5, (0.0, 1.0))


def test_what_is_no_ratio_has_no_row() -> None:
    difference = value("fct.all.a / fct.all.b", Estimate(0.1, -0.1, 0.3, 4))
    assert forest_rows([claim({"kind": "order"}, difference)]) == []
    assert forest_rows([claim({"kind": "bound", "above": 0.0}, value("cv.all.a", ratio(0.1, 0.05, 0.2)))]) == []
    assert forest_rows([claim({"kind": "ratio", "paper": 1.0, "within": 0.1})]) == []


def test_of_many_values_the_one_that_is_furthest_off_has_a_row() -> None:
    means = {0.5: 1.5, 0.6: 1.2, 0.7: 0.8, 0.8: 1.1}
    values = [
        replace(
            value("gain.all.a / gain.all.b", ratio(mean, mean / 2, mean * 2), {LOAD: load}), verdict=Verdict.UNDECIDED
        )
        for load, mean in means.items()
    ]
    several = replace(claim({"kind": "order"}, *values), verdict=Verdict.UNDECIDED)
    assert (only_row(several).mean, only_row(several).place) == (0.8, "load 0.7, furthest of 4")
    assert [row.place for row in forest_rows([claim({"kind": "order"}, *values[:2])])] == ["load 0.5", "load 0.6"]


def test_values_and_bands_agree_with_the_verdicts_of_all_records() -> None:
    counted = 0
    for record in records([item.key for item in catalogue.figures()]):
        for single in (single for grid in record.grids for single in claims_of(grid)):
            request = allowed_band(single)
            compares = single.test["kind"] in ("order", "equal", "trend")
            for item in single.contrasts if request is not None else ():
                low, high = item.estimate.low, item.estimate.high
                if low is None or high is None or (compares and not item.is_ratio):
                    continue
                assert request is not None
                ends = (max(low, 0.0) / request.of, high / request.of)
                if item.verdict is Verdict.REPRODUCED:
                    assert request.low * (1 - 1e-5) <= ends[0] <= ends[1] <= request.high * (1 + 1e-5), single.text
                elif item.verdict is Verdict.CONTRADICTED:
                    assert ends[1] < request.low * (1 + 1e-5) or ends[0] > request.high * (1 - 1e-5), single.text
                counted += 1
    assert counted > 1500


def drawn(*rows: ForestRow, width: float = 1040.0) -> str:
    return str(draw_forest(rows, "about", width))


def a_row(mean: float, low: float, high: float, band: tuple[float, float] = (0.9, 1.1)) -> ForestRow:
    return ForestRow("reproduced", "✓", "says", "load 0.5", mean, (low, high), band, "in words")


def places(svg: str) -> list[float]:
    return [float(x) for x in re.findall(r'class="value" transform="translate\(([\d.]+) ', svg)]


def test_what_is_asked_is_the_dotted_line_and_dots_lie_by_their_logarithm() -> None:
    svg = drawn(*(a_row(mean, mean / 1.01, mean * 1.01) for mean in (0.5, 1.0, 2.0)))
    left, middle, right = places(svg)
    assert middle - left == pytest.approx(right - middle, abs=0.11)
    match = re.search(r'd="M([\d.]+) 26V[\d.]+" ?', svg[svg.index('class="ref"') - 40 :])
    assert match is not None
    assert float(match[1]) == pytest.approx(middle, abs=0.06)


def test_an_interval_goes_on_beyond_a_dot_at_the_end() -> None:
    # Above 1 is asked; 24 is the largest mean, and 48 the upper end of its interval.
    row = only_row(claim({"kind": "order"}, value("gain.a.x / gain.a.y", ratio(24.0, 12.0, 48.0))))
    scale = scale_of([row])
    assert scale.low <= 1.0
    assert scale.high >= 48.0
    # What an interval has beyond twice its dot is a triangle, so that one row does not take the width of all.
    wide = only_row(claim({"kind": "order"}, value("gain.a.x / gain.a.y", ratio(4.0, 1.0, 4000.0))))
    assert 8.0 <= scale_of([wide]).high < 100.0


def test_what_leaves_the_axis_ends_there_in_a_triangle() -> None:
    # The axis ends at 5 times what is asked at the most, and intervals may reach as far again.
    scale = scale_of([a_row(80.0, 60.0, 100.0)])
    assert 5 < scale.high < 30
    svg = drawn(a_row(80.0, 60.0, 100.0))
    assert places(svg) == []
    assert len(re.findall(r'd="M[\d.]+ [\d.]+L[\d.]+ [\d.]+L[\d.]+ [\d.]+Z"', svg)) == 1
    wide = drawn(a_row(1.0, 1e-6, 1e6))
    assert len(places(wide)) == 1
    assert len(re.findall(r'd="M[\d.]+ [\d.]+L[\d.]+ [\d.]+L[\d.]+ [\d.]+Z"', wide)) == 2


@pytest.mark.parametrize("means", [(0.97, 1.01), (0.9, 1.02), (0.2, 1.0, 5.0), (1.0,), (0.53, 1.25)])
def test_ticks_have_room_beside_each_other(means: tuple[float, ...]) -> None:
    for width in (1040.0, 344.0):
        svg = drawn(*(a_row(mean, mean, mean) for mean in means), width=width)
        ticks = re.findall(r'<text class="tick mid" x="([\d.]+)" y="[\d.]+">([^<]+)<', svg)
        assert len(ticks) >= 2
        spans = sorted(
            (float(x) - width_of(text, TICK_PX) / 2, float(x) + width_of(text, TICK_PX) / 2) for x, text in ticks
        )
        assert all(before[1] < after[0] for before, after in itertools.pairwise(spans))
        assert "1" in [text for _, text in ticks] or "1.00" in [text for _, text in ticks]


def test_both_widths_have_texts_and_nothing_is_markup() -> None:
    row = replace(a_row(1.0, 0.9, 1.1), text="</svg><script>", place='"><b>', description="<i>words</i>")
    markup = str(draw_rows([row], 'about "this"'))
    assert (markup.count("<svg"), markup.count('role="img"'), markup.count("<title>&lt;i&gt;words")) == (2, 2, 2)
    assert "<script" not in markup
    assert "<b>" not in markup
    assert markup.count('aria-label="about &quot;this&quot;"') == 2
