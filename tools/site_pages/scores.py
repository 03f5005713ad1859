"""The score of a figure, one line above its picture: counts of verdicts, seeds, and the version of results."""

import tomllib
from collections.abc import Mapping
from typing import Any

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
    parts = [
        f"Score: {_verdicts(record.standings())}",
        f"{seeds} seed{'' if seeds == 1 else 's'}",
        _version(record, up),
    ]
    return f"{'; '.join(parts)}."


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


def _version(record: Record, up: str) -> str:
    """The version of results, and for an older one that the present one has other results."""
    text = f"results version {record.results}"
    if not record.is_older:
        return text
    change = f"[version {results_version()}]({up}{versions_of_findings.VERSIONS})"
    if record.results < _STEADY_SINCE and _arrivals_continue(record.figure):
        return f"{text} (in {change} arrivals continue, which changes results)"
    return f"{text} ({change} changes results)"


def _arrivals_continue(figure: str) -> bool:
    """Whether the experiment of a figure says today that arrivals continue after its measured window."""
    (item,) = [item for item in catalogue.figures() if item.key == figure]
    if item.experiment is None:
        return False
    time: Any = tomllib.loads(item.experiment.read_text(encoding="utf-8")).get("time", {})
    return bool(time.get("arrivals") == "continue")
