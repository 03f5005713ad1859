"""The answer as lines and tables of text."""

import math
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from priolane.advice.answer import Advice, JudgedCandidate, Judging, Kind, Remedy, ends_of
from priolane.advice.candidate import TODAY, Candidate
from priolane.advice.changes import merged, own_marking, own_parameters
from priolane.advice.feasible import requires
from priolane.advice.ladders import why_these
from priolane.advice.outcomes import Outcome, Verdict
from priolane.advice.rollout import CHANGED, UNCHANGED, RolloutStep, unsorted
from priolane.advice.sensitivity import Finding, budget_to_decide
from priolane.advice.spending import GRID_SEEDS

# Rows of the ranking that are printed without --explain.
_SHOWN = 4


def summary(advice: Advice) -> Iterator[str]:
    """The advice, under which disturbances it holds, how sure it is, and the configuration."""
    yield advice.headline
    if advice.judging is not None:
        yield f"  {holds(advice.judging)}"
    if advice.doubts:
        more = len(advice.doubts) - 1
        yield f"  uncertain: {advice.doubts[0]}{f' ({more} more: --explain)' if more else ''}"
    judging = advice.judging
    if judging is None:
        return
    yield f"  {how_sure(judging)}"
    if advice.kind is Kind.CHANGE:
        yield from (f"  {line}" for line in configuration(advice))


def how_sure(judging: Judging) -> str:
    """The evidence of the answer: load, windows, seeds."""
    seeds = (
        f"the same answer in {judging.agreeing} of {judging.seeds} seeds" if judging.seeds > 1 else "one seed was run"
    )
    return (
        f"load {judging.load:.2g} of hosts' links; {judging.windows} windows of the whole list ({judging.listed}) were "
        f"read; 95 % intervals are those of another list as long; {seeds}"
    )


def configuration(advice: Advice) -> list[str]:
    """The configuration of the advice, in lines: hosts, switches, thresholds."""
    candidate = advice.advised
    if candidate is None:
        return []
    why = why_these(advice)
    return [*_configuration(candidate, advice.fabric.marking), *([] if why is None else [why])]


def _configuration(candidate: Candidate, marks: Mapping[str, Any]) -> list[str]:
    rows = merged(candidate.rows)
    lines = [f"hosts: transport {rows['transport']['kind']}, as in the scheme {candidate.rows['base']}"]
    own = own_parameters(candidate)
    if "init_window" in own:
        lines.append(f"hosts: a first window of {own['init_window'].removesuffix('pkt')} packets (initcwnd of routes)")
    if "min_rto" in own:
        lines.append(
            f"hosts: a smallest retransmission timeout of {own['min_rto']} (rto_min of routes, or from Linux 6.11 on "
            "net.ipv4.tcp_rto_min_us; both are rounded up to ticks of the kernel, 1 ms or 4 ms)"
        )
    port = rows["port"]
    if int(port.get("queues", 1)) > 1:
        weights = port.get("weights")
        strict = f"{port['strict']} of them strict, then " if port.get("strict") else ""
        served = f"{strict}weights {', '.join(map(str, weights))}" if weights else "strict priority"
        lines.append(f"switches: {port['queues']} queues, {served}")
    else:
        lines.append(f"switches: {candidate.queues or 1} queue{'s' if candidate.queues > 1 else ''}")
    ecn = own_marking(candidate) or marks
    if ecn and "ecn" in requires(rows):
        lines.append(f"switches: {marking(ecn)}")
    for row, who in (("assign", "class of a packet"), ("host", "queues in hosts")):
        of = rows[row]
        if of.get("thresholds"):
            by = _BY.get(str(of.get("kind")), "bytes that its flow has sent")
            lines.append(f"{who} by {by}: {', '.join(of['thresholds'])}")
        if of.get("first"):
            begin = ", ".join(f"{name} {number}" for name, number in sorted(of["first"].items(), key=_by_class))
            lines.append(f"class in which a flow begins, by tenant: {begin}")
    return lines


