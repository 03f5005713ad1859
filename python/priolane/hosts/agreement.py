"""The distance of measurements on a testbed from simulations of the same flows, by tolerances that are fixed here.

a flow alone                within 3 % and 100 us of the machine's time
median completion time      within 15 % and 100 us
99th percentile             within 30 % and 100 us
order of classes            exact, where their simulated means are further apart than the median may be off
shares of weights           within 5 %: of the rate of all flows, by class, paid weight and minimum rate
rate of endless flows       within 5 %: their mean payload rate in the measured window
flows that complete         as many
packets that switches drop  none where the simulation has none; not compared on several machines

Queues and tokens at ports are in `agreement_ports`.
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from priolane._core import InputError
from priolane.hosts.agreement_ports import port_quantities
from priolane.model.experiment import PlannedRun
from priolane.results.report import Claim
from priolane.results.results import Results
from priolane.storage.directory import RUN_FILE, read_record
from priolane.storage.parquet_table import read_parquet
from priolane.storage.run_files import RunPlace

ALONE, MEDIAN, TAIL, SHARE, RATE = 0.03, 0.15, 0.30, 0.05, 0.05
# What a machine may be late by, in its own time.
LATE_S = 100e-6
_PS = 1e-12


@dataclass(frozen=True)
class Flows:
    """The measured flows of a run: times in seconds, not a number where a flow did not end.

    `rank` is the class that a flow was given, `weight` the number of its class, paid weight and minimum rate.
    """

    start: Any
    fct: Any
    size: Any
    rank: Any
    weight: Any


@dataclass(frozen=True)
class Row:
    """A quantity of a run, simulated and measured, and whether they agree."""

    run: PlannedRun
    quantity: str
    simulated: float
    measured: float
    tolerance: str
    agrees: bool

    @property
    def ratio(self) -> float | None:
        """Measured over simulated; `None` for none of nothing."""
        return self.measured / self.simulated if self.simulated else None


@dataclass(frozen=True)
class ClaimRow:
    """A claim, as it is judged by the simulated runs and by the measured ones."""

    section: str
    text: str
    simulated: Claim
    measured: Claim


def compare_claims(simulated: Results, measured: Results) -> list[ClaimRow]:
    """A row for each claim of two results with the same runs, in the order of the experiment."""
    both = zip(simulated.report.claims, measured.report.claims, strict=True)
    return [ClaimRow(simulated.section, simulated.text, simulated, measured) for simulated, measured in both]


def compare(simulated: Results, measured: Results) -> list[Row]:
    """A row for each quantity of each run that was measured.

    Raises `InputError` if the two have other runs.
    """
    if [run.id for run in simulated.runs] != [run.id for run in measured.runs]:
        raise InputError(f"{simulated.directory} and {measured.directory} have other runs: simulate what was measured")
    return [row for run in measured.runs for row in _rows(run, simulated.place(run.id), measured.place(run.id))]


def completion_times(run: RunPlace) -> list[float]:
    """Completion times of the flows of a run that ended, in seconds."""
    fct = _flows(run).fct
    return [float(time) for time in fct[np.isfinite(fct)]]


def rates_over_time(run: RunPlace) -> list[tuple[float, float]]:
    """Rates of the endless flows of a run, in Gbit/s, at the end of each bin, in seconds; none if it has none."""
    rates = read_record(run.file(RUN_FILE)).get("rates")
    if rates is None:
        return []
    bins = enumerate(rates["classes"]["all"]["rates"], 1)
    return [(nth * rates["every_s"], rate / 1e9) for nth, rate in bins if rate is not None]


def _rows(run: PlannedRun, simulated: RunPlace, measured: RunPlace) -> Iterator[Row]:
    records = [read_record(where.file(RUN_FILE)) for where in (simulated, measured)]
    scale = records[1]["measured"]["scale"]
    expected, seen = (_flows(where) for where in (simulated, measured))
    late = LATE_S / scale
    done, ended = (float(np.isfinite(flows.fct).sum()) for flows in (expected, seen))
    yield Row(run, "flows that complete", done, ended, "as many", done == ended)
    # The switches between machines do not say what they drop.
    if records[1]["measured"]["on"] != "machines":
        drops, dropped = (float(record["counters"]["drops"]) for record in records)
        fits = drops > 0 or dropped == 0
        yield Row(run, "packets dropped", drops, dropped, "none where none are simulated", fits)
        for of in port_quantities(run.scheme, records, (simulated, measured)):
            yield Row(run, of.quantity, of.simulated, of.measured, of.tolerance, of.agrees)
    both = np.isfinite(expected.fct) & np.isfinite(seen.fct)
    yield from _alone(run, expected, seen, late)
    if both.any():
        for name, part, share in (("median FCT (s)", 50, MEDIAN), ("p99 FCT (s)", 99, TAIL)):
            of_simulated, of_measured = (float(np.percentile(flows.fct[both], part)) for flows in (expected, seen))
            yield Row(
                run,
                name,
                of_simulated,
                of_measured,
                _tolerance(share, late),
                abs(of_measured - of_simulated) <= share * of_simulated + late,
            )
    yield from _order(run, expected, seen, late)
    if _weighs(records[0]["merged"], run.scheme, expected):
        yield from _shares(run, expected, seen)
    yield from _rates(run, records)


def _alone(run: PlannedRun, expected: Flows, seen: Flows, late: float) -> Iterator[Row]:
    """The flow farthest off of those that no other flow meets in the simulation."""
    both = np.isfinite(expected.fct) & np.isfinite(seen.fct)
    alone = both & _meets_nobody(expected.start, expected.fct)
    if not alone.any():
        return
    off = np.where(alone, np.abs(seen.fct - expected.fct) / (ALONE * expected.fct + late), -1.0)
    worst = int(np.argmax(off))
    name = f"farthest of {int(alone.sum())} flows alone (s)"
    simulated, measured = float(expected.fct[worst]), float(seen.fct[worst])
    yield Row(run, name, simulated, measured, _tolerance(ALONE, late), bool(off[worst] <= 1.0))


def _order(run: PlannedRun, expected: Flows, seen: Flows, late: float) -> Iterator[Row]:
    """The number of pairs of classes that differ in the simulation and have the same order in the measurement."""
    both = np.isfinite(expected.fct) & np.isfinite(seen.fct)
    means = [
        [float(flows.fct[both & (expected.rank == rank)].mean()) for flows in (expected, seen)]
        for rank in np.unique(expected.rank[both])
    ]
    pairs = (sorted(pair) for pair in itertools.combinations(means, 2))
    apart = [(fast, slow) for fast, slow in pairs if slow[0] - fast[0] > MEDIAN * fast[0] + late]
    if apart:
        kept = float(sum(fast[1] < slow[1] for fast, slow in apart))
        yield Row(run, "pairs of classes in order", float(len(apart)), kept, "exact", kept == len(apart))


def _weighs(merged: Mapping[str, Any], scheme: str, flows: Flows) -> bool:
    """Whether a run divides rates by weights: of the queues of its ports, or of its flows."""
    port = merged.get("scheme", {}).get(scheme, {}).get("port", {})
    return len(np.unique(flows.weight)) > 1 and ("weights" in port or len(np.unique(flows.rank)) == 1)


def _shares(run: PlannedRun, expected: Flows, seen: Flows) -> Iterator[Row]:
    """The part of the rate of all flows that the weight has whose part is farthest off."""
    both = np.isfinite(expected.fct) & np.isfinite(seen.fct)
    weights = np.unique(expected.weight[both])
    if len(weights) < 2:
        return
    parts = []
    for flows in (expected, seen):
        rates = flows.size[both] / flows.fct[both]
        parts.append(np.array([rates[expected.weight[both] == weight].sum() for weight in weights]) / rates.sum())
    simulated, measured = parts
    worst = int(np.argmax(np.abs(measured / simulated - 1)))
    agrees = bool(abs(measured[worst] / simulated[worst] - 1) <= SHARE)
    tolerance = f"{SHARE * 100:.0f} %"
    yield Row(
        run, f"farthest of {len(weights)} shares", float(simulated[worst]), float(measured[worst]), tolerance, agrees
    )


def _rates(run: PlannedRun, records: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """The mean rate of endless flows, where senders report it."""
    if any("rates" not in record for record in records):
        return
    means = [record["rates"]["classes"]["all"]["mean"] for record in records]
    simulated, measured = (float("nan") if mean is None else mean / 1e9 for mean in means)
    agrees = abs(measured - simulated) <= RATE * simulated
    yield Row(run, "mean rate of endless flows (Gbit/s)", simulated, measured, f"{RATE * 100:.0f} %", agrees)


def _meets_nobody(start: Any, fct: Any) -> Any:
    """By flow, whether no other one is under way from its start to its end."""
    end = np.where(np.isfinite(fct), start + fct, np.inf)
    order = np.argsort(start, kind="stable")
    before = np.concatenate(([-np.inf], np.maximum.accumulate(end[order])[:-1]))
    after = np.concatenate((start[order][1:], [np.inf]))
    meets = np.empty(len(start), dtype=bool)
    meets[order] = (before > start[order]) | (after < end[order])
    return ~meets


def _tolerance(share: float, late: float) -> str:
    return f"{share * 100:.0f} % + {late * 1e6:.3g} us"


def _flows(run: RunPlace) -> Flows:
    """The flows of a run that started in its measured window."""
    columns = ["start_ps", "fct_ps", "bytes", "class_given", "w", "theta_bps", "measured"]
    table = read_parquet(run.file("flows.parquet"), columns).to_pydict()
    kept = [place for place, inside in enumerate(table["measured"]) if inside]

    def numbers(name: str, unit: float = 1.0) -> Any:
        values = table[name]
        return np.array([np.nan if values[place] is None else values[place] * unit for place in kept], dtype=float)

    paid = np.array([[table[name][place] for name in ("class_given", "w", "theta_bps")] for place in kept], dtype=float)
    weight = np.unique(paid.reshape(-1, 3), axis=0, return_inverse=True)[1].reshape(-1)
    return Flows(numbers("start_ps", _PS), numbers("fct_ps", _PS), numbers("bytes"), numbers("class_given"), weight)


def _claim_json(claim: Claim) -> dict[str, Any]:
    values = [
        {
            "what": item.what,
            "point": dict(item.at),
            "mean": item.estimate.mean,
            "low": item.estimate.low,
            "high": item.estimate.high,
            "seeds": item.estimate.seeds,
        }
        for item in claim.measured
    ]
    return {"verdict": claim.source.word(claim.verdict), "values": values}


def as_json(rows: Sequence[Row], claims: Sequence[ClaimRow]) -> str:
    """A JSON object with the quantities and the claims."""
    quantities = [
        {
            "run": row.run.id,
            "scheme": row.run.scheme,
            "point": dict(row.run.point),
            "seed": row.run.seed,
            "quantity": row.quantity,
            "simulated": row.simulated,
            "measured": row.measured,
            "ratio": row.ratio,
            "tolerance": row.tolerance,
            "agrees": row.agrees,
        }
        for row in rows
    ]
    judged = [
        {
            "section": row.section,
            "says": row.text,
            "simulated": _claim_json(row.simulated),
            "measured": _claim_json(row.measured),
        }
        for row in claims
    ]
    return json.dumps({"quantities": quantities, "claims": judged}, indent=1)
