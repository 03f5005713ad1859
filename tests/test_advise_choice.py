"""The candidate that leads: by hand, from values that are stated and not simulated."""

import math
from types import SimpleNamespace
from typing import Any, cast

import pytest

from advise_files import of_pseudo, steady
from priolane.advice.answer import Advice, JudgedCandidate, Judging
from priolane.advice.candidate import TODAY, Candidate, strict, texts
from priolane.advice.changes import ORDER, Today
from priolane.advice.choice import Judged, choose, choose_finalists, judge
from priolane.advice.course import _agreeing
from priolane.advice.goals import read_goals
from priolane.advice.ladders import why_these
from priolane.advice.outcomes import Values
from priolane.advice.racing import CandidateEnd, Race, Why
from priolane.advice.request import AdviceContext
from priolane.advice.samples import Trial
from priolane.advice.trials import Trials
from priolane.advice.windows import Jackknife

NOW = Candidate(TODAY, "dctcp", "what runs now", {"base": "dctcp"}, 1)
TAIL = "p99.small"
Row = tuple[Candidate, float | Jackknife]
"""A candidate, and its tail in milliseconds or with its windows."""


def _ladder(name: str, at: tuple[int, ...], origin: str | None = None) -> Candidate:
    queues = len(at) + 1
    rows = {
        "base": "dctcp",
        "assign": {"kind": "bytes_sent", "levels": queues, "thresholds": texts(at)},
        "port": strict(queues),
    }
    return Candidate(name, "by bytes sent", name, rows, queues, at, ("assign",), origin)


TWO, THREE = _ladder("sent2_opt", (100_000,)), _ladder("sent3_opt", (20_000, 100_000))
TUNED = _ladder("sent2_opt_at_50000", (50_000,), "sent2_opt")
PIAS = _ladder("pias", tuple(range(10_000, 80_000, 10_000)))
KERNEL = Candidate("newreno", "newreno", "another congestion control", {"base": "newreno"}, 1)


def _context(least_gain: float | None = None, bound: str = "1ms") -> AdviceContext:
    goals, shown = read_goals([f"{TAIL} < {bound}"])
    return cast(
        AdviceContext,
        SimpleNamespace(
            goals=goals,
            shown=shown,
            read=goals,
            needs_whole_list=False,
            today=Today(NOW, ORDER),
            request=SimpleNamespace(preferences=SimpleNamespace(least_gain=least_gain)),
        ),
    )


def _ms(of: float | Jackknife) -> Values:
    return {"fct_p99.small": of if isinstance(of, Jackknife) else steady(math.log(of * 1e-3))}


def _trials(values: Values) -> Trials:
    return {1: Trial(values, 1, {}, {}, 0.5, {}, run="")}


def _lead(*rows: Row, half: dict[str, float] | None = None, **context: Any) -> str:
    """The name of the candidate that leads; `half` has values of the second half of the windows where they differ."""
    frame = _context(**context)
    by_name = {candidate.name: candidate for candidate, _ in rows}
    trials = {candidate.name: _trials(_ms(value)) for candidate, value in rows}
    second = {name: _trials(_ms(half[name])) if half and name in half else of for name, of in trials.items()}
    return choose(frame, judge(frame, trials, by_name), Judged(trials, second, {})).candidate.name


def test_today_leads_where_it_surely_meets_and_else_the_cheapest_that_does() -> None:
    # DSCP and queues are cheaper than another congestion control, though that has the better tail.
    assert _lead((NOW, 0.9), (TWO, 0.5), (KERNEL, 0.2)) == TODAY
    assert _lead((NOW, 1.1), (TWO, 0.5), (KERNEL, 0.2)) == "sent2_opt"
    # Both have queues by bytes sent: fewer queues are cheaper.
    assert _lead((NOW, 1.1), (THREE, 0.3), (TWO, 0.5)) == "sent2_opt"
    # What is not sure does not lead: 0.99 ms is met in the mean, and its interval is on both sides.
    unsure = of_pseudo([math.log(value * 1e-3) for value in (0.8, 1.2, 0.9, 1.1, 0.97)])
    assert _lead((NOW, 1.1), (TWO, unsure), (THREE, 0.5)) == "sent3_opt"
    # Where none meets, the nearest leads.
    assert _lead((NOW, 4.0), (TWO, 3.0), (THREE, 2.0)) == "sent3_opt"


