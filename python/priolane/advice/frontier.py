"""The trade-off between the first two metrics as a panel, with a bound: each flow alone in the network."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from priolane.advice.answer import Advice, estimate, estimates
from priolane.advice.fabric import in_class
from priolane.advice.flow_blocks import FlowTable, class_groups
from priolane.advice.goals import Goal
from priolane.advice.racing import Why
from priolane.report.estimate import Estimate
from priolane.report.model import Mark, Panel, Series
from priolane.report.numbers import fitting
from priolane.results import Results

if TYPE_CHECKING:
    import pandas as pd

_MOST_SERIES = 16
_DECADE = 10.0
_PS_PER_S = 1e12
_PERCENTILES = {"p50": 500, "p95": 950, "p99": 990, "p999": 999}


def alone(
    results: Results,
    scheme: str,
    goals: Sequence[Goal],
    classes: Mapping[str, Mapping[str, object]],
    table: FlowTable,
) -> dict[str, Estimate]:
    """Each metric if every flow had the network to itself, means over blocks: no scheme is better."""
    flows = results.to_pandas("flows", scheme=scheme)
    flows = flows[flows["measured"] & flows["group"].isin(table.groups) & flows["bare_fct_ps"].notna()]
    found: dict[str, Estimate] = {}
    for goal in goals:
        of = classes.get(goal.size_class, {})
        own = flows[flows["group"].isin(class_groups(of) or table.groups)]
        own = _coflows(own) if goal.quantity.is_of_coflows else own
        own = own[in_class(own["bytes"].to_numpy(dtype=float), of)]
        values = [_of_block(goal, block) for _, block in own.groupby("seed") if len(block)]
        found[goal.name] = estimate(goal, [value for value in values if value is not None])
    return found


def _coflows(flows: "pd.DataFrame") -> "pd.DataFrame":
    """Coflows in the place of flows: none is done before its last flow would be alone in the network."""
    flows = flows[flows["coflow"].notna()].assign(end=flows["start_ps"] + flows["bare_fct_ps"])
    of = flows.groupby(["seed", "group", "coflow"], observed=True)
    found = of.agg(bytes=("bytes", "sum"), start=("start_ps", "min"), end=("end", "max")).reset_index()
    return found.assign(bare_fct_ps=found["end"] - found["start"])


def _of_block(goal: Goal, block: "pd.DataFrame") -> float | None:
    quantity = goal.quantity
    if quantity.is_of_deadlines:
        block = block[block["deadline_ps"].notna()]
        late = block["start_ps"] + block["bare_fct_ps"] > block["deadline_ps"]
        return float(late.mean()) if len(block) else None
    times = np.sort(block["bare_fct_ps"].to_numpy(dtype=float)) / _PS_PER_S
    if quantity.metric == "goodput":
        return float(8e-9 * block["bytes"].sum() / times.sum())
    if quantity.metric.startswith("slowdown"):
        return 1.0
    per_mille = _PERCENTILES.get(quantity.metric.removeprefix("fct_").removeprefix("cct_"))
    if per_mille is None:
        return float(times.mean())
    return float(times[math.ceil(per_mille * len(times) / 1000) - 1])


def panel(advice: Advice) -> Panel | None:
    """The panel; `None` where there is one metric only."""
    metrics = (*advice.goals, *advice.shown)[:2]
    if len(metrics) < 2:
        return None
    drawn: list[tuple[str, str, Mapping[str, Estimate], int]] = [
        (one.candidate.name, one.candidate.name, one.estimates, one.candidate.queues) for one in advice.ranking
    ]
    drawn += [
        (one.candidate.name, f"{one.candidate.name} (no deployment)", one.estimates, 0) for one in advice.references
    ]
    if all(goal.name in advice.network for goal in metrics):
        drawn.append(("ideal", "each flow alone (bound)", advice.network, 0))
    room = _MOST_SERIES - len(drawn)
    drawn += [(name, f"{name} (race)", of, queues) for name, of, queues in _others(advice)[:room]]
    return _panel(metrics[0], metrics[1], drawn)


def _others(advice: Advice) -> list[tuple[str, Mapping[str, Estimate], int]]:
    """Candidates that the race ended, with what they had on the blocks that they ran."""
    judged = {one.candidate.name for one in advice.ranking}
    found: list[tuple[str, Mapping[str, Estimate], int]] = []
    for one in advice.candidates:
        how = advice.race.ended.get(one.name)
        if one.name not in judged and how is not None and how.why not in (Why.SAME, Why.STUCK):
            own = advice.race.trials[one.name]
            found.append((one.name, estimates(own, (*advice.goals, *advice.shown)), one.queues))
    return found


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
