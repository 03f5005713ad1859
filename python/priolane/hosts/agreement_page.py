"""One page of what was simulated and measured: both curves of a scenario in one figure, and what was compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from priolane import _core
from priolane.figure.draw import Figure, draw_panels
from priolane.figure.palette import SeriesStyles
from priolane.hosts.agreement import Row, completion_times, rates_over_time
from priolane.report.generator import GENERATOR
from priolane.report.templates import figure_script, render, styled
from priolane.results.estimate import Estimate
from priolane.results.numbers import short
from priolane.results.report import Mark, Panel, Series
from priolane.storage.files import write_whole
from priolane.storage.run_files import RunPlace

AGREEMENT_PAGE = "agreement.html"
_LABELS = ("simulated", "measured")


@dataclass(frozen=True)
class Section:
    """A scenario on the page: what was compared, and the directories of its simulated and measured runs, in pairs.

    `failure` says why there is nothing.
    """

    name: str
    about: str
    rows: Sequence[Row] = ()
    runs: Sequence[tuple[RunPlace, RunPlace]] = ()
    failure: str = ""

    @property
    def agreeing(self) -> int:
        """The number of quantities that agree."""
        return sum(row.agrees for row in self.rows)


def write_agreement(path: Path, sections: Sequence[Section], command: str) -> None:
    """Writes the page; raises `WriteError` if the disk is full or must not be written."""
    panels = [_panels(section) for section in sections]
    styles = SeriesStyles(list(chain.from_iterable(panels)))
    drawn = [
        (section, draw_panels(mine, styles, has_legend=False, prefix=f"s{nth}f"))
        for nth, (section, mine) in enumerate(zip(sections, panels, strict=True))
    ]
    style, style_hash = styled()
    script, script_hash = figure_script()
    content = {
        "style": style,
        "style_hash": style_hash,
        "script": script,
        "script_hash": script_hash,
        "title": "Simulated and measured",
        "sections": [_content(section, shown) for section, shown in drawn],
        "summary": [_summary(section) for section in sections],
        "command": command,
        "version": _core.version(),
        "generator": GENERATOR,
    }
    write_whole(path, render("agreement.html.j2", content))


def _content(section: Section, figures: Sequence[Figure]) -> dict[str, Any]:
    return {
        "name": section.name,
        "about": section.about,
        "failure": section.failure,
        "figures": [figure.markup for figure in figures],
        "rows": [
            [row.quantity, short(row.simulated), short(row.measured), row.tolerance, row.agrees] for row in section.rows
        ],
    }


def _summary(section: Section) -> list[str]:
    """A row of the table of all: name, how many quantities agree, which do not."""
    if section.failure:
        return [section.name, "-", section.failure]
    differing = "; ".join(dict.fromkeys(row.quantity for row in section.rows if not row.agrees))
    return [section.name, f"{section.agreeing} of {len(section.rows)}", differing or "-"]


def _panels(section: Section) -> list[Panel]:
    """Completion times as distributions, and rates over time where there are some; each with both curves."""
    if not section.runs:
        return []
    sides = [[pair[side] for pair in section.runs] for side in (0, 1)]
    times = [sorted(time for run in runs for time in completion_times(run)) for runs in sides]
    panels = []
    if all(times):
        marks = [[(time, (nth + 1) / len(side)) for nth, time in enumerate(side)] for side in times]
        panels.append(_panel(section, "cdf", ("FCT (s)", "Part of the flows"), marks))
    rates = [rates_over_time(runs[0]) for runs in sides]
    if all(rates):
        panels.append(_panel(section, "line", ("Time (s)", "Rate of all endless flows (Gbit/s)"), rates))
    return panels


def _panel(
    section: Section, kind: str, labels: tuple[str, str], curves: Sequence[Sequence[tuple[float, float]]]
) -> Panel:
    series = [
        Series(
            scheme=label,
            label=label,
            variant=nth,
            marks=tuple(Mark(x, Estimate(mean=y, low=None, high=None, seeds=1)) for x, y in curve),
        )
        for nth, (label, curve) in enumerate(zip(_LABELS, curves, strict=True))
    ]
    return Panel(
        title=section.name,
        kind=kind,
        x_label=labels[0],
        y_label=labels[1],
        log_x=kind == "cdf",
        log_y=False,
        reference=None,
        series=tuple(series),
    )