def _finalists(room: float, *more: Row, **tails: float) -> list[str]:
    """The finalists of candidates of two queues, by their tails in the race in milliseconds, and of others."""
    rows: dict[str, Row] = {name: (_ladder(name, (100_000,)), tail) for name, tail in tails.items()}
    rows |= {candidate.name: (candidate, value) for candidate, value in more}
    by_name = {name: candidate for name, (candidate, _) in rows.items()}
    values = {name: _ms(value) for name, (_, value) in rows.items()}
    scores = {name: of.all for name, value in values.items() if (of := value["fct_p99.small"]) is not None}
    best, *others = sorted(scores, key=lambda name: scores[name])
    raced = Race(
        left=(best,),
        ended={name: CandidateEnd(Why.EXCLUDED, 5, "best") for name in others},
        scores=scores,
        values=values,
    )
    return [candidate.name for candidate in choose_finalists(_context(), raced, by_name, by_name[best], room)]


def test_as_many_are_judged_as_there_is_room_for() -> None:
    # All of them met the goal of 1 ms in the race, at one cost.
    tails = {"near": 0.9, "good": 0.3, "better": 0.2, "best": 0.1}
    assert len(_finalists(0, **tails)) == 2
    assert len(_finalists(3, **tails)) == 3
    assert set(_finalists(math.inf, **tails)) == tails.keys()


def test_what_surely_met_in_the_race_is_judged_before_what_met_in_the_mean() -> None:
    # The bound is 1 ms. Marking alone costs least, and its interval is on both sides of the bound.
    port = {"kind": "fifo", "ecn": {"per": "port", "at": {"25Gbps": "30pkt"}}}
    marks = Candidate("dctcp_k0_5", "dctcp", "marks earlier", {"base": "dctcp", "port": port}, 1)
    cost = _context().today.cost
    eight = _ladder("sent8_opt", tuple(range(10_000, 80_000, 10_000)))
    assert cost(marks) < cost(TWO) < cost(eight)
    unsure = of_pseudo([math.log(value * 1e-3) for value in (0.8, 1.2, 0.9, 1.1, 0.97)])
    rows: tuple[Row, ...] = ((marks, unsure), (TWO, 0.5), (eight, 0.2))
    # Beside the best, there is room for one.
    assert _finalists(2, *rows) == ["sent8_opt", "sent2_opt"]
    assert _finalists(3, *rows) == ["sent8_opt", "sent2_opt", "dctcp_k0_5"]
    # Where nothing surely met, the cheapest in the mean is judged.
    assert _finalists(2, (marks, unsure), (TWO, unsure), (eight, 1.1)) == ["dctcp_k0_5", "sent2_opt"]


@pytest.mark.parametrize("is_whole", [False, True])
def test_the_best_of_a_relative_goal_is_judged_where_it_read_the_whole_list(is_whole: bool) -> None:  # noqa: FBT001
    goals, shown = read_goals([f"{TAIL} < 1ms", "goodput.bulk > 90%"])
    frame = cast(SimpleNamespace, _context())
    frame.goals, frame.shown, frame.read, frame.needs_whole_list = goals, shown, goals, is_whole
    context = cast(AdviceContext, frame)
    # Tails in milliseconds, and goodput in Gbit/s; `bulk` was eliminated first, as its tail is the longest.
    rows = {"lead": (0.1, 5), "a": (0.2, 5), "b": (0.3, 5), "c": (0.4, 5), "d": (0.5, 5), "bulk": (9.0, 8)}
    by_name = {name: _ladder(name, (100_000,)) for name in rows}
    values: dict[str, Values] = {
        name: {**_ms(tail), "goodput.bulk": steady(math.log(goodput))} for name, (tail, goodput) in rows.items()
    }
    ended = {name: CandidateEnd(Why.EXCLUDED, 5, "lead") for name in rows if name != "lead"}
    raced = Race(("lead",), ended, {name: tail for name, (tail, _) in rows.items()}, values)
    names = [of.name for of in choose_finalists(context, raced, by_name, by_name["lead"], math.inf)]
    assert ("bulk" in names) is is_whole
    judged = judge(context, {name: _trials(values[name]) for name in names}, by_name)
    # 5 Gbit/s are all that those that are left have, and less than 90 % of 8 Gbit/s.
    assert judged["lead"].surely_meets is not is_whole


