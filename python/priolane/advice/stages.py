"""The stages of an answer: pace, today's scheme on the whole list, race, tuning, judging, choice."""

import math
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from priolane._core import InputError, RunFailed
from priolane.advice import tuning
from priolane.advice.answer import JudgedCandidate
from priolane.advice.candidate import Candidate
from priolane.advice.candidates import PUBLISHED
from priolane.advice.feasible import Feasibility
from priolane.advice.outcomes import Values, estimates, is_surely_better, meeting, outcomes
from priolane.advice.racing import Race, Why, race, stages
from priolane.advice.request import MINUTES, AdviceContext, tenants
from priolane.advice.training import Training
from priolane.advice.trials import FLOWS, RunOptions, Trials, hops, values
from priolane.advice.windows import FEWEST, MOST, Windows
from priolane.model.experiment import plan
from priolane.storage.files import write_whole

FINALISTS = 4
# Candidates that meet all goals on the race's windows and cost least, which are judged too.
_CHEAPEST = 3
# Of the budget; the rest is the race's.
_TUNING, _SENSITIVITY = 0.1, 0.15
# Whole lists that judging takes at least: finalists, the cheapest, tuned thresholds, the reference.
_JUDGED = FINALISTS + _CHEAPEST + 3
SEEDS = 3
"""The seeds with which the advice is compared with today's scheme."""


@dataclass(frozen=True)
class Pace:
    """The budget, and packet-hops of today's scheme on the whole list."""

    budget: float
    whole: float


def measure_pace(context: AdviceContext) -> Pace:
    """Runs today's scheme on the beginning of the list; raises `InputError` for a mistake of the user's files."""
    first = Windows.over(context.flows, MOST)
    windows = first if context.needs_whole_list else first.first(1)
    experiment = context.experiment("calibration.toml", [context.today.candidate], windows)
    try:
        plan(experiment.path)
    except InputError as error:
        raise InputError(_about_fabric(error, experiment.path, context)) from None
    directory = context.request.out / "runs" / "calibration"
    if context.request.budget is None:
        # Runs that are there already have no pace.
        shutil.rmtree(directory, ignore_errors=True)
    began = time.perf_counter()
    one_job = RunOptions(replace(context.request.settings, jobs=1), context.request.watcher)
    found = experiment.trials(directory, [context.today.candidate.name], one_job, context.read)
    taken = hops(found)
    whole = taken * (MOST + 1) / (windows.count + 1)
    return Pace(_budget(context, taken / (time.perf_counter() - began)), whole)


def _about_fabric(error: InputError, path: Path, context: AdviceContext) -> str:
    """Mistakes of the experiment that was made of the user's files, as mistakes of these."""
    lines = []
    for mistake in error.mistakes:
        own = mistake.file == str(path) or mistake.file.startswith("schemes/")
        key = mistake.key.replace("scheme.today", "today", 1)
        place = f"{context.request.fabric}: {key}: "
        lines.append(f"{place}{mistake.what}. {mistake.advice}" if own else str(mistake))
    return "\n".join(lines) or str(error)


def _budget(context: AdviceContext, hops_per_s: float) -> float:
    asked = context.request.budget
    if asked is not None:
        if asked.unit != "hops":
            raise InputError(f"--budget {asked}: an answer takes packet-hops, such as --budget 2e9hops, or --minutes 5")
        return asked.amount
    minutes = MINUTES if context.request.minutes is None else context.request.minutes
    budget = float(f"{hops_per_s * 60 * minutes * max(1, context.request.settings.jobs):.2g}")
    context.tell(f"{minutes:g} minutes of this machine: the same answer elsewhere by --budget {budget:.3g}hops")
    return budget


