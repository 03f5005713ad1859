"""The answer: its kind, who was judged, who ended before, and how sure it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from priolane.advice import words
from priolane.advice.bounds import Bound
from priolane.advice.candidate import Candidate
from priolane.advice.changes import Today
from priolane.advice.commands import ExportCommand
from priolane.advice.fabric import Fabric
from priolane.advice.feasible import Feasibility
from priolane.advice.goals import Goal
from priolane.advice.measured import Measurement
from priolane.advice.outcomes import Outcome, Verdict
from priolane.advice.racing import CandidateEnd, Race, Why
from priolane.advice.rollout import RolloutStep
from priolane.advice.samples import TIMED_OUT
from priolane.advice.sensitivity import Finding
from priolane.advice.spending import Ledger
from priolane.advice.sufficiency import Insufficient
from priolane.results.estimate import Estimate
from priolane.results.numbers import short


class Kind(StrEnum):
    """The kinds of answer, which intervals decide."""

    NOTHING = "change nothing"
    CHANGE = "change"
    IMPOSSIBLE = "impossible"
    NONE = "none of those tried"
    UNKNOWN = "this list cannot tell"


@dataclass(frozen=True)
class JudgedCandidate:
    """A candidate on the whole list. `estimates` are by metric of the goals and of what is shown besides, `outcomes` by
    goal. `timed_out` is, by class, the part of the slowest flows that had a timeout."""

    candidate: Candidate
    estimates: Mapping[str, Estimate]
    outcomes: tuple[Outcome, ...]
    timed_out: Mapping[str, float]

    @property
    def surely_meets(self) -> bool:
        """Whether all goals are surely met."""
        return all(outcome.verdict is Verdict.MET for outcome in self.outcomes)

    @property
    def surely_misses(self) -> bool:
        """Whether some goal is surely missed."""
        return any(outcome.verdict is Verdict.MISSED for outcome in self.outcomes)

    def is_timeout(self, goal: Goal) -> bool:
        """Whether the completion times of a goal's class have a tail that is the retransmission timeout."""
        return goal.quantity.unit == "s" and self.timed_out.get(goal.size_class, 0.0) >= TIMED_OUT

    @property
    def miss(self) -> float:
        """The sum of the margins of missed goals."""
        return sum(max(0.0, outcome.miss) for outcome in self.outcomes)


@dataclass(frozen=True)
class Remedy:
    """The gain of a capability that is missing here: the judged candidate that it takes, and the capabilities."""

    missing: tuple[str, ...]
    judged: JudgedCandidate


@dataclass(frozen=True)
class Judging:
    """All that runs showed. `ranking` has today first, then the advice or the nearest, then the others. `chosen` is the
    advice, the nearest where no candidate surely meets the goals. `listed` is the length of the list. `windows` are
    those that were read, `disturbed` is the part of the list that ran under disturbances; `agreeing` is how many of the
    `seeds` give the same answer alone."""

    ranking: tuple[JudgedCandidate, ...]
    chosen: JudgedCandidate
    references: tuple[JudgedCandidate, ...]
    candidates: tuple[Candidate, ...]
    race: Race
    remedies: tuple[Remedy, ...]
    sensitivity: tuple[Finding, ...]
    spent: Ledger
    listed: str
    windows: int
    disturbed: float
    seeds: int
    agreeing: int
    load: float
    rollout: tuple[RolloutStep, ...]
    """The steps in which hosts are changed, if that was asked for."""
    no_rollout: str | None
    """The reason why there are none although that was asked for."""
    alone: Mapping[str, Estimate]
    """Each metric if every flow had the network to itself: no scheme is better."""

    @property
    def now(self) -> JudgedCandidate:
        """The candidate that runs today."""
        return self.ranking[0]


