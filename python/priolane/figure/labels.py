"""The names of curves beside them: at the ends of lines, pushed apart, or where a distribution leaves room."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from priolane.figure.frame import MOST_LABELS, Frame, label_room
from priolane.figure.layout import LABEL_PX, shortened, spread, width_of
from priolane.figure.markup import Attributes, text
from priolane.figure.plot import Curve, Labels

Pixel = tuple[float, float]

_LABEL_HEIGHT = 12.0
# Labels may stand beside every n-th point of a curve, at this distance from it.
_EVERY = 4
_BESIDE = 9.0
# A label farther from all else than this has room enough.
_ENOUGH = 14.0
_MOST_SHARE = 0.3


@dataclass(frozen=True)
class _Rectangle:
    """The place of a text, in pixels."""

    left: float
    right: float
    top: float
    bottom: float

    def distance(self, point: Pixel) -> float:
        """The distance of a point from the box; 0 within."""
        dx = max(self.left - point[0], 0.0, point[0] - self.right)
        dy = max(self.top - point[1], 0.0, point[1] - self.bottom)
        return math.hypot(dx, dy)

    @property
    def outline(self) -> list[Pixel]:
        """Points along it."""
        middle = (self.left + self.right) / 2
        return [(x, y) for x in (self.left, middle, self.right) for y in (self.top, self.bottom)]


def labels(frame: Frame) -> list[Markup]:
    """The names of all curves, if they are few enough to be read."""
    plot = frame.plot
    if len(plot.curves) > MOST_LABELS or not any(curve.points for curve in plot.curves):
        return []
    if plot.labels is Labels.BESIDE:
        return _beside(frame)
    return _at_ends(frame) if plot.labels is Labels.AT_END else []


def _at_ends(frame: Frame) -> list[Markup]:
    box = frame.whole
    shown = [(order, curve) for order, curve in enumerate(frame.plot.curves) if curve.points]
    if frame.plot.in_strips:
        ends = [(frame.boxes[order].top + frame.boxes[order].bottom) / 2 for order, _ in shown]
    else:
        ends = [frame.y(curve.points[-1].y) for _, curve in shown]
    places = spread([min(max(end, box.top), box.bottom) for end in ends], box.top + 4, box.bottom - 2)
    room = label_room(frame)
    drawn = []
    for (_, curve), place in zip(shown, places, strict=True):
        name = shortened(curve.label, room, LABEL_PX, bold=True)
        # The script moves the label with the end of its line; a strip stays where it is.
        follows: Attributes = {} if frame.plot.in_strips else {"data-label": curve.label}
        drawn.append(_label(curve, name, (box.right + 8, place + 4), {"class": "lab", **follows}))
    return drawn


def _beside(frame: Frame) -> list[Markup]:
    """Names where other curves and names leave most room; of places with room enough, the first along the curve."""
    curves = [curve for curve in frame.plot.curves if curve.points]
    lines = [_filled([(frame.x(point.x), frame.y(point.y)) for point in curve.points]) for curve in curves]
    taken: list[Pixel] = []
    drawn = []
    for nth, curve in enumerate(curves):
        others = [point for other, line in enumerate(lines) if other != nth for point in line]
        label = shortened(curve.label, _MOST_SHARE * frame.size.width, LABEL_PX, bold=True)
        rectangle = _freest(_candidates(frame, lines[nth], label), [*others, *taken], lines[nth])
        if rectangle is not None:
            taken += rectangle.outline
            place = (rectangle.left, rectangle.bottom - 2)
            drawn.append(_label(curve, label, place, {"class": "lab halo", "data-gx": rectangle.left}))
    return drawn


def _filled(points: list[Pixel]) -> list[Pixel]:
    """The points and what lies halfway between them."""
    between = [((x + u) / 2, (y + v) / 2) for (x, y), (u, v) in itertools.pairwise(points)]
    return [*points, *between]


def _candidates(frame: Frame, line: Sequence[Pixel], label: str) -> list[_Rectangle]:
    """Places left and right of a curve, within the frame, those in its middle first."""
    box = frame.whole
    wide = width_of(label, LABEL_PX, bold=True)
    count = (len(line) + 1) // 2
    order = sorted(range(0, count, _EVERY), key=lambda at: abs(at - count / 2))
    places = []
    for x, y in (line[at] for at in order):
        right = _Rectangle(x + _BESIDE, x + _BESIDE + wide, y - _LABEL_HEIGHT / 2 + 5, y + _LABEL_HEIGHT / 2 + 5)
        left = _Rectangle(x - _BESIDE - wide, x - _BESIDE, y - _LABEL_HEIGHT / 2 - 5, y + _LABEL_HEIGHT / 2 - 5)
        places += [
            rectangle
            for rectangle in (left, right)
            if box.left <= rectangle.left
            and rectangle.right <= box.right
            and box.top <= rectangle.top
            and rectangle.bottom <= box.bottom
        ]
    return places


def _freest(candidates: Sequence[_Rectangle], others: Sequence[Pixel], own: Sequence[Pixel]) -> _Rectangle | None:
    best: tuple[float, _Rectangle] | None = None
    for candidate in candidates:
        room = min(map(candidate.distance, others), default=_ENOUGH)
        if min(map(candidate.distance, own)) == 0:
            room = -1.0
        if best is None or min(room, _ENOUGH) > best[0]:
            best = (min(room, _ENOUGH), candidate)
    return None if best is None else best[1]


def _label(curve: Curve, label: str, place: Pixel, more: Attributes) -> Markup:
    css = f"{more['class']} {curve.style.css}"
    return text(label, {**more, "class": css, "data-s": curve.style.name, "x": place[0], "y": place[1]})
