"""The look of a scheme: the same colour, marker, line and hatch in every figure.

Colours are Okabe and Ito's set, which people with any common colour blindness tell apart; marker, line style and
hatch carry the same distinction in grey.
"""

import hashlib
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl

BLACK, ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
INK = "#222222"
RULE = "#c9c9c9"
# Widths of a column and of a page, in inches.
SINGLE_IN = 3.3
DOUBLE_IN = 7.0
# Of pictures in pixels, and what text is measured in.
DPI = 200

Dash = tuple[float, ...]
SOLID: Dash = ()
DASHED: Dash = (5, 2)
DOTTED: Dash = (1, 1.5)
DASH_DOT: Dash = (5, 1.5, 1, 1.5)
LONG: Dash = (9, 2.5)


@dataclass(frozen=True)
class Style:
    """The looks of one scheme."""

    colour: str
    marker: str
    dash: Dash
    hatch: str


# The papers' own schemes are solid, each in a colour of its own. Schemes of one figure of a paper have a colour each;
# of different papers the main ones differ in colour and line, in colour and hatch, in marker and in hatch.
_PRIOPLUS = Style(GREEN, "d", SOLID, "//..")
_FIXED = {
    # NOS2 and its baselines
    "dctcp": Style(BLACK, "o", DOTTED, ""),
    "nos2": Style(VERMILION, "s", SOLID, "///"),
    "pias": Style(BLUE, "^", DASHED, "\\\\\\"),
    "es8": Style(GREEN, "D", DASH_DOT, "xxx"),
    "dctcpsrpt": Style(PURPLE, "*", LONG, "**"),
    "dctcplas": Style(ORANGE, "v", LONG, "ooo"),
    # TOP and its baselines
    "top": Style(BLUE, "p", SOLID, "|||"),
    "expresspass": Style(VERMILION, "v", DASH_DOT, "..."),
    "phost": Style(GREEN, "<", DOTTED, "---"),
    "ndp": Style(PURPLE, ">", LONG, "ooo"),
    "homa": Style(ORANGE, "h", DASHED, "+++"),
    "hpcc": Style(SKY, "8", DASH_DOT, "--.."),
    "ideal": Style(BLACK, "*", LONG, "++"),
    "pfabric": Style(BLACK, "P", DASHED, "**"),
    # PrioPlus and its baselines
    "prioplus": _PRIOPLUS,
    "prioplusswift": _PRIOPLUS,
    "swift": Style(BLUE, "H", DASH_DOT, "\\\\.."),
    "physicalswift": Style(BLUE, "s", DOTTED, "---"),
    "physicalstarswift": Style(VERMILION, "^", LONG, "+++"),
    "physicalstarnocc": Style(BLACK, "o", DOTTED, ""),
    "ledbat": Style(SKY, "D", DOTTED, ".."),
    "d2tcp": Style(PURPLE, "v", DASH_DOT, "--"),
    "swifttargets": Style(ORANGE, "p", LONG, "\\\\"),
    "prioplusledbat": Style(VERMILION, "X", DASHED, "xx.."),
    # PACCP, Firapam and their baselines
    "paccp": Style(PURPLE, "X", SOLID, "xx"),
    "paccpdctcp": Style(BLUE, "P", LONG, "++"),
    "newreno": Style(ORANGE, "<", DOTTED, "o"),
    "firapam": Style(ORANGE, "*", SOLID, "||.."),
    "aequitas": Style(SKY, "D", DASHED, "O"),
    "asked": Style(BLACK, "<", LONG, "--"),
    "firapampermi": Style(VERMILION, "D", LONG, "xx"),
    "bysize": Style(BLUE, "s", DASHED, "///"),
    "deadlinesfirst": Style(VERMILION, "D", SOLID, "|||"),
    # Firapam on classes of three kinds: a colour for each kind, solid lines with admission
    "wfqasked": Style(BLACK, "o", DOTTED, "..."),
    "wfqfirapam": Style(BLACK, "s", SOLID, "///"),
    "topasked": Style(BLUE, "^", DASHED, "ooo"),
    "topfirapam": Style(BLUE, "v", SOLID, "\\\\\\"),
    "prioplusasked": Style(GREEN, "d", DASH_DOT, "+++"),
    "prioplusfirapam": Style(GREEN, "X", SOLID, "xxx"),
    # Our own figures: classes by size and by bytes sent, on switch queues, channels and tokens
    "es": Style(BLACK, "D", DASH_DOT, "xxx"),
    "sent8": Style(BLACK, "D", DASH_DOT, "xxx"),
    "opt": Style(SKY, "^", DASHED, "\\\\\\"),
    "sentopt": Style(SKY, "^", DASHED, "\\\\\\"),
    "size": Style(ORANGE, "8", SOLID, "..."),
    "size8": Style(ORANGE, "8", SOLID, "..."),
    "size2": Style(ORANGE, "v", DOTTED, "--.."),
    "swiftsize": Style(BLUE, "H", DASH_DOT, "\\\\.."),
    "prioplussize": _PRIOPLUS,
    "prioplussent": Style(GREEN, "X", DASHED, "xx"),
    "topsize": Style(BLUE, "p", SOLID, "|||"),
    "none": Style(BLACK, "o", DOTTED, ""),
    "plain": Style(BLACK, "o", DOTTED, ""),
    "coin": Style(PURPLE, "*", LONG, "**"),
    # Our own figures: privilege by switches
    "strict": Style(VERMILION, "s", SOLID, "///"),
    "strictdctcp": Style(VERMILION, "*", DASHED, "+++"),
    "wfq2": Style(ORANGE, "<", DOTTED, "o"),
    "wfq4": Style(ORANGE, ">", DASHED, "oo"),
    "wfq8": Style(ORANGE, "h", SOLID, "ooo"),
    "pifo": Style(BLACK, "^", LONG, "**"),
    "aifo": Style(BLACK, "v", DASH_DOT, "O."),
    # PACCP's classes of service
    "be": Style(BLACK, "o", DOTTED, ""),
    "ds": Style(BLUE, "^", DASHED, "\\\\"),
    "mrg": Style(VERMILION, "X", SOLID, "//"),
    "fifo": Style(BLACK, "o", DOTTED, ""),
    # The same by size of flows: lighter for small and medium ones, nearly the colour of all for big ones
    "besmall": Style("#a6a6a6", "v", DASH_DOT, "..."),
    "bemedium": Style("#8c8c8c", "s", DASHED, "---"),
    "bebig": Style("#262626", "P", SOLID, "|||"),
    "dssmall": Style("#9ecae1", "<", DASH_DOT, "o"),
    "dsmedium": Style(SKY, "D", DASHED, "--.."),
    "dsbig": Style("#00558a", "p", SOLID, "++"),
    "mrgsmall": Style("#f5b183", ">", DASH_DOT, "O"),
    "mrgmedium": Style(ORANGE, "d", DASHED, "xx"),
    "mrgbig": Style("#a34800", "h", SOLID, "**"),
}
# Ranks, such as `order0` to `order7`: from dark to light, the first one first. Their order can be seen in grey too.
_RANK = re.compile(r"(?:order|rank|priority)_?(\d+)")
_RANKS = ("#0d0887", "#46039f", "#7201a8", "#9c179e", "#bd3786", "#d8576b", "#ed7953", "#fdb42f")
COLOURS = (ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE)
# Towards black or white, and how far.
_SHADES = ((0, 0.4), (255, 0.35), (255, 0.55))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "d")
DASHES = (SOLID, DASHED, DOTTED, DASH_DOT, LONG)
HATCHES = ("///", "\\\\\\", "xxx", "...", "|||", "---", "+++", "ooo")


