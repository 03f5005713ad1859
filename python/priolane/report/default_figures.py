"""Figures of experiments without panels: slowdown by flow size, completion times, goodput, and the longest queue.

All but goodput, which is over the sweep, are of the last sweep point; those made of flows are also of other points.
Slowdowns are quantiles over the flows of all seeds together, in bins with equal numbers of flows; intervals are
bootstrapped over seeds, of which it takes five.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from priolane.figure.numbers import exact_text
from priolane.figure.panels.cdf import SHARES
from priolane.figure.plot import Guide, Line
from priolane.report.flow_table import FinishedFlows, finished_flows
from priolane.report.over_time import OverTime, picoseconds
from priolane.report.overview import ALL, Overview, Row
from priolane.report.sentences.places import place_text
from priolane.results.axes import key_label, spans_decades
from priolane.results.estimate import Estimate
from priolane.results.report import Mark, Panel, Series
from priolane.results.results import Results

if TYPE_CHECKING:
    from priolane.report.flow_table import Floats

_BINS = 8
# The number of flows, over all seeds, that a bin needs for a quantile.
_LEAST_FLOWS = {0.99: 100, 0.5: 10}
_LEAST_SEEDS = 5
_RESAMPLES = 200
_INTERVAL = (0.025, 0.975)
# Of one seed in one bin: more values are thinned evenly, which moves quantiles by at most a part in a thousand.
_MOST_VALUES = 1000
_LOG_FROM = 10.0
# Of sweeps with more points, three are drawn.
_MOST_POINTS = 3
_LEFT_OUT = "The first, the middle, and the last"
_PS_PER_S = 1e12
_PERCENTILES = {0.99: "99th percentile", 0.5: "median"}


@dataclass(frozen=True)
class DefaultFigure:
    """A panel, what it shows in words, and what is drawn beside its series."""

    panel: Panel
    caption: str
    guides: tuple[Guide, ...] = ()
    lines: tuple[Line, ...] = ()
    point: str = ""
    number: int = 0
    others: tuple["DefaultFigure", ...] = ()
    """The same figure at earlier points of the sweep, each of which has its `point` and its `number`."""

    @property
    def at_all_points(self) -> tuple["DefaultFigure", ...]:
        """The figures at all points that are drawn, this one last."""
        return (*self.others, self)


@dataclass(frozen=True)
class _Group:
    """The flows of a scheme at a sweep point, by seed."""

    scheme: str
    by_seed: tuple[FinishedFlows, ...]

    @cached_property
    def size(self) -> "Floats":
        """The sizes of all flows."""
        import numpy as np  # noqa: PLC0415 - slow to load

        return np.concatenate([flows.size for flows in self.by_seed])


def default_figures(results: Results, view: Overview, traces: OverTime | None) -> list[DefaultFigure]:
    """The figures that the results have data for; raises `InputError` if a table of flows is damaged."""
    figures = [*_over_points(results), _goodput(view), _longest_queue(traces)]
    return [figure for figure in figures if figure is not None]


def _over_points(results: Results) -> list[DefaultFigure | None]:
    """The figures made of flows at the last sweep point, each with those at the other points that are drawn."""
    points: list[Mapping[str, Any]] = []
    for run in results.runs:
        if run.point not in points:
            points.append(run.point)
    numbers = drawn_points(len(points))
    left_out = "" if len(numbers) == len(points) else f" {_LEFT_OUT} of {len(points)} sweep points are drawn."
    by_point = [_of_flows(results, points[number], number) for number in numbers]
    figures: list[DefaultFigure | None] = []
    for *others, last in zip(*by_point, strict=True):
        drawn = tuple(figure for figure in others if figure is not None)
        caption = left_out if drawn else ""
        figures.append(last and replace(last, others=drawn, caption=f"{last.caption}{caption}"))
    return figures


def drawn_points(count: int) -> list[int]:
    """The numbers of the points of a sweep that are drawn: all of few, else the first, the middle, and the last."""
    return list(range(count)) if count <= _MOST_POINTS else [0, (count - 1) // 2, count - 1]


def _of_flows(results: Results, point: Mapping[str, Any], number: int) -> list[DefaultFigure | None]:
    """The figures made of the flows at a sweep point."""
    groups = _groups(results, point)
    timeout_s = _timeout_s(results) if any(flows.timeouts for group in groups for flows in group.by_seed) else None
    figures = [*(_by_size(groups, share, timeout_s) for share in _LEAST_FLOWS), _distribution(groups, timeout_s)]
    return [figure and replace(figure, point=place_text(point), number=number) for figure in figures]


def queue_panel(traces: OverTime | None) -> Panel | None:
    """The panel over time of the port with most bytes waiting, which is the first if there is one."""
    first = next(iter(traces.panels), None) if traces is not None else None
    return first if first is not None and first.title.endswith("bytes waiting") else None


def _groups(results: Results, point: Mapping[str, Any]) -> list[_Group]:
    by_scheme: dict[str, list[FinishedFlows]] = {}
    for run in results.runs:
        flows = finished_flows(results, run) if run.point == point else None
        if flows is not None and len(flows.size):
            by_scheme.setdefault(run.scheme, []).append(flows)
    return [_Group(scheme, tuple(flows)) for scheme, flows in by_scheme.items()]


def _timeout_s(results: Results) -> float | None:
    """The time that a flow waits if it loses all of its first packets, if it is the same with every scheme."""
    timeouts = set()
    for record in results.records.values():
        scheme = record["merged"].get("scheme", {}).get(record["scheme"], {})
        transport = scheme.get("transport", {}) if isinstance(scheme, Mapping) else {}
        timeouts.add(picoseconds(transport.get("initial_rto")) if isinstance(transport, Mapping) else None)
    only = timeouts.pop() if len(timeouts) == 1 else None
    return None if only is None else only / _PS_PER_S


def _by_size(groups: Sequence[_Group], share: float, timeout_s: float | None) -> DefaultFigure | None:
    """A quantile of the slowdown against flow size."""
    import numpy as np  # noqa: PLC0415

    least = _LEAST_FLOWS[share]
    flows = min((len(group.size) for group in groups), default=0)
    if flows < least:
        return None
    ends = np.unique(np.quantile(groups[0].size, np.linspace(0, 1, min(_BINS, flows // least) + 1)))
    # Flows of one size are one bin.
    lows = ends[:-1] if len(ends) > 1 else ends
    bins = list(zip(lows, [*lows[1:], np.inf], strict=True))
    everything = np.concatenate([group.size for group in groups])
    middles = [float(np.median(everything[(everything >= low) & (everything < high)])) for low, high in bins]
    series = tuple(
        Series(group.scheme, group.scheme, 0, tuple(_marks(group, share, list(zip(bins, middles, strict=True)))))
        for group in groups
    )
    means = [mark.estimate.mean for curve in series for mark in curve.marks if mark.estimate.mean is not None]
    if not means:
        return None
    panel = Panel(
        title=f"Slowdown by flow size, {_PERCENTILES[share]}",
        kind="line",
        x_label="flow size (B)",
        y_label="slowdown: FCT over that in an idle network",
        log_x=spans_decades(middles),
        log_y=max(means) > _LOG_FROM * min(means),
        reference=None,
        series=series,
    )
    seeds = len(groups[0].by_seed)
    interval = "; bars: 95 % intervals, bootstrapped over seeds" if seeds >= _LEAST_SEEDS else ""
    caption = f"{_PERCENTILES[share].capitalize()}, in bins with equal numbers of flows{interval}."
    is_tail = share > 0.5
    guides = _timeout_guide(groups, list(zip(bins, middles, strict=True)), timeout_s) if is_tail else ()
    return DefaultFigure(panel, caption, guides)


Bins = Sequence[tuple[tuple[float, float], float]]


def _marks(group: _Group, share: float, bins: Bins) -> list[Mark]:
    """A mark for each bin that has enough flows, at its median size."""
    import numpy as np  # noqa: PLC0415

    marks = []
    for (low, high), middle in bins:
        by_seed = [np.sort(flows.slowdown[(flows.size >= low) & (flows.size < high)]) for flows in group.by_seed]
        by_seed = [values for values in by_seed if len(values)]
        if sum(map(len, by_seed)) >= _LEAST_FLOWS[share]:
            marks.append(Mark(middle, pooled_quantile(by_seed, share)))
    return marks


def pooled_quantile(by_seed: "Sequence[Floats]", share: float) -> Estimate:
    """The quantile over the values of all seeds together, which are sorted seed by seed, with a bootstrapped interval.

    A resample draws whole seeds with replacement. There is no interval from fewer than five seeds.
    """
    import numpy as np  # noqa: PLC0415

    everything = np.concatenate(by_seed)
    value = float(np.quantile(everything, share, method="inverted_cdf"))
    if len(by_seed) < _LEAST_SEEDS:
        return Estimate(value, None, None, len(by_seed))
    thin = [values[np.linspace(0, len(values) - 1, min(len(values), _MOST_VALUES)).astype(int)] for values in by_seed]
    values = np.concatenate(thin)
    seeds = np.repeat(np.arange(len(thin)), [len(values) for values in thin])
    weights = np.array([len(whole) / len(values) for whole, values in zip(by_seed, thin, strict=True)])
    order = np.argsort(values, kind="stable")
    values, seeds = values[order], seeds[order]
    # The same page each time.
    draws = np.random.default_rng(1).integers(len(thin), size=(_RESAMPLES, len(thin)))
    quantiles = []
    for draw in draws:
        drawn = np.bincount(draw, minlength=len(thin))
        total = np.cumsum((drawn * weights)[seeds])
        quantiles.append(float(values[np.searchsorted(total, share * total[-1] * (1 - 1e-12))]))
    low, high = np.quantile(quantiles, _INTERVAL)
    return Estimate(value, float(low), float(high), len(by_seed))


def _timeout_guide(groups: Sequence[_Group], bins: Bins, timeout_s: float | None) -> tuple[Guide, ...]:
    """The slowdown of a flow that waits for one timeout and is else alone, in each bin."""
    import numpy as np  # noqa: PLC0415

    if timeout_s is None or len(bins) < 2:
        return ()
    size = groups[0].size
    bare = np.concatenate([flows.bare_s for flows in groups[0].by_seed])
    points = tuple(
        (middle, 1 + timeout_s / float(np.median(bare[(size >= low) & (size < high)])))
        for (low, high), middle in bins
        if bool(((size >= low) & (size < high)).any())
    )
    return (Guide(f"dotted: slowdown of a flow that waits for one timeout, {exact_text(timeout_s, 's')}", points),)


def _distribution(groups: Sequence[_Group], timeout_s: float | None) -> DefaultFigure | None:
    """The completion times of all measured flows; those that did not finish are beyond all times."""
    import numpy as np  # noqa: PLC0415

    series = []
    for group in groups:
        times = np.sort(np.concatenate([flows.fct_s for flows in group.by_seed]))
        count = len(times) + sum(flows.unfinished for flows in group.by_seed)
        ranks = [int(np.ceil(share * count - 1e-9)) for share in SHARES]
        marks = tuple(
            Mark(float(times[max(rank, 1) - 1]), Estimate(share, None, None, len(group.by_seed)))
            for share, rank in zip(SHARES, ranks, strict=True)
            if rank <= len(times)
        )
        series.append(Series(group.scheme, group.scheme, 0, marks))
    if not any(curve.marks for curve in series):
        return None
    panel = Panel(
        title="Flow completion times",
        kind="cdf",
        x_label="flow completion time (s)",
        y_label="flows finished within",
        log_x=spans_decades([mark.x for curve in series for mark in curve.marks]),
        log_y=False,
        reference=None,
        series=tuple(series),
    )
    lines = () if timeout_s is None else (Line(f"timeout {exact_text(timeout_s, 's')}", x=timeout_s),)
    return DefaultFigure(panel, "All measured flows, all seeds together.", lines=lines)


def _goodput(view: Overview) -> DefaultFigure | None:
    """The mean goodput of flows over the sweep, or by scheme where nothing is swept."""
    section = next((section for section in view.classes if section.name == ALL), None)
    if section is None:
        return None
    nth = next((nth for nth, quantity in enumerate(section.quantities) if quantity.name == "goodput"), None)
    if nth is None:
        return None
    key = _swept_key(view)
    rows = [row for row in section.rows if row.entries[nth].estimate.mean is not None and _is_shown(view, row, key)]
    by_scheme: dict[str, list[Mark]] = {}
    for row in rows:
        by_scheme.setdefault(row.scheme, []).append(Mark(_x(row, key), row.entries[nth].estimate))
    series = tuple(Series(scheme, scheme, 0, _ordered(marks)) for scheme, marks in by_scheme.items())
    if not series:
        return None
    numbers = [mark.x for curve in series for mark in curve.marks]
    panel = Panel(
        title="Goodput of a flow",
        kind="bar" if key is None else "line",
        x_label="" if key is None else key_label(key),
        y_label="goodput (Gbit/s)",
        log_x=spans_decades(numbers),
        log_y=False,
        reference=None,
        series=series,
    )
    interval = " with its 95 % interval over seeds" if len(view.seeds) > 1 else ""
    return DefaultFigure(panel, f"Payload of all finished flows over the sum of their completion times{interval}.")


def _ordered(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Marks at numbers in increasing order; others as the sweep has them."""
    if any(isinstance(mark.x, str) for mark in marks):
        return tuple(marks)
    return tuple(sorted(marks, key=lambda mark: float(mark.x)))


