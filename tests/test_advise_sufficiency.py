"""Lists that cannot tell: each reason with its cure, found before runs, and the border to lists that can."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from advise_files import FABRIC, write_fabric, write_flows
from priolane._core import InputError
from priolane.advice import sufficiency
from priolane.advice.doubts import find_doubts
from priolane.advice.goals import read_goals
from priolane.advice.pace import Pace, lengthen
from priolane.advice.request import AdviceContext, Request, read
from priolane.advice.samples import Trial
from priolane.advice.sufficiency import Insufficient
from priolane.advice.traffic import Traffic
from priolane.advice.windows import FEWEST, MOST, TIMES_LONGEST

LEAST = 100
"""The flows of a window that a p99 takes."""


def _context(
    folder: Path,
    *goals: str,
    small: int = 1000,
    bulk: int = 0,
    span_ns: int = 10**9,
    sampling: int | None = None,
    coflow: bool = False,
) -> AdviceContext:
    """The question about so many flows of 2 kB, and of 2 MB, evenly over `span_ns`; all are one coflow or none is."""
    count = small + bulk
    sizes = [2_000_000] * bulk + [2_000] * small
    header = "start_ns,src,dst,bytes" + (",coflow" if coflow else "")
    # The span ends just after the last start.
    rows = [(nth * (span_ns - 1) // (count - 1), nth % 48, (nth + 7) % 48, size) for nth, size in enumerate(sizes)]
    flows = write_flows(folder, [(*row, 7) if coflow else row for row in rows], header)
    fabric = write_fabric(folder, FABRIC)
    return read(Request(Traffic(flows), fabric, folder / "out", goals=goals, sampling=sampling), lambda _: None)


def _lacking(context: AdviceContext) -> Insufficient:
    result = sufficiency.before_runs(context)
    assert result is not None
    return result


def test_a_list_that_can_tell_lacks_nothing(tmp_path: Path) -> None:
    assert sufficiency.before_runs(_context(tmp_path, "p99.small < 1ms")) is None


def test_a_class_without_flows_cannot_be_judged(tmp_path: Path) -> None:
    result = _lacking(_context(tmp_path, "p99.small < 1ms", "goodput.bulk > 90%"))
    assert result.reason.endswith("flows.csv is in the class bulk")
    assert result.reason.startswith("no flow of ")
    assert result.cure == "Use a list with such flows, or a goal of another class"
    assert str(result) == f"{result.reason}. {result.cure}"


def test_a_percentile_takes_so_many_flows_and_not_one_less(tmp_path: Path) -> None:
    least = LEAST * (FEWEST + 1)
    assert sufficiency.before_runs(_context(tmp_path, "p99.small < 1ms", small=least)) is None
    result = _lacking(_context(tmp_path, "p99.small < 1ms", small=least // 2))
    assert f"p99.small rests on {least // 2} flows of" in result.reason
    assert f"where {least} are needed" in result.reason
    # Twice as many flows take twice the time.
    assert result.cure.startswith(
        "Use a list of 2.00 s at least, or a goal that fewer flows decide, such as mean.small"
    )
    assert sufficiency.before_runs(_context(tmp_path, "mean.small < 1ms", small=least // 2)) is None
    assert _lacking(_context(tmp_path, "p99.small < 1ms", small=least - 1))


def test_a_sampled_list_cannot_tell_whoever_says_so(tmp_path: Path) -> None:
    result = _lacking(_context(tmp_path, "p99.small < 1ms", sampling=1000))
    assert result.reason.startswith("1 packet in 1000 of ")
    assert "--sizes NAME --load PART" in result.cure
    assert sufficiency.before_runs(_context(tmp_path, "p99.small < 1ms", sampling=1)) is None
    (tmp_path / "flows.report.json").write_text(json.dumps({"format": "sflow", "sampling": 4096}), encoding="utf-8")
    assert _lacking(_context(tmp_path, "p99.small < 1ms")).reason.startswith("1 packet in 4096 of ")


def test_windows_are_longer_than_the_largest_flow_takes_alone(tmp_path: Path) -> None:
    # 2 MB at 25 Gbit/s take 640 us, and six windows twice that.
    least_ns = round(TIMES_LONGEST * (FEWEST + 1) * 640_000) + 1
    enough = _context(tmp_path, "goodput.bulk > 90%", bulk=100, span_ns=least_ns)
    assert sufficiency.before_runs(enough) is None
    result = _lacking(_context(tmp_path, "goodput.bulk > 90%", bulk=100, span_ns=least_ns - 2))
    assert "the largest flow of a goal takes 640 us alone: its parts depend on each other" in result.reason
    assert result.cure == "Use a list of 7.68 ms at least"
    # Goals of small flows do not wait for bulk flows.
    assert sufficiency.before_runs(_context(tmp_path, "p99.small < 1ms", bulk=100, span_ns=least_ns - 2)) is None


def test_what_runs_show_may_be_too_long_and_what_never_ends_is_no_length(tmp_path: Path) -> None:
    context = _context(tmp_path, "p99.small < 1ms")
    longest = 1.0 / (TIMES_LONGEST * (FEWEST + 1))
    assert sufficiency.too_short(context, longest) is None
    assert sufficiency.too_short(context, longest * 1.001) is not None
    assert sufficiency.too_short(context, float("inf")) is None


@pytest.mark.parametrize(
    ("small", "longest_s", "count"),
    [
        # A window for each 100 flows, and one that is not read.
        (1000, 1e-4, 9),
        (1099, 1e-4, 9),
        (1100, 1e-4, 10),
        (100_000, 1e-4, MOST),
        # Windows of twice 10 % of the list, and of twice 4 %.
        (100_000, 0.1, FEWEST),
        (100_000, 0.04, 11),
        (100_000, 0.0, MOST),
    ],
)
def test_there_are_as_many_windows_as_flows_and_times_allow(
    tmp_path: Path, small: int, longest_s: float, count: int
) -> None:
    context = _context(tmp_path, "p99.small < 1ms", small=small)
    result = sufficiency.windows(context, longest_s)
    assert result.count == count
    assert result.end_ns >= context.flows.span_ns


def test_coflows_and_flows_with_deadlines_are_counted_as_such(tmp_path: Path) -> None:
    # 1000 flows of one coflow are one coflow.
    result = _lacking(_context(tmp_path, "cct.all < 1ms", coflow=True))
    assert "cct.all rests on 1 coflow of" in result.reason
    assert "where 48 are needed" in result.reason
    rows = [(nth * 1000, nth % 48, (nth + 7) % 48, 2000, nth * 1000 + 10**6 if nth < 119 else "") for nth in range(600)]
    flows = write_flows(tmp_path, rows, "start_ns,src,dst,bytes,deadline_ns")
    fabric = write_fabric(tmp_path)
    request = Request(Traffic(flows), fabric, tmp_path / "out", goals=("deadline_missed.small < 5%",))
    result = _lacking(read(request, lambda _: None))
    assert "deadline_missed.small rests on 119 flows with a deadline of" in result.reason
    assert "where 120 are needed" in result.reason


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ("cct.all < 1ms", r"flows\.csv names no coflows\. Use a list with the column `coflow`, or a goal of flows"),
        ("deadline_missed.all < 1%", r"has a deadline\. Use a list with the column `deadline_ns`, or another goal"),
        ("p99.medium < 1ms", "there is no class 'medium'; one of small, bulk, all"),
    ],
)
def test_a_goal_of_what_the_list_has_not_is_a_mistake(tmp_path: Path, goal: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        _context(tmp_path, goal)


def test_metrics_are_shown_besides_goals_where_the_list_has_enough_flows(tmp_path: Path) -> None:
    shown = _context(tmp_path, "mean.all < 1ms", bulk=100).shown
    assert [goal.name for goal in shown] == ["fct_p99.small", "goodput.bulk"]
    assert [goal.name for goal in _context(tmp_path, "mean.all < 1ms", small=99, bulk=1).shown] == []


def test_few_flows_and_coarse_starts_are_doubted(tmp_path: Path) -> None:
    few = list(find_doubts(_context(tmp_path, "p99.small < 1ms", small=999).flows, None))
    assert few == ["the list has 999 flows: tails rest on few of them"]
    assert not list(find_doubts(_context(tmp_path, "p99.small < 1ms", small=1000).flows, None))
    rows = [(nth // 6 * 1000, nth % 48, (nth + 7) % 48, 2000) for nth in range(1200)]
    flows = write_flows(tmp_path, rows)
    context = read(Request(Traffic(flows), write_fabric(tmp_path), tmp_path / "out"), lambda _: None)
    assert any("200 instants for 1200 flows" in doubt for doubt in find_doubts(context.flows, None))


def _drawn(folder: Path) -> AdviceContext:
    fabric = write_fabric(folder, FABRIC)
    request = Request(Traffic(None, "web_search", 0.5), fabric, folder / "out", goals=("p99.small < 1ms",))
    return read(request, lambda _: None)


def test_a_budget_that_is_too_small_is_named_with_its_time_and_a_margin(tmp_path: Path) -> None:
    """By hand: flows of 100 ms take 2 x 6 x 100 ms = 1.2 s, with the margin 1.56 s of 2 s: 0.78 of 1e10 packet-hops,
    which are 780 s at 1e7 in a second."""
    whole = _context(tmp_path, "p99.small < 1ms", span_ns=2 * 10**9)
    cut = replace(whole, flows=whole.flows.beginning(0.5), part=0.5, enough=1e10)
    cut.speed.hops_per_s = 1e7
    result = sufficiency.too_short(cut, 0.1)
    assert result is not None
    assert result.reason.startswith("the budget has room for 999 ms of ")
    assert result.reason.endswith("flows of goals take up to 100 ms today")
    assert result.cure.startswith("Use --budget 7.8e+09hops, about 13 minutes here")
    # What the cure asks for is enough for flows that take a quarter longer than those that were seen.
    bought = replace(whole, flows=whole.flows.beginning(0.78), part=0.78, enough=1e10)
    assert sufficiency.too_short(bought, 0.125) is None
    # No budget makes the list longer.
    longer = sufficiency.too_short(cut, 0.2)
    assert longer is not None
    assert longer.cure.startswith("Use a list of 3.12 s at least")


def test_a_class_whose_largest_flows_take_too_long_is_narrowed(tmp_path: Path) -> None:
    """By hand: flows up to 2 MB take 0.2 s, the list has room for 1 / 3.12 of that: up to 500 kB; of 2 kB, all."""
    context = _context(tmp_path, "p99.all < 1s", bulk=100)
    mixed = replace(context.fabric, classes={"mix": {"above": "1kB"}})
    result = sufficiency.too_short(replace(context, fabric=mixed, goals=read_goals(["p99.mix < 1s"])[0]), 0.2)
    assert result is not None
    assert result.cure.endswith('; or narrow the class in the fabric file: mix = { above = "1kB", below = "500kB" }')
    alone = sufficiency.too_short(_context(tmp_path, "goodput.bulk > 90%", bulk=100), 0.2)
    assert alone is not None
    assert "narrow" not in alone.cure


def test_a_drawn_list_becomes_as_long_as_its_flows_take_under_load(tmp_path: Path) -> None:
    context = _drawn(tmp_path)
    span = context.flows.span_s
    wanted = 2.5 * span
    longer = context.request.traffic.longer(context.flows, context.fabric, wanted)
    assert wanted * 0.9 < longer.span_s < wanted * 1.1
    # The flows are those of the shorter list, and more.
    assert list(longer.sizes[:100]) == list(context.flows.sizes[:100])
    least = sufficiency.least_span_s(span / (TIMES_LONGEST * (FEWEST + 1)) * 1.1)
    trial = Trial({}, 1, {}, {goal.name: least / (TIMES_LONGEST * (FEWEST + 1)) for goal in context.goals}, 0.5, {})
    pace = Pace(1e9, 1e6, {"today": {1: trial}})
    (tmp_path / "out" / "flows").mkdir(parents=True)
    drawn, again = lengthen(context, pace)
    assert sufficiency.too_short(drawn, pace.longest_s(context.goals)) is None
    assert again.whole == pytest.approx(1e6 * drawn.flows.span_s / span)


def test_the_list_runs_anew_only_where_the_guess_of_its_windows_was_off(tmp_path: Path) -> None:
    # 10^9 ns, 4000 flows: a window of twice the longest completion, and the flows allow 39.
    context = _context(tmp_path, "p99.small < 1ms", small=4000)
    # 20 ms at the beginning are taken for 26: windows of at least 52 ms, 19 with the first.
    guess = sufficiency.guess_windows(context, 0.020)
    assert guess.count == 18
    # 22 ms would give 21 windows: 18 are enough. 16 ms would give 24, of which 18 are three quarters.
    assert sufficiency.windows(context, 0.022, guess=guess) == guess
    assert sufficiency.windows(context, 0.016, guess=guess).count == 18
    # Flows that take 30 ms need longer windows; those of 1 ms allow many more than 18 of 24.
    assert sufficiency.windows(context, 0.030, guess=guess).count == 15
    few = sufficiency.guess_windows(context, 0.060)
    assert (few.count, sufficiency.windows(context, 0.001, guess=few).count) == (5, MOST)
    # Nothing is guessed where flows at the beginning did not finish.
    assert sufficiency.guess_windows(context, float("inf")).count == MOST
