"""The figures of a page of results: the panels of its report, or figures by default, and values over time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from priolane.figure.draw import Figure, draw_panel, draw_plot, draw_thumbnail, guide_keys
from priolane.figure.palette import Entry, SeriesStyles
from priolane.figure.panels import plot_of
from priolane.figure.sweep import AtPoint, draw_sweep
from priolane.report.default_figures import DefaultFigure, default_figures, queue_panel
from priolane.report.meanings import panels_in_words
from priolane.report.over_time import OverTime, over_time
from priolane.report.overview import Overview
from priolane.results.report import Claim, Panel, Report
from priolane.results.results import Results

HERO_PX = 640.0
"""The width of the figure on the first screen."""


@dataclass(frozen=True)
class ShownFigure:
    """A panel, its figure, and what is told below its title. `nth` counts the panels of a page from 1."""

    panel: Panel
    figure: Figure
    nth: int
    caption: str = ""


@dataclass(frozen=True)
class PageFigures:
    """The figures of a page: those that have files, of which `hero` is the place of the one on the first screen, and
    those over time; and the legend of all."""

    figures: tuple[ShownFigure, ...]
    hero: int
    traces: tuple[ShownFigure, ...]
    about_traces: str
    legend: tuple[Entry, ...]
    are_default: bool

    @property
    def panels(self) -> list[Panel]:
        """The panels that have files."""
        return [shown.panel for shown in self.figures]


def page_figures(results: Results, view: Overview) -> PageFigures:
    """Draws everything; raises `InputError` if a table of a run is damaged."""
    report, traces = results.report, over_time(results)
    defaults = [] if report.panels else default_figures(results, view, traces)
    # The default figure of the longest queue shows the same readings.
    left = [panel for panel in _panels_of(traces) if not defaults or panel is not queue_panel(traces)]
    panels = [place.panel for default in defaults for place in default.at_all_points] or panels_in_words(results, view)
    styles = SeriesStyles([*panels, *left], leading_names(report))
    hero = 0 if defaults else hero_of(panels, report.lead)
    figures = (
        [_default(default, styles, nth) for nth, default in enumerate(defaults)]
        if defaults
        else _drawn(panels, styles, "f", hero)
    )
    return PageFigures(
        figures=tuple(figures),
        hero=hero,
        traces=tuple(_drawn(left, styles, "t")),
        about_traces=traces.text if traces is not None and left else "",
        legend=tuple(styles.legend),
        are_default=bool(defaults),
    )


def _panels_of(traces: OverTime | None) -> Sequence[Panel]:
    return () if traces is None else traces.panels


def hero_of(panels: Sequence[Panel], lead: Claim | None) -> int:
    """The place of the panel that shows most of the metrics of the leading claim, else the same quantities of other
    classes, else the first one."""
    sides = [side for item in lead.contrasts for side in item.sides] if lead is not None else []
    metrics = {f"{side.quantity}.{side.of_class}" for side in sides}
    quantities = {side.quantity for side in sides}

    def shown(nth: int) -> tuple[bool, int, int, int]:
        panel = panels[nth]
        same = sum(metric in metrics for metric in panel.metrics)
        like = sum(metric.partition(".")[0] in quantities for metric in panel.metrics)
        # Of several that show as much, the one with least besides.
        return panel.has_values, same, like, -len(panel.metrics)

    return max(range(len(panels)), key=shown, default=0)


def _drawn(panels: Sequence[Panel], styles: SeriesStyles, prefix: str, hero: int | None = None) -> list[ShownFigure]:
    def drawn(nth: int, panel: Panel) -> Figure:
        is_hero = nth == hero
        # The legend of the page is below the first screen, unless the figure is the only one.
        has_legend = not is_hero or len(panels) == 1
        wide_px = HERO_PX if is_hero else None
        return draw_panel(panel, styles, f"{prefix}{nth}", has_legend=has_legend, wide_px=wide_px)

    return [ShownFigure(panel, drawn(nth, panel), nth + 1) for nth, panel in enumerate(panels)]


def _default(default: DefaultFigure, styles: SeriesStyles, nth: int) -> ShownFigure:
    drawn, plots = [], []
    for place in default.at_all_points:
        plot = plot_of(place.panel, styles)
        plot = replace(plot, guides=place.guides, lines=(*plot.lines, *place.lines))
        plots.append(plot)
        uid = f"f{nth}" if place is default else f"f{nth}p{place.number}"
        drawn.append(AtPoint(place.number, place.point, draw_plot(plot, uid, HERO_PX if nth == 0 else None)))
    markup = Markup().join([draw_sweep(drawn), guide_keys(plots)])
    is_wide = any(plot.is_wide for plot in plots)
    return ShownFigure(default.panel, Figure(markup, is_wide), nth + 1, default.caption)


def leading_names(report: Report) -> list[str]:
    """The schemes of the leading claim, which have a style of their own whatever else is shown."""
    if report.lead is None:
        return []
    parts = [part for item in report.lead.measured for part in item.what.split(".")]
    schemes = {series.scheme for panel in report.panels for series in panel.series}
    return [name for name in dict.fromkeys(parts) if name in schemes]


def thumbnail(figures: PageFigures) -> Markup:
    """A small picture of the first figure; empty without one."""
    if not figures.figures:
        return Markup()
    first = figures.figures[0].panel
    return draw_thumbnail(first, SeriesStyles(figures.panels))
