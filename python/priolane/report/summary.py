"""The summary of a figure, for a page that shows many: its counts, what to look at, and a small picture."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from priolane.figure.draw import draw_thumbnail
from priolane.figure.palette import SeriesStyles
from priolane.report.write import write_report
from priolane.results.report import Report, Source, Standing, tallies
from priolane.results.results import Results, load


@dataclass(frozen=True)
class Summary:
    """A figure in short. `cautions` are checks that do not hold, and warnings; `thumbnail` is a small SVG, empty
    without a panel that is drawn."""

    title: str
    runs: int
    seeds: int
    counts: Mapping[Source, Counter[Standing]]
    cautions: tuple[str, ...]
    thumbnail: Markup

    @property
    def tally(self) -> Counter[Standing]:
        """The number of claims with each verdict, whoever makes them."""
        return sum(self.counts.values(), Counter())


def summary_of(results: Results) -> Summary:
    """The summary of results ; raises what reading them does."""
    report = results.report
    return Summary(
        title=report.title,
        runs=len(results.runs),
        seeds=len(report.seeds),
        counts=tallies(report.claims),
        cautions=tuple(_cautions(report)),
        thumbnail=_thumbnail(report),
    )


def write_and_summarize(directory: Path, rerun: str | None, formats: Sequence[str]) -> Summary:
    """Writes the report of the results in `directory`, and returns its summary. It raises as `write_report` does."""
    results = load(directory)
    write_report(results, rerun=rerun, png="png" in formats, pdf="pdf" in formats)
    return summary_of(results)


def _cautions(report: Report) -> list[str]:
    failed = [f"{check.name}: {check.text}" for check in report.checks if not check.is_fine]
    return [*failed, *report.warnings]


def _thumbnail(report: Report) -> Markup:
    return draw_thumbnail(report.drawn[0], SeriesStyles(report.drawn)) if report.drawn else Markup()
