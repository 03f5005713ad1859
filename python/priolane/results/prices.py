"""Bills of a grid beside what was promised and what was got: per run, machine and flow; and what a weight is worth."""

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from priolane._core import InputError
from priolane.model.definition import Experiment
from priolane.model.experiment import Options, PlannedRun
from priolane.results.results import Results
from priolane.storage.parquet_table import read_parquet

_PARTS = ("base", "weight", "rate", "total")
# The share of P0 that the paper takes for P1 (PACCP §V-B).
PAPER_P1 = 0.6


@dataclass(frozen=True)
class RunBills:
    """The bills of one run. Rows are those of `bills.parquet`, machines with `promised_bps` where it is known."""

    scheme: str
    point: Mapping[str, Any]
    seed: int
    utility: float | None
    machines: tuple[Mapping[str, Any], ...]
    flows: tuple[Mapping[str, Any], ...]
    overbooked: tuple[str, ...]
    reason: str | None

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class WeightValue:
    """The value of a weight at a load: the rate over best effort's, and the P1 that would make price follow rate.

    The load is `None` where flows without end fill the links.
    """

    scheme: str
    w: float
    load: float | None
    ratio: float
    p1: float
    seeds: int


def promised_rates(path: Path, options: Options) -> list[dict[str, Any]]:
    """The promised rates of flows without end, point by point; raises `InputError` where the file prices nothing."""
    read: list[dict[str, Any]] = json.loads(Experiment.load(path).core.promised(options.to_json()))
    return read


def bills(results: Results, promises: Sequence[Mapping[str, Any]]) -> Iterator[RunBills]:
    """The bills of every run of a grid, in its order."""
    by_point = {_key(promise["point"]): promise for promise in promises}
    for run in results.runs:
        record = results.records.get(run.id)
        if record is not None:
            yield _of_run(results, run, by_point[_key(run.point)])


def sum_by_group(run: RunBills) -> list[dict[str, Any]]:
    """One row per group and class of service of a run: machines and flows that pay, what they owe and got."""
    sums: dict[tuple[str, str], dict[str, Any]] = {}
    for payer, rows in (("machines", run.machines), ("flows", run.flows)):
        for row in rows:
            key = (row["group"], row["cos"] if payer == "machines" or row["plan"] == "fbp" else "")
            of = sums.setdefault(
                key, {"machines": 0, "flows": 0, "bps": 0.0, "promised_bps": None, **dict.fromkeys(_PARTS, 0.0)}
            )
            of[payer] += 1
            for part in _PARTS:
                of[part] += row[part]
            if payer == "machines":
                of["bps"] += row["rate_bps"] or 0.0
                if row["promised_bps"] is not None:
                    of["promised_bps"] = (of["promised_bps"] or 0.0) + row["promised_bps"]
    return [{"group": group, "cos": cos, **of} for (group, cos), of in sums.items()]


def weight_values(results: Results, weight: str, load: str | None) -> list[WeightValue]:
    """P1 from the rates of a grid with classes BE and DS, swept over `weight` and, unless links are full, `load`.

    The same flows are sent whatever the weight, so that each seed's ratio is taken relative to that of w = 1: what is
    left is the weight's, not that of which sizes were drawn for whom.
    """
    ratios: dict[tuple[str, float | None, float], dict[int, float]] = defaultdict(dict)
    for run in results.runs:
        ratio = _ratio(results.records[run.id], full=load is None)
        if ratio is not None:
            at = None if load is None else float(run.point[load])
            ratios[run.scheme, at, float(run.point[weight])][run.seed] = ratio
    weight_rows = []
    for (scheme, at, w), by_seed in sorted(
        ratios.items(), key=lambda item: (item[0][0], item[0][1] or 0.0, item[0][2])
    ):
        plain = ratios.get((scheme, at, 1.0), {})
        values = [ratio / plain[seed] for seed, ratio in by_seed.items() if seed in plain]
        if w != 1.0 and values:
            mean = sum(values) / len(values)
            weight_rows.append(WeightValue(scheme, w, at, mean, p1=(mean - 1) / (w - 1), seeds=len(values)))
    return weight_rows


def _ratio(record: Mapping[str, Any], *, full: bool) -> float | None:
    """The rate of DS over BE's: of flows without end, or by mean completion times."""
    if full:
        classes = record["rates"]["classes"]
        fast, slow = classes["DS"]["mean"], classes["BE"]["mean"]
    else:
        fast, slow = record["summary"]["BE"]["mean_fct_s"], record["summary"]["DS"]["mean_fct_s"]
    return fast / slow if fast and slow else None


def fitted_p1(values: Sequence[WeightValue]) -> list[tuple[str, float | None, float]]:
    """By scheme and load: the P1 / P0 whose prices 1 + P1 (w - 1) are nearest to the rate ratios, in least squares."""
    fits = []
    for (scheme, load), group in itertools.groupby(values, key=lambda value: (value.scheme, value.load)):
        of_load = list(group)
        above = sum((value.ratio - 1) * (value.w - 1) for value in of_load)
        fits.append((scheme, load, above / sum((value.w - 1) ** 2 for value in of_load)))
    return fits


def _of_run(results: Results, run: PlannedRun, promise: Mapping[str, Any]) -> RunBills:

    try:
        path = results.checked(run.id, "bills.parquet")
    except KeyError as error:
        raise InputError(f"{results.directory}: run {run.id} has no bills; run the experiment again") from error
    rows = read_parquet(path).to_pylist()
    share: dict[tuple[str, int], float] = defaultdict(float)
    for flow in promise["flows"]:
        share[flow["group"], flow["host"]] += flow["promised_bps"]
    machines = [{**row, "promised_bps": share.get((row["group"], row["host"]))} for row in rows if row["flow"] is None]
    return RunBills(
        scheme=run.scheme,
        point=run.point,
        seed=run.seed,
        utility=_utility(results.records[run.id].get("rates")),
        machines=tuple(machines),
        flows=tuple(row for row in rows if row["flow"] is not None),
        overbooked=tuple(promise["overbooked"]),
        reason=promise["reason"],
    )


def _utility(rates: Mapping[str, Any] | None) -> float | None:
    """Mean over the measured window of the sum of utilities, relative to the optimum's."""
    if rates is None:
        return None
    known = [value for value in rates["utility"][rates["first"] : rates["end"]] if value is not None]
    return sum(known) / len(known) if known else None


def _key(point: Mapping[str, Any]) -> str:
    return json.dumps(point, sort_keys=True)
