"""The styles of a set of figures: each in its own style, or in another where two could not be distinguished."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from priolane.plots.style import COLOURS, DASHES, HATCHES, MARKERS, Style, is_fixed, is_ranked, style_of
from priolane.results.report import Panel, Series

_ROUND = frozenset("o8hHp")
# The first of the series of one scheme that marks alone do not distinguish: filled, hollow, half filled.
_WITH_LINES_OF_THEIR_OWN = 2


class SeriesStyles:
    """The styles of all series of some panels: what has a name of its own looks the same in all of them.

    Any two differ in colour, or in all of line, marker and hatch.
    """

    def __init__(self, panels: Iterable[Panel]) -> None:
        """Styles for everything that the panels show."""
        self._styles = distinct([_name(series) for panel in panels for series in panel.series])

    def of(self, series: Series) -> Style:
        """The style of a series. The second of one scheme has its line; later ones have lines of their own."""
        style = self.named(_name(series))
        if series.variant < _WITH_LINES_OF_THEIR_OWN:
            return style
        others = [dash for dash in DASHES if dash != style.dash]
        return replace(style, dash=others[(series.variant - _WITH_LINES_OF_THEIR_OWN) % len(others)])

    def named(self, name: str) -> Style:
        """The style of a scheme, or of its replacement."""
        return self._styles.get(name) or style_of(name)


def _name(series: Series) -> str:
    return series.styled_as or series.scheme


def distinct(names: Sequence[str]) -> Mapping[str, Style]:
    """The style of each name. Those of the table choose before those that have theirs from a hash."""
    unique = list(dict.fromkeys(names))
    styles: dict[str, Style] = {}
    for name in sorted(unique, key=lambda name: not is_fixed(name)):
        own = style_of(name)
        others = (style for style in _others(name, own, styles.values()) if not _alike(style, styles, _shape))
        kept = not _alike(own, styles, _marker if is_fixed(name) else _shape)
        styles[name] = own if kept else next(others, own)
    return {name: styles[name] for name in unique}


def _alike(style: Style, taken: Mapping[str, Style], mark: Callable[[Style], str]) -> bool:
    """Whether a style has the colour of one that is taken, and its line, hatch or `mark`."""
    return any(
        style.colour == other.colour
        and (style.dash == other.dash or mark(style) == mark(other) or style.hatch == other.hatch)
        for other in taken.values()
    )


def _marker(style: Style) -> str:
    return style.marker


def _shape(style: Style) -> str:
    """The marker, those that are nearly round as one."""
    return "o" if style.marker in _ROUND else style.marker


def _others(name: str, own: Style, taken: Iterable[Style]) -> Iterator[Style]:
    """Styles besides its own: in colours that few have, beginning with its own, and each with all lines, markers and
    hatches. A rank keeps its colour, which says where it stands."""
    used = [style.colour for style in taken]
    colours = [own.colour] if is_ranked(name) else [own.colour, *(c for c in COLOURS if c != own.colour)]
    for colour in sorted(colours, key=used.count):
        for nth in range(len(MARKERS) * len(DASHES) * len(HATCHES)):
            yield replace(
                own,
                colour=colour,
                dash=DASHES[nth % len(DASHES)],
                marker=MARKERS[nth % len(MARKERS)],
                hatch=HATCHES[nth % len(HATCHES)],
            )
