"""The headlines of the papers as a table of study/README.md: what each comes to in the records, and why.

paper.toml of each paper names its headlines: a sentence, and the claim of a figure that asks it. `make ledger` writes
the table; tests/test_headlines.py compares it with the records.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from priolane.results.estimate import Estimate
from priolane.study import catalogue
from priolane.study.outcomes import Outcome, outcome, why
from priolane.study.record import Record

README = Path(__file__).parent.parent.parent / "study" / "README.md"
BEGIN, END = "<!-- headlines: make ledger -->\n", "<!-- end of headlines -->\n"
_COLUMNS = ("paper", "headline", "holds", "asks", "here", "why", "command")
_HOLDS = {
    Outcome.REPRODUCED: "yes",
    Outcome.UNDER_A_READING: "under another reading",
    Outcome.IMPOSSIBLE: "no, impossible as printed",
    Outcome.FAILS: "no",
    Outcome.UNDECIDED: "undecided",
    Outcome.FITTED: "fitted",
}
# Values of a claim that has more, such as one for each load, are shown by their ends.
_MOST_VALUES = 2


def table(found: Sequence[Record]) -> str:
    """The table. Raises `SystemExit` for a headline whose claim is in no record."""
    by_figure = {record.figure: record for record in found}
    lines = ["| " + " | ".join(_COLUMNS) + " |", "|---" * len(_COLUMNS) + "|"]
    for paper, headline in _headlines():
        figure = f"{paper.id}/{headline['figure']}"
        claim = _claim(by_figure.get(figure), figure, headline["claim"])
        link = f"[{headline['says']}](papers/{figure}/finding.md)"
        command = f"`priolane reproduce {figure} --quick`"
        cells = (paper.name, link, _HOLDS[outcome(claim)], claim["asked"], _here(claim), why(claim) or "–", command)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _headlines() -> Iterator[tuple[catalogue.Paper, Mapping[str, str]]]:
    for paper in catalogue.papers():
        for headline in paper.headlines:
            yield paper, headline


def _claim(record: Record | None, figure: str, says: str) -> Mapping[str, Any]:
    found = [] if record is None else [claim for claim in record.claims if claim["says"] == says]
    if len(found) != 1:
        raise SystemExit(f"{len(found)} recorded claims of {figure} say `{says}`, which a headline of its paper names")
    return found[0]


def _here(claim: Mapping[str, Any]) -> str:
    """The compared values with intervals: all, or the smallest and the largest."""
    items = [item for item in claim["compared"] or claim["measured"] if item["mean"] is not None]
    texts = [Estimate(item["mean"], item["low"], item["high"], item["seeds"]).format(item["unit"]) for item in items]
    if len(texts) <= _MOST_VALUES:
        return ", ".join(texts) or "–"
    ordered = sorted(range(len(items)), key=lambda place: float(items[place]["mean"]))
    return f"{texts[ordered[0]]} to {texts[ordered[-1]]} ({len(texts)} values)"


def readme(text: str, found: Sequence[Record]) -> str:
    """study/README.md with the table between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"study/README.md has no lines {BEGIN.strip()} and {END.strip()} for the headlines")
    return f"{before}{BEGIN}\n{table(found)}\n{END}{after}"
