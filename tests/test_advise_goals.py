"""Goals of `priolane advise`, and what values of candidates mean for them."""

import math

import numpy as np
import pytest

from advise_files import of_pseudo, steady
from priolane._core import InputError
from priolane.advice.goals import read_goals
from priolane.advice.outcomes import MISS, Outcome, Values, Verdict, is_surely_better, outcomes, referring, scores
from priolane.advice.windows import Jackknife
from priolane.advice.words import gains

TAIL = "fct_p99.small"
MISSED = "deadline_miss_rate.answers"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p99.small", "this is no goal"),
        ("p98.small < 1ms", "no metric 'p98'"),
        ("p99.small > 1ms", "write <"),
        ("p99.small < 1Gbps", "unit 'Gbps' does not fit"),
        ("goodput.bulk > 120%", "at most 100%"),
        ("p99.small < 50%", "at least 100%"),
        ("p99.small < 0ms", "not a number above 0"),
        ("p99.small < 1e999ms", "not a number above 0"),
        ("p99.small < 1.2.3ms", "not a number above 0"),
    ],
)
def test_a_goal_that_cannot_be_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_goals([text])


def test_every_mistake_has_a_line_and_a_metric_one_goal() -> None:
    with pytest.raises(InputError) as refused:
        read_goals(["p98.small < 1ms", "p99.small < 1ms", "p99.small"])
    assert len(str(refused.value).splitlines()) == 2
    with pytest.raises(InputError, match=r"fct_p99\.small has two goals; state one of them"):
        read_goals(["p99.small < 1ms", "p99.small < 2ms"])


def test_goals_have_units_a_queue_budget_and_bounds_relative_to_the_best() -> None:
    goals, queues = read_goals(["p99.small < 250us", "goodput.bulk >= 90%", "queues <= 4"])
    assert queues == 4
    assert [(goal.name, goal.is_relative) for goal in goals] == [(TAIL, False), ("goodput.bulk", True)]
    assert goals[0].bound == pytest.approx(250e-6)
    assert goals[1].against == "best"
    # Of 20 and 10 Gbit/s, 90 % of the best are 18: the second misses it by a factor of 1.8.
    of: dict[str, Values] = {
        "a": {TAIL: steady(math.log(1e-4)), "goodput.bulk": steady(math.log(20))},
        "b": {TAIL: steady(math.log(5e-5)), "goodput.bulk": steady(math.log(10))},
    }
    judged = outcomes(goals, of)
    assert [outcome.met for outcome in judged["a"]] == [True, True]
    assert math.exp(judged["b"][1].miss) == pytest.approx(1.8)
    assert judged["b"][1].limit == pytest.approx(18)
    # The second is better by the first goal, and a missed goal outweighs that.
    score = scores(goals, of)
    assert score["a"].all == pytest.approx(math.log(0.4))
    assert score["b"].all == pytest.approx(math.log(0.2) + MISS * math.log(1.8))
    assert is_surely_better(goals, of, "a", "b")
    assert not is_surely_better(goals, of, "b", "a")


def test_missed_deadlines_are_a_part_that_may_be_none() -> None:
    goals, _ = read_goals(["deadline_missed.answers < 5%", "mean.all < 1.2x best"])
    missed = goals[0]
    assert (missed.name, missed.bound, missed.is_relative) == (MISSED, 0.05, False)
    assert (missed.format(0.043), missed.format(0.0)) == ("4.30 %", "0 %")
    # 10 % are twice the bound; none at all is as good as it gets, and no infinity.
    mean = steady(math.log(1e-3))
    of: dict[str, Values] = {
        name: {MISSED: steady(part), "fct.all": mean} for name, part in (("a", 0.1), ("b", 0.05), ("c", 0.0))
    }
    judged = outcomes(goals, of)
    assert [judged[name][0].miss for name in of] == pytest.approx([1.0, 0.0, -1.0])
    assert judged["a"][1].miss == pytest.approx(math.log(1 / 1.2))
    assert "is 10.0 % [10.0, 10.0], 2.00 times off the bound of 5.00 %" in str(judged["a"][0])
    with pytest.raises(InputError, match="should be small; write <"):
        read_goals(["deadline_missed.answers > 5%"])


