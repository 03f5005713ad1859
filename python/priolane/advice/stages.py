"""The stages of an answer: calibration, what runs, budget, race, tuning, judging, ranking."""

import math
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from priolane._core import InputError, RunFailed
from priolane.advice import tuning
from priolane.advice.answer import JudgedCandidate, judged
from priolane.advice.candidate import Candidate
from priolane.advice.candidates import PUBLISHED, simplest
from priolane.advice.feasible import Feasibility
from priolane.advice.goals import outcomes, ranked, score_difference, scores
from priolane.advice.racing import FIRST, Race, Why, race
from priolane.advice.request import MINUTES, AdviceContext, count_flows, tenants
from priolane.advice.sensitivity import disturbances
from priolane.advice.training import Training
from priolane.advice.trials import FLOWS, Experiment, RunOptions, Trial, means, trials, values
from priolane.experiment import plan
from priolane.files import write_whole
from priolane.results import Results

FINALISTS = 4
# Of the budget: judging, sensitivity and tuning; the rest is the race's.
_JUDGING, _SENSITIVITY, _TUNING = 0.25, 0.1, 0.1
_LEAST_BLOCKS = 3
_MOST_DISTURBED = 6
_CALIBRATED = 2
# Who is judged at most: finalists, tuned thresholds, published ones, one queue, the reference.
_JUDGED = FINALISTS + 4
_SHORTER = 0.95


def make_training(context: AdviceContext, load: float) -> Training:
    """Writes the flows of the training blocks as one list, which solvers read."""
    rows = context.blocks.measured(context.blocks.training)
    path = context.request.out / FLOWS / "training.csv"
    columns = [name for name in ("start_ns", "src", "dst", "bytes") if name in rows]
    write_whole(path, rows[columns].to_csv(index=False, float_format="%.0f"))
    bytes_of = rows["bytes"].groupby(rows["coflow"]).sum() if context.table.has("coflow") else ()
    return Training(
        flows=path,
        sizes=np.sort(rows["bytes"].to_numpy(dtype=float)),
        load=load,
        coflows=np.sort(np.asarray(bytes_of, dtype=float)),
        tenants=tenants(context),
        has_deadlines=context.table.has("deadline_ns"),
    )


def calibrate(context: AdviceContext) -> tuple[Candidate, float, float, float]:
    """The simplest candidate, the load, packet-hops of a block, and the budget.

    Runs that candidate on two training blocks: the race has them for nothing.
    """
    simple = simplest(context.fabric)
    seeds = context.blocks.training[:_CALIBRATED]
    experiment = context.experiment("race.toml", "Race", [simple], seeds)
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
    ran = trials(experiment.run(directory, [simple.name], seeds, one_job), context.read)[simple.name]
    seconds = time.perf_counter() - began
    hops = sum(one.hops for one in ran.values())
    load = sum(one.offered for one in ran.values()) / len(ran)
    return simple, load, hops / len(ran), _budget(context, hops / seconds)


def _about_fabric(error: InputError, path: Path, context: AdviceContext) -> str:
    """Mistakes of the experiment that was made of the user's files, as mistakes of these."""
    lines = []
    for mistake in error.mistakes:
        own = mistake.file == str(path) or mistake.file.startswith("schemes/")
        place = f"{context.request.fabric}: {mistake.key}: "
        lines.append(f"{place}{mistake.what}. {mistake.advice}" if own else str(mistake))
    return "\n".join(lines) or str(error)


def _budget(context: AdviceContext, hops_per_s: float) -> float:
    asked = context.request.budget
    if asked is not None:
        if asked.unit != "hops":
            raise InputError(f"--budget {asked}: an answer takes packet-hops, such as --budget 2e9hops, or --minutes 3")
        return asked.amount
    minutes = MINUTES if context.request.minutes is None else context.request.minutes
    budget = float(f"{hops_per_s * 60 * minutes * max(1, context.request.settings.jobs):.2g}")
    context.tell(f"{minutes:g} minutes of this machine: the same answer elsewhere by --budget {budget:.3g}hops")
    return budget


