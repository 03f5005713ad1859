"""Room for text: what fits beside, below and above the axes of a panel, measured in the font that is drawn."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

_POINTS = 72
# A long name may break behind these.
_JOINT = re.compile(r"(?<=[_./:>-])")
# Names below an axis stand level while each has so few lines.
_NAME_LINES = 3
_SLANTS = (30, 45, 60, 90)
# Between neighbours, in widths of a letter; of a slanted line, in heights of one.
_NAME_GAP = 0.6
_LINE_HEIGHT = 1.3
# How far a slanted name may reach to the left of the axis, where there are ticks and a label anyway.
_OVERHANG_IN = 0.45


@dataclass(frozen=True)
class Font:
    """Size in points and weight of a text."""

    size: float
    weight: str = "normal"

    @classmethod
    def of(cls, part: str) -> "Font":
        """The font of a part of a figure, such as `xtick.label` or `axes.title`, as the style in force has it."""
        settings: Any = mpl.rcParams
        return cls(float(settings[f"{part}size"]), str(settings.get(f"{part}weight", "normal")))

    def width(self, text: str) -> float:
        """The width of one line, in inches."""
        return _width(text, self.size, self.weight)


@cache
def _width(text: str, size: float, weight: str) -> float:
    font = FontProperties(family=mpl.rcParams["font.sans-serif"], size=size, weight=weight)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / _POINTS


def wrapped(text: str, room_in: float, font: Font) -> list[str]:
    """Lines of at most `room_in` inches; words break, at a joint if there is one, only where one is wider than that."""
    lines: list[str] = []
    for word in text.split():
        for nth, part in enumerate(_parts(word, room_in, font)):
            longer = f"{lines[-1]} {part}" if lines and nth == 0 else ""
            if longer and font.width(longer) <= room_in:
                lines[-1] = longer
            else:
                lines.append(part)
    return lines


def shortened(lines: Sequence[str], most: int) -> list[str]:
    """At most so many lines, the last one with an ellipsis if some were left out."""
    return [*lines] if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1].rstrip()[:-2]} …"]


def _parts(word: str, room_in: float, font: Font) -> list[str]:
    """A word in parts that fit: broken behind joints, and inside of what has none."""
    parts = [""]
    for piece in _JOINT.split(word):
        for some in [piece] if font.width(piece) <= room_in else piece:
            if parts[-1] and font.width(parts[-1] + some) > room_in:
                parts.append("")
            parts[-1] += some
    return parts


def name_categories(axes: Axes, names: Sequence[str]) -> None:
    """Writes names below the ticks of an x axis, whole: level, in lines that fit, or slanted just as far as needed."""
    places = axes.get_xticks()
    font = Font.of("xtick.label")
    low, high = axes.get_xlim()
    width = axes.get_window_extent().width / axes.get_figure(root=True).dpi  # type: ignore[union-attr]
    spacing = width * min(np.diff(places), default=high - low) / (high - low)
    room = spacing - _NAME_GAP * font.size / _POINTS
    level = [wrapped(name, room, font) for name in names] if room > 0 else []
    if (
        level
        and all(len(lines) <= _NAME_LINES for lines in level)
        and all(_breaks_well(name, room, font) for name in names)
    ):
        axes.set_xticks(places, ["\n".join(lines) for lines in level])
        return
    reaches = [width * (place - low) / (high - low) + _OVERHANG_IN for place in places]
    slant = next((slant for slant in _SLANTS if _slanted_fit(names, reaches, (slant, spacing))), _SLANTS[-1])
    if slant == _SLANTS[-1]:
        axes.set_xticks(places, names, rotation=90)
    else:
        axes.set_xticks(places, names, rotation=slant, ha="right", rotation_mode="anchor")


def _breaks_well(name: str, room_in: float, font: Font) -> bool:
    """Whether each word of a name fits, so that none is broken."""
    return all(font.width(piece) <= room_in for word in name.split() for piece in _JOINT.split(word))


def _slanted_fit(names: Sequence[str], reaches: Sequence[float], at: tuple[int, float]) -> bool:
    """Whether names slanted by so many degrees, so far apart, neither overlap nor reach beyond the figure."""
    slant, spacing = at
    font = Font.of("xtick.label")
    turn = math.radians(slant)
    apart = spacing * math.sin(turn) >= _LINE_HEIGHT * font.size / _POINTS
    return apart and all(font.width(name) * math.cos(turn) <= reach for name, reach in zip(names, reaches, strict=True))


def legend_columns(labels: Sequence[str], room_in: float) -> int:
    """Into how many columns a legend goes: as few rows as fit a width, spread evenly."""
    most = next((n for n in range(len(labels), 1, -1) if _legend_width(labels, n) <= room_in), 1)
    return math.ceil(len(labels) / math.ceil(len(labels) / most))


def _legend_width(labels: Sequence[str], columns: int) -> float:
    """The width in inches of a legend as matplotlib lays it out: down the first column, then the next."""
    font = Font.of("legend.font")
    em = font.size / _POINTS
    symbol = (mpl.rcParams["legend.handlelength"] + mpl.rcParams["legend.handletextpad"]) * em
    texts = sum(max(font.width(label) for label in some) for some in np.array_split(list(labels), columns))
    between = mpl.rcParams["legend.columnspacing"] * (columns - 1)
    return float(texts + columns * symbol + (between + 2 * mpl.rcParams["legend.borderpad"]) * em)
