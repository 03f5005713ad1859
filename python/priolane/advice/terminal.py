"""The answer as lines and tables of text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from priolane.advice.answer import Advice, JudgedCandidate, describe_end
from priolane.advice.feasible import requires, shipped
from priolane.advice.goals import Outcome
from priolane.advice.sensitivity import Finding

_MARK = {"met": "+", "missed": "-"}


def summary(advice: Advice) -> Iterator[str]:
    """The request and the advice."""
    training, judging = advice.blocks
    yield (
        f"hosts are offered {advice.load:.2g} of what their links carry; trained on up to {training} blocks of time, "
        f"judged on {judging} others"
    )
    yield f"advice: {advice.headline}" if advice.possible else advice.headline
    yield from (f"  {line}" for line in configuration(advice))
    if advice.simpler is not None:
        yield f"fewer queues: {simpler(advice.simpler)}"


def configuration(advice: Advice) -> list[str]:
    """The configuration, in lines: hosts, switches, thresholds."""
    candidate = advice.best.candidate
    rows = candidate.rows
    base = str(rows.get("base", candidate.name))
    lines = [f"hosts: transport {shipped()[base]['transport']['kind']}, as in the scheme {base}"]
    port = rows.get("port")
    if isinstance(port, Mapping) and "queues" in port:
        weights = port.get("weights")
        served = f"weights {', '.join(map(str, weights))}" if weights else "strict priority"
        lines.append(f"switches: {port['queues']} queues, {served}")
    else:
        lines.append(f"switches: {candidate.queues or 1} queue{'s' if candidate.queues > 1 else ''}")
    ecn = port["ecn"] if isinstance(port, Mapping) and "ecn" in port else advice.marking
    if ecn and "ecn" in requires(shipped()[base]):
        lines.append(f"switches: {marking(ecn)}")
    for row, who in (("assign", "class of a packet"), ("host", "queues in hosts")):
        of = rows.get(row)
        if isinstance(of, Mapping) and of.get("thresholds"):
            by = "size of its flow" if of.get("kind") == "size" else "bytes that its flow has sent"
            lines.append(f"{who} by {by}: {', '.join(of['thresholds'])}")
    return lines


def simpler(one: JudgedCandidate) -> str:
    """A candidate that meets all goals with fewer queues, in words."""
    count = one.candidate.queues
    values = ", ".join(str(outcome) for outcome in one.outcomes)
    surely = "" if all(one.surely) else ", if not surely"
    return f"{one.candidate.name} meets all goals too with {count} queue{'s' if count > 1 else ''}{surely}: {values}"


def marking(ecn: Mapping[str, Any]) -> str:
    """Marking thresholds in words."""
    return f"ECN by {ecn['per']}: {', '.join(f'{limit} at {rate}' for rate, limit in ecn['at'].items())}"


def ranking_columns(advice: Advice) -> list[str]:
    """The head of the ranking."""
    return ["scheme", "queues", *(goal.name for goal in (*advice.goals, *advice.shown)), "goals"]


def ranking_rows(advice: Advice) -> list[list[str]]:
    """A row for each that was judged, the best first, then references and the bound."""
    rows = [_row(advice, one, ", ".join(one.verdicts())) for one in advice.ranking]
    rows += [_row(advice, one, "no deployment") for one in advice.references]
    if advice.network:
        metrics = (*advice.goals, *advice.shown)
        cells = [
            advice.network[goal.name].format(goal.quantity.unit) if goal.name in advice.network else ""
            for goal in metrics
        ]
        rows.append(["each flow alone", "", *cells, "bound"])
    return rows


def _row(advice: Advice, one: JudgedCandidate, verdict: str) -> list[str]:
    cells = [one.estimates[goal.name].format(goal.quantity.unit) for goal in (*advice.goals, *advice.shown)]
    return [one.candidate.name, str(one.candidate.queues or ""), *cells, verdict]


def sensitivity_columns(advice: Advice) -> list[str]:
    """The head of the sensitivities."""
    return ["if there is", *(goal.text for goal in advice.goals), "the best is"]


def sensitivity_rows(advice: Advice) -> list[list[str]]:
    """A row for each disturbance: what the best does by each goal, and whether it stays first."""
    return [_disturbed(one, len(advice.goals)) for one in advice.sensitivity]


def _disturbed(one: Finding, goals: int) -> list[str]:
    if one.refused is not None:
        return [one.disturbance.description, *["-"] * goals, one.refused]
    return [one.disturbance.description, *map(_outcome, one.best), one.order]


def _outcome(outcome: Outcome) -> str:
    return f"{'met' if outcome.met else 'missed'}: {outcome.goal.format(outcome.value)}"


def explanation(advice: Advice) -> Iterator[str]:
    """The reason why the second best lost, the ends of the others, and the schemes that are not possible here."""
    if advice.second is not None:
        yield f"why {advice.second.candidate.name} is second:"
        yield from (f"  {line}" for line in advice.lost)
    if advice.race.ended:
        yield "eliminated:"
        yield from (f"  {name}: {describe_end(how)}" for name, how in advice.race.ended.items())
    if advice.impossible:
        yield "not possible here:"
        yield from (f"  {one.scheme}: {'; '.join(one.reasons)}" for one in advice.impossible)


def cautions(advice: Advice) -> Iterator[str]:
    """The sources of uncertainty, and the values that were assumed where nothing was stated."""
    yield from (f"uncertain: {doubt}" for doubt in advice.doubts)
    yield from (f"assumed: {text}" for text in advice.assumed)


def spending(advice: Advice) -> str:
    """The simulated amount, in packet-hops."""
    spent = advice.spent
    part = 100 * (spent.race + spent.judging + spent.tuning) / spent.full_grid
    return (
        f"{spent.total:.3g} packet-hops of a budget of {spent.budget:.3g}; race, tuning and judging took {part:.0f} % "
        "of what all candidates on all blocks would take"
    )


def tables(advice: Advice) -> Sequence[tuple[list[str], list[list[str]]]]:
    """The ranking and the sensitivities: columns and rows."""
    return (
        (ranking_columns(advice), ranking_rows(advice)),
        (sensitivity_columns(advice), sensitivity_rows(advice)),
    )
