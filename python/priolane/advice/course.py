"""The course of `priolane advise`: read, see what the list can tell, run today, race, tune, judge, disturb, answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from priolane._core import InputError
from priolane.advice import bounds, choice, stages, sufficiency
from priolane.advice.answer import Advice, JudgedCandidate, Judging, Kind, Remedy
from priolane.advice.candidate import TODAY, Candidate
from priolane.advice.candidates import candidates, references
from priolane.advice.claims import claims_and_panel
from priolane.advice.commands import ExportCommand, commands
from priolane.advice.compared import Compared, Frame, compete, wanted
from priolane.advice.configured_switch import is_configuration
from priolane.advice.connections import notes
from priolane.advice.doubts import of_check, of_list, of_runs
from priolane.advice.feasible import feasible
from priolane.advice.goals import Goal
from priolane.advice.measured import compare
from priolane.advice.outcomes import Values, estimates, referring
from priolane.advice.pace import fit, lengthen, measure_pace
from priolane.advice.place import claim, finish, replaced
from priolane.advice.remedies import find_remedies
from priolane.advice.request import AdviceContext, Preferences, Request, Tell, read
from priolane.advice.rollout import RolloutStep, obstacle, roll_out
from priolane.advice.samples import Trial
from priolane.advice.sensitivity import Undisturbed, examine
from priolane.advice.spending import Ledger, Stage
from priolane.advice.traffic import Traffic
from priolane.advice.trials import FLOWS, Experiment, Trials, bare, longest_s, values, values_of
from priolane.advice.windows import MOST, TIMES_LONGEST, TIMES_LONGEST_IN_RACE, Windows
from priolane.execution.budget import Budget
from priolane.execution.settings import Settings
from priolane.results.estimate import Estimate


def advise(  # noqa: PLR0913 - the options of the command
    flows: str | Path | None,
    fabric: str | Path,
    *,
    sizes: str | None = None,
    load: float | None = None,
    goals: Sequence[str] = (),
    queues: int | None = None,
    today: str | None = None,
    steps: Sequence[str] = (),
    without: Sequence[str] = (),
    least_gain: float | None = None,
    out: str | Path | None = None,
    budget: str | None = None,
    minutes: float | None = None,
    switch: str | Path | None = None,
    sampling: int | None = None,
    check: str | Path | None = None,
    changed: str | None = None,
    seed: int = 1,
    jobs: int = 1,
) -> Advice:
    """The answer for the flow list `flows` on the network of the file `fabric`.

    `flows` may be an experiment file: then they are those that its groups start in the first seed. If it is `None`,
    they are drawn from `sizes`, the name of a shipped table or the path of one, at `load`, the part of hosts' links.
    `goals` are bounds such as "p99.small < 1ms" (docs/advise.md). `today` is the scheme that runs now, `steps` orders
    kinds of change from the cheapest, `without` names candidates that are not wanted, and `least_gain` (0.1 for 10 %)
    is what a more expensive change must gain. `check` is a CSV of values that were measured today. `changed` names
    hosts that are changed first, such as "all", "0-15" or "rack1": then the answer is also run with 10, 50 and 100 % of
    them changed. `budget` is such as "2e9hops" and makes the answer the same on any machine; `minutes` is converted to
    one. Results go to `out` (default: below runs/); what is there already is not run again.

    Raises `InputError` for bad input.
    """
    try:
        amount = None if budget is None else Budget.read(budget)
    except ValueError as error:
        raise InputError(f"budget=: {error}") from None
    traffic = Traffic(None if flows is None else Path(flows), sizes, load)
    request = Request(
        traffic=traffic,
        fabric=Path(fabric),
        out=Path(out) if out is not None else Path("runs") / f"{traffic.name}-advice",
        switch=None if switch is None else Path(switch),
        queues=queues,
        goals=tuple(goals),
        preferences=Preferences(today, tuple(steps), tuple(without), least_gain),
        budget=amount,
        minutes=minutes,
        sampling=sampling,
        check=None if check is None else Path(check),
        changed=changed,
        seed=seed,
        settings=Settings(jobs=jobs),
    )
    return execute(request, lambda _: None)


def execute(request: Request, tell: Tell) -> Advice:
    """`advise` with all choices of the command; `tell` is called with a line for each stage."""
    context = read(request, tell)
    with claim(request.out):
        before = replaced(request.out, [goal.text for goal in context.goals])
        if before is not None:
            tell(before)
        advice = _advise(context)
        finish(advice)
    return advice


def _answer(context: AdviceContext, kind: Kind, **parts: Any) -> Advice:
    return Advice(
        kind=kind,
        goals=context.goals,
        shown=context.shown,
        fabric=context.fabric,
        today=context.today,
        directory=context.request.out,
        assumed=context.fabric.assumed,
        **{**parts, "doubts": (*of_check(parts.get("measured", ())), *parts.get("doubts", of_list(context)))},
    )


def _known(context: AdviceContext) -> Advice | None:
    """The answer that takes no run, if there is one."""
    lacking = sufficiency.before_runs(context)
    if lacking is not None:
        return _answer(context, Kind.UNKNOWN, insufficient=lacking)
    proofs = bounds.by_links(context.goals, context.flows, context.fabric)
    return _answer(context, Kind.IMPOSSIBLE, bounds=proofs) if proofs else None


def _advise(context: AdviceContext) -> Advice:
    known = _known(context)
    if known is not None:
        return known
    context.flows.write(context.request.out / FLOWS)
    schemes = feasible(context.fabric, context.flows)
    training = stages.make_training(context, Windows.over(context.flows, MOST), _LOAD)
    guessed = wanted(context, candidates(context.fabric, schemes, training))
    pace = measure_pace(context, len(guessed))
    context, pace = lengthen(context, pace)
    context, pace = fit(context, pace, len(guessed))
    lacking = sufficiency.too_short(context, pace.longest_s(context.goals))
    if lacking is not None:
        return _answer(context, Kind.UNKNOWN, insufficient=lacking)
    ledger = Ledger(pace.budget, pace.whole, planned=len(guessed) * pace.whole)
    ledger.add(Stage.TODAY, pace.trials)
    guess = sufficiency.guess_windows(context, pace.longest_s(context.goals))
    now = stages.run_today(context, guess, ledger)
    lacking = sufficiency.too_short(context, longest := longest_s(now, context.goals))
    if lacking is not None:
        return _answer(context, Kind.UNKNOWN, insufficient=lacking)
    windows = sufficiency.windows(context, longest, guess=guess)
    now = stages.run_today(context, windows, ledger)
    context = replace(context, goals=_of_today(context.goals, now))
    measured = compare(context.measured, values_of(now))
    proofs = bounds.alone(context.goals, bare(now))
    if proofs:
        return _answer(context, Kind.IMPOSSIBLE, bounds=proofs, measured=measured)
    load = sum(trial.offered for trial in now.values()) / len(now)
    times = TIMES_LONGEST if context.needs_whole_list else TIMES_LONGEST_IN_RACE
    prefixes = sufficiency.windows(context, longest, times)
    frame = Frame(windows, prefixes, ledger, load, tuple(schemes), measured)
    ledger.whole = sum(trial.hops for trial in now.values())
    ledger.add_candidates(ledger.whole)
    if _is_enough(context, now):
        context.tell("today's scheme surely meets all goals: nothing else is compared")
        ledger.add_candidates(ledger.whole * len(guessed))
        return _judge(context, frame, Compared())
    return _judge(context, frame, compete(context, frame, now))


_LOAD = 0.5  # The load for which candidates are counted before that of the list is known.


def _of_today(goals: Sequence[Goal], now: Trials) -> tuple[Goal, ...]:
    """The goals with today's values, for stages in which today's scheme does not run."""
    known = referring(goals, {TODAY: values_of(now)})
    return tuple(absolute if absolute.against == TODAY else goal for goal, absolute in zip(goals, known, strict=True))


def _is_enough(context: AdviceContext, ran: Trials) -> bool:
    """Whether today's scheme alone surely meets all goals, and no gain beyond them is asked for."""
    if context.request.preferences.least_gain is not None or any(goal.against == "best" for goal in context.goals):
        return False
    now = context.today.candidate
    known = choice.judge(context, {now.name: ran}, {now.name: now})
    return known[now.name].surely_meets


