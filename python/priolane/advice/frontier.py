"""The trade-off between the first two metrics as a panel, with a bound: each flow alone in the network."""

from collections.abc import Mapping, Sequence

from priolane.advice.answer import Advice, Judging
from priolane.advice.goals import Goal
from priolane.advice.outcomes import estimates
from priolane.advice.racing import Why
from priolane.advice.words import metric
from priolane.results.estimate import Estimate
from priolane.results.numbers import fitting
from priolane.results.report import Mark, Panel, Series

_MOST_SERIES = 16
_DECADE = 10.0


def panel(advice: Advice) -> Panel | None:
    """The panel; `None` where there is one metric only, or nothing was judged."""
    metrics = (*advice.goals, *advice.shown)[:2]
    judging = advice.judging
    if len(metrics) < 2 or judging is None:
        return None
    drawn: list[tuple[str, str, Mapping[str, Estimate], int]] = [
        (judged.candidate.name, judged.candidate.name, judged.estimates, judged.candidate.queues)
        for judged in judging.ranking
    ]
    drawn += [
        (reference.candidate.name, f"{reference.candidate.name} (no deployment)", reference.estimates, 0)
        for reference in judging.references
    ]
    if all(goal.name in judging.alone for goal in metrics):
        drawn.append(("ideal", "each flow alone (bound)", judging.alone, 0))
    room = _MOST_SERIES - len(drawn)
    drawn += [(name, f"{name} (race)", of, queues) for name, of, queues in _others(advice, judging)[:room]]
    return _panel(metrics[0], metrics[1], drawn)


def directions(advice: Advice) -> str:
    """The metrics along both axes with the better side of each, as sentences; empty without two metrics."""
    metrics = (*advice.goals, *advice.shown)[:2]
    if len(metrics) < 2:
        return ""
    x, y = metrics
    across = "Right" if x.quantity.is_large_good else "Left"
    upwards = "Up" if y.quantity.is_large_good else "Down"
    return f"{across} is better: {metric(x)}. {upwards} is better: {metric(y)}."


def _others(advice: Advice, judging: Judging) -> list[tuple[str, Mapping[str, Estimate], int]]:
    """Candidates that the race ended, with what they had on the windows that they ran."""
    judged = {ranked.candidate.name for ranked in judging.ranking}
    others: list[tuple[str, Mapping[str, Estimate], int]] = []
    for candidate in judging.candidates:
        how = judging.race.ended.get(candidate.name)
        if candidate.name not in judged and how is not None and how.why not in (Why.SAME, Why.STUCK):
            own = judging.race.values[candidate.name]
            others.append((candidate.name, estimates((*advice.goals, *advice.shown), own), candidate.queues))
    return others


def _panel(x: Goal, y: Goal, drawn: Sequence[tuple[str, str, Mapping[str, Estimate], int]]) -> Panel:
    known = [of for of in drawn if of[2][x.name].mean is not None and of[2][y.name].mean is not None]
    xs = [float(of[2][x.name].mean or 0.0) for of in known]
    unit, many = fitting(max(xs, default=1.0), x.quantity.unit)
    series = tuple(
        Series(
            scheme=name,
            label=label,
            variant=0,
            marks=(
                Mark(
                    x=float(of[x.name].mean or 0.0) * many,
                    estimate=of[y.name],
                    across=of[x.name].scaled(many),
                    size=Estimate(float(queues), None, None, 1) if queues else None,
                ),
            ),
        )
        for name, label, of, queues in known
    )
    apart = bool(xs) and min(xs) > 0 and max(xs) / min(xs) > _DECADE
    unit_y = "" if y.quantity.unit in {"1", "part"} else f" ({y.quantity.unit})"
    return Panel(
        title="Trade-off: area of a dot by queues of a port",
        kind="scatter",
        x_label=f"{x.name} ({unit})" if unit else x.name,
        y_label=f"{y.name}{unit_y}",
        log_x=apart,
        log_y=False,
        reference=None,
        series=series,
    )
