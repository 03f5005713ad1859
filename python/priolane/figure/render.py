"""A plot at a width as an `<svg>` element.

Every mark has its value as `<title>`; curves of many points have titled strips across the frame instead, one for each
place, in the wider drawing only: a narrow screen has no pointer that hovers, and the script takes them from there. What
the script of the page reads are attributes `data-*`: the frame, the series, and the places.
"""

import itertools

from markupsafe import Markup

from priolane.figure.frame import Frame, Size, clip, draw_axes, draw_lines
from priolane.figure.labels import labels
from priolane.figure.markup import Attributes, element, group, number, path, polyline, text, title
from priolane.figure.plot import Curve, Plot, Point, Printed, Shape, places_of

# Neighbouring series of one x stand so far apart, and all of them within a part of the distance between two x.
_DODGE_PX, _DODGE_SHARE, _WIDEST_DODGE_PX = 5.0, 0.3, 24.0
# The number of markers on a curve with many points.
_MARKERS = 6
_CAP_PX, _CUT_PX = 3.5, 5.0
_BAR_SHARE = 0.94
# Beside this width a bar has the marker of its style.
_MARKED_BAR_PX = 9.0


def render(plot: Plot, size: Size, uid: str) -> Markup:
    """The figure; ids within start with `uid`."""
    frame = Frame.of(plot, size)
    box = frame.whole
    written: set[int] = set()
    inside = [
        *(_printed(frame, text) for text in plot.printed),
        *(_guide(frame, nth) for nth in range(len(plot.guides))),
        *(_series(frame, order, written) for order in range(len(plot.curves))),
    ]
    attributes: Attributes = {
        "class": "fig",
        "viewBox": f"0 0 {number(size.width)} {number(size.height)}",
        "role": "img",
        "aria-label": plot.description,
        "data-plot": " ".join(map(number, (box.left, box.right, box.top, box.bottom))),
        "data-along": "y" if plot.is_read_along_y else "x",
        "data-zoom": "1" if plot.can_zoom else None,
    }
    return element(
        "svg",
        attributes,
        clip(frame, f"{uid}c"),
        *draw_axes(frame),
        *draw_lines(frame),
        group({"clip-path": f"url(#{uid}c)"}, *inside),
        *labels(frame),
        _slots(frame) if plot.is_dense and not size.is_narrow else Markup(),
        path("", {"class": "cross"}),
        path("", {"class": "brush"}),
        text("zoomed: double click resets", {"class": "reset note end out", "x": box.right, "y": 13.0}),
    )


def _series(frame: Frame, order: int, written: set[int]) -> Markup:
    """A curve: its shade, its line, its marks."""
    curve = frame.plot.curves[order]
    strip, _ = frame.box_of(order)
    shift = _shift(frame, order)
    points = [(frame.x(point.x) + shift, frame.y(point.y, strip)) for point in curve.points]
    drawn = [_area(frame, curve, strip)] if curve.area else []
    if curve.shape in (Shape.LINE, Shape.CURVE) and len(points) > 1:
        drawn.append(path(polyline(points), {"class": "line"}))
    if curve.shape is Shape.CURVE:
        drawn += _markers(frame, order, points)
    else:
        drawn += [_mark(frame, order, nth, written) for nth in range(len(points))]
    return group({"class": f"series {curve.style.css}", "data-s": curve.style.name, "data-label": curve.label}, *drawn)


def _shift(frame: Frame, order: int) -> float:
    """The distance of a series from its x, so that intervals do not cover one another."""
    curves = frame.plot.curves
    lines = [curve for curve in curves if curve.shape is Shape.LINE]
    if curves[order].shape is not Shape.LINE or len(lines) < 2:
        return 0.0
    xs = sorted({frame.x(point.x) for curve in lines for point in curve.points})
    gap = min((after - before for before, after in itertools.pairwise(xs)), default=60.0)
    step = min(_DODGE_PX, min(_DODGE_SHARE * gap, _WIDEST_DODGE_PX) / (len(lines) - 1))
    return (order - (len(curves) - 1) / 2) * step


def _area(frame: Frame, curve: Curve, strip: int) -> Markup:
    """The shade between both ends at each x."""
    there = [(frame.x(x), frame.y(high, strip)) for x, _, high in curve.area]
    back = [(frame.x(x), frame.y(low, strip)) for x, low, _ in reversed(curve.area)]
    return path(polyline([*there, *back]), {"class": "area"})


