"""Writes docs/ledger-readings.md: the claims of a figure under each reading of its paper.

The records are those of `priolane reproduce PAPER/FIG --reading all --record docs/evidence/readings`. They are of
smaller sizes than those of docs/ledger.md, as each reading takes as many runs as the figure.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from priolane.record import Record
from priolane.report.model import Estimate, Verdict

DOCS = Path(__file__).parent.parent / "docs"
READINGS = DOCS / "evidence" / "readings"
"""The records that have a grid for each reading."""
PAGE = DOCS / "ledger-readings.md"

_HEAD = """# Claims by reading

Where a paper is silent, its experiment file states the readings that its text allows, with their evidence
([experiments.md](experiments.md)). This page has each claim under each reading that was run. The first reading leads:
the [ledger](ledger.md) and all counts are of it, at a larger size. Here all readings of a figure have the same size and
the same seeds. A cell has the verdict among all claims of the figure and, if the claim compares one value, the measured
one. At these small sizes, many claims are undecided. `make ledger` writes this page.

The last column says whether the choice of a reading changes the verdict: *agree* if every reading reproduces the
claim, or every reading contradicts it, *differ* if one reproduces what another contradicts, and *open* otherwise.
"""


def page(found: Sequence[Record]) -> str:
    """The page."""
    return "\n".join([_HEAD, _overview(found), *(_figure(record) for record in found)])


def _overview(found: Sequence[Record]) -> str:
    lines = ["| figure | readings | claims | agree | open | differ |", "|---|---|---|---|---|---|"]
    for record in found:
        words = [_agreement(row) for row in _rows(record)]
        counts = " | ".join(str(words.count(word)) for word in ("agree", "open", "differ"))
        link = f"[{record.figure}](#{_anchor(record)})"
        lines.append(f"| {link} | {len(record.grids)} | {len(words)} | {counts} |")
    return "\n".join(lines) + "\n"


def _anchor(record: Record) -> str:
    return record.figure.replace("/", "-")


def _rows(record: Record) -> list[list[Mapping[str, Any]]]:
    """The claims, each under all readings. Raises `SystemExit` if a reading has other claims than the first."""
    rows = [list(row) for row in zip(*(grid["claims"] for grid in record.grids), strict=False)]
    same = all(claim["says"] == row[0]["says"] for row in rows for claim in row)
    if not same or any(len(grid["claims"]) != len(rows) for grid in record.grids):
        raise SystemExit(f"the readings of {record.figure} have different claims: record them again")
    return rows


def _agreement(row: Sequence[Mapping[str, Any]]) -> str:
    verdicts = {claim["verdict"] for claim in row}
    if {Verdict.REPRODUCED.value, Verdict.CONTRADICTED.value} <= verdicts:
        return "differ"
    return "agree" if verdicts in ({Verdict.REPRODUCED.value}, {Verdict.CONTRADICTED.value}) else "open"


def _figure(record: Record) -> str:
    grid = record.grids[0]
    names = [f"`{other['reading']}`" for other in record.grids]
    lines = [
        f'## <a id="{_anchor(record)}"></a>{record.figure}: {record.title}\n',
        f"Size: {record.size}; {grid['runs']} runs a reading; results version {record.results}.\n",
        f"```sh\n{record.command}\n```\n",
        "| claim | asks | " + " | ".join(names) + " | readings |",
        "|---" * (3 + len(names)) + "|",
    ]
    for row in _rows(record):
        claim = row[0]
        cells = [f"{claim['section']}: {claim['says']}", claim["asked"], *map(_cell, row), _agreement(row)]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(claim: Mapping[str, Any]) -> str:
    compared = claim["compared"]
    if len(compared) != 1 or compared[0]["mean"] is None:
        return str(claim["verdict"])
    item = compared[0]
    value = Estimate(item["mean"], item["low"], item["high"], item["seeds"])
    return f"{claim['verdict']}: {value.format(item['unit'])}"