def test_a_part_relative_to_a_best_of_none_is_met_by_none_alone() -> None:
    goals, _ = read_goals(["deadline_missed.answers < 2x best"])
    of: dict[str, Values] = {"a": {MISSED: steady(0.0)}, "b": {MISSED: steady(0.01)}}
    judged = outcomes(goals, of)
    assert [judged[name][0].met for name in of] == [True, False]
    assert math.isfinite(judged["b"][0].miss)


def _tail(value: Jackknife | None, bound: str = "1ms") -> Outcome:
    goals, _ = read_goals([f"p99.small < {bound}"])
    of: dict[str, Values] = {"a": {TAIL: value}}
    return outcomes(goals, of)["a"][0]


def test_the_interval_decides_whether_a_goal_is_surely_met() -> None:
    value = of_pseudo([math.log(1e-3) + deviation for deviation in (-0.2, -0.1, 0.0, 0.1, 0.2)])
    # The interval of another list is 1 ms times or over exp(half).
    half = value.half_width()
    assert half > 0.2
    for times, verdict in (
        (half + 0.001, Verdict.MET),
        (half - 0.001, Verdict.PERHAPS_MET),
        (0.001, Verdict.PERHAPS_MET),
        (-0.001, Verdict.PERHAPS_MISSED),
        (-half + 0.001, Verdict.PERHAPS_MISSED),
        (-half - 0.001, Verdict.MISSED),
    ):
        assert _tail(value, f"{1e6 * math.exp(times):.3f}ns").verdict is verdict, times


def test_a_list_that_is_as_many_times_longer_tells() -> None:
    deviations = [-0.2, -0.1, 0.0, 0.1, 0.2]
    half = of_pseudo(deviations).half_width()
    bound = f"{1e6 * math.exp(half / 2):.3f}ns"

    def of_lists(count: int) -> Outcome:
        return _tail(of_pseudo([math.log(1e-3) + deviation for deviation in deviations * count]), bound)

    # An interval that reaches twice as far as the bound needs four lists in place of one.
    assert of_lists(1).times_longer == pytest.approx(4, rel=0.01)
    assert [of_lists(count).verdict is Verdict.MET for count in (1, 2, 4)] == [False, False, True]
    assert of_lists(4).times_longer < 1


def test_a_part_that_was_never_seen_is_met_only_where_there_were_enough_cases() -> None:
    goals, _ = read_goals(["deadline_missed.answers < 2%"])
    # The floor of an interval: 0 events of 100 cases may be 5 % of another list, 0 of 1000 not.
    of: dict[str, Values] = {
        "few": {MISSED: Jackknife(np.zeros(6), 0.05)},
        "many": {MISSED: Jackknife(np.zeros(6), 0.005)},
    }
    judged = outcomes(goals, of)
    assert [judged[name][0].verdict for name in of] == [Verdict.PERHAPS_MET, Verdict.MET]


def test_flows_that_did_not_finish_make_a_score_infinite_and_miss_the_goal() -> None:
    goals, _ = read_goals(["p99.small < 1ms"])
    stuck = Jackknife(np.full(6, np.inf))
    of: dict[str, Values] = {"a": {TAIL: steady(math.log(1e-3))}, "b": {TAIL: stuck}}
    result = scores(goals, of)
    assert (result["a"].all, result["b"].all) == (0.0, math.inf)
    assert outcomes(goals, of)["b"][0].verdict is Verdict.MISSED
    assert is_surely_better(goals, of, "a", "b")
    assert not is_surely_better(goals, of, "b", "a")
    # Bulk flows that did not finish have no goodput, in which large values are good.
    goals, _ = read_goals(["goodput.bulk > 1Gbps"])
    slow: dict[str, Values] = {"b": {"goodput.bulk": Jackknife(np.full(6, -np.inf))}}
    assert outcomes(goals, slow)["b"][0].verdict is Verdict.MISSED
    assert scores(goals, slow)["b"].all == math.inf


