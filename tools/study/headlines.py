"""The headlines of the papers as a table of study/README.md: what each comes to in the records, and why.

paper.toml of each paper names its headlines: a sentence, and the claim of a figure that asks it. `make ledger` writes
the table; tests/test_headlines.py compares it with the records.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import percentages
from priolane.report.sentences.quantities import quantity_words
from priolane.results.estimate import Estimate
from priolane.study import catalogue
from priolane.study.outcomes import Outcome, outcome, why
from priolane.study.record import Record

README = Path(__file__).parent.parent.parent / "study" / "README.md"
BEGIN, END = "<!-- headlines: make ledger -->\n", "<!-- end of headlines -->\n"
_VERSIONS = "../docs/results-versions.md"
# The mark of a row that an older version of results recorded.
_OLDER = " ¹"
_COLUMNS = ("paper", "headline", "holds", "compared", "asks", "here", "why")
_HOLDS = {
    Outcome.REPRODUCED: "yes",
    Outcome.UNDER_A_READING: "under another reading",
    Outcome.IMPOSSIBLE: "no, impossible as printed",
    Outcome.FAILS: "no",
    Outcome.UNDECIDED: "undecided",
    Outcome.FITTED: "fitted",
}
_HOLDING = (Outcome.REPRODUCED, Outcome.UNDER_A_READING)
_LEAD = re.compile(r"^\*\*Of \d+ headlines .*\*\*", re.MULTILINE)
# The beginnings of reasons that say no more than the verdict.
_NOT_SO, _REACHES = "the claim does not hold", "the interval reaches beyond what the claim allows"
# Values of a claim that has more, such as one for each load, are shown by their ends.
_MOST_VALUES = 2


def table(records: Sequence[Record]) -> str:
    """The table. Raises `SystemExit` for a headline whose claim is in no record."""
    lines: list[str] = []
    marked = 0
    older = {record.figure for record in records if record.is_older}
    for paper in catalogue.papers():
        for headline, claim in of_paper(paper, records):
            is_older = f"{paper.id}/{headline['figure']}" in older
            marked += is_older
            link = f"[{headline['says']}](papers/{paper.id}/{headline['figure']}/finding.md)"
            numbers = in_numbers(paper, headline, claim)
            cells = (
                paper.name,
                link,
                holds(claim),
                numbers.compared or "–",
                numbers.asks,
                numbers.here + (_OLDER if is_older else ""),
                _why(claim) or "–",
            )
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    head = ["| " + " | ".join(_COLUMNS) + " |", "|---" * len(_COLUMNS) + "|"]
    if marked:
        counted_rows = f"{marked} of {len(lines)}"
        head = [f"Rows with{_OLDER} ({counted_rows}) belong to an [older version of results]({_VERSIONS}).", "", *head]
    return "\n".join([*head, *lines]) + "\n"


@dataclass(frozen=True)
class InNumbers:
    """The claim of a headline in numbers: what is compared, what is asked, and what was measured.

    A paper's percentage stands as one: `is_percentage`.
    """

    compared: str
    asks: str
    here: str
    is_percentage: bool


def in_numbers(paper: catalogue.Paper, headline: Mapping[str, str], claim: Mapping[str, Any]) -> InNumbers:
    """The numbers of a headline. Raises `SystemExit` if its `percent` is unknown."""
    formula = percentages.formula_of(headline)
    if formula is None:
        return InNumbers(compared(claim), claim["asked"], here(claim), is_percentage=False)
    items = list(claim["compared"] or claim["measured"])
    return InNumbers(
        percentages.compared(formula, f"{paper.id}/{headline['figure']}", claim),
        percentages.question(formula, claim["test"]),
        percentages.measured(formula, items, _MOST_VALUES),
        is_percentage=True,
    )


def of_paper(
    paper: catalogue.Paper, records: Sequence[Record]
) -> Iterator[tuple[Mapping[str, str], Mapping[str, Any]]]:
    """The headlines of a paper, each with its recorded claim. Raises `SystemExit` for one without a claim."""
    by_figure = {record.figure: record for record in records}
    for headline in paper.headlines:
        figure = f"{paper.id}/{headline['figure']}"
        yield headline, _claim(by_figure.get(figure), figure, headline["claim"])


def command(paper: catalogue.Paper, headline: Mapping[str, str]) -> str:
    """The command that runs the figure of a headline in two minutes at most."""
    return f"priolane reproduce {paper.id}/{headline['figure']} --quick"


def holds(claim: Mapping[str, Any]) -> str:
    """Whether the recorded claim of a headline holds."""
    return _HOLDS[outcome(claim)]


def _claim(record: Record | None, figure: str, says: str) -> Mapping[str, Any]:
    claims = [] if record is None else [claim for claim in record.claims if claim["says"] == says]
    if len(claims) != 1:
        raise SystemExit(f"{len(claims)} recorded claims of {figure} say `{says}`, which a headline of its paper names")
    return claims[0]


def compared(claim: Mapping[str, Any]) -> str:
    """The quantity that a claim is about: `mean FCT with expresspass over that with top`; empty if it has several."""
    items = claim["compared"] or claim["measured"]
    sides = [item.get("sides", ()) for item in items]
    quantities = {side["quantity"] for pair in sides for side in pair}
    many = {len(pair) for pair in sides}
    if len(quantities) != 1 or len(many) != 1:
        return ""
    words = quantity_words(quantities.pop())
    if many != {2}:
        return words
    schemes = {tuple(side["scheme"] for side in pair) for pair in sides}
    if len(schemes) > 1:
        pairs = ", ".join(" over ".join(pair) for pair in sorted(schemes))
        return f"{words}: {pairs}"
    first, second = schemes.pop()
    return f"{words} with {first} over that with {second}"


def _why(claim: Mapping[str, Any]) -> str:
    """The reason of a verdict without the words that the verdict beside it says."""
    return why(claim).removeprefix(f"{_NOT_SO}: ").removeprefix(f"{_REACHES}: ")


def here(claim: Mapping[str, Any]) -> str:
    """The compared values with intervals: all, or the smallest and the largest."""
    items = [item for item in claim["compared"] or claim["measured"] if item["mean"] is not None]
    texts = [Estimate(item["mean"], item["low"], item["high"], item["seeds"]).format(item["unit"]) for item in items]
    if len(texts) <= _MOST_VALUES:
        return ", ".join(texts) or "–"
    ordered = sorted(range(len(items)), key=lambda place: float(items[place]["mean"]))
    return f"{texts[ordered[0]]} to {texts[ordered[-1]]} ({percentages.extent(items)})"


def lead(records: Sequence[Record]) -> str:
    """The sentence that study/README.md begins with: how many headlines hold."""
    return counted([claim for paper in catalogue.papers() for _, claim in of_paper(paper, records)], " of five papers")


def counted(claims: Sequence[Mapping[str, Any]], of: str = "") -> str:
    """The number of headlines that hold, fail, cannot hold, and are undecided, as a sentence; `of` says whose they
    are."""
    outcomes = [outcome(claim) for claim in claims]
    hold = sum(kind in _HOLDING for kind in outcomes)
    fail, impossible = outcomes.count(Outcome.FAILS), outcomes.count(Outcome.IMPOSSIBLE)
    numbers = {
        ("holds here", "hold here"): hold,
        ("does not", "do not"): fail,
        ("is impossible as printed", "are impossible as printed"): impossible,
        ("is undecided", "are undecided"): len(outcomes) - hold - fail - impossible,
    }
    kept = [(words, number) for words, number in numbers.items() if number or "hold" in words[1]]
    parts = [f"{number} {words[number != 1]}" for words, number in kept]
    listed = f"{', '.join(parts[:-1])}, and {parts[-1]}" if len(parts) > 2 else " and ".join(parts)
    return f"Of {len(outcomes)} headlines{of}, {listed}."


def readme(text: str, records: Sequence[Record]) -> str:
    """study/README.md with its first sentence, and the table between its two marks."""
    text = _LEAD.sub(f"**{lead(records)}**", text, count=1)
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"study/README.md has no lines {BEGIN.strip()} and {END.strip()} for the headlines")
    return f"{before}{BEGIN}\n{table(records)}\n{END}{after}"