def _by_class(entry: tuple[str, int]) -> tuple[int, str]:
    return entry[1], entry[0]


_BY = {"size": "size of its flow", "coflow_size": "bytes of its coflow"}


def marking(ecn: Mapping[str, Any]) -> str:
    """Marking thresholds in words."""
    return f"ECN by {ecn['per']}: {', '.join(f'{limit} at {rate}' for rate, limit in ecn['at'].items())}"


def ranking_columns(advice: Advice) -> list[str]:
    """The head of the ranking: a column for each goal, and one for each metric that is shown besides."""
    judging = advice.judging
    bounds: list[str | None] = [None] * len(advice.goals)
    if judging is not None:
        bounds = [outcome.relative_bound for outcome in judging.chosen.outcomes]
    heads = [f"{goal.text} ({bound})" if bound else goal.text for goal, bound in zip(advice.goals, bounds, strict=True)]
    return ["scheme", "queues", *heads, *(goal.name for goal in advice.shown), "changes"]


def ranking_head(advice: Advice, judging: Judging) -> list[list[str]]:
    """The first rows of the ranking, and the nearest that a missing capability would give."""
    rows = [_row(advice, judged) for judged in judging.ranking[:_SHOWN]]
    return rows + [_remedy(advice, remedy) for remedy in judging.remedies[:_SHOWN]]


def _remedy(advice: Advice, remedy: Remedy) -> list[str]:
    return [*_row(advice, remedy.judged)[:-1], f"takes {', '.join(remedy.missing)}"]


def ranking_rows(advice: Advice, judging: Judging) -> list[list[str]]:
    """A row for each that was judged, today's scheme first, then the advice; then references and the bound."""
    rows = [_row(advice, judged) for judged in judging.ranking]
    rows += [_remedy(advice, remedy) for remedy in judging.remedies]
    rows += [[*_row(advice, reference)[:-1], "no deployment"] for reference in judging.references]
    if judging.alone:
        metrics = (*advice.goals, *advice.shown)
        cells = [
            judging.alone[goal.name].format(goal.quantity.unit) if goal.name in judging.alone else ""
            for goal in metrics
        ]
        rows.append(["each flow alone", "", *cells, "bound"])
    return rows


def _row(advice: Advice, judged: JudgedCandidate) -> list[str]:
    late = {goal.name: _TIMEOUTS if judged.is_timeout(goal) else "" for goal in (*advice.goals, *advice.shown)}
    cells = [_outcome(outcome) + late[outcome.goal.name] for outcome in judged.outcomes]
    cells += [judged.estimates[goal.name].format(goal.quantity.unit) + late[goal.name] for goal in advice.shown]
    is_today = judged.candidate.name == advice.today.candidate.name
    name = f"today: {judged.candidate.family}" if is_today else judged.candidate.name
    changes = "" if is_today else ", ".join(step.short for step in advice.today.steps(judged.candidate))
    return [name, str(judged.candidate.queues or ""), *cells, changes]


_TIMEOUTS = " (timeouts)"
"""The mark of a value that is the retransmission timeout and not the scheme."""


def holds(judging: Judging) -> str:
    """Under which disturbances the chosen candidate surely meets all goals, in one sentence."""
    name = judging.chosen.candidate.name
    worst: dict[str, list[_Held]] = {}
    for finding in judging.sensitivity:
        if finding.refused is None:
            worst.setdefault(finding.disturbance.short, []).append(_held(finding.outcomes[name]))
    sorts: dict[_Held, list[str]] = {held: [] for held in _Held}
    for short, held in worst.items():
        many = f"the worst of {len(held)} {short}" if len(held) > 1 else short
        sorts[max(held, key=list(_Held).index)].append(many)
    # What explains the unsure ones stands behind them.
    ordered = sorted(sorts, key=lambda held: held is _Held.UNSURE)
    clauses = [f"{held} with {', '.join(sorts[held])}" for held in ordered if sorts[held]]
    if not clauses:
        return "no disturbance was looked at"
    says = f"goals are {'; '.join(clauses)}"
    unsure = [finding for finding in judging.sensitivity if finding.refused is None and _is_unsure(finding, name)]
    return f"{says}: {'; '.join(_windows_of(unsure, judging))}" if unsure else says