def test_a_goal_of_which_no_candidate_has_a_value_says_nothing_about_any() -> None:
    goals, _ = read_goals(["p99.small < 1ms", "goodput.bulk > 90%"])
    of: dict[str, Values] = {
        "a": {TAIL: steady(math.log(1e-3)), "goodput.bulk": None},
        "b": {TAIL: steady(math.log(2e-3)), "goodput.bulk": None},
    }
    result = scores(goals, of)
    assert [score.all for score in result.values()] == pytest.approx([0.0, math.log(2)])
    # But a goal without a value is not met.
    assert outcomes(goals, of)["a"][1].verdict is Verdict.MISSED


def test_a_difference_within_its_interval_is_not_sure() -> None:
    goals, _ = read_goals(["p99.small < 1ms"])
    level = [-7.2, -6.8, -7.1, -6.9, -7.0]
    near = [value + deviation for value, deviation in zip(level, (0.3, -0.2, 0.2, -0.2, 0.1), strict=True)]
    far = [value + deviation for value, deviation in zip(level, (0.30, 0.25, 0.35, 0.30, 0.30), strict=True)]
    of: dict[str, Values] = {
        name: {TAIL: of_pseudo(values)} for name, values in (("leader", level), ("near", near), ("far", far))
    }
    assert not is_surely_better(goals, of, "leader", "near")
    # All windows have the same difference, though their levels vary more than it.
    assert is_surely_better(goals, of, "leader", "far")


def test_a_goal_relative_to_today_refers_to_what_runs_now() -> None:
    """By hand: 90 % of today's 10 Gbit/s are 9, whatever others have; 12 and 8 lie on both sides."""
    goals, _ = read_goals(["goodput.bulk > 90% of today", "p99.small < 0.5x today"])
    assert [goal.against for goal in goals] == ["today", "today"]
    rows = {"today": (10, 4e-4), "a": (12, 1e-4), "b": (8, 3e-4), "c": (40, 1e-5)}
    of: dict[str, Values] = {
        name: {"goodput.bulk": steady(math.log(rate)), TAIL: steady(math.log(tail))}
        for name, (rate, tail) in rows.items()
    }
    judged = outcomes(goals, of)
    assert [[outcome.verdict for outcome in judged[name]] for name in "ab"] == [
        [Verdict.MET, Verdict.MET],
        [Verdict.MISSED, Verdict.MISSED],
    ]
    assert [outcome.limit for outcome in judged["a"]] == [pytest.approx(9), pytest.approx(2e-4)]
    assert [outcome.relative_bound for outcome in judged["a"]] == [
        "> 9.00 Gbit/s, 90 % of today",
        "< 200 us, 50 % of today",
    ]
    assert gains(judged["today"], judged["a"]).endswith("times better, bound < 200 us, 50 % of today)")
    # In the race today's scheme does not run: its value on the whole list stands for it, and the bound is the same.
    known = referring(goals, {"today": of["today"]})
    apart = outcomes(known, {name: of[name] for name in ("a", "b", "c")})
    assert [outcome.limit for outcome in apart["b"]] == [pytest.approx(9), pytest.approx(2e-4)]


def test_a_candidate_that_is_alone_is_compared_with_the_best_of_the_others() -> None:
    """By hand: 90 % of the best 12.5 Gbit/s are 11.25, which 3.85 misses and 15.6 meets."""
    goals, _ = read_goals(["goodput.bulk > 90% of best"])
    others: dict[str, Values] = {
        name: {"goodput.bulk": steady(math.log(rate))} for name, rate in (("a", 12.5), ("b", 6.7))
    }
    known = referring(goals, others)
    for rate, verdict, limit in ((3.85, Verdict.MISSED, 11.25), (15.6, Verdict.MET, 0.9 * 15.6)):
        (result,) = outcomes(known, {"alone": {"goodput.bulk": steady(math.log(rate), 7)}})["alone"]
        assert result.verdict is verdict
        assert result.limit == pytest.approx(limit)


@pytest.mark.parametrize("text", ["goodput.bulk > 110% of today", "p99.small < 50% of today", "p99.small < 1e3us"])
def test_a_bound_of_today_may_lie_on_either_side(text: str) -> None:
    (goal,), _ = read_goals([text])
    assert goal.bound == pytest.approx({"goodput.bulk": 1.1, TAIL: 0.5}[goal.name] if "today" in text else 1e-3)