def style_of(scheme: str) -> Style:
    """The style of a scheme: from the table, or for other names from a hash of the name, so that it never changes.

    Ranks, such as `order3`, go from dark to light. A variant, such as `nos2_stale` or `DS-small`, has a shade of its
    base's colour, and neither its line nor its hatch.
    """
    fixed = _fixed(scheme)
    if fixed is not None:
        return fixed
    pick = hashlib.sha256(scheme.encode()).digest()
    base = _base(scheme)
    hatches = [hatch for hatch in HATCHES if base is None or hatch != base.hatch]
    dashes = [dash for dash in DASHES if base is None or dash != base.dash]
    return Style(
        colour=COLOURS[pick[0] % len(COLOURS)] if base is None else _shade(base.colour, pick[0]),
        marker=MARKERS[pick[1] % len(MARKERS)],
        dash=dashes[pick[2] % len(dashes)],
        hatch=hatches[pick[3] % len(hatches)],
    )


def is_fixed(name: str) -> bool:
    """Whether the table has the style of a scheme, or it is a rank."""
    return _fixed(name) is not None


def is_ranked(name: str) -> bool:
    """Whether a name is that of a rank, such as `order3`."""
    return _ranked(name) is not None


def style_of_class(name: str) -> Style | None:
    """The style of a class of flows, such as `BE` or `MRG-small`, if the table has it or its base."""
    return None if _fixed(name) is None and _base(name) is None else style_of(name)


def _shade(colour: str, pick: int) -> str:
    """A darker or a lighter shade of a colour."""
    towards, part = _SHADES[pick % len(_SHADES)]
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    mixed = (round(value + (towards - value) * part) for value in (red, green, blue))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def _fixed(name: str) -> Style | None:
    return _FIXED.get(name.lower().replace("-", "").replace("_", "")) or _ranked(name)


def _ranked(name: str) -> Style | None:
    """One of several ranks; after the last colour they start again."""
    match = _RANK.fullmatch(name.lower())
    if match is None:
        return None
    rank = int(match[1])
    return Style(
        colour=_RANKS[rank % len(_RANKS)],
        marker=MARKERS[rank % len(MARKERS)],
        dash=(SOLID, DASHED)[rank % 2],
        hatch=HATCHES[rank % len(HATCHES)],
    )


def _base(name: str) -> Style | None:
    return _FIXED.get(re.split("[_-]", name.lower())[0])


@contextmanager
def matplotlib_style(width_in: float) -> Iterator[None]:
    """A context in which matplotlib draws figures of `width_in` inches in priolane's style.

    A character that the font lacks is drawn as a box, without a warning for each.
    """
    with mpl.rc_context(_settings(width_in)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def _settings(width_in: float) -> dict[Any, Any]:
    return {
        "figure.figsize": (width_in, width_in * 0.68),
        "figure.dpi": DPI,
        "figure.constrained_layout.use": True,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 8,
        "axes.titlesize": 8.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelsize": 8,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.grid.axis": "y",
        "axes.axisbelow": True,
        "grid.color": RULE,
        "grid.linewidth": 0.5,
        "text.color": INK,
        "text.parse_math": False,
        "text.usetex": False,
        "xtick.color": INK,
        "ytick.color": INK,
        "xtick.labelsize": 7.5,
        "ytick.labelsize": 7.5,
        "legend.fontsize": 7.5,
        "legend.frameon": False,
        "legend.handlelength": 2.6,
        "lines.linewidth": 1.3,
        "lines.markersize": 5,
        "hatch.linewidth": 0.7,
        "hatch.color": "#ffffff",
        "svg.fonttype": "none",
        "svg.hashsalt": "priolane",
        "pdf.fonttype": 42,
    }