def _judge(context: AdviceContext, frame: Frame, compared: Compared) -> Advice:
    """Judges today's scheme and candidates on the whole list, and disturbs the answer."""
    now, ledger, windows = context.today.candidate, frame.ledger, frame.windows
    by_name = {candidate.name: candidate for candidate in (*compared.candidates, now)}
    ideal = references(frame.schemes)
    judged = stages.run_judged(context, compared.finalists, ideal, windows, ledger)
    known = choice.judge(context, judged.trials, by_name)
    best = choice.choose(context, known, judged)
    kind = _kind(best, list(known.values()), context)
    beginning = frame.prefixes.first(stages.race_windows(context, frame.prefixes)[-1])
    remedies: tuple[Remedy, ...] = ()
    if kind is Kind.NONE and compared.training is not None:
        compared_with = replace(context, goals=referring(context.goals, values(judged.trials)))
        remedies = find_remedies(compared_with, frame.schemes, beginning, compared.training, ledger)
    pair = [*([] if best.candidate is now else [best.candidate]), now]
    seeds: Mapping[str, Trials] = {}
    if kind in (Kind.CHANGE, Kind.NOTHING):
        seeds = stages.run_seeds(context, pair, windows, ledger)
    findings = examine(context, Undisturbed(pair, best.outcomes, windows), frame.prefixes, context.goals, ledger)
    steps, no_rollout = _rollout(context, kind, best.candidate, windows, values(judged.trials))
    ledger.add_hops(Stage.ROLLOUT, sum(step.hops for step in steps))
    context.tell(f"sensitivity: {sum(finding.refused is None for finding in findings)} disturbances")
    ranking = _ranking(context, known, best)
    written = context.experiment(
        "experiment.toml",
        [
            *(candidate.candidate for candidate in ranking),
            *(candidate for candidate in ideal if candidate.name in judged.references),
        ],
        windows,
        tail=claims_and_panel(ranking, best, context.goals, context.shown),
    )
    return _answer(
        context,
        kind,
        infeasible=compared.infeasible,
        measured=frame.measured,
        commands=_commands(context, written, best.candidate) if kind is Kind.CHANGE else (),
        notes=tuple(notes(context.flows, best.candidate)) if kind is Kind.CHANGE else (),
        doubts=(*of_runs(best, context.goals, frame.load), *of_list(context)),
        judging=Judging(
            ranking=ranking,
            chosen=best,
            references=choice.judge_references(context, judged, ideal),
            candidates=tuple(by_name.values()),
            race=compared.raced,
            remedies=remedies,
            sensitivity=findings,
            spent=ledger,
            listed=context.flows.in_words,
            windows=windows.count,
            disturbed=max((finding.part for finding in findings), default=0.0),
            seeds=stages.SEEDS if seeds else 1,
            agreeing=_agreeing(context, {**judged.trials, **seeds}, by_name, best.candidate.name) if seeds else 1,
            load=frame.load,
            rollout=steps,
            no_rollout=no_rollout,
            alone=_alone(context, next(iter(judged.trials[now.name].values()))),
        ),
    )


