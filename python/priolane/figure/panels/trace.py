"""Values over time: means of bins, with a shade up to the largest value of each; schemes have strips of their own."""

from collections.abc import Sequence

from priolane.figure.numbers import Label, plain
from priolane.figure.palette import SeriesStyles
from priolane.figure.panels import describe
from priolane.figure.plot import Axis, Curve, Plot, Point, Shape
from priolane.figure.scales import Linear, clamped
from priolane.figure.values import head_of, values
from priolane.results.report import Mark, Panel, Series

# So many lines in one frame cannot be read; more strips than this are too low.
_LEAST_STRIPS, _MOST_STRIPS = 2, 6
_ABOVE_PEAKS = 1.05
_DIGITS = 4


def plot(panel: Panel, styles: SeriesStyles) -> Plot:
    """The plot of a panel of kind `trace`."""
    shown = [(series, [mark for mark in marks if not isinstance(mark.x, str)]) for series, marks in values(panel)]
    xs = sorted({float(mark.x) for _, marks in shown for mark in marks})
    half = (xs[1] - xs[0]) / 2 if len(xs) > 1 else abs(xs[0] if xs else 0.0) or 0.5
    top = max((_peak(mark) for _, marks in shown for mark in marks), default=0.0)
    schemes = {series.scheme for series, _ in shown}
    return Plot(
        description=describe(panel),
        x=Axis(Label.read(panel.x_label), Linear.over(max(0.0, xs[0] - half), xs[-1] + half) if xs else Linear(0, 1)),
        y=Axis(Label.read(panel.y_label), Linear.over(0.0, _ABOVE_PEAKS * top or 1.0)),
        curves=tuple(_curve(series, marks, styles, xs) for series, marks in shown),
        heads=tuple(head_of(panel.x_label, x, f"{x:.{_DIGITS}g}") for x in xs),
        in_strips=_LEAST_STRIPS <= len(shown) <= _MOST_STRIPS and len(schemes) == len(shown),
    )


def _curve(series: Series, marks: Sequence[Mark], styles: SeriesStyles, xs: Sequence[float]) -> Curve:
    places = {x: nth for nth, x in enumerate(xs)}
    points, area = [], []
    for mark in marks:
        x, mean = float(mark.x), clamped(mark.estimate.mean or 0.0)
        most = "" if mark.peak is None else f", at most {plain(_peak(mark))}"
        points.append(Point(places[x], x, mean, f"{plain(mean)}{most}"))
        area.append((x, mean, _peak(mark)))
    return Curve(series.label, styles.of(series), tuple(points), Shape.CURVE, tuple(area))


def _peak(mark: Mark) -> float:
    return clamped(max(mark.peak or 0.0, mark.estimate.mean or 0.0))
