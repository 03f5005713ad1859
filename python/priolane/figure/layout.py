"""Room for text where no font can be measured: widths by kinds of letters, and labels that are pushed apart."""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from priolane.figure.markup import one_line

TICK_PX = 12.0
LABEL_PX = 12.5
NOTE_PX = 11.0
"""Sizes of text in a figure; the style sheet has the same ones."""

LABEL_GAP_PX = 14.0
"""Direct labels are at least so far apart."""

# Widths in sizes of the letter: a little wider than the widest font that pages ask for.
_NARROW = frozenset("ijl.,:;'|!()[]ft \N{NARROW NO-BREAK SPACE}")
_WIDE = frozenset("mwMW%@")
_NARROW_EM, _USUAL_EM, _CAPITAL_EM, _WIDE_EM = 0.36, 0.62, 0.72, 0.98
_BOLD = 1.1
_ELLIPSIS = "…"
# A long name may break behind these.
_JOINTS = "_-./:>,"


def width_of(text: str, size_px: float, *, bold: bool = False) -> float:
    """About how wide a line is, in pixels."""
    return sum(map(_em, text)) * size_px * (_BOLD if bold else 1.0)


def _em(letter: str) -> float:
    if letter in _NARROW:
        return _NARROW_EM
    if letter in _WIDE:
        return _WIDE_EM
    if unicodedata.east_asian_width(letter) in ("W", "F"):
        return 1.0
    return _CAPITAL_EM if letter.isupper() else _USUAL_EM


def shortened(text: str, room_px: float, size_px: float, *, bold: bool = False) -> str:
    """The text in one line, cut at its end with an ellipsis where there is no room for all of it."""
    line = one_line(text)
    if width_of(line, size_px, bold=bold) <= room_px:
        return line
    kept = 0
    used = width_of(_ELLIPSIS, size_px, bold=bold)
    for letter in line:
        used += width_of(letter, size_px, bold=bold)
        if used > room_px:
            break
        kept += 1
    return line[:kept].rstrip() + _ELLIPSIS


def wrapped(text: str, room_px: float, size_px: float) -> list[str] | None:
    """The text in lines that fit, broken at spaces and behind joints; `None` if a part is wider than that."""
    lines: list[str] = []
    for word in text.split():
        for nth, part in enumerate(_parts(word)):
            if width_of(part, size_px) > room_px:
                return None
            longer = f"{lines[-1]}{'' if nth else ' '}{part}" if lines else part
            if lines and width_of(longer, size_px) <= room_px:
                lines[-1] = longer
            else:
                lines.append(part)
    return lines


def _parts(word: str) -> list[str]:
    parts = [""]
    for letter in word:
        parts[-1] += letter
        if letter in _JOINTS:
            parts.append("")
    return [part for part in parts if part]


def spread(places: Sequence[float], top: float, bottom: float, gap: float = LABEL_GAP_PX) -> list[float]:
    """The places of labels that should stand at `places`: in the same order, at least `gap` apart, within the ends as
    far as there is room, and as near to their places as that allows, by the sum of squares."""
    order = sorted(range(len(places)), key=places.__getitem__)
    # With the gaps taken out, labels must not change their order: the mean of what would overlap is the nearest.
    blocks: list[_Block] = []
    for nth, of in enumerate(order):
        blocks.append(_Block(1, places[of] - nth * gap))
        while len(blocks) > 1 and blocks[-2].at >= blocks[-1].at:
            last = blocks.pop()
            blocks[-1] = blocks[-1].with_next(last)
    room = max(bottom - (len(places) - 1) * gap, top)
    flat = [min(max(block.at, top), room) for block in blocks for _ in range(block.labels)]
    spread_places = [0.0] * len(places)
    for nth, of in enumerate(order):
        spread_places[of] = flat[nth] + nth * gap
    return spread_places


@dataclass(frozen=True)
class _Block:
    """Labels that touch, and where the first of them stands."""

    labels: int
    at: float

    def with_next(self, other: "_Block") -> "_Block":
        labels = self.labels + other.labels
        return _Block(labels, math.fsum((self.labels * self.at, other.labels * other.at)) / labels)
