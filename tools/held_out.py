"""Judges every claim of a figure twice, with each half of its seeds: `make held-out RESULTS=DIR`.

`DIR` is what `priolane reproduce PAPER/all -o DIR` filled, with a directory PAPER-FIG for each figure. A verdict flips
if one half reproduces a claim and the other contradicts it. Writes docs/evidence/held-out.md.
"""

import argparse
import dataclasses
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from priolane import _core, papers
from priolane.results import Results, load

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "evidence" / "held-out.md"
FEWEST_SEEDS = 8
"""Seeds of a figure below which halves decide nothing."""


DECIDED = {"reproduced", "contradicted"}


@dataclass(frozen=True)
class Judged:
    """The verdicts of a figure with each half of its seeds, in the order of its claims."""

    figure: str
    seeds: int
    first: tuple[str, ...]
    second: tuple[str, ...]

    def decided_twice(self) -> int:
        """The number of claims that both halves decide."""
        return sum(set(pair) <= DECIDED for pair in zip(self.first, self.second, strict=True))

    def flips(self) -> int:
        """The number of claims that one half reproduces and the other contradicts."""
        return sum(set(pair) == DECIDED for pair in zip(self.first, self.second, strict=True))


def judge(results: Results, seeds: Sequence[int]) -> tuple[str, ...]:
    """The verdicts among all claims of a figure with some of its seeds."""
    options = dataclasses.replace(results.options, seeds=tuple(seeds))
    report: dict[str, Any] = json.loads(_core.verdicts(results.source, options.to_json(), results.directory))
    return tuple(claim["verdict"] for claim in report["claims"])


def halves(directory: Path) -> Iterator[Judged]:
    """The figures below `directory` with enough seeds."""
    for item in papers.figures():
        there = directory / item.key.replace("/", "-")
        if item.experiment is None or not (there / "report.html").is_file():
            continue
        results = load(there)
        seeds = results.report.seeds
        if len(seeds) < FEWEST_SEEDS or not results.report.claims:
            continue
        middle = len(seeds) // 2
        yield Judged(item.key, len(seeds), judge(results, seeds[:middle]), judge(results, seeds[middle:]))


HEAD = """\
# Held-out seeds

A verdict should not depend on which seeds were run. Here all claims of a figure are judged twice, with each half of its
seeds. A verdict flips if one half reproduces the claim and the other contradicts it. `make held-out` writes this page.
"""
COUNTS = """\
{figures} figures have {fewest} seeds or more. Both halves decide {twice} claims, of which {flips} flip. The probability
that a judgement of a figure has a false verdict is at most 5 %. So at most {promised:.1f} of these {judgements} have
one on average.

| figure | seeds | claims | both halves decide | one half decides | flips |
|---|---|---|---|---|---|
"""


def page(judged: Iterable[Judged]) -> str:
    """The page of docs/evidence."""
    listed = list(judged)
    counts = COUNTS.format(
        figures=len(listed),
        fewest=FEWEST_SEEDS,
        twice=sum(one.decided_twice() for one in listed),
        flips=sum(one.flips() for one in listed),
        judgements=2 * len(listed),
        promised=0.05 * 2 * len(listed),
    )
    rows = []
    for one in listed:
        decided = Counter((a in DECIDED) + (b in DECIDED) for a, b in zip(one.first, one.second, strict=True))
        cells = [one.figure, one.seeds, len(one.first), decided[2], decided[1], one.flips()]
        rows.append("| " + " | ".join(map(str, cells)) + " |\n")
    return f"{HEAD}\n{counts}{''.join(rows)}"


def main() -> int:
    """Writes the page."""
    parser = argparse.ArgumentParser(description="judges claims with each half of the seeds of a figure")
    parser.add_argument("results", type=Path, help="directory with the results of figures, PAPER-FIG")
    PAGE.write_text(page(halves(parser.parse_args().results)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
