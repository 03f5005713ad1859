"""Counts the verdicts of the records in study/, and writes the sentence with the counts in README.md.

`make ledger` writes it, the headlines of the papers in study/README.md, the sum of what runs take in docs/ledger.md,
and the version of older records in findings;
tests/test_ledger.py compares it with the records. The site makes its ledger of the same records
(tools/site_pages/ledger_pages.py).
"""

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import causes as causes_of_files
import changed_claims
import costs
import headlines
import versions_of_findings
from priolane.model import folders
from priolane.results.cause import CauseKind
from priolane.results.estimate import Estimate
from priolane.results.report import Source, Standing
from priolane.study import catalogue
from priolane.study.outcomes import Asks, Outcome, by_question, causes_of_failures, standing, tally
from priolane.study.record import RECORD, Record, records, results_version

ROOT = Path(__file__).parent.parent.parent
README = ROOT / "README.md"
BEGIN, END = "<!-- counts: make ledger -->\n", "<!-- end of counts -->\n"
NAMES = {paper: name for paper, name in catalogue.names().items() if paper != folders.OURS}
# How many times the recorded seeds would decide a claim, by the bound of each row of the table.
_SEED_ROWS = (2, 4, 16)
# By the code of the reason why a claim is undecided; every other reason is the number of seeds.
_NOT_SEEDS = {
    "monotone": "the means are not monotone: more seeds decide only if they become so",
    "load": "the offered load is not the requested one",
    "same_count": "all seeds have the same value",
}

_VERSIONS = "docs/results-versions.md"
_NO_CAUSE = "no cause is known"
# In a sentence after a number.
_ARE = {
    Outcome.REPRODUCED: "are reproduced",
    Outcome.UNDER_A_READING: "are reproduced under another stated reading",
    Outcome.IMPOSSIBLE: "are impossible as printed",
    Outcome.FAILS: "do not hold",
    Outcome.UNDECIDED: "are undecided",
    Outcome.FITTED: "are numbers that a parameter was fitted to",
}
# Outcomes of the first sentence; the others have a second one.
_FIRST = (Outcome.REPRODUCED, Outcome.UNDER_A_READING, Outcome.IMPOSSIBLE)


def counts(records: Sequence[Record]) -> str:
    """The table of counts per paper, claims of the papers and ours apart."""
    standings = list(Standing)
    lines = [
        "| claims of | figures recorded | " + " | ".join(standing.value for standing in standings) + " |",
        "|---" * (2 + len(standings)) + "|",
    ]
    beside: Counter[Standing] = Counter()
    for paper, of_paper in _by_paper():
        there = [record for record in records if record.figure in {item.key for item in of_paper}]
        source = Source.PAPER if paper in NAMES else Source.OURS
        tally = _sum(record.standings()[source] for record in there)
        lines.append(_row(NAMES.get(paper, "our own figures"), f"{len(there)} of {len(of_paper)}", tally))
        if source is Source.PAPER:
            beside += _sum(record.standings()[Source.OURS] for record in there)
    lines.append(_row("our additional checks on those figures", "", beside))
    return "\n".join(lines) + "\n"


def outcomes(records: Sequence[Record]) -> str:
    """The outcomes of the claims of the papers: a row for each paper, then for headlines, orders and magnitudes."""
    kinds = list(Outcome)
    lines = [f"| claims of | {' | '.join(kind.value for kind in kinds)} |", "|---" * (1 + len(kinds)) + "|"]
    for paper, name in NAMES.items():
        own = tally(claim for record in records if _paper(record) == paper for claim in _of_paper(record))
        lines.append(f"| {name} | {' | '.join(str(own[kind]) for kind in kinds)} |")
    pairs = [pair for record in _of_papers(records) for pair in by_question(record.claims)]
    for question in Asks:
        own = tally(claim for asks, claim in pairs if asks is question and claim["source"] == Source.PAPER.value)
        lines.append(f"| all, {question.value} | {' | '.join(str(own[kind]) for kind in kinds)} |")
    return "\n".join(lines) + "\n"


def causes(records: Sequence[Record]) -> str:
    """The causes of the papers' claims that do not hold."""
    kinds: list[CauseKind | None] = [*CauseKind, None]
    words = [_NO_CAUSE if kind is None else kind.words for kind in kinds]
    lines = [f"| claims of | {' | '.join(words)} |", "|---" * (1 + len(kinds)) + "|"]
    for paper, name in NAMES.items():
        own = causes_of_failures(claim for record in records if _paper(record) == paper for claim in _of_paper(record))
        lines.append(f"| {name} | {' | '.join(str(own[kind]) for kind in kinds)} |")
    return "\n".join(lines) + "\n"


def _paper(record: Record) -> str:
    return record.figure.partition("/")[0]


def _of_papers(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if _paper(record) in NAMES]


def _of_paper(record: Record) -> list[Mapping[str, Any]]:
    """The claims of a record that its paper makes."""
    return [claim for claim in record.claims if claim["source"] == Source.PAPER.value]


def sentence(records: Sequence[Record]) -> str:
    """The number of claims of the papers with each outcome."""
    of_all = total(records)
    shown = {outcome: f"{of_all[outcome]} {_ARE[outcome]}" for outcome in Outcome if of_all[outcome]}
    good = [text for outcome, text in shown.items() if outcome in _FIRST]
    others = [text for outcome, text in shown.items() if outcome not in _FIRST]
    first = f"Of {of_all.total()} claims in {len(_of_papers(records))} figures of five papers, {', '.join(good)}."
    older = sum(record.is_older for record in _of_papers(records))
    age = f" {older} of the figures were recorded before results version {results_version()}" if older else ""
    return f"{first} Of the others, {', '.join(others)}.{age and f'{age} ([what changed]({_VERSIONS})).'}\n"