def _markers(frame: Frame, order: int, points: list[tuple[float, float]]) -> list[Markup]:
    """A few markers along a curve, elsewhere on each curve, so that none hides another's; none in a strip."""
    if frame.plot.in_strips or len(frame.plot.curves) == 1:
        return []
    style = frame.plot.curves[order].style
    every = max(1, len(points) // _MARKERS)
    first = (order * every // max(len(frame.plot.curves), 1) + every // 2) % every
    return [_marker(style.marker, place, "dot small") for place in points[first::every]]


def _marker(outline: str, place: tuple[float, float], css: str, radius: float | None = None) -> Markup:
    scale = "" if radius is None else f" scale({number(radius / 3.5)})"
    turn = f"translate({number(place[0])} {number(place[1])}){scale}"
    return path(outline, {"class": css, "transform": turn})


def _mark(frame: Frame, order: int, nth: int, written: set[int]) -> Markup:
    """A point with its interval, its value as title, and the name of its place where this is its first mark."""
    plot, curve = frame.plot, frame.plot.curves[order]
    point = curve.points[nth]
    x, y = frame.x(point.x) + _shift(frame, order), frame.y(point.y)
    head = plot.heads[point.place]
    parts = [title(f"{curve.label}, {head}: {point.text}" if head else f"{curve.label}: {point.text}")]
    if curve.shape is Shape.BARS:
        parts += _bar(frame, curve, point)
    else:
        parts += [*_intervals(frame, point, x), _marker(curve.style.marker, (x, y), "dot", point.radius)]
    if point.note:
        parts.append(text(point.note, {"class": "note halo", "x": x + 6, "y": y - 6}))
    first = point.place not in written
    written.add(point.place)
    shown = head if first else None
    attributes: Attributes = {"class": "m", "data-k": str(point.place), "data-x": x, "data-y": y, "data-h": shown}
    return group(attributes, *parts)


def _bar(frame: Frame, curve: Curve, point: Point) -> list[Markup]:
    """A bar from 0, or from the low end of an axis that has no 0, with its interval and, if it is broad, its marker."""
    half = frame.plot.bar * _BAR_SHARE / 2
    left, right = frame.x(point.x - half), frame.x(point.x + half)
    scale = frame.plot.y.scale
    base = frame.y(min(max(0.0, scale.low), scale.high))
    outline = f"M{number(left)} {number(base)}V{number(frame.y(point.y))}H{number(right)}V{number(base)}Z"
    x = (left + right) / 2
    drawn = [path(outline, {"class": "column"}), *_intervals(frame, point, x)]
    if right - left >= _MARKED_BAR_PX:
        drawn.append(_marker(curve.style.marker, (x, frame.y(point.y)), "dot rimmed"))
    return drawn


def _intervals(frame: Frame, point: Point, x: float) -> list[Markup]:
    """The 95 % intervals both ways. An end outside of the frame is a small triangle at its edge."""
    box, drawn = frame.whole, []
    if point.interval is not None:
        low, high = (frame.y(end) for end in point.interval)
        ends = (min(max(low, box.top), box.bottom), min(max(high, box.top), box.bottom))
        drawn.append(path(f"M{number(x)} {number(ends[0])}V{number(ends[1])}", {"class": "bar"}))
        if low > box.bottom + 0.5:
            drawn.append(_cut(x, box.bottom, -1))
        if high < box.top - 0.5:
            drawn.append(_cut(x, box.top, 1))
    if point.across is not None:
        y = frame.y(point.y)
        left, right = (min(max(frame.x(end), box.left), box.right) for end in point.across)
        drawn.append(path(f"M{number(left)} {number(y)}H{number(right)}", {"class": "bar"}))
    return drawn


def _cut(x: float, edge: float, inwards: int) -> Markup:
    """The triangle of an interval that goes on: its tip is at the edge."""
    base = edge + inwards * _CUT_PX
    outline = f"M{number(x - _CAP_PX)} {number(base)}H{number(x + _CAP_PX)}L{number(x)} {number(edge)}Z"
    return path(outline, {"class": "cut"})


def _printed(frame: Frame, printed: Printed) -> Markup:
    """The values that a paper printed, behind the measured ones."""
    points = [(frame.x(x), frame.y(y)) for x, y in printed.points]
    if printed.shape is Shape.BARS:
        half = frame.plot.bar * _BAR_SHARE / 2
        base = frame.y(min(max(0.0, frame.plot.y.scale.low), frame.plot.y.scale.high))
        outline = "".join(
            f"M{number(left)} {number(base)}V{number(frame.y(y))}H{number(right)}V{number(base)}"
            for left, right, y in ((frame.x(x - half), frame.x(x + half), y) for x, y in printed.points)
        )
        return group({"class": "printed"}, path(outline, {"class": "outline"}, title(printed.text)))
    if printed.shape is Shape.DOTS:
        dots = [_marker(printed.style.marker, point, "spot", 6.0) for point in points]
        return group({"class": f"printed {printed.style.css}"}, title(printed.text), *dots)
    css = f"printed {printed.style.css}"
    return group({"class": css}, path(polyline(points), {"class": "line faint"}, title(printed.text)))


def _guide(frame: Frame, nth: int) -> Markup:
    points = [(frame.x(x), frame.y(y)) for x, y in frame.plot.guides[nth].points]
    return path(polyline(points), {"class": "line guide"})


def _slots(frame: Frame) -> Markup:
    """An unseen strip across the frame for each place, with the values of all curves there as its title."""
    plot, box = frame.plot, frame.whole
    places = places_of(plot.curves)
    along = {point.place: point for curve in plot.curves for point in curve.points}
    pixels = [frame.y(along[place].y) if plot.is_read_along_y else frame.x(along[place].x) for place in places]
    edges = [(before + after) / 2 for before, after in itertools.pairwise(pixels)]
    ends = (box.bottom, box.top) if plot.is_read_along_y else (box.left, box.right)
    edges = [ends[0], *edges, ends[1]]
    drawn = []
    for nth, place in enumerate(places):
        low, high = sorted(edges[nth : nth + 2])
        at: dict[str, str] = {"data-k": str(place)}
        extent: dict[str, float] = {"x": low, "width": high - low, "y": box.top, "height": box.height}
        if plot.is_read_along_y:
            extent = {"x": box.left, "width": box.width, "y": low, "height": high - low}
        at["data-y" if plot.is_read_along_y else "data-x"] = number(pixels[nth])
        drawn.append(element("rect", {**at, **extent}, title(_slot_text(plot, place))))
    return group({"class": "slots"}, *drawn)


def _slot_text(plot: Plot, place: int) -> str:
    """The text for a place: its name, then a line for each curve."""
    lines = [plot.heads[place]]
    for curve in plot.curves:
        lines += [f"{curve.label}: {point.text}" for point in curve.points if point.place == place]
    return "\n".join(lines)
