"""The page and the lines of an answer: text of the terminal as HTML, the ends of candidates, and what comes first."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from advise_files import steady
from priolane.advice.answer import Advice, JudgedCandidate, Kind, describe_end
from priolane.advice.candidate import Candidate
from priolane.advice.doubts import of_runs
from priolane.advice.feasible import Feasibility
from priolane.advice.frontier import directions
from priolane.advice.goals import read_goals
from priolane.advice.outcomes import Verdict, outcomes
from priolane.advice.page import _prose
from priolane.advice.racing import CandidateEnd, Why
from priolane.advice.terminal import expected, explanation, judged_by_ratio, ranking_rows, summary
from priolane.advice.words import configuration


def _judged(tail: float, bound: str = "p99.small < 1s", timed_out: float = 0.0) -> JudgedCandidate:
    goals, _ = read_goals([bound])
    result = outcomes(goals, {"a": {"fct_p99.small": steady(tail)}})["a"]
    return JudgedCandidate(Candidate("a", "a", "", {}, 1), {}, result, {"small": timed_out})


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("361 us -> 76 us", "361 µs → 76 µs"),
        ("as `priolane thresholds --levels 2` names", "as <code>priolane thresholds --levels 2</code> names"),
        ("<b> & `<i>`", "&lt;b&gt; &amp; <code>&lt;i&gt;</code>"),
        ("one ` alone", "one ` alone"),
    ],
)
def test_text_of_the_terminal_is_html_without_backticks_and_arrows_of_two_signs(text: str, html: str) -> None:
    assert str(_prose(text)) == html


def test_the_figure_says_which_side_of_each_axis_is_better() -> None:
    goals, _ = read_goals(["goodput.bulk > 9Gbps", "p99.small < 1s"])
    advice = cast(Any, SimpleNamespace(goals=goals, shown=()))
    assert directions(advice) == "Right is better: goodput of bulk flows. Down is better: p99 of small flows."
    assert directions(cast(Any, SimpleNamespace(goals=goals[:1], shown=()))) == ""


def test_a_candidate_that_the_race_ended_and_that_was_judged_says_why() -> None:
    how = CandidateEnd(Why.EXCLUDED, 5, "b")
    assert describe_end(how) == "after 5 windows worse than b"
    assert describe_end(how, _judged(-1.0)) == (
        "after 5 windows worse than b; it met all goals at low cost, so it was judged on the whole list"
    )
    assert "was among the nearest or the cheapest, so it was judged" in describe_end(how, _judged(1.0))


def _two_queues(name: str, levels: int, thresholds: list[str]) -> Candidate:
    rows = {
        "base": "dctcp",
        "assign": {"kind": "bytes_sent", "levels": 2, "thresholds": ["60kB"]},
        "port": {"kind": "strict", "queues": 2},
        "host": {"kind": "mlfq", "levels": levels, "thresholds": thresholds},
    }
    return Candidate(name, "by bytes sent", "", rows, 2, (60_000,))


def test_two_rows_that_differ_in_the_queues_of_hosts_are_described_so() -> None:
    now = Candidate("today", "dctcp", "", {"base": "dctcp"}, 1)
    queues = "two strict queues; a flow leaves the first after 60.0 kB; "
    same = _two_queues("sent2_opt_mlfq", 2, ["60kB"])
    assert configuration(same, now) == f"{queues}hosts have the same queues"
    more = _two_queues("nos2", 8, [f"{nth}kB" for nth in range(10, 80, 10)])
    assert configuration(more, now) == f"{queues}hosts have eight queues by bytes sent"


def test_a_scheme_that_another_one_stands_for_is_not_called_impossible() -> None:
    schemes = (
        Feasibility("swift", ("no module",), 1, 1),
        Feasibility("ns3_dctcp", ("it is dctcp",), 1, 1, twin="dctcp"),
    )
    advice = Advice(
        kind=Kind.UNKNOWN,
        goals=(),
        shown=(),
        fabric=cast(Any, None),
        today=cast(Any, None),
        directory=Path(),
        assumed=(),
        infeasible=schemes,
    )
    assert list(explanation(advice)) == [
        "cannot be deployed here:",
        "  swift: no module",
        "not tried:",
        "  ns3_dctcp: it is dctcp",
    ]


def test_overload_is_the_first_doubt() -> None:
    goals, _ = read_goals(["p99.small < 1s"])
    result = of_runs(_judged(-1.0, timed_out=0.9), goals, 1.4)
    assert result[0].startswith("hosts are offered 1.4 times what their links carry")
    assert "retransmission timeout" in result[1]


def test_under_which_disturbances_goals_hold_is_the_second_line() -> None:
    outcomes = {"met": "load", "missed": "failures", "met, not surely": "bursts"}
    findings = tuple(
        SimpleNamespace(
            refused=None,
            disturbance=SimpleNamespace(short=short),
            outcomes={"a": (SimpleNamespace(verdict=Verdict(verdict)),)},
            part=0.4,
            is_open=False,
        )
        for verdict, short in outcomes.items()
    )
    chosen = SimpleNamespace(candidate=SimpleNamespace(name="a"))
    judging = SimpleNamespace(
        chosen=chosen, sensitivity=findings, agreeing=1, seeds=1, load=0.3, windows=8, listed="8 flows"
    )
    advice = SimpleNamespace(headline="Change nothing", doubts=("few flows",), judging=judging, kind=Kind.UNKNOWN)
    lines = [*summary(cast(Any, advice))]
    assert lines[1] == (
        "  goals are surely met with load; missed with failures; not shown to hold with bursts: these runs read "
        "the first 40 % of the list; bursts would take a longer list"
    )
    assert [line.split()[0] for line in lines[2:]] == ["uncertain:", "load"]


@pytest.mark.parametrize(
    ("bounds", "of"),
    [
        (("goodput.bulk > 90%", "p99.small < 1s"), "the best"),
        (("goodput.bulk > 90% of today",), "today"),
        (("goodput.bulk > 90% of today", "mean.all < 120%"), "the best or today"),
        (("p99.small < 1s",), None),
    ],
)
def test_a_relative_goal_says_that_its_interval_may_cross_the_bound(bounds: tuple[str, ...], of: str | None) -> None:
    goals, _ = read_goals([*bounds])
    says = judged_by_ratio(cast(Any, SimpleNamespace(goals=goals)))
    assert says == (f"a goal relative to {of} is judged by its ratio, so an interval may cross the bound" if of else "")


def test_a_value_that_is_the_timeout_says_so_beside_it() -> None:
    goals, _ = read_goals(["p99.small < 1s"])
    today = SimpleNamespace(candidate=SimpleNamespace(name="today"), steps=lambda _: ())
    advice = cast(Any, SimpleNamespace(goals=goals, shown=(), today=today))
    late, plain = (
        ranking_rows(advice, cast(Any, SimpleNamespace(ranking=(judged,), remedies=(), references=(), alone={})))[0]
        for judged in (_judged(-1.0, timed_out=0.5), _judged(-1.0, timed_out=0.49))
    )
    assert late[2] == "met: 368 ms [368, 368] (timeouts)"
    assert plain[2] == "met: 368 ms [368, 368]"


def test_the_worst_doubt_follows_the_headline() -> None:
    advice = cast(Any, SimpleNamespace(headline="Change nothing", doubts=("starts are off", "few flows"), judging=None))
    assert [*summary(advice)] == ["Change nothing", "  uncertain: starts are off (1 more: --explain)"]
    assert [*summary(cast(Any, SimpleNamespace(headline="Change nothing", doubts=(), judging=None)))] == [
        "Change nothing"
    ]


def test_what_is_to_be_measured_after_the_change_has_the_interval_of_the_prediction() -> None:
    advised = _judged(-1.0)
    assert expected(cast(Any, SimpleNamespace(chosen=advised))) == "p99.small is from 368 ms to 368 ms"
