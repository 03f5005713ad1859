"""What a figure comes to, for a page that shows many: its counts, what to look at, and a small picture."""

import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from priolane.directory import FIGURES
from priolane.report.model import Report, Source, Verdict
from priolane.report.write import write_report
from priolane.results import Results, load

# Twice as many pixels as the page gives it, for screens that have them.
_WIDTH, _HEIGHT = 320, 240


@dataclass(frozen=True)
class Summary:
    """A figure in short. `cautions` are checks that do not hold, and warnings; `thumbnail` is a PNG, empty without a
    panel that is drawn."""

    title: str
    runs: int
    seeds: int
    counts: Mapping[Source, Counter[Verdict]]
    cautions: tuple[str, ...]
    thumbnail: bytes

    @property
    def tally(self) -> Counter[Verdict]:
        """How many claims have each verdict, whoever makes them."""
        return sum(self.counts.values(), Counter())


def summary_of(results: Results) -> Summary:
    """The summary of results whose figures are written; raises what reading them does."""
    report = results.report
    picture = results.directory / FIGURES / "panel-1.png"
    return Summary(
        title=report.title,
        runs=len(results.runs),
        seeds=len(report.seeds),
        counts={source: Counter(c.verdict for c in report.claims if c.source is source) for source in Source},
        cautions=tuple(_cautions(report)),
        thumbnail=_thumbnail(picture) if report.drawn else b"",
    )


def write_and_summarize(directory: Path, rerun: str | None, *, pdf: bool) -> Summary:
    """Writes the report of the results in `directory`, and returns its summary. It raises as `write_report` does."""
    results = load(directory)
    write_report(results, rerun=rerun, pdf=pdf)
    return summary_of(results)


def _cautions(report: Report) -> list[str]:
    failed = [f"{check.name}: {check.text}" for check in report.checks if check.state not in ("ok", "open")]
    return [*failed, *report.warnings]


def _thumbnail(picture: Path) -> bytes:
    from PIL import Image  # noqa: PLC0415 - where pictures are drawn

    stream = io.BytesIO()
    with Image.open(picture) as image:
        image.thumbnail((_WIDTH, _HEIGHT))
        image.quantize(32).save(stream, "png", optimize=True)
    return stream.getvalue()
