"""Pictures of figures for phones: two columns of panels become one, so that texts stay legible."""

import io
from pathlib import Path

from PIL import Image

# The least lightness that counts as ground, of 255, and the least width of ground between two columns of panels.
_GROUND, _LEAST_GAP = 200, 8
# The width of a picture of one column.
_PHONE_PIXELS = 640


def stacked(picture: Path) -> bytes | None:
    """The picture with its right half below its left one, as WebP; `None` where no white gap is in its middle."""
    with Image.open(picture) as opened:
        whole = opened.convert("RGB")
    gap = _middle_gap(whole)
    if gap is None:
        return None
    cut = (gap[0] + gap[1]) // 2
    halves = [whole.crop((0, 0, cut, whole.height)), whole.crop((cut, 0, whole.width, whole.height))]
    ends = [_drawn_to(half) for half in halves]
    stack = Image.new("RGB", (max(half.width for half in halves), sum(ends)), "white")
    stack.paste(halves[0], (0, 0))
    stack.paste(halves[1], (0, ends[0]))
    written = io.BytesIO()
    few = stack.quantize(64, Image.Quantize.MAXCOVERAGE)
    few.convert("RGB").save(written, "WEBP", lossless=True, quality=100)
    return written.getvalue()


def is_wide(picture: Path) -> bool:
    """Whether texts of the picture are too small where it is as narrow as a phone."""
    with Image.open(picture) as opened:
        return opened.width > _PHONE_PIXELS


def _middle_gap(whole: Image.Image) -> tuple[int, int] | None:
    """The first and the last column of the white gap around the middle; `None` where the middle is drawn on."""
    middle = whole.width // 2
    left = right = middle
    while left > 0 and not _is_drawn(whole, left - 1):
        left -= 1
    while right < whole.width - 1 and not _is_drawn(whole, right + 1):
        right += 1
    is_gap = not _is_drawn(whole, middle) and right - left >= _LEAST_GAP and left > 0 and right < whole.width - 1
    return (left, right) if is_gap else None


def _is_drawn(whole: Image.Image, column: int) -> bool:
    dark, _ = whole.crop((column, 0, column + 1, whole.height)).convert("L").getextrema()
    return isinstance(dark, int) and dark < _GROUND


def _drawn_to(half: Image.Image) -> int:
    """The height of a half without the empty rows below its last panel."""
    ink = half.convert("L").point(lambda value: 255 if value < _GROUND else 0)
    box = ink.getbbox()
    return min(half.height, box[3] + 12) if box is not None else half.height