def _is_unsure(finding: Finding, name: str) -> bool:
    return _held(finding.outcomes[name]) is _Held.UNSURE


def _windows_of(unsure: Sequence[Finding], judging: Judging) -> Iterator[str]:
    """The part of the list that disturbed runs read, the budget that decides the open ones, and what no budget does."""
    parts = sorted({f"{100 * finding.part:.0f}" for finding in unsure}, key=int)
    most = parts[0] if len(parts) == 1 else f"{parts[0]} to {parts[-1]}"
    yield f"these runs read the {'whole list' if most == '100' else f'first {most} % of the list'}"
    names = [finding.disturbance.short for finding in unsure]
    known = [math.inf if not finding.is_open else min(finding.needed, 2.0) for finding in unsure]
    worst = {name: max(of for other, of in zip(names, known, strict=True) if other == name) for name in names}
    enough, whole = ([name for name, of in worst.items() if low < of <= high] for low, high in ((0, 1), (1, 2)))
    if enough or whole:
        reads = [f"enough to decide {', '.join(enough)}"] if enough else []
        reads += [f"all of it for {', '.join(whole)}"] if whole else []
        yield f"--budget {budget_to_decide(unsure, judging.spent):.2g}hops would read {', and '.join(reads)}"
    if few := [name for name, of in worst.items() if math.isinf(of)]:
        yield f"{', '.join(few)} would take a longer list"


def judged_by_ratio(advice: Advice) -> str:
    """The reason why an interval of the ranking may cross the bound of a relative goal; empty without such a goal."""
    if all(goal.against is None for goal in advice.goals):
        return ""
    of = " or ".join(
        words
        for words, is_asked in (
            ("the best", any(goal.against not in (None, TODAY) for goal in advice.goals)),
            ("today", any(goal.against == TODAY for goal in advice.goals)),
        )
        if is_asked
    )
    return f"a goal relative to {of} is judged by its ratio, so an interval may cross the bound"


class _Held(StrEnum):
    """Whether all goals hold under a disturbance, the best first."""

    MET = "surely met"
    UNSURE = "not shown to hold"
    MISSED = "missed"


def _held(outcomes: Sequence[Outcome]) -> _Held:
    verdicts = {outcome.verdict for outcome in outcomes}
    if verdicts == {Verdict.MET}:
        return _Held.MET
    return _Held.MISSED if Verdict.MISSED in verdicts else _Held.UNSURE


def sensitivity_columns(advice: Advice, judging: Judging) -> list[str]:
    """The head of the sensitivities."""
    names = _sensitive(advice, judging)
    return ["if there is", *(f"{goal.text}, {label}" for goal in advice.goals for _, label in names), "windows read"]


def _sensitive(advice: Advice, judging: Judging) -> list[tuple[str, str]]:
    """The candidates under disturbances, and what they are called."""
    shown = [(judging.chosen.candidate.name, judging.chosen.candidate.name)]
    if judging.chosen is not judging.now:
        return [*shown, (judging.now.candidate.name, "today")]
    return [(advice.today.candidate.name, "today")]


def sensitivity_rows(advice: Advice, judging: Judging) -> list[list[str]]:
    """A row for each disturbance: what the advice and today's scheme do by each goal."""
    return [_disturbed(advice, judging, finding) for finding in judging.sensitivity]


def _disturbed(advice: Advice, judging: Judging, finding: Finding) -> list[str]:
    names = _sensitive(advice, judging)
    if finding.refused is not None:
        return [finding.disturbance.description, *["-"] * len(advice.goals) * len(names), finding.refused]
    cells = [_outcome(finding.outcomes[name][place]) for place in range(len(advice.goals)) for name, _ in names]
    return [finding.disturbance.description, *cells, f"{finding.read} of {finding.of}"]