def total(records: Sequence[Record]) -> Counter[Outcome]:
    """The number of claims of the papers with each outcome."""
    return tally(claim for record in _of_papers(records) for claim in _of_paper(record))


def shares(of_all: Mapping[Outcome, int]) -> str:
    """Two sentences: the share of the decided claims that came out as printed or has a reason, and the undecided one.

    Numbers that a parameter was fitted to belong to neither.
    """
    good = sum(of_all[outcome] for outcome in _FIRST)
    decided, open_ = good + of_all[Outcome.FAILS], of_all[Outcome.UNDECIDED]
    if not decided + open_:
        return "No claim was judged."
    of_decided = f"{100 * good / decided:.0f} %" if decided else "none"
    return (
        f"Of the {decided} decided claims, {of_decided} are reproduced, reproduced under a stated reading, or "
        f"impossible as printed (aim: 85 %). Undecided are {100 * open_ / (decided + open_):.0f} % of "
        f"{decided + open_} (aim: at most 10 %)."
    )


def both_lists(records: Sequence[Record]) -> str:
    """The shares over the claims of today, and over those before claims were removed or changed."""
    now = total(records)
    return f"As they are now: {shares(now)}\n\nBefore these changes: {shares(changed_claims.before(now, records))}\n"


def undecided(records: Sequence[Record]) -> str:
    """A section with what the undecided claims lack."""
    tally: Counter[str] = Counter()
    for record in records:
        for claim in record.claims:
            if standing(claim) is Standing.UNDECIDED:
                tally[_lacks(claim, len(record.grids[0]["seeds"]))] += 1
    rows = [*_seed_rows(), *_NOT_SEEDS.values()]
    lines = [
        f"## What the {tally.total()} undecided claims lack\n",
        "The number of seeds that would decide a claim is estimated from the distance of its values to the bound. If a",
        "value is close to the bound, no affordable number of seeds decides the claim.\n",
        "| lacks | claims |",
        "|---|---|",
        *(f"| {row} | {tally[row]} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _seed_rows() -> list[str]:
    return [f"up to {most} times the seeds" for most in _SEED_ROWS] + [f"more than {_SEED_ROWS[-1]} times the seeds"]


def _lacks(claim: Mapping[str, Any], seeds: int) -> str:
    """The row of the table for an undecided claim, with the seeds that are recorded."""
    if claim["reason_code"] in _NOT_SEEDS:
        return _NOT_SEEDS[claim["reason_code"]]
    # Without an estimate, more are needed than the verdict looks for.
    _, most = claim["seeds_needed"] or (None, None)
    times = math.inf if most is None else most / seeds
    return next((row for row, bound in zip(_seed_rows(), _SEED_ROWS, strict=False) if times <= bound), _seed_rows()[-1])


def readme(text: str, records: Sequence[Record]) -> str:
    """README with the sentence between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"README.md has no lines {BEGIN.strip()} and {END.strip()} for the counts")
    return before + BEGIN + sentence(records) + END + after


def shipped(directory: Path = folders.STUDY, file: str = RECORD) -> list[Record]:
    """The records, in the order of the catalogue."""
    return list(records([item.key for _, items in _by_paper() for item in items], directory, file))


def _by_paper() -> Iterator[tuple[str, list[catalogue.PaperFigure]]]:
    everything = [item for item in catalogue.figures() if item.experiment is not None]
    for paper in dict.fromkeys(item.paper for item in everything):
        yield paper, [item for item in everything if item.paper == paper]


def _sum(tallies: Iterable[Counter[Standing]]) -> Counter[Standing]:
    total: Counter[Standing] = Counter()
    for own in tallies:
        total.update(own)
    return total


def _row(name: str, figures: str, tally: Counter[Standing]) -> str:
    return f"| {name} | {figures} | " + " | ".join(str(tally[standing]) for standing in Standing) + " |"


def estimate_text(item: Mapping[str, Any]) -> str:
    """A measured value with its interval and unit."""
    return Estimate(item["mean"], item["low"], item["high"], item["seeds"]).format(item["unit"])


def main() -> int:
    """Takes the causes of the experiment files into the records, and writes the sentence and the headlines."""
    for figure in causes_of_files.refresh():
        print(f"{figure}: causes")
    records = shipped()
    README.write_text(readme(README.read_text(encoding="utf-8"), records), encoding="utf-8")
    headlines.README.write_text(
        headlines.readme(headlines.README.read_text(encoding="utf-8"), records), encoding="utf-8"
    )
    page = changed_claims.PAGE
    page.write_text(changed_claims.page(page.read_text(encoding="utf-8"), both_lists(records)), encoding="utf-8")
    sums = costs.sentence(records, [costs.packet_hops(record) for record in records])
    costs.PAGE.write_text(costs.page(costs.PAGE.read_text(encoding="utf-8"), sums), encoding="utf-8")
    for path, text in versions_of_findings.pages(records):
        path.write_text(text, encoding="utf-8")
    print(f"README.md: verdicts of {len(records)} figures; study/: headlines and changed claims")
    return 0


if __name__ == "__main__":
    sys.exit(main())