def keep_runnable(
    context: AdviceContext, chosen: Sequence[Candidate], found: Sequence[Feasibility]
) -> tuple[list[Candidate], list[Feasibility]]:
    """The candidates that pass the check of experiments, and schemes with the reasons of those that do not."""
    kept: list[Candidate] = []
    refused: dict[str, str] = {}
    experiment = context.experiment("race.toml", "Race", chosen, context.blocks.training[:1])
    try:
        plan(experiment.path)
        return list(chosen), list(found)
    except InputError:
        pass
    for one in chosen:
        alone = context.experiment("race.toml", "Race", [one], context.blocks.training[:1])
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
    context.experiment("race.toml", "Race", kept, context.blocks.training)
    return kept, schemes


@dataclass(frozen=True)
class Shares:
    """The blocks to judge on and to disturb, and what the stages may take of the budget, in packet-hops."""

    judged: tuple[int, ...]
    disturbed: tuple[int, ...]
    race: float
    tuning: float
    sensitivity: float


def fit(context: AdviceContext, count: int, each: float, budget: float) -> tuple[AdviceContext, float]:
    """The context and packet-hops of a block.

    Blocks are shortened if the budget has no room for so many candidates on the blocks of the first round and for
    judging.

    Raises `InputError` if blocks would have too few flows of a goal's class.
    """
    least = each * (count * FIRST + _JUDGED * _LEAST_BLOCKS)
    room = (1 - _SENSITIVITY - _TUNING) * budget
    if least <= room:
        return context, each
    factor = _SHORTER * room / least
    blocks = len(context.blocks.numbers)
    flows = {goal: count_flows(context.table, context.fabric, goal) / blocks for goal in context.goals}
    shortest = max(min(1.0, goal.quantity.least / 2 / max(flows[goal], 1e-9)) for goal in context.goals)
    if factor < shortest:
        enough = 1.1 * least * shortest / (_SHORTER * (1 - _SENSITIVITY - _TUNING))
        raise InputError(
            f"--budget {budget:.3g}hops: {count} candidates on {FIRST} blocks, and judging, leave too few flows in a "
            f"block; at least --budget {float(f'{enough:.2g}'):.3g}hops, or --minutes"
        )
    context = replace(context, blocks=context.blocks.shortened(factor))
    context.tell(f"blocks are cut to {100 * factor:.2g} % of their length: the budget has no room for more")
    return context, each * factor


def share_budget(context: AdviceContext, each: float, budget: float) -> Shares:
    """Gives each stage its share."""
    judged = context.blocks.judged[: max(_LEAST_BLOCKS, int(_JUDGING * budget / (each * _JUDGED)))]
    pair = 2 * each * len(disturbances(context.fabric, context.blocks))
    disturbed = judged[: max(_LEAST_BLOCKS, min(_MOST_DISTURBED, int(_SENSITIVITY * budget / pair)))]
    tuning, sensitivity = _TUNING * budget, min(_SENSITIVITY * budget, 1.5 * pair * len(disturbed))
    race = budget - each * _JUDGED * len(judged) - sensitivity - tuning
    return Shares(judged, disturbed, race, tuning, sensitivity)


def run_race(context: AdviceContext, chosen: Sequence[Candidate], budget: float) -> Race:
    """Races candidates on the training blocks within a budget of packet-hops."""
    experiment = context.experiment("race.toml", "Race", chosen, context.blocks.training)
    out = context.request.out / "runs" / "race"
    how = RunOptions(
        replace(context.request.settings, others=(context.request.out / "runs" / "calibration",)),
        context.request.watcher,
    )

    def evaluate(names: Sequence[str], seeds: Sequence[int]) -> Mapping[str, Mapping[int, Trial]]:
        return trials(experiment.run(out, names, seeds, how), context.read)

    return race(
        [one.name for one in chosen],
        context.blocks.training,
        context.goals,
        evaluate,
        budget,
        lambda done: context.tell(
            f"race: {len(done.ran)} candidates on {done.blocks} of {len(context.blocks.training)} blocks, "
            f"{len(done.left)} left, {done.hops:.3g} packet-hops"
        ),
    )


def run_tuning(
    context: AdviceContext, by_name: Mapping[str, Candidate], raced: Race, budget: float
) -> tuning.TuningResult:
    """Moves the thresholds of the best that has some."""
    out = context.request.out / "runs" / "tuning"

    def run(candidate: Candidate, seeds: Sequence[int]) -> Mapping[int, Trial]:
        experiment = context.experiment("tuning.toml", "Tuning", [candidate], seeds)
        return trials(experiment.run(out / candidate.name, [candidate.name], seeds, context.request.how), context.read)[
            candidate.name
        ]

    leader = next((by_name[name] for name in raced.left if by_name[name].thresholds), by_name[raced.left[0]])
    tuned = tuning.tune(leader, raced, context.goals, run, budget)
    if tuned.tries:
        outcome = f"{tuned.best.name}" if tuned.best is not leader else "none was better"
        context.tell(f"tuning: {tuned.tries} thresholds of {leader.name} on {tuned.blocks} blocks, {outcome}")
    return tuned