def _outcome(outcome: Outcome) -> str:
    return f"{outcome.verdict.value}: {outcome.estimate.format(outcome.goal.quantity.unit)}"


def rollout_columns(advice: Advice) -> list[str]:
    """The head of the steps of a rollout."""
    advised = None if advice.judging is None else advice.judging.chosen.candidate
    sorts = advised is not None and unsorted(advised) is not advised
    hosts = "hosts changed; they send round robin" if sorts else "hosts changed"
    return [hosts, *(f"{goal.text}, {side}" for goal in advice.goals for side in (CHANGED, UNCHANGED))]


def rollout_rows(advice: Advice, judging: Judging) -> list[list[str]]:
    """A row for each step of a rollout: each goal of flows from changed hosts and from the others."""
    return [_step(advice, step) for step in judging.rollout]


def _step(advice: Advice, step: RolloutStep) -> list[str]:
    name = f"{step.part} % ({step.hosts} of {step.of})"
    if step.refused is not None:
        return [name, *["-"] * (2 * len(advice.goals) - 1), step.refused]
    known = {(side, outcome.goal.text): _outcome(outcome) for side, of in step.outcomes.items() for outcome in of}
    return [name, *(known.get((side, goal.text), "-") for goal in advice.goals for side in (CHANGED, UNCHANGED))]


def explanation(advice: Advice) -> Iterator[str]:
    """The ends of candidates that were not judged, and the schemes that cannot be deployed here."""
    if advice.judging is not None and advice.judging.race.ended:
        yield "eliminated:"
        yield from (f"  {name}: {says}" for name, says in ends_of(advice.judging).items())
    for head, schemes in (("cannot be deployed here:", advice.not_deployable), ("not tried:", advice.twins)):
        if schemes:
            yield head
            yield from (f"  {feasibility.scheme}: {'; '.join(feasibility.reasons)}" for feasibility in schemes)


def checked(advice: Advice) -> Iterator[str]:
    """The measured values beside those of the simulation of today's network."""
    yield from (f"measured: {measurement}" for measurement in advice.measured)


def next_steps(advice: Advice) -> Iterator[str]:
    """The exports that lead to the answer, what each is for, and what has none."""
    for command in advice.commands:
        if command.command is None:
            yield f"none   priolane export {command.target}: {command.says}"
        else:
            yield f"next   {command.command}"
            yield f"       {command.says}"
    if advice.commands:
        yield "then   notes.txt in each directory has the commands that load, verify and go back"
    if advice.commands and advice.judging is not None:
        yield f"then   measure: if the network is as simulated, {expected(advice.judging)}"
    yield from (f"note   {text}" for text in advice.notes)


def expected(judging: Judging) -> str:
    """The intervals in which measured values of the goals lie after the change, if the network is as simulated."""
    return ", ".join(_expected(outcome) for outcome in judging.chosen.outcomes)


def _expected(outcome: Outcome) -> str:
    low, high = outcome.estimate.low, outcome.estimate.high
    if low is None or high is None:
        return f"{outcome.goal.asked} has no value"
    return f"{outcome.goal.asked} is from {outcome.goal.format(low)} to {outcome.goal.format(high)}"


def cautions(advice: Advice) -> Iterator[str]:
    """The sources of uncertainty, and the values that were assumed where nothing was stated."""
    yield from (f"uncertain: {doubt}" for doubt in advice.doubts)
    yield from (f"assumed: {text}" for text in advice.assumed)


def spending(judging: Judging) -> str:
    """The simulated amount, in packet-hops."""
    spent = judging.spent
    part = 100 * spent.total / spent.grid
    stages = ", ".join(f"{stage.value} {hops / spent.total:.0%}" for stage, hops in spent.by_stage.items() if hops)
    return (
        f"{spent.total:.3g} packet-hops of a budget of {spent.budget:.3g}, {part:.2g} % of what all candidates on the "
        f"whole list with {GRID_SEEDS} seeds would take: {stages}"
    )
