"""Judges every claim of a figure twice, with each half of its seeds: `make held-out RESULTS=DIR`.

`DIR` is what `priolane reproduce PAPER/all -o DIR` filled, with a directory PAPER-FIG for each figure. A verdict flips
if one half reproduces a claim and the other contradicts it. Writes the counts in study/held_out.json, keeps
those of other figures, and prints what docs/validation.md says of them.
"""

import argparse
import dataclasses
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ledger
from priolane import _core
from priolane.results.results import Results, load
from priolane.study import catalogue
from priolane.study.record import Record, results_version

ROOT = Path(__file__).parent.parent.parent
KEPT = ROOT / "study" / "held_out.json"
PAGE = ROOT / "docs" / "validation.md"
FEWEST_SEEDS = 8
"""Seeds of a figure below which halves decide nothing."""


DECIDED = {"reproduced", "contradicted"}


@dataclass(frozen=True)
class Judged:
    """The verdicts of a figure with each half of its seeds, in the order of its claims.

    `version` is that of its results.
    """

    figure: str
    seeds: int
    version: int
    first: tuple[str, ...]
    second: tuple[str, ...]

    def row(self) -> "Row":
        """Its counts."""
        pairs = list(zip(self.first, self.second, strict=True))
        decided = Counter((a in DECIDED) + (b in DECIDED) for a, b in pairs)
        flips = sum(set(pair) == DECIDED for pair in pairs)
        return Row(self.figure, self.version, self.seeds, len(pairs), decided[2], decided[1], flips)


@dataclass(frozen=True)
class Row:
    """Counts of a figure: its claims, those that both halves or one half decides, and those that flip."""

    figure: str
    version: int
    seeds: int
    claims: int
    twice: int
    once: int
    flips: int


def rows(text: str) -> dict[str, Row]:
    """The rows that a file keeps, by figure."""
    rows_of_file = (Row(**row) for row in json.loads(text))
    return {row.figure: row for row in rows_of_file}


def written(listed: Sequence[Row]) -> str:
    """The text of the file with these rows, one on a line."""
    return "[\n" + ",\n".join(f" {json.dumps(dataclasses.asdict(row))}" for row in listed) + "\n]\n"


def judge(results: Results, seeds: Sequence[int]) -> tuple[str, ...]:
    """The verdicts among all claims of a figure with some of its seeds."""
    options = dataclasses.replace(results.options, seeds=tuple(seeds))
    report: dict[str, Any] = json.loads(_core.verdicts(results.source, options.to_json(), results.directory, "[]"))
    verdicts = tuple(claim["verdict"] for claim in report["claims"])
    if set(verdicts) == {"incomplete"}:
        raise SystemExit(
            f"{results.directory} has no run of {results.source} as that is now: reproduce the figure again"
        )
    return verdicts


def halves(directory: Path) -> Iterator[Judged]:
    """The figures below `directory` with enough seeds."""
    for item in catalogue.figures():
        there = directory / item.key.replace("/", "-")
        if item.experiment is None or not (there / "report.html").is_file():
            continue
        results = load(there)
        seeds = results.report.seeds
        if len(seeds) < FEWEST_SEEDS or not results.report.claims:
            continue
        middle = len(seeds) // 2
        first, second = judge(results, seeds[:middle]), judge(results, seeds[middle:])
        yield Judged(item.key, len(seeds), results_version(), first, second)


def gaps(listed: Sequence[Row], recorded: Iterable[Record]) -> str:
    """The records that have enough seeds and no row, or a row of other runs; empty if every record has its row."""
    rows_by_figure = {row.figure: row for row in listed}
    without, others = [], []
    for record in recorded:
        seeds = len(record.grids[0]["seeds"])
        row = rows_by_figure.get(record.figure)
        if row is None and seeds >= FEWEST_SEEDS:
            without.append(record.figure)
        elif row is not None and (row.version, row.seeds) != (record.results, seeds):
            others.append(record.figure)
    lines = []
    if without:
        lines.append(f"Recorded with {FEWEST_SEEDS} seeds or more, and not judged so: {', '.join(without)}.\n")
    if others:
        lines.append(f"Judged with other runs than those of the record: {', '.join(others)}.\n")
    return "".join(lines)


def summary(listed: Sequence[Row]) -> str:
    """The text of docs/validation.md about the rows."""
    twice, flips = sum(row.twice for row in listed), sum(row.flips for row in listed)
    return f"{len(listed)} figures are judged twice. Both halves decide {twice} claims, and {flips} of these flip."


def merged(kept: Mapping[str, Row], judged: Iterable[Judged]) -> list[Row]:
    """Rows of the figures that there are, in their order: those just judged, and those kept of the others."""
    new = {**kept, **{result.figure: result.row() for result in judged}}
    return [new[item.key] for item in catalogue.figures() if item.key in new]


def main() -> int:
    """Writes the file."""
    parser = argparse.ArgumentParser(description="judges claims with each half of the seeds of a figure")
    parser.add_argument("results", type=Path, help="directory with the results of figures, PAPER-FIG")
    listed = merged(rows(KEPT.read_text(encoding="utf-8")), halves(parser.parse_args().results))
    KEPT.write_text(written(listed), encoding="utf-8")
    print(f"{summary(listed)}\n{gaps(listed, ledger.shipped())}", end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