def _commands(context: AdviceContext, written: Experiment, advised: Candidate) -> tuple[ExportCommand, ...]:
    """The exports of the answer; beside the present configuration of a switch if the request has one."""
    switch = context.request.switch
    present = switch if switch is not None and is_configuration(switch) else None
    return commands(written, context.today, advised, present)


def _rollout(
    context: AdviceContext, kind: Kind, advised: Candidate, windows: Windows, judged: Mapping[str, Values]
) -> tuple[tuple[RolloutStep, ...], str | None]:
    """The steps of the rollout to the hosts that the request names, and why there are none although it names some."""
    if not context.changed:
        return (), None
    why = obstacle(context, advised) if kind is Kind.CHANGE else "nothing is advised that hosts could be changed to"
    if why is not None:
        context.tell(f"rollout: {why}")
        return (), why
    steps = roll_out(context, advised, windows, judged)
    context.tell(f"rollout: {sum(step.refused is None for step in steps)} of {len(steps)} steps were run")
    return steps, None


def _kind(best: JudgedCandidate, known: Sequence[JudgedCandidate], context: AdviceContext) -> Kind:
    if best.surely_meets:
        return Kind.NOTHING if best.candidate is context.today.candidate else Kind.CHANGE
    return Kind.NONE if all(judged.surely_misses for judged in known) else Kind.UNKNOWN


def _ranking(
    context: AdviceContext, known: dict[str, JudgedCandidate], best: JudgedCandidate
) -> tuple[JudgedCandidate, ...]:
    """Today's scheme, the advice, then the others: those that surely meet all goals by cost, then the nearest."""

    def key(judged: JudgedCandidate) -> tuple[object, ...]:
        cost = context.today.cost(judged.candidate)
        return (
            not judged.surely_meets,
            cost if judged.surely_meets else (0, 0, 0),
            judged.surely_misses,
            judged.miss,
            cost,
        )

    now = known[context.today.candidate.name]
    others = sorted((judged for judged in known.values() if judged not in (now, best)), key=key)
    return (now, *([] if best is now else [best]), *others)


def _agreeing(context: AdviceContext, trials: Mapping[str, Trials], by_name: Mapping[str, Candidate], best: str) -> int:
    """The number of seeds that give the answer alone: the advice surely meets all goals, and today's scheme does not,
    unless it is the advice. Where today's scheme ran with one seed, that one stands for the others."""
    now = context.today.candidate.name
    same = 0
    for seed in trials[best]:
        own = {name: {seed: of.get(seed, next(iter(of.values())))} for name in {best, now} for of in [trials[name]]}
        known = choice.judge(context, own, by_name, {name: of for name, of in trials.items() if name not in own})
        same += known[best].surely_meets and known[now].surely_meets == (best == now)
    return same


def _alone(context: AdviceContext, trial: Trial) -> dict[str, Estimate]:
    return estimates([goal for goal in context.read if trial.bare[goal.name] is not None], trial.bare)
