"""Seeds and runs that the pages of findings state, against the records of their figures."""

import re
from pathlib import Path

from priolane.study.record import read_record

FINDINGS = Path(__file__).parent.parent / "study" / "papers"

_FIGURE = re.compile(r"^<!-- made by the site: figure ([\w/]+) -->$", re.MULTILINE)
# `16 seeds (80 runs)`, `eight seeds (1,440 runs; four were judged before)`. A line may end at any of the spaces.
_SIZE = re.compile(r"\b([\d,]+|[a-z]+)\s+seeds\s+\(([\d,]+)\s+runs\b")
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number(text: str) -> int:
    """A number in digits, or one up to ten in letters."""
    return _WORDS.index(text) + 1 if text in _WORDS else int(text.replace(",", ""))


def stated_sizes(page: str) -> list[tuple[int, int]]:
    """The seeds and runs that a page states as `16 seeds (80 runs)`. Other runs are named in other words."""
    return [(number(seeds), number(runs)) for seeds, runs in _SIZE.findall(page)]


def recorded_size(figure: str) -> tuple[int, int]:
    """The seeds and runs of the record of a figure, in its leading reading."""
    record = read_record(figure)
    assert record is not None, f"{figure} has a finding and no record"
    return len(record.grids[0]["seeds"]), record.grids[0]["runs"]


def test_sizes_are_found_in_the_forms_that_pages_have() -> None:
    assert stated_sizes("At the default size with eight seeds (40 runs), hosts that mark:") == [(8, 40)]
    assert stated_sizes("with 72 seeds (4,608\nruns; 24 were judged before; reading `reno`)") == [(72, 4608)]
    assert stated_sizes("(12 seeds). By flow (five seeds, measured before), and 24 seeds, 120 runs") == []


def test_findings_state_the_seeds_and_runs_of_their_records() -> None:
    figures, stated = {}, {}
    for path in sorted(FINDINGS.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        if named := _FIGURE.findall(page):
            name = path.relative_to(FINDINGS).as_posix()
            figures[name] = named
            if sizes := stated_sizes(page):
                stated[name] = sizes
    assert len(figures) > 60
    assert len(stated) >= 0.9 * len(figures), sorted(figures.keys() - stated.keys())
    assert stated == {name: [recorded_size(figure) for figure in figures[name]] for name in stated}
