"""The answer: who was judged, who ended before, what is not possible, how sure it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from priolane.advice.candidate import Candidate
from priolane.advice.feasible import Feasibility
from priolane.advice.goals import Goal, Outcome, score_difference
from priolane.advice.racing import CandidateEnd, Race, Why
from priolane.advice.sensitivity import Finding
from priolane.advice.trials import Trial, values
from priolane.report.estimate import Estimate


@dataclass(frozen=True)
class JudgedCandidate:
    """A candidate on the blocks that are kept for judging. `estimates` are by metric of the goals and of what is shown
    besides; `outcomes` are by goal, `surely` says of each whether the interval agrees with the mean."""

    candidate: Candidate
    estimates: Mapping[str, Estimate]
    outcomes: tuple[Outcome, ...]
    surely: tuple[bool, ...]
    timed_out: Mapping[str, float]

    @property
    def met(self) -> bool:
        """Whether the means meet all goals."""
        return all(outcome.met for outcome in self.outcomes)

    def verdicts(self) -> list[str]:
        """Of each goal: `met`, `missed`, and whether the interval leaves that open."""
        return [
            ("met" if outcome.met else "missed") + ("" if sure else ", not surely")
            for outcome, sure in zip(self.outcomes, self.surely, strict=True)
        ]


@dataclass(frozen=True)
class CostBreakdown:
    """Packet-hops: the budget, those of each stage, and what all candidates on all blocks would have taken."""

    budget: float
    race: int
    tuning: int
    judging: int
    sensitivity: int
    full_grid: int

    @property
    def total(self) -> int:
        """All that was simulated."""
        return self.race + self.tuning + self.judging + self.sensitivity


@dataclass(frozen=True)
class Advice:
    """The answer of `advise`. `ranking` has those that were judged, the best first, `references` what is no
    deployment; `lost` are sentences on why the second best lost, `doubts` what makes the answer uncertain."""

    goals: tuple[Goal, ...]
    shown: tuple[Goal, ...]
    ranking: tuple[JudgedCandidate, ...]
    references: tuple[JudgedCandidate, ...]
    candidates: tuple[Candidate, ...]
    race: Race
    impossible: tuple[Feasibility, ...]
    lost: tuple[str, ...]
    sensitivity: tuple[Finding, ...]
    doubts: tuple[str, ...]
    assumed: tuple[str, ...]
    spent: CostBreakdown
    blocks: tuple[int, int]
    load: float
    queues: int
    directory: Path
    marking: Mapping[str, Any]
    """Marking thresholds of switches, where a candidate has none of its own; empty without ECN."""
    network: Mapping[str, Estimate]
    """Each metric if every flow had the network to itself: no scheme is better."""

    @property
    def best(self) -> JudgedCandidate:
        """The advice."""
        return self.ranking[0]

    @property
    def second(self) -> JudgedCandidate | None:
        """The second best, but for the same ladder with other thresholds."""
        return runner_up(self.ranking)

    @property
    def possible(self) -> bool:
        """Whether the best meets all goals."""
        return self.best.met

    @property
    def experiment(self) -> Path:
        """The experiment file that makes every number of the ranking again."""
        return self.directory / "experiment.toml"

    @property
    def headline(self) -> str:
        """The answer in a sentence."""
        one = self.best
        described = f"{one.candidate.name} ({one.candidate.description})"
        if not self.possible:
            missed = "; ".join(str(outcome) for outcome in one.outcomes if not outcome.met)
            return f"not possible here; the nearest is {described}: {missed}"
        if not all(one.surely):
            return f"{described}, but not surely: {self._open()}"
        return described

    def _open(self) -> str:
        names = [
            outcome.goal.name for outcome, sure in zip(self.best.outcomes, self.best.surely, strict=True) if not sure
        ]
        return f"the interval of {' and '.join(names)} is on both sides of the bound"

    @property
    def simpler(self) -> JudgedCandidate | None:
        """The candidate that also meets all goals with the fewest queues, if these are fewer than those of the best."""
        met = [one for one in self.ranking if one.met and one.candidate.queues < self.best.candidate.queues]
        return min(met, key=lambda one: one.candidate.queues, default=None) if self.possible else None


def describe_end(how: CandidateEnd) -> str:
    """The end of a candidate, as a clause."""
    after = f"after {how.blocks} blocks"
    match how.why:
        case Why.EXCLUDED:
            return f"{after} worse than {how.against}"
        case Why.SAME:
            return f"the same as {how.against} on {how.blocks} blocks"
        case Why.STUCK:
            return f"flows did not finish on {how.blocks} blocks"
        case Why.BUDGET:
            return f"{after} behind {how.against} when the budget ended; not shown to be worse"


def judged(
    found: Mapping[str, Mapping[int, Trial]],
    goals: tuple[Goal, ...],
    shown: tuple[Goal, ...],
    by_name: Mapping[str, Candidate],
    outcomes: Mapping[str, tuple[Outcome, ...]],
) -> dict[str, JudgedCandidate]:
    """The results of each candidate from its trials."""
    best = {goal.name: _best(goal, outcomes) for goal in goals}
    return {
        name: JudgedCandidate(
            candidate=by_name[name],
            estimates=estimates(of, (*goals, *shown)),
            outcomes=outcomes[name],
            surely=tuple(_surely(outcome, of, found[best[outcome.goal.name]]) for outcome in outcomes[name]),
            timed_out={size_class: _timed_out(size_class, of) for size_class in next(iter(of.values())).flows},
        )
        for name, of in found.items()
    }


def _best(goal: Goal, found: Mapping[str, tuple[Outcome, ...]]) -> str:
    """The candidate with the best mean of a goal's metric."""
    means = {name: outcome.value for name, of in found.items() for outcome in of if outcome.goal is goal}
    best = goal.best(means.values())
    return next(name for name, value in means.items() if value == best)