def _swept_key(view: Overview) -> str | None:
    """The key that is swept over most values."""
    keys = list(dict.fromkeys(key for point in view.points for key in point))
    counts = {key: len({repr(point.get(key)) for point in view.points}) for key in keys}
    return max(keys, key=counts.__getitem__, default=None)


def _is_shown(view: Overview, row: Row, key: str | None) -> bool:
    """Whether all but the swept key are as at the last sweep point."""
    last = view.points[-1] if view.points else {}
    return all(repr(row.point.get(other)) == repr(value) for other, value in last.items() if other != key)


def _x(row: Row, key: str | None) -> float | str:
    value = None if key is None else row.point.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return "all flows" if key is None else str(value)


def _longest_queue(traces: OverTime | None) -> DefaultFigure | None:
    """The largest reading of each bin at the port with most bytes waiting, a strip for each scheme."""
    panel = queue_panel(traces)
    if panel is None:
        return None
    series = tuple(
        Series(curve.scheme, curve.label, curve.variant, tuple(_largest(mark) for mark in curve.marks))
        for curve in panel.series
    )
    port = panel.title.rpartition(":")[0]
    longest = Panel(
        title="Longest queue over time",
        kind="trace",
        x_label=panel.x_label,
        y_label=f"longest queue{panel.y_label.removeprefix('waiting')}",
        log_x=False,
        log_y=False,
        reference=None,
        series=series,
    )
    return DefaultFigure(
        longest, f"{port}, the switch port with the most bytes waiting; the largest reading of each bin."
    )


def _largest(mark: Mark) -> Mark:
    return Mark(mark.x, Estimate(mark.peak if mark.peak is not None else mark.estimate.mean, None, None, 1))
