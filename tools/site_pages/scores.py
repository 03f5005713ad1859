"""The score of a figure, a line above its picture: counts of verdicts, seeds, and the version of results."""

from collections.abc import Mapping

import ledger_pages

import versions_of_findings
from priolane.report.signs import SIGNS, STYLES
from priolane.results.report import Source, Standing
from priolane.study import catalogue
from priolane.study.record import Record, results_version

# What is wrong comes before what is open.
_ORDER = (
    Standing.REPRODUCED,
    Standing.CONTRADICTED,
    Standing.IMPOSSIBLE,
    Standing.UNDECIDED,
    Standing.INCOMPLETE,
    Standing.FITTED,
)
# The first version in which arrivals continue after the measured window.
_STEADY_SINCE = 6


def of_record(record: Record, up: str) -> str:
    """The score in Markdown. `up` leads from the page to docs/."""
    seeds = len(record.grids[0]["seeds"])
    score = f"Score: {_verdicts(record.standings())}; {seeds} seed{'' if seeds == 1 else 's'}"
    if not record.is_older:
        return f"{score}; results version {record.results}."
    return f"{score}. {_older(record, up)}"


def _verdicts(counts: Mapping[Source, Mapping[Standing, int]]) -> str:
    """Counts with the signs of verdicts, ours after those of the paper."""
    texts: list[str] = []
    for source, of in counts.items():
        shown = [_count(source, standing, of[standing]) for standing in _ORDER if of.get(standing)]
        if shown:
            texts.append(("ours: " if source is Source.OURS and texts else "") + " · ".join(shown))
    return "; ".join(texts) or "no claims"


def _count(source: Source, standing: Standing, count: int) -> str:
    return ledger_pages.pill(standing, f"{SIGNS[STYLES[standing]]} {count} {source.word(standing, count)}")


def _older(record: Record, up: str) -> str:
    """The older version of results that a figure is recorded with, and what the present one changes, as sentences."""
    (item,) = catalogue.find(record.figure)
    version = f"[results version {record.results}]({up}{versions_of_findings.VERSIONS})"
    present = f"version {results_version()}"
    if record.results < _STEADY_SINCE and _arrivals_continue(item):
        stops = "traffic stops before the last flows end, so long flows finish in an empty network"
        ending = f"{present[0].upper()}{present[1:]} keeps traffic on{_newer(item)}."
        return f"Recorded with {version}: {stops}. {ending}"
    return f"Recorded with {version}: {present} changes results{_newer(item)}."


def _newer(item: catalogue.PaperFigure) -> str:
    """The result of the figure with the present version, behind the words that say what that version changes."""
    return f": {item.newer}" if item.newer else "; this figure has not been run again"


def _arrivals_continue(item: catalogue.PaperFigure) -> bool:
    """Whether the experiment of a figure says today that arrivals continue after its measured window."""
    return bool(item.stated.get("time", {}).get("arrivals") == "continue")