def estimates(of: Mapping[int, Trial], goals: Sequence[Goal]) -> dict[str, Estimate]:
    """Means over blocks with their intervals, by metric."""
    return {
        goal.name: estimate(goal, [value for one in of.values() if (value := one.values[goal.name]) is not None])
        for goal in goals
    }


def estimate(goal: Goal, whole: Sequence[float]) -> Estimate:
    """Mean and 95 % interval of a goal's metric, from a value of each block."""
    return Estimate.of(whole, goal.quantity.nature)


def _surely(outcome: Outcome, of: Mapping[int, Trial], best: Mapping[int, Trial]) -> bool:
    """Whether the whole interval of a goal's metric is on the side of the bound on which its mean is. That of a
    relative goal is of the ratios to the best, block by block."""
    goal = outcome.goal
    ratios = []
    for block, one in of.items():
        value = one.values[goal.name]
        limit = goal.bound if not goal.is_relative else goal.limit(best[block].values[goal.name])
        if value is not None and limit:
            ratios.append(value / limit)
    found = Estimate.of(ratios, goal.quantity.nature)
    if found.low is None or found.high is None or outcome.value is None:
        return False
    return found.low > 1 or found.high < 1 or found.low == found.high


def _timed_out(size_class: str, of: Mapping[int, Trial]) -> float:
    known = [value for one in of.values() if (value := one.timed_out[size_class]) is not None]
    return sum(known) / len(known) if known else 0.0


def runner_up(ranking: Sequence[JudgedCandidate]) -> JudgedCandidate | None:
    """The best that is not the same ladder with other thresholds; `None` if all are."""

    def ladder(one: JudgedCandidate) -> str:
        return one.candidate.tuned_from or one.candidate.name

    return next((one for one in ranking[1:] if ladder(one) != ladder(ranking[0])), None)


