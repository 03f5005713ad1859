"""The stages of an answer: today's scheme on the whole list, race, composed candidates, tuning, judging."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from priolane._core import InputError, RunFailed
from priolane.advice import tuning
from priolane.advice.candidate import Candidate
from priolane.advice.choice import FINALISTS, Judged
from priolane.advice.feasible import Feasibility
from priolane.advice.pace import JUDGED
from priolane.advice.racing import Limits, Race, enter, race, stages
from priolane.advice.request import AdviceContext, tenants
from priolane.advice.spending import SENSITIVITY, TUNING, Ledger, Stage, begin
from priolane.advice.training import Training
from priolane.advice.trials import FLOWS, RunOptions, Trials, hops
from priolane.advice.windows import FEWEST, Windows
from priolane.model.experiment import plan
from priolane.storage.files import write_whole

SEEDS = 3
"""The seeds with which the advice is compared with today's scheme."""
# Whole lists that later stages have to find room for: judging four, other seeds two, and disturbances about five, which
# are seven runs of two candidates on a third of the list.
_AFTER_RACE, _AFTER_JUDGING = 11.5, 7.5


def run_today(context: AdviceContext, windows: Windows, ledger: Ledger) -> Trials:
    """Today's scheme on the whole list."""
    begin(context, ledger, Stage.TODAY)
    name = context.today.candidate.name
    experiment = context.experiment("today.toml", [context.today.candidate], windows)
    out = context.request.out / "runs" / "today"
    trials = experiment.trials(out, [name], _reusing(context, "calibration"), context.read)
    ledger.add(Stage.TODAY, trials)
    return trials[name]


def make_training(context: AdviceContext, windows: Windows, load: float) -> Training:
    """Writes the flows of the race's windows as one list, which solvers read."""
    mask = context.flows.starting(windows.end_ns)
    path = context.request.out / FLOWS / "training.csv"
    columns = [context.flows.at_ns, *(context.flows.columns[name] for name in ("src", "dst", "bytes"))]
    rows = zip(*(of[mask].astype(np.int64).tolist() for of in columns), strict=True)
    text = "\n".join(["start_ns,src,dst,bytes", *(",".join(map(str, row)) for row in rows)])
    write_whole(path, text + "\n")
    return Training(
        flows=path,
        sizes=np.sort(context.flows.sizes[mask]),
        load=load,
        coflows=context.flows.coflow_bytes,
        tenants=tenants(context),
        groups=context.flows.groups,
        has_deadlines=context.flows.has("deadline_ns"),
    )


def keep_runnable(
    context: AdviceContext,
    name: str,
    entrants: Sequence[Candidate],
    feasibilities: Sequence[Feasibility],
    windows: Windows,
) -> tuple[list[Candidate], list[Feasibility]]:
    """The candidates that pass the check of experiments, and schemes with the reasons of those that do not.

    `name` is the file of the experiment that is checked.
    """
    kept: list[Candidate] = []
    refused: dict[str, str] = {}
    experiment = context.experiment(name, entrants, windows)
    try:
        plan(experiment.path)
        return list(entrants), list(feasibilities)
    except InputError:
        pass
    for candidate in entrants:
        alone = context.experiment(name, [candidate], windows)
        try:
            plan(alone.path)
            kept.append(candidate)
        except InputError as error:
            refused[str(candidate.rows.get("base", candidate.name))] = (
                f"{error.mistakes[0].what}. {error.mistakes[0].advice}"
            )
    kept_bases = {str(candidate.rows.get("base", candidate.name)) for candidate in kept}
    schemes = [
        replace(scheme, reasons=(refused[scheme.scheme],))
        if scheme.scheme in refused and scheme.scheme not in kept_bases
        else scheme
        for scheme in feasibilities
    ]
    return kept, schemes


