"""The frame of a figure at a width: its axes with their ticks and titles, and reference lines."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from priolane.figure.layout import LABEL_PX, NOTE_PX, TICK_PX, shortened, width_of, wrapped
from priolane.figure.markup import element, group, number, path, text
from priolane.figure.plot import Axis, Labels, Plot, Tick
from priolane.figure.scales import Log

# Distances in pixels.
_TICK_TO_AXIS = 7.0
_LEAST_LEFT, _MOST_LEFT = 34.0, 120.0
_RIGHT, _RIGHT_OF_LABEL = 20.0, 12.0
_TITLE_HEIGHT, _BARE_TOP = 26.0, 10.0
# The line of the title of y.
_ABOVE_FRAME = 13.0
_LINE_HEIGHT = 15.0
_TICK_HEIGHT, _AXIS_TITLE_HEIGHT = 24.0, 20.0
_BETWEEN_TICKS = 10.0
_BETWEEN_STRIPS = 12.0
_NAME_LINES = 3
_SLANT = 40
_MOST_SLANTED = 120.0
# Of the width of a figure, what labels at the ends of lines may take.
_LABEL_SHARE = 0.3
# More labels than this are not read at the ends of lines: the legend names the curves.
MOST_LABELS = 12
_NARROW = 400.0


@dataclass(frozen=True)
class Size:
    """The size of a figure in pixels."""

    width: float
    height: float

    @property
    def is_narrow(self) -> bool:
        """Whether it is for a phone."""
        return self.width < _NARROW


@dataclass(frozen=True)
class Box:
    """The places where values are drawn, in pixels: y grows downwards."""

    left: float
    right: float
    top: float
    bottom: float

    @property
    def width(self) -> float:
        """The length of the x axis."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """The length of the y axis."""
        return self.bottom - self.top


@dataclass(frozen=True)
class NamedTick:
    """A tick with the lines of its text."""

    tick: Tick
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Frame:
    """The axes of a plot at a size. Each strip has a box; other plots have one."""

    plot: Plot
    size: Size
    boxes: tuple[Box, ...]
    x_ticks: tuple[NamedTick, ...]
    y_ticks: tuple[Tick, ...]
    is_slanted: bool

    @classmethod
    def of(cls, plot: Plot, size: Size) -> "Frame":
        """Lays out the axes of a plot."""
        strips = len(plot.curves) if plot.in_strips else 1
        y_ticks = tuple(plot.y.ticks(2 if plot.in_strips else max(2, int(size.height // 60))))
        left = min(max(_LEAST_LEFT, 10 + max((width_of(t.text, TICK_PX) for t in y_ticks), default=0.0)), _MOST_LEFT)
        right = size.width - _right(plot, size)
        names, is_slanted = _name(plot.x, left, right, size)
        depth = _depth(names, is_slanted=is_slanted) + (_AXIS_TITLE_HEIGHT if plot.x.title else 0.0)
        whole = Box(left, right, _TITLE_HEIGHT if plot.y.title else _BARE_TOP, size.height - depth)
        each = (whole.height - (strips - 1) * _BETWEEN_STRIPS) / strips
        boxes = tuple(
            Box(left, right, top, top + each)
            for top in (whole.top + nth * (each + _BETWEEN_STRIPS) for nth in range(strips))
        )
        return cls(plot, size, boxes, names, y_ticks, is_slanted)

    @property
    def whole(self) -> Box:
        """The rectangle that encloses all boxes."""
        return Box(self.boxes[0].left, self.boxes[0].right, self.boxes[0].top, self.boxes[-1].bottom)

    def x(self, value: float) -> float:
        """The pixel of a value along x."""
        box = self.boxes[0]
        return _near(box.left + self.plot.x.scale.part(value) * box.width)

    def y(self, value: float, strip: int = 0) -> float:
        """The pixel of a value along y."""
        box = self.boxes[strip]
        return _near(box.bottom - self.plot.y.scale.part(value) * box.height)

    def box_of(self, order: int) -> tuple[int, Box]:
        """The strip of a curve, and its box."""
        strip = order if self.plot.in_strips else 0
        return strip, self.boxes[strip]


def _near(pixel: float) -> float:
    """A pixel that is not so far outside that numbers become long."""
    return min(max(pixel, -5000.0), 5000.0)


def _right(plot: Plot, size: Size) -> float:
    """The width right of the axes, which labels at the ends of lines take."""
    labels = [curve.label for curve in plot.curves]
    if plot.labels is not Labels.AT_END or not labels or len(labels) > MOST_LABELS:
        return _RIGHT
    widest = max(width_of(label, LABEL_PX, bold=True) for label in labels)
    return _RIGHT_OF_LABEL + min(widest, _LABEL_SHARE * size.width)


def label_room(frame: Frame) -> float:
    """The width that a label at the end of a line has."""
    return frame.size.width - frame.whole.right - _RIGHT_OF_LABEL + 4


def _name(axis: Axis, left: float, right: float, size: Size) -> tuple[tuple[NamedTick, ...], bool]:
    """The ticks along x that have room, and whether their texts are slanted."""
    ticks = axis.ticks(4 if size.is_narrow else 6)

    def place(tick: Tick) -> float:
        return left + axis.scale.part(tick.value) * (right - left)

    if not axis.is_categorical:
        if axis.named and not _fit([place(tick) for tick in ticks], ticks):
            ticks = Axis(axis.label, axis.scale).ticks(4 if size.is_narrow else 6)
        return tuple(NamedTick(tick, (tick.text,)) for tick in _apart(ticks, place)), False
    room = (right - left) / max(len(ticks), 1) - _BETWEEN_TICKS / 2
    lines = [wrapped(tick.text, room, TICK_PX) for tick in ticks]
    if all(name_lines is not None and len(name_lines) <= _NAME_LINES for name_lines in lines):
        return tuple(
            NamedTick(tick, tuple(name_lines or ())) for tick, name_lines in zip(ticks, lines, strict=True)
        ), False
    cut = [shortened(tick.text, _MOST_SLANTED, TICK_PX) for tick in ticks]
    return tuple(NamedTick(tick, (name,)) for tick, name in zip(ticks, cut, strict=True)), True


def _fit(places: Sequence[float], ticks: Sequence[Tick]) -> bool:
    """Whether all ticks have room beside one another."""
    widths = [width_of(tick.text, TICK_PX) for tick in ticks]
    return all(
        places[nth + 1] - places[nth] >= (widths[nth] + widths[nth + 1]) / 2 + _BETWEEN_TICKS / 2
        for nth in range(len(ticks) - 1)
    )


def _apart(ticks: Sequence[Tick], place: Callable[[Tick], float]) -> list[Tick]:
    """Every tick, or every second one and so on, so that none overlaps another."""
    at = [place(tick) for tick in ticks]
    for every in range(1, len(ticks) + 1):
        if _fit(at[::every], ticks[::every]):
            return list(ticks[::every])
    return []


def _depth(names: Sequence[NamedTick], *, is_slanted: bool) -> float:
    """The height of ticks and their names below the x axis."""
    if is_slanted:
        widest = max(width_of(line, TICK_PX) for name in names for line in name.lines)
        return _TICK_HEIGHT + widest * math.sin(math.radians(_SLANT))
    return _TICK_HEIGHT + _LINE_HEIGHT * (max((len(name.lines) for name in names), default=1) - 1)


def draw_axes(frame: Frame) -> list[Markup]:
    """Grid, ticks, titles, and the x axis of each box."""
    drawn: list[Markup] = []
    for strip, box in enumerate(frame.boxes):
        for tick in frame.y_ticks:
            y = frame.y(tick.value, strip)
            if box.top - 0.5 <= y <= box.bottom + 0.5:
                drawn.append(path(f"M{number(box.left)} {number(y)}H{number(box.right)}", {"class": "grid"}))
                drawn.append(text(tick.text, {"class": "tick end", "x": box.left - _TICK_TO_AXIS, "y": y + 4}))
        drawn.append(path(f"M{number(box.left)} {number(box.bottom)}H{number(box.right)}", {"class": "axis"}))
    drawn += [_x_tick(frame, named) for named in frame.x_ticks]
    return [*drawn, *_titles(frame)]


def _x_tick(frame: Frame, named: NamedTick) -> Markup:
    x, bottom = frame.x(named.tick.value), frame.whole.bottom
    marked = [] if frame.plot.x.is_categorical else [path(f"M{number(x)} {number(bottom)}v4", {"class": "tk"})]
    if frame.is_slanted:
        turn = f"rotate(-{_SLANT} {number(x)} {number(bottom + 14)})"
        name = text(named.lines[0], {"class": "tick end", "x": x + 4, "y": bottom + 14, "transform": turn})
        return group({"data-gx": x}, *marked, name)
    lines = [
        text(line, {"class": "tick mid", "x": x, "y": bottom + 17 + nth * _LINE_HEIGHT})
        for nth, line in enumerate(named.lines)
    ]
    return group({"data-gx": x}, *marked, *lines)


def _titles(frame: Frame) -> list[Markup]:
    """The titles of both axes: that of y stands level above its axis."""
    box, size = frame.whole, frame.size
    y_title = shortened(frame.plot.y.title, size.width - 8, TICK_PX)
    x_title = shortened(frame.plot.x.title, size.width - 8, TICK_PX)
    middle = (box.left + box.right) / 2
    half = width_of(x_title, TICK_PX) / 2
    middle = min(max(middle, half + 4), max(size.width - half - 4, size.width / 2))
    return [
        *([text(y_title, {"class": "axl", "x": 4.0, "y": _ABOVE_FRAME})] if y_title else []),
        *([text(x_title, {"class": "axl mid", "x": middle, "y": size.height - 6})] if x_title else []),
    ]


def draw_lines(frame: Frame) -> list[Markup]:
    """The lines that values are compared with, each with its text."""
    box = frame.whole
    drawn: list[Markup] = []
    for line in frame.plot.lines:
        if line.y is not None and box.top <= frame.y(line.y) <= box.bottom:
            y = frame.y(line.y)
            drawn.append(path(f"M{number(box.left)} {number(y)}H{number(box.right)}", {"class": "ref"}))
            if line.text:
                drawn.append(text(line.text, {"class": "note end halo", "x": box.right - 4, "y": y - 5}))
        if line.x is not None and box.left <= frame.x(line.x) <= box.right:
            x = frame.x(line.x)
            upright = path(f"M{number(x)} {number(box.top)}V{number(box.bottom)}", {"class": "ref"})
            drawn.append(group({"data-gx": x}, upright, _note_of_upright(frame, line.text, x)))
        if line.slope is not None:
            drawn += _ray(frame, line.slope)
    return drawn


def _note_of_upright(frame: Frame, note: str, x: float) -> Markup:
    """The text of an upright line: above the frame beside the title of y, where no curve is, if there is room."""
    box, wide = frame.whole, width_of(note, NOTE_PX)
    taken = 4.0 + width_of(frame.plot.y.title, TICK_PX) + _BETWEEN_TICKS if frame.plot.y.title else 0.0
    starts = (x - wide / 2, frame.size.width - 4 - wide)
    left = min(starts)
    if left >= taken and left <= x:
        return text(note, {"class": "note", "x": left, "y": _ABOVE_FRAME})
    return text(note, {"class": "note end halo", "x": x - 5, "y": box.top + 11})


def _ray(frame: Frame, slope: float) -> list[Markup]:
    """The line y = slope x within the box, with its slope where it leaves."""
    x, y = frame.plot.x.scale, frame.plot.y.scale
    ends = [max(x.low, y.low / slope), min(x.high, y.high / slope)] if slope > 0 else [1.0, 0.0]
    if not ends[0] < ends[1]:
        return []
    # Straight along two linear or two logarithmic axes only.
    points = [ends[0] + (ends[1] - ends[0]) * nth / 24 for nth in range(25)]
    if isinstance(x, Log) and ends[0] > 0:
        points = [ends[0] * (ends[1] / ends[0]) ** (nth / 24) for nth in range(25)]
    drawn = "".join(
        f"{'L' if nth else 'M'}{number(frame.x(at))} {number(frame.y(slope * at))}" for nth, at in enumerate(points)
    )
    last = (frame.x(points[-1]), frame.y(slope * points[-1]))
    return [
        path(drawn, {"class": "ref"}),
        text(f"{slope:g}", {"class": "note end halo", "x": last[0] - 3, "y": max(last[1] + 12, frame.whole.top + 11)}),
    ]


def clip(frame: Frame, uid: str) -> Markup:
    """Cuts off the parts that are drawn outside of the boxes by no more than a mark."""
    rectangles = [
        element("rect", {"x": box.left - 6, "y": box.top - 6, "width": box.width + 12, "height": box.height + 6.5})
        for box in frame.boxes
    ]
    return element("clipPath", {"id": uid}, *rectangles)
