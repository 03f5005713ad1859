"""The verdicts that are recorded for a figure of a paper, beside those of a run of another size."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from priolane.results.results import Results
from priolane.study import catalogue
from priolane.study.record import counts_text, read_record
from priolane.study.recorded_claims import claims_of


@dataclass(frozen=True)
class Recorded:
    """Verdicts in words by the text of their claims, and a sentence on all of them; both empty without a record.

    `command` makes the figure at its own size. `conclusion` is the sentence of a figure whose recorded verdicts are
    those of the results; empty for others. `of_study` is whether the results are of a figure of the study.
    """

    words: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    command: str = ""
    conclusion: str = ""
    of_study: bool = False


def figure_of(results: Results) -> catalogue.PaperFigure | None:
    """The figure of the study whose file these results are of; `None` for other experiments."""
    return next((item for item in catalogue.figures() if item.experiment == results.source), None)


def recorded(results: Results) -> Recorded:
    """The record of the figure whose file these results are of, if its size or seeds were others; else its conclusion.

    Raises `InputError` if the record cannot be read.
    """
    item = figure_of(results)
    leading = {None, *(reading.name for reading in results.readings if reading.leads)}
    if item is None:
        return Recorded()
    record = read_record(item.key) if results.options.reading in leading else None
    if record is None:
        return Recorded(of_study=True)
    conclusion = item.conclusion if record.agrees_with(results) else ""
    if record.is_of(results):
        return Recorded(conclusion=conclusion, of_study=True)
    words = {claim.text: claim.word for claim in claims_of(record.grids[0])}
    note = f"Recorded ({record.size}): {counts_text(record.standings())}."
    return Recorded(words, note, f"priolane reproduce {item.key}", conclusion, of_study=True)