def why_lost(
    first: JudgedCandidate, second: JudgedCandidate, found: Mapping[str, Mapping[int, Trial]]
) -> tuple[str, ...]:
    """Sentences on what distinguishes the second best from the best, goal by goal on the same blocks."""
    one, other = first.candidate.name, second.candidate.name
    sentences = []
    for outcome, theirs in zip(first.outcomes, second.outcomes, strict=True):
        ratio = Estimate.of(_ratios(outcome.goal, found[one], found[other]), outcome.goal.quantity.nature)
        if ratio.low is not None and ratio.high is not None:
            interval = f"{ratio} times that of {one}"
            apart = "" if ratio.low > 1 or ratio.high < 1 else ": no significant difference"
            sentences.append(f"{outcome.goal.name} of {other} is {interval}, block by block{apart}")
        if outcome.met and not theirs.met:
            sentences.append(f"{other} misses {outcome.goal.text}: {theirs}")
    goals = [outcome.goal for outcome in first.outcomes]
    difference = score_difference(goals, values({name: found[name] for name in (one, other)}), one, other)
    if difference is not None and difference[1] <= 0 and first.met == second.met:
        queues = (first.candidate.queues, second.candidate.queues)
        fewer = f"; {other} takes {queues[1]} queues in place of {queues[0]}" if queues[1] < queues[0] else ""
        sentences.append(f"these blocks show no significant difference by all goals together{fewer}")
    return tuple(sentences)


def _ratios(goal: Goal, one: Mapping[int, Trial], other: Mapping[int, Trial]) -> list[float]:
    pairs = [(one[block].values[goal.name], of.values[goal.name]) for block, of in other.items() if block in one]
    return [b / a for a, b in pairs if a and b is not None]


def timeout_warnings(best: JudgedCandidate, goals: Sequence[Goal]) -> list[str]:
    """Tails that are the retransmission timeout and not the scheme."""
    return [
        f"{100 * part:.0f} % of the slowest flows of {size_class} had a timeout: this tail is your retransmission "
        "timeout (host.initial_rto before a flow's first acknowledgement, host.min_rto after it)"
        for size_class, part in best.timed_out.items()
        if part >= 0.5 and any(goal.size_class == size_class for goal in goals)
    ]


def as_json(advice: Advice) -> dict[str, Any]:
    """The answer for programs."""
    return {
        "advice": advice.best.candidate.name,
        "possible": advice.possible,
        "headline": advice.headline,
        "goals": [goal.text for goal in advice.goals],
        "ranking": [_judged_json(one) for one in advice.ranking],
        "references": [_judged_json(one) for one in advice.references],
        "alone": {name: of.mean for name, of in advice.network.items()},
        "ended": {name: {"why": how.why.value, "says": describe_end(how)} for name, how in advice.race.ended.items()},
        "impossible": {one.scheme: list(one.reasons) for one in advice.impossible},
        "lost": list(advice.lost),
        "sensitivity": [_finding_json(one) for one in advice.sensitivity],
        "uncertain": list(advice.doubts),
        "assumed": list(advice.assumed),
        "load": advice.load,
        "queues": advice.queues,
        "blocks": {"training": advice.blocks[0], "judged": advice.blocks[1]},
        "packet_hops": {
            "budget": advice.spent.budget,
            "race": advice.spent.race,
            "tuning": advice.spent.tuning,
            "judging": advice.spent.judging,
            "sensitivity": advice.spent.sensitivity,
            "full_grid": advice.spent.full_grid,
        },
        "experiment": str(advice.experiment),
    }


def _judged_json(one: JudgedCandidate) -> dict[str, Any]:
    return {
        "scheme": one.candidate.name,
        "says": one.candidate.description,
        "queues": one.candidate.queues,
        "thresholds_bytes": list(one.candidate.thresholds),
        "tuned_from": one.candidate.tuned_from,
        "rows": one.candidate.rows,
        "metrics": {
            name: {"mean": of.mean, "low": of.low, "high": of.high, "blocks": of.seeds}
            for name, of in one.estimates.items()
        },
        "goals": dict(zip([outcome.goal.text for outcome in one.outcomes], one.verdicts(), strict=True)),
    }


def _finding_json(one: Finding) -> dict[str, Any]:
    return {
        "disturbance": one.disturbance.description,
        "order": one.order,
        "best": {outcome.goal.text: {"value": outcome.value, "met": outcome.met} for outcome in one.best},
        "second": {outcome.goal.text: {"value": outcome.value, "met": outcome.met} for outcome in one.second},
        "refused": one.refused,
    }