def test_a_dearer_change_leads_where_it_surely_gains_enough() -> None:
    rows: tuple[Row, ...] = ((NOW, 1.1), (TWO, 0.5), (THREE, 0.4))
    assert _lead(*rows) == "sent2_opt"
    # 0.4 is a fifth less than 0.5.
    assert _lead(*rows, least_gain=0.19) == "sent3_opt"
    assert _lead(*rows, least_gain=0.21) == "sent2_opt"
    # A gain in the mean whose interval has no sign is none.
    wide = of_pseudo([math.log(value * 1e-3) for value in (0.2, 0.7, 0.3, 0.6, 0.3)])
    assert _lead((NOW, 1.1), (TWO, 0.5), (THREE, wide), least_gain=0.05) == "sent2_opt"


def test_tuned_thresholds_lead_only_where_unseen_windows_show_that_they_are_better() -> None:
    rows: tuple[Row, ...] = ((NOW, 1.1), (TWO, 0.5), (TUNED, 0.3))
    assert _lead(*rows) == "sent2_opt_at_50000"
    # On the windows that tuning did not see, they are no better than those that it began with.
    assert _lead(*rows, half={"sent2_opt_at_50000": 0.5}) == "sent2_opt"
    assert _lead(*rows, half={"sent2_opt_at_50000": 0.6}) == "sent2_opt"
    # Nor do they lead published ones that are better there.
    assert _lead(*rows, (PIAS, 0.25), half={"pias": 0.25}) == "sent2_opt"


def test_a_seed_agrees_only_if_it_alone_gives_the_answer() -> None:
    frame = _context()
    by_name = {candidate.name: candidate for candidate in (NOW, TWO)}

    def agreeing(now: tuple[float, ...], then: tuple[float, ...]) -> int:
        seeds = {
            name: {seed: _trials(_ms(value))[1] for seed, value in enumerate(of, 1)}
            for name, of in ((TODAY, now), ("sent2_opt", then))
        }
        return _agreeing(frame, seeds, by_name, "sent2_opt")

    assert agreeing((1.2, 1.2, 1.2), (0.5, 0.5, 0.5)) == 3
    # One seed misses with the advice, and in one today's scheme meets the goal, too.
    assert agreeing((1.2, 1.2, 1.2), (0.5, 1.5, 0.5)) == 2
    assert agreeing((1.2, 1.2, 0.8), (0.5, 0.5, 0.5)) == 2
    # Today's first seed stands for those that did not run.
    assert agreeing((1.2,), (0.5, 1.5, 1.5)) == 1


@pytest.mark.parametrize("raced", [False, True])
def test_thresholds_that_are_not_those_of_the_model_say_why(raced: bool) -> None:  # noqa: FBT001
    frame = _context()
    rows: tuple[Row, ...] = ((TUNED, 0.3),) if raced else ((TUNED, 0.3), (TWO, 0.5))
    trials = {candidate.name: _trials(_ms(value)) for candidate, value in rows}
    known = judge(frame, trials, {candidate.name: candidate for candidate, _ in rows})
    ranking: tuple[JudgedCandidate, ...] = tuple(known.values())
    race = Race(values={TWO.name: _ms(0.5)}) if raced else Race()
    judging = cast(Judging, SimpleNamespace(candidates=(TWO, TUNED), ranking=ranking, race=race))
    advice = cast(Advice, SimpleNamespace(advised=TUNED, judging=judging, goals=frame.goals))
    assert why_these(advice) == (
        "thresholds are not the 100000B that `priolane thresholds --levels 2` names, which is the optimum of a model "
        "of one link without goals: simulated, p99.small is 500 us [500, 500] there and 300 us [300, 300] here"
    )
