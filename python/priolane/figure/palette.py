"""The looks of series: six hues with a marker each, the same hues dashed with open markers for another six, then grey.

A name, of a scheme or of a class, has one style in all figures of a page. The hues have a contrast of at least 3 with
the page, in light and dark, and people with any kind of colour blindness distinguish them
(`tests/test_figure_palette.py`).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from priolane.results.report import Panel, Series

LIGHT = ("#1b1d1f", "#0f459b", "#982a00", "#108c5f", "#d63fd0", "#c98600")
"""The hues on white paper: the colour of text, blue, red, green, magenta, amber."""

DARK = ("#f4f2ee", "#6ea0f5", "#ee6a49", "#35dd98", "#e97fc9", "#f7c945")
"""The same on dark paper."""

MARKERS = (
    "M-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0Z",
    "M0-4L3.8 3H-3.8Z",
    "M-3-3H3V3H-3Z",
    "M0-4.2L4.2 0L0 4.2L-4.2 0Z",
    "M0 4L3.8-3H-3.8Z",
    "M-4-1.3H-1.3V-4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4Z",
)
"""Outlines around the origin: disc, triangle, square, diamond, triangle pointing down, cross."""

HUES = len(LIGHT)
STYLES = 2 * HUES
_VARIANTS = 3
_RANK = re.compile(r"(?:order|rank|priority)_?(\d+)")

# The style that a name has wherever it is free, so that readers of several pages meet it again.
_USUAL = {
    0: ("dctcp", "be", "none", "plain", "fifo", "wfq_asked"),
    1: ("pias", "top", "swift", "ds", "by_size", "top_asked"),
    2: ("nos2", "expresspass", "strict", "mrg", "firapam_per_mi"),
    3: ("es8", "prioplus", "prioplus_swift", "phost", "prioplus_asked"),
    4: ("paccp", "ndp", "dctcp_srpt", "d2tcp"),
    5: ("homa", "firapam", "newreno", "dctcp_las"),
    6: ("pfabric", "asked", "physical_star_no_cc", "ideal", "wfq_firapam"),
    7: ("hpcc", "ledbat", "aequitas", "physical_swift", "paccp_dctcp", "top_firapam"),
    8: ("physical_star_swift", "deadlines_first"),
    9: ("prioplus_firapam",),
}
_PREFERRED = {name: style for style, names in _USUAL.items() for name in names}


@dataclass(frozen=True)
class SeriesStyle:
    """The style of a series: `nth` of the styles, or `None` for grey; `variant` distinguishes series of one name."""

    name: str
    nth: int | None
    variant: int = 0

    @property
    def css(self) -> str:
        """The classes of the style sheet."""
        if self.nth is None:
            return "cg"
        dashed = " b" if self.nth >= HUES else ""
        variant = f" v{min(self.variant, _VARIANTS)}" if self.variant else ""
        return f"c{self.nth % HUES}{dashed}{variant}"

    @property
    def marker(self) -> str:
        """The outline of a mark."""
        return MARKERS[(self.nth or 0) % HUES]


@dataclass(frozen=True)
class Entry:
    """An entry of a legend: a style, and what readers call it."""

    style: SeriesStyle
    text: str


@dataclass
class SeriesStyles:
    """The styles of everything that some panels show together.

    Names that are in one panel differ, as long as there are styles. `leading` are the names that get theirs first.
    """

    panels: Sequence[Panel]
    leading: Iterable[str] = ()
    _nth: dict[str, int | None] = field(init=False)

    def __post_init__(self) -> None:
        """Gives each name its style."""
        together = [[name_of(series) for series in panel.series] for panel in self.panels]
        there = list(dict.fromkeys(name for names in together for name in names))
        leading = [name for name in dict.fromkeys(self.leading) if name in there]
        rest = [name for name in there if name not in leading]
        self._nth = _assigned([*_by_preference(leading), *_by_preference(rest)], together)

    def of(self, series: Series) -> SeriesStyle:
        """The style of a series."""
        return SeriesStyle(name_of(series), self._nth.get(name_of(series)), series.variant)

    def named(self, name: str) -> SeriesStyle:
        """The style of a name; the first of all if no panel has the name."""
        return SeriesStyle(name, self._nth.get(name, 0))

    @property
    def legend(self) -> list[Entry]:
        """An entry for each name that means the same in all panels, in the order of the panels."""
        texts: dict[str, set[str]] = {}
        for panel in self.panels:
            for series in panel.series:
                texts.setdefault(name_of(series), set()).add(_legend_text(series))
        shown = {name: labels for name, labels in texts.items() if len(labels) == 1}
        return [Entry(self.named(name), labels.pop()) for name, labels in shown.items()]


def name_of(series: Series) -> str:
    """The name of a series: its scheme, or its class or rank where all series are of one scheme."""
    return series.styled_as or series.scheme


def _legend_text(series: Series) -> str:
    ranked = series.styled_as is not None and _RANK.fullmatch(series.styled_as)
    return series.label if ranked else name_of(series)


def _assigned(names: Sequence[str], together: Sequence[Sequence[str]]) -> dict[str, int | None]:
    """A style for each name, in this order."""
    assigned: dict[str, int | None] = {}
    for name in names:
        others = {other for panel in together if name in panel for other in panel}
        near = {assigned[other] for other in others if other in assigned}
        everywhere = set(assigned.values())
        preferred = _preferred(name)
        order = [*([] if preferred is None else [preferred]), *range(STYLES)]
        unused = (nth for nth in order if nth not in everywhere)
        apart = (nth for nth in order if nth not in near)
        assigned[name] = next(unused, next(apart, None))
    return assigned


def _by_preference(names: Sequence[str]) -> list[str]:
    """The names that prefer a style, then the others."""
    return sorted(names, key=lambda name: _preferred(name) is None)


def _preferred(name: str) -> int | None:
    ranked = _RANK.fullmatch(name.lower())
    if ranked:
        return int(ranked[1]) if len(ranked[1]) < 3 and int(ranked[1]) < STYLES else None
    return _PREFERRED.get(name.lower().replace("-", "_"))