@dataclass(frozen=True)
class Advice:
    """The answer of `advise`.

    `judging` is `None` where the answer is known before any candidate is compared: then `insufficient` says what the
    list lacks, or `bounds` prove that a goal cannot be met. `measured` compares today's network with its simulation.
    `infeasible` are the shipped schemes that are not tried, `doubts` sentences on what makes the answer
    uncertain, `assumed` those on what was not stated.
    """

    kind: Kind
    goals: tuple[Goal, ...]
    shown: tuple[Goal, ...]
    fabric: Fabric
    today: Today
    directory: Path
    assumed: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    insufficient: Insufficient | None = None
    bounds: tuple[Bound, ...] = ()
    measured: tuple[Measurement, ...] = ()
    infeasible: tuple[Feasibility, ...] = ()
    judging: Judging | None = None
    commands: tuple[ExportCommand, ...] = ()
    """The exports that lead from today's scheme to the advice."""
    notes: tuple[str, ...] = ()
    """The departures of hosts from the simulation under the advised scheme."""

    @property
    def not_deployable(self) -> tuple[Feasibility, ...]:
        """The shipped schemes that cannot be deployed here, without those that another one stands for."""
        return tuple(feasibility for feasibility in self.infeasible if feasibility.twin is None)

    @property
    def twins(self) -> tuple[Feasibility, ...]:
        """The shipped schemes that another one stands for."""
        return tuple(feasibility for feasibility in self.infeasible if feasibility.twin is not None)

    @property
    def experiment(self) -> Path:
        """The experiment file that makes every number of the ranking again."""
        return self.directory / "experiment.toml"

    @property
    def advised(self) -> Candidate | None:
        """The candidate to configure; `None` where nothing is advised."""
        if self.judging is None or self.kind not in (Kind.CHANGE, Kind.NOTHING):
            return None
        return self.judging.chosen.candidate

    @cached_property
    def title(self) -> str:
        """The answer in a few words."""
        match self.kind:
            case Kind.CHANGE if self.judging is not None:
                title = words.configuration(self.judging.chosen.candidate, self.today.candidate)
            case Kind.IMPOSSIBLE:
                title = "no scheme meets " + " and ".join(bound.goal.text for bound in self.bounds)
            case Kind.NONE if self.judging is not None:
                title = f"none of {len(self.judging.candidates)} candidates meets all goals"
            case kind:
                title = kind.value
        return title[0].upper() + title[1:]

    @cached_property
    def headline(self) -> str:
        """The answer in one sentence, with its numbers."""
        if self.insufficient is not None:
            return f"{self.title}: {self.insufficient}"
        if self.judging is None:
            return f"{self.title}: {'; '.join(bound.proof for bound in self.bounds)}"
        advised, now = self.judging.chosen, self.judging.now
        values = words.values(advised.outcomes)
        match self.kind:
            case Kind.NOTHING:
                return f"{self.title}: {now.candidate.family}, which runs now, meets all goals ({values})"
            case Kind.CHANGE:
                gains = words.gains(now.outcomes, advised.outcomes)
                return f"{self.title}: {gains}; needs {self.today.in_words(advised.candidate)}"
            case Kind.NONE:
                return f"{self.title}; the nearest is {self._described(advised)}: {values}"
            case _:
                unsure = " and ".join(
                    outcome.goal.text for outcome in advised.outcomes if outcome.verdict is not Verdict.MET
                )
                doubt = f"{self.title} whether {unsure} is met; the nearest is {self._described(advised)}: {values}"
                return f"{doubt}; {_cure(advised.outcomes)}"

    def _described(self, judged: JudgedCandidate) -> str:
        if judged.candidate is self.today.candidate:
            return "what runs now"
        return f"{judged.candidate.name} ({words.configuration(judged.candidate, self.today.candidate)})"


# A list that is longer by more is none that anybody records.
_MOST_TIMES = 50


def _cure(outcomes: Sequence[Outcome]) -> str:
    """The length of a list that would tell."""
    times = max(outcome.times_longer for outcome in outcomes)
    if times > _MOST_TIMES:
        return "the value is so near to the bound that no list would tell"
    return f"a list about {short(max(times, 1.1))} times as long would tell"


def ends_of(judging: Judging) -> dict[str, str]:
    """The ends of candidates in the race, as clauses: those that were judged nevertheless say why."""
    judged = {candidate.candidate.name: candidate for candidate in judging.ranking}
    return {name: describe_end(how, judged.get(name)) for name, how in judging.race.ended.items()}


def describe_end(how: CandidateEnd, judged: JudgedCandidate | None = None) -> str:
    """The end of a candidate, as a clause; `judged` is its result on the whole list if there is one."""
    if judged is not None:
        why = "met all goals at low cost" if judged.surely_meets else "was among the nearest or the cheapest"
        return f"{describe_end(how)}; it {why}, so it was judged on the whole list"
    after = f"after {how.windows} windows"
    match how.why:
        case Why.EXCLUDED:
            return f"{after} worse than {how.against}"
        case Why.SAME:
            return f"the same as {how.against} on {how.windows} windows"
        case Why.STUCK:
            return f"flows did not finish on {how.windows} windows"
        case Why.BUDGET:
            return f"{after} behind {how.against}, with no room for more windows; not shown to be worse"