def choose_finalists(
    raced: Race, by_name: Mapping[str, Candidate], tuned: Candidate, base: Candidate
) -> list[Candidate]:
    """The finalists: the best of the race and, where these are few, the candidates that were eliminated last; the
    thresholds that tuning found and those that it began with; the published ones; and the candidate without
    priorities."""
    late = [name for name, how in raced.ended.items() if how.why in (Why.EXCLUDED, Why.BUDGET)]
    late.sort(key=lambda name: (-raced.ended[name].blocks, raced.means[name]))
    names = [*[*raced.left, *late][:FINALISTS], tuned.name, base.name]
    names += [tuned.tuned_from] if tuned.tuned_from is not None else []
    names += [PUBLISHED] if PUBLISHED in by_name else []
    return [by_name[name] for name in dict.fromkeys(names) if name in by_name]


def run_judged(
    context: AdviceContext, chosen: Sequence[Candidate], reference: Sequence[Candidate], seeds: Sequence[int]
) -> tuple[Experiment, Results, tuple[Candidate, ...]]:
    """Runs finalists and references on blocks that nothing was fitted to; leaves references out if their runs fail."""
    try:
        experiment, results = _run_judged(context, [*chosen, *reference], seeds)
    except RunFailed as error:
        if not reference:
            raise
        context.tell(f"references are left out, as a run of theirs failed: {error}")
        reference = ()
        experiment, results = _run_judged(context, chosen, seeds)
    context.tell(f"judged: {len(chosen)} candidates on {len(seeds)} blocks that nothing was fitted to")
    return experiment, results, tuple(reference)


def _run_judged(
    context: AdviceContext, chosen: Sequence[Candidate], seeds: Sequence[int]
) -> tuple[Experiment, Results]:
    experiment = context.experiment("experiment.toml", "Advice", chosen, seeds)
    names = [one.name for one in chosen]
    return experiment, experiment.run(context.request.out / "runs" / "judged", names, seeds, context.request.how)


def rank(
    context: AdviceContext,
    of: Mapping[str, Mapping[int, Trial]],
    by_name: Mapping[str, Candidate],
    favourite: Candidate,
) -> tuple[JudgedCandidate, ...]:
    """The candidates, the best first. Relative goals refer to the best of them.

    The favourite, which led before judging, stays first unless the judged blocks show another to be better.
    """
    results = outcomes(context.goals, means(of, context.goals))
    known = judged(of, context.goals, context.shown, by_name, results)
    order = ranked(results)
    first = order[0]
    name = favourite.name
    # Thresholds that runs found on training flows do not lead those that they began with, nor those that are published,
    # where they are worse on judged ones.
    stays = first not in (PUBLISHED, favourite.tuned_from) and not _is_better(context, of, first, name)
    if stays and known[first].met == known[name].met:
        order = [name, *(other for other in order if other != name)]
    return tuple(known[name] for name in order)


def _is_better(context: AdviceContext, of: Mapping[str, Mapping[int, Trial]], first: str, second: str) -> bool:
    """Whether the paired differences of the scores of two candidates lie on one side of 0, or flows of the second alone
    did not finish."""
    own = values(of)
    difference = score_difference(context.goals, own, first, second)
    if difference is None:
        found = scores(context.goals, own)
        whole = all(math.isfinite(score) for name in (first, second) for score in found[name].values())
        return not whole and found[first] != found[second]
    return difference[1] > 0


def judge_references(
    context: AdviceContext, of: Mapping[str, Mapping[int, Trial]], chosen: Sequence[Candidate]
) -> tuple[JudgedCandidate, ...]:
    """The results of references on the held-out blocks."""
    if not chosen:
        return ()
    ideal = {one.name: of[one.name] for one in chosen}
    results = outcomes(context.goals, means(ideal, context.goals))
    return tuple(judged(ideal, context.goals, context.shown, {one.name: one for one in chosen}, results).values())