def fit(context: AdviceContext, pace: Pace, count: int) -> tuple[AdviceContext, Pace]:
    """The context with as much of the list as the budget has room for; raises `InputError` if that is too little.

    The race needs its first round of `count` candidates, and judging the whole list.
    """
    first = (FEWEST + 1) / (MOST + 1)
    needed = pace.whole * (2 + count * (1.0 if context.needs_whole_list else first) + _JUDGED)
    room = (1 - _TUNING - _SENSITIVITY) * pace.budget
    if needed <= room:
        return context, pace
    part = room / needed
    counts = context.counts()
    least = min((FEWEST + 1) * goal.quantity.least / max(1, counts[goal.name]) for goal in context.goals)
    if context.needs_whole_list or part < least:
        enough = 1.1 * pace.budget / (part if context.needs_whole_list else part / least)
        raise InputError(
            f"--budget {pace.budget:.3g}hops: {count} candidates and judging leave too few flows to read; at least "
            f"--budget {float(f'{enough:.2g}'):.3g}hops, or --minutes"
        )
    context.tell(f"{100 * part:.2g} % of the list are simulated: the budget has no room for more")
    shorter = replace(context, flows=context.flows.beginning(part), part=part)
    shorter.flows.write(context.request.out / FLOWS)
    return shorter, Pace(pace.budget, pace.whole * part)


def run_today(context: AdviceContext, windows: Windows) -> Trials:
    """Today's scheme on the whole list."""
    name = context.today.candidate.name
    experiment = context.experiment("today.toml", [context.today.candidate], windows)
    out = context.request.out / "runs" / "today"
    return experiment.trials(out, [name], _reusing(context, "calibration"), context.read)[name]


def make_training(context: AdviceContext, windows: Windows, load: float) -> Training:
    """Writes the flows of the race's windows as one list, which solvers read."""
    chosen = context.flows.starting(windows.end_ns)
    path = context.request.out / FLOWS / "training.csv"
    columns = [context.flows.at_ns, *(context.flows.columns[name] for name in ("src", "dst", "bytes"))]
    rows = zip(*(of[chosen].astype(np.int64).tolist() for of in columns), strict=True)
    text = "\n".join(["start_ns,src,dst,bytes", *(",".join(map(str, row)) for row in rows)])
    write_whole(path, text + "\n")
    return Training(
        flows=path,
        sizes=np.sort(context.flows.sizes[chosen]),
        load=load,
        coflows=context.flows.coflow_bytes,
        tenants=tenants(context),
        has_deadlines=context.flows.has("deadline_ns"),
    )


def keep_runnable(
    context: AdviceContext, chosen: Sequence[Candidate], found: Sequence[Feasibility], windows: Windows
) -> tuple[list[Candidate], list[Feasibility]]:
    """The candidates that pass the check of experiments, and schemes with the reasons of those that do not."""
    kept: list[Candidate] = []
    refused: dict[str, str] = {}
    experiment = context.experiment("race.toml", chosen, windows)
    try:
        plan(experiment.path)
        return list(chosen), list(found)
    except InputError:
        pass
    for one in chosen:
        alone = context.experiment("race.toml", [one], windows)
        try:
            plan(alone.path)
            kept.append(one)
        except InputError as error:
            refused[str(one.rows.get("base", one.name))] = f"{error.mistakes[0].what}. {error.mistakes[0].advice}"
    kept_bases = {str(one.rows.get("base", one.name)) for one in kept}
    schemes = [
        replace(one, reasons=(refused[one.scheme],)) if one.scheme in refused and one.scheme not in kept_bases else one
        for one in found
    ]
    return kept, schemes