def race_windows(context: AdviceContext, windows: Windows) -> tuple[int, ...]:
    """The windows of each round of the race: the first half at most, unless the whole list is needed."""
    if context.needs_whole_list:
        return (windows.count,)
    return stages(max(FEWEST, windows.count // 2))


def run_race(context: AdviceContext, entrants: Sequence[Candidate], windows: Windows, ledger: Ledger) -> Race:
    """Races candidates on the first half of the windows."""
    begin(context, ledger, Stage.RACE)
    out = context.request.out / "runs" / "race"
    # A fifth of the grid is a whole list for each candidate.
    lists = min(
        (1 - TUNING - SENSITIVITY) * ledger.budget / ledger.whole - 1 - JUDGED,
        len(entrants) + 1 - _AFTER_RACE - ledger.total / ledger.whole,
    )

    def evaluate(names: Sequence[str], count: int) -> Mapping[str, Trials]:
        experiment = context.experiment("race.toml", entrants, windows.first(count))
        trials = experiment.trials(out, names, _reusing(context, "today"), context.read)
        if not ledger.by_stage[Stage.RACE]:
            ledger.add_candidates(hops(trials) * (windows.count + 1) / (count + 1))
        ledger.add(Stage.RACE, trials)
        return trials

    rounds = race_windows(context, windows)
    return race(
        [candidate.name for candidate in entrants],
        rounds,
        context.goals,
        evaluate,
        Limits(lists * ledger.whole, FINALISTS),
        lambda done: context.tell(
            f"race: {len(done.ran)} candidates on {done.windows} of {windows.count} windows, {len(done.left)} left, "
            f"{done.hops:.3g} packet-hops"
        ),
    )


def has_room_for_one(raced: Race, windows: Windows, ledger: Ledger) -> bool:
    """Whether one more candidate can run on the windows of the race's last round."""
    part = (raced.rounds[-1].windows + 1) / (windows.count + 1)
    return ledger.lists_left(_AFTER_RACE) >= part


def run_composed(
    context: AdviceContext, name: str, made: Sequence[Candidate], raced: Race, windows: Windows, ledger: Ledger
) -> Race:
    """Runs candidates that were composed of those of a race on the windows of its last round.

    `name` is that of their experiment and runs.
    """
    count = raced.rounds[-1].windows
    experiment = context.experiment(f"{name}.toml", made, windows.first(count))
    out = context.request.out / "runs" / name
    trials = experiment.trials(out, [candidate.name for candidate in made], context.request.how, context.read)
    ledger.add_candidates(hops(trials) * (windows.count + 1) / (count + 1))
    ledger.add(Stage.RACE, trials)
    entered = enter(raced, context.goals, trials)
    context.tell(f"composed: {len(made)} candidates of those that lead, {len(entered.left)} left in all")
    return entered


def run_tuning(
    context: AdviceContext, by_name: Mapping[str, Candidate], raced: Race, windows: Windows, ledger: Ledger
) -> tuning.TuningResult:
    """Moves the thresholds of the best that has some."""
    begin(context, ledger, Stage.TUNING)
    out = context.request.out / "runs" / "tuning"
    count = raced.rounds[-1].windows
    each = ledger.whole * (count + 1) / (windows.count + 1)

    def run(candidate: Candidate) -> Trials:
        experiment = context.experiment("tuning.toml", [candidate], windows.first(count))
        trials = experiment.trials(out / candidate.name, [candidate.name], context.request.how, context.read)
        ledger.add(Stage.TUNING, trials)
        return trials[candidate.name]

    ran = [name for name in raced.left if name in raced.rounds[-1].ran]
    leader = next((by_name[name] for name in ran if by_name[name].thresholds), by_name[ran[0]])
    rivals = {name: raced.values[name] for name in ran}
    room = min(TUNING * ledger.budget, ledger.lists_left(_AFTER_RACE) * ledger.whole)
    tuned = tuning.tune(leader, rivals, context.goals, run, int(room / each))
    if tuned.tries:
        outcome = f"{tuned.best.name}" if tuned.best is not leader else "none was better"
        context.tell(f"tuning: {tuned.tries} thresholds of {leader.name} on {count} windows, {outcome}")
    return tuned


def run_judged(
    context: AdviceContext,
    finalists: Sequence[Candidate],
    reference: Sequence[Candidate],
    windows: Windows,
    ledger: Ledger,
) -> Judged:
    """Runs today's scheme, finalists and references on the whole list; leaves references out if their runs fail, or if
    there is no room for them."""
    begin(context, ledger, Stage.JUDGING)
    all_of = [context.today.candidate, *finalists]
    names = [candidate.name for candidate in all_of]
    runs, how = context.request.out / "runs", _reusing(context, "today", "race", "composed", "together")
    if ledger.lists_left(_AFTER_JUDGING + len(finalists)) < len(reference):
        reference = ()
    experiment = context.experiment("experiment.toml", [*all_of, *reference], windows)
    results = experiment.run(runs / "judged", names, how)
    ideal: Mapping[str, Trials] = {}
    if reference:
        try:
            ideal = experiment.trials(
                runs / "references", [candidate.name for candidate in reference], how, context.read
            )
        except RunFailed as error:
            context.tell(f"references are left out, as a run of theirs failed: {error}")
            context.experiment("experiment.toml", all_of, windows)
    context.tell(f"judged: {len(all_of)} candidates on {windows.count} windows")
    judged = Judged(
        experiment.read(results, names, context.read, windows),
        experiment.read(results, names, context.read, windows.second_half()),
        ideal,
    )
    ledger.add(Stage.JUDGING, {**judged.trials, **judged.references})
    return judged


def room_for_finalists(context: AdviceContext, ledger: Ledger) -> float:
    """The number of whole lists that judging has room for: any, where the race ran on the whole list already."""
    return math.inf if context.needs_whole_list else ledger.lists_left(_AFTER_JUDGING)


def run_seeds(
    context: AdviceContext, finalists: Sequence[Candidate], windows: Windows, ledger: Ledger
) -> Mapping[str, Trials]:
    """Runs the advice, which comes first in `finalists`, with `SEEDS` seeds of paths and of the order at one instant.

    The others are run as well where there is room for them, and with the first seed alone where there is none.
    """
    begin(context, ledger, Stage.SEEDS)
    first = context.request.seed
    room = ledger.lists_left(_AFTER_JUDGING - SEEDS + 1)
    whole = finalists if room >= (SEEDS - 1) * len(finalists) else finalists[:1]
    experiment = context.experiment("seeds.toml", whole, windows, seeds=tuple(range(first, first + SEEDS)))
    out = context.request.out / "runs" / "seeds"
    trials = experiment.trials(out, [candidate.name for candidate in whole], _reusing(context, "judged"), context.read)
    ledger.add(Stage.SEEDS, trials)
    return trials


def _reusing(context: AdviceContext, *stages_before: str) -> RunOptions:
    """The way in which runs are carried out: those of other stages are taken where they are the same."""
    others = tuple(context.request.out / "runs" / name for name in stages_before)
    how = context.request.how
    return RunOptions(replace(how.settings, others=others), how.watcher)
