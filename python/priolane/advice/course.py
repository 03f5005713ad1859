"""The course of `priolane advise`: read, cut, find what is possible, race, tune, judge, disturb, answer."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from priolane._core import InputError
from priolane.advice import stages
from priolane.advice.answer import Advice, CostBreakdown, JudgedCandidate, runner_up, timeout_warnings, why_lost
from priolane.advice.candidates import candidates, references
from priolane.advice.claims import claims_and_panel
from priolane.advice.feasible import Feasibility, feasible
from priolane.advice.flow_blocks import find_doubts
from priolane.advice.frontier import alone
from priolane.advice.place import claim, finish
from priolane.advice.request import AdviceContext, Request, Tell, read
from priolane.advice.sensitivity import Pair, as_recorded, examine
from priolane.advice.traffic import Traffic
from priolane.advice.trials import FLOWS, Trial, trials
from priolane.budget import Budget
from priolane.settings import Settings


def advise(  # noqa: PLR0913 - the options of the command
    flows: str | Path | None,
    fabric: str | Path,
    *,
    sizes: str | None = None,
    load: float | None = None,
    goals: Sequence[str] = (),
    queues: int | None = None,
    out: str | Path | None = None,
    budget: str | None = None,
    minutes: float | None = None,
    switch: str | Path | None = None,
    sampling: int | None = None,
    jobs: int = 1,
) -> Advice:
    """The answer for the flow list `flows` on the network of the file `fabric`.

    `flows` may be an experiment file: then they are those that its groups start in the first seed. If it is `None`,
    they are drawn from `sizes`, the name of a shipped table or the path of one, at `load`, the part of hosts' links.
    `goals` are bounds such as "p99.small < 1ms" (docs/advise.md). `budget` is such as "2e9hops" and makes the answer
    the same on any machine; `minutes` is converted to one. Results go to `out` (default: below runs/); what is there
    already is not run again. Raises `InputError` for bad input.
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
        budget=amount,
        minutes=minutes,
        sampling=sampling,
        settings=Settings(jobs=jobs),
    )
    return execute(request, lambda _: None)


def execute(request: Request, tell: Tell) -> Advice:
    """`advise` with all choices of the command; `tell` is called with a line for each stage."""
    context = read(request, tell)
    with claim(request.out):
        advice = _advise(context)
        finish(advice)
    return advice


def _advise(context: AdviceContext) -> Advice:
    blocks, request = context.blocks, context.request
    blocks.write(request.out / FLOWS, blocks.numbers)
    found: Sequence[Feasibility] = feasible(context.fabric, context.table)
    base, load, each, budget = stages.calibrate(context)
    training = stages.make_training(context, load)
    chosen, found = stages.keep_runnable(context, candidates(context.fabric, found, training), found)
    context.tell(
        f"{len(chosen)} candidates of {sum(map(bool, found))} schemes that are possible here, {len(found)} shipped"
    )
    context, each = stages.fit(context, len(chosen), each, budget)
    blocks = context.blocks
    blocks.write(request.out / FLOWS, blocks.numbers)
    shares = stages.share_budget(context, each, budget)
    raced = stages.run_race(context, chosen, shares.race)
    by_name = {one.name: one for one in chosen}
    tuned = stages.run_tuning(context, by_name, raced, shares.tuning)
    by_name[tuned.best.name] = tuned.best
    finalists = stages.choose_finalists(raced, by_name, tuned.best, base)
    experiment, results, reference = stages.run_judged(context, finalists, references(found), shares.judged)
    of = trials(results, context.read)
    own = {one.name: of[one.name] for one in finalists}
    leader = raced.left[0]
    favourite = tuned.best if tuned.best.tuned_from == leader else by_name[leader]
    ranking = stages.rank(context, own, by_name, favourite)
    experiment.tail = claims_and_panel(ranking, context.goals, context.shown)
    experiment.write()
    rival = runner_up(ranking)
    second = None if rival is None else rival.candidate.name
    pair = Pair(ranking[0].candidate.name, second, context.goals)
    judging = sum(trial.hops for by_block in of.values() for trial in by_block.values())
    left = budget - raced.hops - tuned.hops - judging
    findings = examine(experiment, pair, shares.disturbed, request.how, max(shares.sensitivity, left))
    context.tell(
        f"sensitivity: {sum(one.refused is None for one in findings)} disturbances on {len(shares.disturbed)} blocks"
    )
    findings = (as_recorded(pair, of, shares.disturbed), *findings)
    spent = CostBreakdown(
        budget=budget,
        race=raced.hops,
        tuning=tuned.hops,
        judging=judging,
        sensitivity=sum(one.hops for one in findings),
        full_grid=round(raced.full_hops * len(blocks.numbers) / len(blocks.training)),
    )
    return Advice(
        goals=context.goals,
        shown=context.shown,
        ranking=ranking,
        references=stages.judge_references(context, of, reference),
        candidates=tuple(by_name.values()),
        race=raced,
        impossible=tuple(one for one in found if not one),
        lost=why_lost(ranking[0], rival, of) if rival is not None else (),
        sensitivity=findings,
        doubts=_collect_doubts(context, ranking[0], load, shares.judged, of),
        assumed=context.fabric.assumed,
        spent=spent,
        blocks=(raced.rounds[-1].blocks, len(shares.judged)),
        load=load,
        queues=context.fabric.queues,
        directory=request.out,
        marking=context.fabric.marking,
        network=alone(results, base.name, context.read, context.fabric.classes, context.table),
    )


def _collect_doubts(
    context: AdviceContext,
    best: JudgedCandidate,
    load: float,
    judging: Sequence[int],
    of: Mapping[str, Mapping[int, Trial]],
) -> tuple[str, ...]:
    found = list(find_doubts(context.table, context.request.sampling))
    if context.blocks.part < 1:
        found.append(f"{100 * context.blocks.part:.2g} % of the list were simulated: the budget had no room for more")
    trial = of[best.candidate.name]
    for goal in context.goals:
        kind = "coflows" if goal.quantity.is_of_coflows else "flows"
        count = sum(getattr(one, kind).get(goal.size_class, 0) for one in trial.values())
        if count < goal.quantity.least * len(judging):
            found.append(
                f"{count} {kind} of {goal.size_class} were judged: {goal.name} rests on few of them, a block has "
                f"{math.ceil(count / len(judging))}"
            )
    if load >= 1:
        found.append(f"hosts are offered {load:.2g} times what their links carry: nothing is steady in overload")
    return (*found, *timeout_warnings(best, context.goals))
