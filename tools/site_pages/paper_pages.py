"""A page for each paper: its headline, whether it holds, one picture and one command, then every figure's answer."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import finding_pages
import gallery_pages
import ledger_pages
from markdown_text import table

import headlines
from priolane.results.report import Source
from priolane.study import catalogue
from priolane.study.outcomes import Outcome, outcome, tally, why
from priolane.study.record import Record

_ANSWER = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_UP = "../../"
_HEADLINES = ("headline", "compared", "asks", "here", "holds", "cause")
_HOLDS = {
    Outcome.REPRODUCED: "This holds",
    Outcome.UNDER_A_READING: "This holds under another reading of the paper",
    Outcome.IMPOSSIBLE: "This is impossible as printed",
    Outcome.FAILS: "This does not hold",
    Outcome.UNDECIDED: "This is undecided",
    Outcome.FITTED: "This was fitted",
}
_FIGURES = ("figure", "answer", "claims of the paper")


def path(paper: str) -> str:
    """The page of a paper, below docs/."""
    return f"findings/{paper}/index.md"


def pages() -> Iterator[tuple[str, str]]:
    """The page of every paper that has headlines, with its path below docs/."""
    for paper in catalogue.papers():
        if paper.headlines:
            yield path(paper.id), _page(paper)


def answer(text: str) -> str:
    """The answer of a finding: its first paragraph, which is bold. Raises `ValueError` if it has none."""
    body = text.partition("\n\n")[2]
    match = _ANSWER.match(body)
    if match is None:
        raise ValueError(f"a finding begins with its answer in bold: {text[:60]!r}")
    return _LINK.sub(r"\1", match[1].replace("\n", " "))


def _page(paper: catalogue.Paper) -> str:
    stated = list(headlines.of_paper(paper, ledger_pages.records()))
    first, claim = stated[0]
    venue = f", {paper.venue}" if paper.venue else ""
    counted = headlines.counted([claim for _, claim in stated])
    in_words = _in_words(paper.id, first["figure"])
    parts = [
        f"# {paper.name}: what holds\n",
        f"**{counted} The first: {_lead(paper, first, claim)}** {in_words}{_lost(paper.id)}\n",
        gallery_pages.picture(_pictured(paper), _UP),
        f"```sh\n{headlines.command(paper, first)}\n```\n",
        f"{paper.title}{venue}.\n",
        f"## Headlines\n\n{table(_HEADLINES, [_headline(paper, headline, of) for headline, of in stated])}",
        f"## Claims\n\n{_counts(paper.id)}",
        f"## Figures\n\n{table(_FIGURES, _figures(paper.id))}",
    ]
    return "\n".join(parts)


def _pictured(paper: catalogue.Paper) -> str:
    """The figure of the first headline that has a picture; of the first one if none has."""
    figures = [f"{paper.id}/{headline['figure']}" for headline in paper.headlines]
    return next((figure for figure in figures if gallery_pages.has_picture(figure)), figures[0])


def _lead(paper: catalogue.Paper, stated: Mapping[str, str], claim: Mapping[str, Any]) -> str:
    """The first headline with a sentence that says whether it holds, what was measured, and what was asked."""
    numbers = headlines.in_numbers(paper, stated, claim)
    begin = f"{stated['says']}. {_HOLDS[outcome(claim)]}: "
    if numbers.is_percentage:
        return f"{begin}{numbers.compared}: {numbers.here} here; the claim asks for {numbers.asks}."
    return f"{begin}{_compared(claim)} {numbers.here} here, and {_allowed(claim)}."


def _in_words(paper: str, figure: str) -> str:
    """The answer of the finding that has the first headline, with the title of that finding; empty if there is none."""
    page = finding_pages.by_figure().get(f"{paper}/{figure}")
    if page is None:
        return ""
    text = _findings()[page]
    title = text.partition("\n")[0].removeprefix("# ")
    return f"[{title}]({page.removeprefix(f'findings/{paper}/')}): {answer(text)} "


def _lost(paper: str) -> str:
    """The claims of the paper that do not hold or cannot, in a sentence."""
    claims = _claims(paper)
    counts = tally(claims)
    impossible, undecided = counts[Outcome.IMPOSSIBLE], counts[Outcome.UNDECIDED]
    return (
        f"Of {len(claims)} claims in all, {counts[Outcome.FAILS]} do not hold, {impossible} are impossible as printed, "
        f"and {undecided} are undecided."
    )


def _compared(claim: Mapping[str, Any]) -> str:
    """The values of a claim as the subject of a sentence: `mean FCT with expresspass over that with top is`."""
    words = headlines.compared(claim)
    if words.startswith("gain") and " over that " not in words:
        words += " over the baseline"
    return f"{words} is" if words else "the runs have"


def _allowed(claim: Mapping[str, Any]) -> str:
    """The band of a claim as a clause."""
    test = claim["test"]
    within = f"{100 * test['within']:g} %" if "within" in test else ""
    match test["kind"]:
        case "equal":
            return f"the claim allows {within} either way"
        case "ratio":
            printed = claim["asked"].removesuffix(f" within {within}")
            return f"{printed} in the paper; the claim allows {within} either way"
        case "bound":
            question = claim["asked"].replace(", ", " and ").replace("above", "more than").replace("below", "less than")
            return f"the claim asks for {question}"
        case _:
            return f"the claim is {claim['asked']}"


def _headline(paper: catalogue.Paper, stated: Mapping[str, str], claim: Mapping[str, Any]) -> tuple[str, ...]:
    numbers = headlines.in_numbers(paper, stated, claim)
    return (
        f"[{stated['says']}]({stated['figure']}.md)",
        html.escape(numbers.compared) or "–",
        html.escape(numbers.asks),
        numbers.here,
        headlines.holds(claim),
        html.escape(why(claim)) or "–",
    )


def _counts(paper: str) -> str:
    """The outcomes of the paper's claims as a table."""
    claims = _claims(paper)
    counts = tally(claims)
    rows = [(outcome.value, str(counts[outcome])) for outcome in Outcome if counts[outcome]]
    return f"{table(('outcome', 'claims'), rows)}\n"


def _figures(paper: str) -> Iterator[tuple[str, ...]]:
    """A row for each recorded figure: the answer of its finding, or its title, and what its claims have come to."""
    for record in _records(paper):
        page = finding_pages.by_figure().get(record.figure)
        (item,) = catalogue.find(record.figure)
        name = item.name if item.name != "ours" else record.figure
        if page is None:
            yield name, html.escape(record.title), _outcomes(_of_paper(record))
        else:
            link = f"[{name}]({page.removeprefix(f'findings/{paper}/')})"
            yield link, answer(_findings()[page]), _outcomes(_of_paper(record))


@cache
def _findings() -> Mapping[str, str]:
    return dict(finding_pages.pages())


def _outcomes(claims: Sequence[Mapping[str, Any]]) -> str:
    counts = tally(claims)
    return ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome if counts[outcome]) or "–"


def _records(paper: str) -> list[Record]:
    return [record for record in ledger_pages.records() if record.figure.partition("/")[0] == paper]


def _claims(paper: str) -> list[Mapping[str, Any]]:
    """The claims of a paper, from all of its records."""
    return [claim for record in _records(paper) for claim in _of_paper(record)]


def _of_paper(record: Record) -> list[Mapping[str, Any]]:
    return [claim for claim in record.claims if claim["source"] == Source.PAPER.value]
