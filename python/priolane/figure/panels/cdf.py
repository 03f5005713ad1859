"""A cumulative distribution for each series, read at shares of flows."""

from bisect import bisect_left
from collections.abc import Sequence

from priolane.figure.numbers import Label, fixed, value_text
from priolane.figure.palette import SeriesStyles
from priolane.figure.panels import describe
from priolane.figure.plot import Axis, Curve, Labels, Plot, Point, Shape
from priolane.figure.scales import Linear
from priolane.figure.values import number_axis, printed_lines, values
from priolane.results.report import Panel, Series

SHARES = tuple(sorted({*(nth / 50 for nth in range(1, 50)), 0.01, 0.99, 0.995, 0.999, 1.0}))
"""The shares of flows at which distributions are read and drawn."""

_MOST_BESIDE = 4
_TOP = 1.02
_SERIES_IN_COLUMN = 8


def plot(panel: Panel, styles: SeriesStyles) -> Plot:
    """The plot of a panel of kind `cdf`."""
    samples = [
        (series, sorted((mark.estimate.mean or 0.0, mark.x) for mark in marks if not isinstance(mark.x, str)))
        for series, marks in values(panel)
    ]
    x = number_axis([at for _, some in samples for _, at in some], panel.x_label, log=panel.log_x)
    curves = tuple(_curve(series, some, styles, x.label.unit) for series, some in samples)
    percent = any(share > _TOP for _, some in samples for share, _ in some)
    return Plot(
        description=describe(panel),
        x=x,
        y=Axis(Label(panel.y_label, "1" if percent else "part", ""), Linear(0.0, 100 * _TOP if percent else _TOP)),
        curves=curves,
        heads=tuple(f"{fixed(100 * share, 1 if 1000 * share % 10 else 0)} % of flows within" for share in SHARES),
        printed=printed_lines(panel, styles, [], x),
        labels=Labels.BESIDE if len(curves) <= _MOST_BESIDE else Labels.NONE,
        is_read_along_y=True,
        is_wide=len(panel.series) > _SERIES_IN_COLUMN,
    )


def _curve(series: Series, samples: Sequence[tuple[float, float]], styles: SeriesStyles, unit: str) -> Curve:
    """The least value within which each share of the flows is; none for shares that the samples do not reach."""
    shares = [share for share, _ in samples]
    points = []
    for place, share in enumerate(SHARES):
        nth = bisect_left(shares, share - 1e-12)
        if nth < len(samples):
            value = samples[nth][1]
            points.append(Point(place, value, share, value_text(value, unit)))
    return Curve(series.label, styles.of(series), tuple(points), Shape.CURVE)
