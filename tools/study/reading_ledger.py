"""Makes the tables of docs/ledger-readings.md, which have the claims of a figure under each reading of its paper.

The records are those of `priolane reproduce PAPER/FIG --reading all --record study`. Many are of
smaller sizes than those of the ledger, as each reading takes as many runs as the figure.
"""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from priolane.results.estimate import Estimate
from priolane.results.report import Verdict
from priolane.study.record import Record


def tables(records: Sequence[Record], ledger: Sequence[Record]) -> str:
    """The tables of records by reading, beside those of the ledger. Raises `SystemExit` if their claims differ."""
    by_figure = {record.figure: record for record in ledger}
    parts = [(record, _verdicts(record, by_figure)) for record in records]
    return "\n".join([_overview(parts), *(_figure(*part) for part in parts)])


def _verdicts(record: Record, ledger: Mapping[str, Record]) -> list[str]:
    """The verdict that the ledger has for each claim of `record`."""
    there = ledger[record.figure].claims if record.figure in ledger else []
    if [claim["says"] for claim in there] != [claim["says"] for claim in record.claims]:
        raise SystemExit(f"the readings of {record.figure} have other claims than the ledger: record them again")
    return [claim["verdict"] for claim in there]


def _overview(parts: Sequence[tuple[Record, Sequence[str]]]) -> str:
    lines = ["| figure | readings | claims | agree | open | differ | other size |", "|---" * 7 + "|"]
    for record, verdicts in parts:
        words = [_agreement(row) for row in _rows(record)]
        counts = " | ".join(str(words.count(word)) for word in ("agree", "open", "differ"))
        link = f"[{record.figure}](#{_anchor(record)})"
        opposite = sum(
            _opposite({claim["verdict"], verdict}) for claim, verdict in zip(record.claims, verdicts, strict=True)
        )
        lines.append(f"| {link} | {len(record.grids)} | {len(words)} | {counts} | {opposite} |")
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


def _opposite(verdicts: Set[str]) -> bool:
    return {Verdict.REPRODUCED.value, Verdict.CONTRADICTED.value} <= verdicts


def _agreement(row: Sequence[Mapping[str, Any]]) -> str:
    verdicts = {claim["verdict"] for claim in row}
    if _opposite(verdicts):
        return "differ"
    return "agree" if verdicts in ({Verdict.REPRODUCED.value}, {Verdict.CONTRADICTED.value}) else "open"


def _figure(record: Record, verdicts: Sequence[str]) -> str:
    grid = record.grids[0]
    names = [f"`{other['reading']}`" for other in record.grids]
    lines = [
        f'## <a id="{_anchor(record)}"></a>{record.figure}: {record.title}\n',
        f"Size: {record.size}; {grid['runs']} runs a reading; results version {record.results}.\n",
        f"```sh\n{record.command}\n```\n",
        "| claim | asks | " + " | ".join(names) + " | readings | ledger |",
        "|---" * (4 + len(names)) + "|",
    ]
    for row, verdict in zip(_rows(record), verdicts, strict=True):
        claim = row[0]
        cells = [f"{claim['section']}: {claim['says']}", claim["asked"], *map(_cell, row), _agreement(row), verdict]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(claim: Mapping[str, Any]) -> str:
    compared = claim["compared"]
    if len(compared) != 1 or compared[0]["mean"] is None:
        return str(claim["verdict"])
    item = compared[0]
    value = Estimate(item["mean"], item["low"], item["high"], item["seeds"])
    return f"{claim['verdict']}: {value.format(item['unit'])}"