def race_windows(context: AdviceContext, windows: Windows) -> tuple[int, ...]:
    """The windows of each round of the race: the first half at most, unless the whole list is needed."""
    if context.needs_whole_list:
        return (windows.count,)
    return stages(max(FEWEST, windows.count // 2))


def run_race(context: AdviceContext, chosen: Sequence[Candidate], windows: Windows, pace: Pace) -> Race:
    """Races candidates on the first half of the windows."""
    out = context.request.out / "runs" / "race"
    budget = (1 - _TUNING - _SENSITIVITY) * pace.budget - (1 + _JUDGED) * pace.whole

    def evaluate(names: Sequence[str], count: int) -> Mapping[str, Trials]:
        experiment = context.experiment("race.toml", chosen, windows.first(count))
        return experiment.trials(out, names, context.request.how, context.read)

    rounds = race_windows(context, windows)
    return race(
        [one.name for one in chosen],
        rounds,
        context.goals,
        evaluate,
        budget,
        lambda done: context.tell(
            f"race: {len(done.ran)} candidates on {done.windows} of {windows.count} windows, {len(done.left)} left, "
            f"{done.hops:.3g} packet-hops"
        ),
    )


def run_tuning(
    context: AdviceContext, by_name: Mapping[str, Candidate], raced: Race, windows: Windows, pace: Pace
) -> tuning.TuningResult:
    """Moves the thresholds of the best that has some."""
    out = context.request.out / "runs" / "tuning"
    count = raced.rounds[-1].windows
    each = pace.whole * (count + 1) / (windows.count + 1)

    def run(candidate: Candidate) -> Trials:
        experiment = context.experiment("tuning.toml", [candidate], windows.first(count))
        return experiment.trials(out / candidate.name, [candidate.name], context.request.how, context.read)[
            candidate.name
        ]

    ran = [name for name in raced.left if name in raced.rounds[-1].ran]
    leader = next((by_name[name] for name in ran if by_name[name].thresholds), by_name[ran[0]])
    rivals = {name: raced.values[name] for name in ran}
    tuned = tuning.tune(leader, rivals, context.goals, run, int(_TUNING * pace.budget / each))
    if tuned.tries:
        outcome = f"{tuned.best.name}" if tuned.best is not leader else "none was better"
        context.tell(f"tuning: {tuned.tries} thresholds of {leader.name} on {count} windows, {outcome}")
    return tuned


def choose_finalists(
    context: AdviceContext, raced: Race, by_name: Mapping[str, Candidate], tuned: Candidate
) -> list[Candidate]:
    """The candidates that are judged beside today's scheme.

    They are the best of the race and, where these are few, the candidates that were eliminated last; those that met all
    goals in the race and cost least; thresholds that tuning found and those that it began with; and published ones.
    """
    late = [name for name, how in raced.ended.items() if how.why in (Why.EXCLUDED, Why.BUDGET)]
    late.sort(key=lambda name: (-raced.ended[name].windows, raced.scores[name]))
    names = [*[*raced.left, *late][:FINALISTS], *_cheapest(context, raced, by_name), tuned.name]
    names += [tuned.tuned_from] if tuned.tuned_from is not None else []
    names += [PUBLISHED] if PUBLISHED in by_name else []
    return [by_name[name] for name in dict.fromkeys(names) if name in by_name]


def _cheapest(context: AdviceContext, raced: Race, by_name: Mapping[str, Candidate]) -> list[str]:
    left_out = {name for name, how in raced.ended.items() if how.why in (Why.SAME, Why.STUCK)}
    found = [name for name in meeting(context.goals, raced.values) if name not in left_out]
    return sorted(found, key=lambda name: context.today.cost(by_name[name]))[:_CHEAPEST]


@dataclass(frozen=True)
class Judged:
    """The trials on the whole list: those by candidate, the same on the second half of the windows, and those of
    references."""

    trials: Mapping[str, Trials]
    second_half: Mapping[str, Trials]
    references: Mapping[str, Trials]

    @property
    def hops(self) -> int:
        """Packet-hops of all runs."""
        return hops(self.trials) + hops(self.references)


def run_judged(
    context: AdviceContext, chosen: Sequence[Candidate], reference: Sequence[Candidate], windows: Windows
) -> Judged:
    """Runs today's scheme, finalists and references on the whole list; leaves references out if their runs fail."""
    all_of = [context.today.candidate, *chosen]
    names = [one.name for one in all_of]
    runs, how = context.request.out / "runs", _reusing(context, "today")
    experiment = context.experiment("experiment.toml", [*all_of, *reference], windows)
    results = experiment.run(runs / "judged", names, how)
    ideal: Mapping[str, Trials] = {}
    if reference:
        try:
            ideal = experiment.trials(runs / "references", [one.name for one in reference], how, context.read)
        except RunFailed as error:
            context.tell(f"references are left out, as a run of theirs failed: {error}")
            context.experiment("experiment.toml", all_of, windows)
    context.tell(f"judged: {len(all_of)} candidates on {windows.count} windows")
    return Judged(
        experiment.read(results, names, context.read, windows),
        experiment.read(results, names, context.read, windows.second_half()),
        ideal,
    )


def run_seeds(context: AdviceContext, chosen: Sequence[Candidate], windows: Windows) -> Mapping[str, Trials]:
    """Runs today's scheme and the advice with `SEEDS` seeds of paths and of the order at one instant."""
    first = context.request.seed
    experiment = context.experiment("seeds.toml", chosen, windows, seeds=tuple(range(first, first + SEEDS)))
    out = context.request.out / "runs" / "seeds"
    return experiment.trials(out, [one.name for one in chosen], _reusing(context, "judged"), context.read)


def _reusing(context: AdviceContext, *stages_before: str) -> RunOptions:
    """The way in which runs are carried out: those of other stages are taken where they are the same."""
    others = tuple(context.request.out / "runs" / name for name in stages_before)
    how = context.request.how
    return RunOptions(replace(how.settings, others=others), how.watcher)


def judge(
    context: AdviceContext, found: Mapping[str, Trials], by_name: Mapping[str, Candidate]
) -> dict[str, JudgedCandidate]:
    """The results of each candidate from its trials. Relative goals refer to the best of them."""
    own = values(found)
    results = outcomes(context.goals, own)
    return {
        name: JudgedCandidate(
            candidate=by_name[name],
            estimates=estimates(context.read, own[name]),
            outcomes=results[name],
            timed_out=_timed_out(of),
        )
        for name, of in found.items()
    }


def _timed_out(of: Trials) -> dict[str, float]:
    first = next(iter(of.values()))
    return {name: sum(one.timed_out[name] for one in of.values()) / len(of) for name in first.timed_out}


def choose(context: AdviceContext, known: Mapping[str, JudgedCandidate], judged: Judged) -> JudgedCandidate:
    """The advice: today's scheme if it surely meets all goals, else the cheapest candidate that surely does; the
    nearest to the goals if none does.

    Of candidates that cost the same, the one with the best objective leads. Thresholds that tuning found do not lead
    those that it began with, nor published ones, unless they are surely better on windows that tuning did not see.
    """
    now = known[context.today.candidate.name]
    own, second_half = values(judged.trials), values(judged.second_half)
    if now.surely_meets:
        return now
    allowed = [one for one in known.values() if one is not now and not _is_overfitted(context, one, second_half)]
    meeting = sorted(
        (one for one in allowed if one.surely_meets),
        key=lambda one: (context.today.cost(one.candidate), one.outcomes[0].miss),
    )
    if not meeting:
        return min((now, *allowed), key=lambda one: (one.surely_misses, one.miss, one.outcomes[0].miss))
    chosen = meeting[0]
    gain = context.request.preferences.least_gain
    if gain is None:
        return chosen
    for one in meeting[1:]:
        better = is_surely_better(context.goals, own, one.candidate.name, chosen.candidate.name)
        if better and one.outcomes[0].miss <= chosen.outcomes[0].miss + math.log(1 - gain):
            chosen = one
    return chosen


def _is_overfitted(context: AdviceContext, one: JudgedCandidate, second_half: Mapping[str, Values]) -> bool:
    origin = one.candidate.tuned_from
    if origin is None:
        return False
    names = [name for name in (origin, PUBLISHED) if name in second_half]
    return not all(is_surely_better(context.goals, second_half, one.candidate.name, name) for name in names)


def judge_references(
    context: AdviceContext, judged: Judged, chosen: Sequence[Candidate]
) -> tuple[JudgedCandidate, ...]:
    """The results of references."""
    by_name = {one.name: one for one in chosen if one.name in judged.references}
    return tuple(judge(context, judged.references, by_name).values()) if by_name else ()