def timeout_warnings(advised: JudgedCandidate, goals: Sequence[Goal]) -> list[str]:
    """Tails that are the retransmission timeout and not the scheme."""
    return [
        f"{100 * part:.0f} % of the slowest flows of {size_class} had a timeout: this tail is your retransmission "
        "timeout (host.initial_rto before a flow's first acknowledgement, host.min_rto after it)"
        for size_class, part in advised.timed_out.items()
        if part >= TIMED_OUT and any(goal.size_class == size_class for goal in goals)
    ]


def as_json(advice: Advice) -> dict[str, Any]:
    """The answer for programs."""
    answer: dict[str, Any] = {
        "kind": advice.kind.value,
        "advice": None if advice.advised is None else advice.advised.name,
        "headline": advice.headline,
        "goals": [goal.text for goal in advice.goals],
        "impossible": {bound.goal.text: bound.proof for bound in advice.bounds},
        "insufficient": None
        if advice.insufficient is None
        else {"reason": advice.insufficient.reason, "cure": advice.insufficient.cure},
        "measured": [
            {
                "metric": measurement.goal.name,
                "value": measurement.value,
                "predicted": measurement.predicted.mean,
                "agrees": measurement.agrees,
            }
            for measurement in advice.measured
        ],
        "uncertain": list(advice.doubts),
        "assumed": list(advice.assumed),
        "infeasible": {feasibility.scheme: list(feasibility.reasons) for feasibility in advice.not_deployable},
        "stood_for": {feasibility.scheme: feasibility.twin for feasibility in advice.twins},
        "queues": advice.fabric.queues,
        "notes": list(advice.notes),
        "commands": [
            {"target": command.target, "command": command.command, "says": command.says} for command in advice.commands
        ],
    }
    return answer if advice.judging is None else {**answer, **_judging_json(advice, advice.judging)}


def _judging_json(advice: Advice, judging: Judging) -> dict[str, Any]:
    spent = judging.spent
    return {
        "chosen": judging.chosen.candidate.name,
        "ranking": [_judged_json(advice, judged) for judged in judging.ranking],
        "references": [_judged_json(advice, judged) for judged in judging.references],
        "alone": {name: of.mean for name, of in judging.alone.items()},
        "ended": {
            name: {"why": judging.race.ended[name].why.value, "says": says} for name, says in ends_of(judging).items()
        },
        "remedies": [
            {"missing": list(remedy.missing), **_judged_json(advice, remedy.judged)} for remedy in judging.remedies
        ],
        "sensitivity": [_finding_json(finding) for finding in judging.sensitivity],
        "rollout": [_step_json(step) for step in judging.rollout],
        "no_rollout": judging.no_rollout,
        "load": judging.load,
        "windows": judging.windows,
        "seeds": judging.seeds,
        "agreeing_seeds": judging.agreeing,
        "packet_hops": {
            "budget": spent.budget,
            **{stage.value: hops for stage, hops in spent.by_stage.items()},
            "grid": round(spent.grid),
        },
        "experiment": str(advice.experiment),
    }


def _judged_json(advice: Advice, judged: JudgedCandidate) -> dict[str, Any]:
    return {
        "scheme": judged.candidate.name,
        "says": judged.candidate.description,
        "changes": [step.value for step in advice.today.steps(judged.candidate)],
        "queues": judged.candidate.queues,
        "thresholds_bytes": list(judged.candidate.thresholds),
        "tuned_from": judged.candidate.tuned_from,
        "rows": judged.candidate.rows,
        "metrics": {name: {"mean": of.mean, "low": of.low, "high": of.high} for name, of in judged.estimates.items()},
        "goals": {outcome.goal.text: outcome.verdict.value for outcome in judged.outcomes},
    }


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "disturbance": finding.disturbance.description,
        "goals": {
            name: {outcome.goal.text: {"value": outcome.value, "verdict": outcome.verdict.value} for outcome in of}
            for name, of in finding.outcomes.items()
        },
        "windows": finding.read,
        "of_windows": finding.of,
        "refused": finding.refused,
    }


def _step_json(step: RolloutStep) -> dict[str, Any]:
    return {
        "percent": step.part,
        "hosts": step.hosts,
        "of_hosts": step.of,
        "goals": {
            side: {outcome.goal.text: {"value": outcome.value, "verdict": outcome.verdict.value} for outcome in of}
            for side, of in step.outcomes.items()
        },
        "refused": step.refused,
    }
