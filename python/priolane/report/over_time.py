"""Queues, rates and thresholds over simulated time, as panels, from the `series.parquet` of a few runs.

Shown is the first seed of the last sweep point that has samples, one line per scheme, at up to three ports: of the
switches' ports the one with the most bytes waiting on average over all schemes and the one that sent most, and the
host with the most bytes waiting. A node that sends by one port only counts as a host. Instants are gathered into at
most `BINS` bins of equal width; each has the mean of its readings and the largest. A port without a reading at an
instant held nothing and sent nothing: it counts as 0. Thresholds are drawn as they were in force, from when they were
first told.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from priolane._core import InputError
from priolane.model import quantity
from priolane.model.experiment import PlannedRun
from priolane.report.series_table import Filters, has_rows, read_series
from priolane.results.estimate import Estimate
from priolane.results.report import Mark, Panel, Series, point_text
from priolane.results.results import Results
from priolane.storage.run_files import RunFile

SERIES = "series.parquet"
BINS = 100
LADDERS = 3
_QUEUED, _SENT, _CONTROLLER = "queued_bytes", "sent_bytes", "controller"
# Gbps of a byte per picosecond.
_GBPS = 8e3
_BYTES = {"GB": 1e-9, "MB": 1e-6, "kB": 1e-3}
# Few digits: the longest run is shorter than 10^9 s.
_AXES = (("us", 10**6), ("ms", 10**9), ("s", 10**12))


@dataclass(frozen=True)
class OverTime:
    """The panels, and in words which run and ports they show."""

    panels: tuple[Panel, ...]
    text: str


@dataclass(frozen=True)
class Bins:
    """Bins of `per` sample instants each, `every` picoseconds apart, up to the last instant before `stop`.

    The instant k closes the stretch of time before it: bin b holds the instants b per + 1 to (b + 1) per, and the
    first also the instant 0.
    """

    every: int
    per: int
    number: int

    @classmethod
    def covering(cls, every: int, stop: int) -> "Bins":
        """As few instants in a bin as give at most `BINS` bins up to `stop`."""
        instants = max(1, -(-stop // every) - 1)
        per = -(-instants // BINS)
        return cls(every, per, -(-instants // per))

    def of(self, instant: int) -> int:
        """The bin of the instant `instant` picoseconds after the start."""
        return (max(instant // self.every, 1) - 1) // self.per

    def within(self, nth: int, stop: int) -> int:
        """The number of instants of bin `nth` before `stop`, the instant 0 not counted."""
        last = -(-stop // self.every) - 1
        return max(0, min(last, (nth + 1) * self.per) - nth * self.per)

    def end(self, nth: int) -> int:
        """The end of bin `nth`, in picoseconds."""
        return (nth + 1) * self.per * self.every


@dataclass(frozen=True)
class _Time:
    """The axis: a unit and its picoseconds."""

    unit: str
    scale: int


@dataclass(frozen=True)
class _ShownRun:
    """A run that is shown, where its samples are and when it stopped."""

    run: PlannedRun
    file: RunFile
    stop: int


Readings = Sequence[tuple[int, float]]


def over_time(results: Results) -> OverTime | None:
    """The panels of a grid; `None` where no run has samples or thresholds over time."""
    shown = _chosen(results)
    stop = max((shown_run.stop for shown_run in shown), default=0)
    if stop == 0:
        return None
    every = picoseconds(results.records[shown[0].run.id]["merged"].get("sample_every"))
    bins = Bins.covering(every or max(1, stop // BINS), stop)
    axis = next((_Time(*pair) for pair in reversed(_AXES) if stop >= pair[1]), _Time(*_AXES[0]))
    ports = _ports(shown)
    panels = [_port_panel(shown, bins, axis, (port, metric)) for port in ports for metric in (_QUEUED, _SENT)]
    panels += [panel for shown_run in shown for panel in _threshold_panels(shown_run, bins, axis)]
    return OverTime(tuple(panels), _words(shown[0].run, ports, bins, axis)) if panels else None


def picoseconds(text: object) -> int | None:
    """A time as experiments spell it, such as `2.5us`; `None` if it is not one."""
    try:
        return quantity.picoseconds(str(text)) or None
    except InputError:
        return None


def _chosen(results: Results) -> list[_ShownRun]:
    """One run per scheme in the order of the plan: of the last sweep point that has a series, of its first seed."""
    empty: dict[str, bool] = {}
    there = [run for run in results.runs if run.id in results.records and _has_series(results, run, empty)]
    if not there:
        return []
    same = [run for run in there if run.point == there[-1].point]
    first = min(run.seed for run in same)
    return [
        _ShownRun(run, _file(results, run), int(results.records[run.id]["stopped_at_ps"]))
        for run in same
        if run.seed == first
    ]


def _has_series(results: Results, run: PlannedRun, empty: dict[str, bool]) -> bool:
    """Whether the table has a row; `empty` keeps what is known of files by their hash, as empty ones are all alike."""
    stated = {file["name"]: file["sha256"] for file in results.records[run.id]["files"]}.get(SERIES)
    if stated is None:
        return False
    if stated not in empty:
        empty[stated] = not has_rows(_file(results, run))
    return not empty[stated]


def _file(results: Results, run: PlannedRun) -> RunFile:
    return results.place(run.id).file(SERIES)


def _rows(shown_run: _ShownRun, columns: list[str], filters: Filters) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_series(shown_run.file, columns, filters, shown_run.stop).to_pylist()
    return rows


def _ports(shown: Iterable[_ShownRun]) -> list[str]:
    """The places where most bytes wait over all runs and where most are sent, as the module says; by name where they
    tie."""
    totals: dict[str, Counter[str]] = {_QUEUED: Counter(), _SENT: Counter()}
    for shown_run in shown:
        table = read_series(
            shown_run.file, ["entity", "metric", "value"], [("metric", "in", list(totals))], shown_run.stop
        )
        for row in table.group_by(["entity", "metric"]).aggregate([("value", "sum")]).to_pylist():
            totals[row["metric"]][row["entity"]] += row["value_sum"]
    known = sorted({port for total in totals.values() for port in total})
    ways = Counter(port.partition("->")[0] for port in known)
    hosts = [port for port in known if ways[port.partition("->")[0]] == 1]
    switches = [port for port in known if port not in hosts]
    kinds = [(switches, _QUEUED), (switches, _SENT), (hosts, _QUEUED)]
    most = [
        max(ports, key=totals[metric].__getitem__) for ports, metric in kinds if any(map(totals[metric].get, ports))
    ]
    return list(dict.fromkeys(most))


def _port_panel(shown: Sequence[_ShownRun], bins: Bins, axis: _Time, what: tuple[str, str]) -> Panel:
    port, metric = what
    filters = [("entity", "==", port), ("metric", "==", metric)]
    rows = [_rows(shown_run, ["t_ps", "value"], filters) for shown_run in shown]
    if metric == _SENT:
        title, label, factor = "rate of bytes sent", "rate (Gbps)", _GBPS / bins.every
    else:
        unit = _byte_unit(row["value"] for some in rows for row in some)
        title, label, factor = "bytes waiting", f"waiting ({unit})", _BYTES[unit]
    series = [
        Series(
            shown_run.run.scheme,
            shown_run.run.scheme,
            0,
            _binned([(row["t_ps"], row["value"] * factor) for row in some], bins, shown_run.stop, axis),
        )
        for shown_run, some in zip(shown, rows, strict=True)
    ]
    return _panel(f"{port}: {title}", label, axis, series)


def _byte_unit(values: Iterable[float]) -> str:
    """The largest unit of which the largest value has at least two."""
    most = max(values, default=0.0)
    return next((unit for unit, factor in _BYTES.items() if most * factor >= 2), "kB")


def _binned(readings: Readings, bins: Bins, stop: int, axis: _Time) -> tuple[Mark, ...]:
    """Mean and largest reading of each bin in which the run has instants; no reading at an instant is a 0."""
    sums, most = [0.0] * bins.number, [0.0] * bins.number
    for at, value in readings:
        nth = bins.of(at)
        sums[nth] += value
        most[nth] = max(most[nth], value)
    counts = [bins.within(nth, stop) for nth in range(bins.number)]
    counts[0] = max(counts[0], 1)
    return tuple(
        _mark(bins, nth, axis, (sums[nth] / counts[nth], most[nth])) for nth in range(bins.number) if counts[nth]
    )


def _mark(bins: Bins, nth: int, axis: _Time, values: tuple[float, float]) -> Mark:
    middle = (bins.end(nth) - bins.per * bins.every / 2) / axis.scale
    return Mark(x=middle, estimate=Estimate(values[0], None, None, 1), peak=values[1])


def _threshold_panels(shown_run: _ShownRun, bins: Bins, axis: _Time) -> list[Panel]:
    """The thresholds that the controller told, at most `LADDERS` of each ladder of a scheme."""
    rows = _rows(shown_run, ["t_ps", "metric", "value"], [("entity", "==", _CONTROLLER)])
    unit = _byte_unit(row["value"] for row in rows)
    panels = []
    for ladder in dict.fromkeys(row["metric"].rpartition("_threshold_")[0] for row in rows):
        names = list(dict.fromkeys(row["metric"] for row in rows if row["metric"].startswith(f"{ladder}_threshold_")))
        series = []
        for nth, name in enumerate(names[:LADDERS]):
            values = [(row["t_ps"], row["value"] * _BYTES[unit]) for row in rows if row["metric"] == name]
            marks = _in_force(values, bins, shown_run.stop, axis)
            series.append(Series(shown_run.run.scheme, f"threshold {nth + 1}", nth, marks))
        more = f", {LADDERS} of {len(names)}" if len(names) > LADDERS else ""
        panels.append(_panel(f"{shown_run.run.scheme}: {ladder} thresholds{more}", f"threshold ({unit})", axis, series))
    return panels


def _in_force(values: Readings, bins: Bins, stop: int, axis: _Time) -> tuple[Mark, ...]:
    """Mean over time and largest value of each bin, from the first bin that begins with a value in force."""
    marks = []
    for nth in range(bins.number):
        end = min(bins.end(nth), stop)
        begin = bins.end(nth) - bins.per * bins.every
        before = [value for at, value in values if at <= begin]
        if not before or begin >= end:
            continue
        steps = [(begin, before[-1]), *((at, value) for at, value in values if begin < at < end), (end, 0.0)]
        total = sum(value * (after - at) for (at, value), (after, _) in itertools.pairwise(steps))
        marks.append(_mark(bins, nth, axis, (total / (end - begin), max(value for _, value in steps[:-1]))))
    return tuple(marks)


def _panel(title: str, y_label: str, axis: _Time, series: Sequence[Series]) -> Panel:
    return Panel(
        title=title,
        kind="trace",
        x_label=f"time ({axis.unit})",
        y_label=y_label,
        log_x=False,
        log_y=False,
        reference=None,
        series=tuple(series),
    )


def _words(run: PlannedRun, ports: Sequence[str], bins: Bins, axis: _Time) -> str:
    point = f" at {point_text(run.point)}" if run.point else ""
    width = f"{bins.per * bins.every / axis.scale:.4g} {axis.unit}"
    sentence = (
        "Ports: of the switches' the one with the most bytes waiting on average over all schemes and the one that sent "
        "most, and the host with the most bytes waiting. "
        if ports
        else ""
    )
    return (
        f"Seed {run.seed}{point}, in {bins.number} bins of {width}: lines are means within a bin, shades reach up to "
        f"the largest reading. {sentence}Point anywhere to read the values."
    )
