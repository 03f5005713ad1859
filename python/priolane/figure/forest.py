"""A forest plot: what was measured over what was asked, a row each, with the band that is allowed.

A row has a sign, a text, the allowed band as a bar, and the measured value as a dot on its 95 % interval. What lies
beyond the axis ends there in a triangle. The axis is logarithmic.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from priolane.figure.layout import LABEL_PX, TICK_PX, shortened, width_of
from priolane.figure.markup import element, escape, group, number, path, text, title
from priolane.figure.numbers import power_texts
from priolane.figure.palette import MARKERS
from priolane.figure.scales import Linear, Log

# The axis reaches no further than this from what is asked, as a factor, whatever was measured.
_FURTHEST = 5.0
# The part of an interval for which there is room beyond its dot, as a factor.
_WHISKER = 2.0
_ROOM = 1.06
_LABEL_SHARE = 0.46
# Of a label, what its place may take.
_PLACE_SHARE, _NARROW_PLACE_SHARE = 0.5, 0.34
_NARROW_PX = 500.0
_TOP, _BOTTOM = 26.0, 26.0
_ROW, _NARROW_ROW = 28.0, 46.0
_SIGN_PX, _RIGHT, _GAP = 18.0, 16.0, 8.0
_HALF_BAND, _TIP = 5.0, 6.0
_BETWEEN_TICKS = 12.0
_LEAST_TICKS = 4


@dataclass(frozen=True)
class ForestRow:
    """A value in parts of what was asked, which is 1. `interval` is that of the value, `band` what is allowed: 0 and
    infinity are its ends where it has none.

    `style` is the class of its colour, `place` where it was measured, and `description` is all of it in words.
    """

    style: str
    sign: str
    text: str
    place: str
    mean: float
    interval: tuple[float, float] | None
    band: tuple[float, float]
    description: str


def draw_forest(rows: Sequence[ForestRow], description: str, width: float) -> Markup:
    """The plot at a width in pixels."""
    is_narrow = width < _NARROW_PX
    high = _NARROW_ROW if is_narrow else _ROW
    frame = _Frame(
        scale=scale_of(rows),
        left=_GAP + (0.0 if is_narrow else _LABEL_SHARE * width),
        right=width - _RIGHT,
        bottom=_TOP + high * len(rows),
    )
    drawn = [_row(frame, row, (_TOP + high * nth, high), is_narrow=is_narrow) for nth, row in enumerate(rows)]
    about = "measured \N{DIVISION SIGN} claimed; shaded: what the claim allows"
    about = about if is_narrow else f"{about}; line: 95 % interval"
    attributes = {
        "class": "fig forest",
        "viewBox": f"0 0 {number(width)} {number(frame.bottom + _BOTTOM)}",
        "role": "img",
        "aria-label": description,
    }
    axis_title = text(about, {"class": "axl", "x": frame.left, "y": 14.0})
    return element("svg", attributes, axis_title, *_ticks(frame), *drawn)


def scale_of(rows: Sequence[ForestRow]) -> Log:
    """The axis: what is asked, all values and the ends of their bands, as far as they are near."""
    ends = [end for row in rows for end in (row.mean, *row.band)]
    near = [min(max(end, 1 / _FURTHEST), _FURTHEST) for end in ends if 0 < end < float("inf")]
    low, high = min([1.0, *near]), max([1.0, *near])
    reached = [end for row in rows for end in row.interval or ()]
    # Intervals have room as far as all values reach.
    reach = max(high / low, 1.1)
    low = max(low / reach, min([low, *(end for end in reached if end > 0)]))
    high = min(high * reach, max([high, *reached]))
    # A dot at an end of the axis has a part of its interval beyond it.
    shown = [row for row in rows if row.interval and low <= row.mean <= high]
    low = min([low, *(max(row.interval[0], row.mean / _WHISKER) for row in shown if row.interval)])
    high = max([high, *(min(row.interval[1], row.mean * _WHISKER) for row in shown if row.interval)])
    return Log.over(low / _ROOM, high * _ROOM)


@dataclass(frozen=True)
class _Frame:
    scale: Log
    left: float
    right: float
    bottom: float

    def x(self, value: float) -> float:
        """The pixel of a value, or the end of the axis that is nearer."""
        return self.left + min(max(self.scale.part(value), 0.0), 1.0) * (self.right - self.left)


def _ticks(frame: _Frame) -> list[Markup]:
    ticks = frame.scale.ticks(6)
    if len(ticks) < _LEAST_TICKS:
        ticks = Linear(frame.scale.low, frame.scale.high).ticks(6)
    # What is asked has a tick whatever its neighbours are.
    values = [1.0, *(value for value in ticks if value != 1.0)]
    texts = power_texts(values)
    kept: list[tuple[float, float]] = []
    drawn = []
    for value, shown in zip(values, texts, strict=True):
        x, half = frame.x(value), (width_of(shown, TICK_PX) + _BETWEEN_TICKS) / 2
        if all(abs(x - other) >= half + theirs for other, theirs in kept):
            kept.append((x, half))
            line = path(
                f"M{number(x)} {number(_TOP)}V{number(frame.bottom)}", {"class": "ref" if value == 1 else "grid"}
            )
            drawn += [line, text(shown, {"class": "tick mid", "x": x, "y": frame.bottom + 16})]
    return drawn


def _row(frame: _Frame, row: ForestRow, at: tuple[float, float], *, is_narrow: bool) -> Markup:
    top, high = at
    y = top + (high - 13 if is_narrow else high / 2)
    return group(
        {"class": row.style},
        title(row.description),
        *_label(frame, row, top + (15 if is_narrow else high / 2 + 4), is_narrow=is_narrow),
        _band(frame, row, y),
        *_measured(frame, row, y),
    )


def _label(frame: _Frame, row: ForestRow, y: float, *, is_narrow: bool) -> list[Markup]:
    room = (frame.right if is_narrow else frame.left - 2 * _GAP) - _SIGN_PX
    place = shortened(row.place, (_NARROW_PLACE_SHARE if is_narrow else _PLACE_SHARE) * room, LABEL_PX)
    used = width_of(place, LABEL_PX) + (8 if place else 0)
    says = shortened(row.text, room - used, LABEL_PX)
    where = element("tspan", {"class": "place"}, escape(f"  {place}")) if place else Markup()
    return [
        text(row.sign, {"class": "sign", "x": 0.0, "y": y}),
        element("text", {"class": "says halo", "x": _SIGN_PX, "y": y}, escape(says), where),
    ]


def _band(frame: _Frame, row: ForestRow, y: float) -> Markup:
    left, right = (frame.x(end) for end in row.band)
    top, bottom = number(y - _HALF_BAND), number(y + _HALF_BAND)
    return path(f"M{number(left)} {top}H{number(right)}V{bottom}H{number(left)}Z", {"class": "allowed"})


def _measured(frame: _Frame, row: ForestRow, y: float) -> list[Markup]:
    """The interval, the triangles where it leaves the axis, and the dot; a value beyond the axis is a triangle."""
    drawn = []
    if row.interval is not None:
        low, high = (frame.x(end) for end in row.interval)
        drawn.append(path(f"M{number(low)} {number(y)}H{number(high)}", {"class": "reach"}))
    reached = (row.mean, *(row.interval or ()))
    if min(reached) < frame.scale.low:
        drawn.append(_triangle(frame.left, y, -_TIP))
    if max(reached) > frame.scale.high:
        drawn.append(_triangle(frame.right, y, _TIP))
    if frame.scale.low <= row.mean <= frame.scale.high:
        at = f"translate({number(frame.x(row.mean))} {number(y)})"
        drawn.append(path(MARKERS[0], {"class": "value", "transform": at}))
    return drawn


def _triangle(x: float, y: float, tip: float) -> Markup:
    """A triangle whose tip is at the end of the axis."""
    return path(
        f"M{number(x - tip)} {number(y - 4)}L{number(x)} {number(y)}L{number(x - tip)} {number(y + 4)}Z",
        {"class": "value"},
    )
