"""The ledger as the site has it: every claim in one table with filters, and what was run."""

import html
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from markdown_text import code, table

import ledger
import reading_ledger
from priolane.model import folders
from priolane.report.signs import STYLES
from priolane.results.cause import Cause
from priolane.results.report import Source, Standing, fitting
from priolane.study.outcomes import standing
from priolane.study.record import READINGS, RECORD, Record, counts_text

ROOT = Path(__file__).parent.parent.parent
_VALUES = 3
_COLUMNS = ("figure", "claim", "asks", "measured, 95 % interval", "verdict")


@cache
def records() -> tuple[Record, ...]:
    """The records that come with the package, in the order of the catalogue."""
    return tuple(ledger.shipped())


@cache
def record_of(figure: str) -> Record | None:
    """The record of a figure, `None` if there is none."""
    return next((record for record in records() if record.figure == figure), None)


def counts() -> str:
    """The table of counts per paper."""
    return ledger.counts(records())


def outcomes() -> str:
    """The table of the outcomes of claims by paper."""
    return ledger.outcomes(records())


def shares() -> str:
    """The shares of claims that the study asks of itself."""
    return f"{ledger.shares(ledger.total(records()))}\n"


def causes() -> str:
    """The table of causes of the claims that do not hold."""
    return ledger.causes(records())


def undecided() -> str:
    """The table of what undecided claims lack."""
    return ledger.undecided(records())


def by_reading() -> str:
    """The tables of claims under each reading of their papers."""
    return reading_ledger.tables(ledger.shipped(file=READINGS), records())


def claims() -> str:
    """The table of all claims, with filters that a script of the site applies."""
    papers = dict.fromkeys(record.figure.partition("/")[0] for record in records())
    options = "".join(f'<option value="{paper}">{ledger.NAMES.get(paper, paper)}</option>' for paper in papers)
    verdicts = "".join(f'<option value="{standing.value}">{standing.value}</option>' for standing in Standing)
    sources = "".join(f'<option value="{source.value}">{source.value}</option>' for source in Source)
    rows = "\n".join(
        _row(record, claim, claims_of(record.figure) if index == 0 else "")
        for record in records()
        for index, claim in enumerate(record.claims)
    )
    return "\n".join(
        [
            '<form class="filters" id="ledger-filters" hidden onsubmit="return false">',
            f'<label>Paper <select name="paper"><option value="">all</option>{options}</select></label>',
            f'<label>Verdict <select name="verdict"><option value="">all</option>{verdicts}</select></label>',
            f'<label>Claim of <select name="source"><option value="">both</option>{sources}</select></label>',
            '<label>Words <input name="words" type="search" size="14"></label>',
            "<output></output></form>",
            '<div class="md-typeset__scrollwrap"><div class="md-typeset__table">',
            '<table class="filtered" data-filters="ledger-filters">',
            f"<thead><tr>{''.join(f'<th>{name}</th>' for name in _COLUMNS)}</tr></thead>",
            f"<tbody>\n{rows}\n</tbody></table></div></div>",
        ]
    )


def claims_of(figure: str) -> str:
    """The anchor of a figure's first claim in the ledger."""
    return f"claims-{figure.replace('/', '-')}"


def _row(record: Record, claim: Mapping[str, Any], anchor: str) -> str:
    """A claim as a row of the table; `anchor` names it, where it is not empty."""
    paper, _, figure = record.figure.partition("/")
    shown = standing(claim)
    reason = f"<br>{html.escape(claim['reason'])}" if claim["reason"] else ""
    alone = f"<br>alone: {claim['alone']}" if claim["alone"] != claim["verdict"] else ""
    cause = Cause.of(claim.get("cause"))
    why = "" if cause is None else f"<br>{html.escape(str(cause))}"
    fitted = f"<br>{html.escape(fitting(claim['fitted']))}" if claim.get("fitted") else ""
    own = " (ours)" if claim["source"] == Source.OURS.value else ""
    section = f"<em>{html.escape(claim['section'])}{own}</em>"
    cells = [
        f'<a href="#{paper}-{figure}">{record.figure}</a>',
        f"{section}: {html.escape(claim['says'])}",
        html.escape(claim["asked"]),
        measured(claim["compared"] or claim["measured"]),
        f"{pill(shown)}{reason}{alone}{why}{fitted}",
    ]
    data = f'data-paper="{paper}" data-verdict="{shown.value}" data-source="{claim["source"]}"'
    name = f' id="{anchor}"' if anchor else ""
    return f"<tr {data}{name}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def pill(shown: Standing, text: str = "") -> str:
    """A verdict, in its colour."""
    return f'<span class="verdict verdict-{STYLES[shown]}">{text or shown.value}</span>'


def pills(counts: Mapping[Source, Mapping[Standing, int]]) -> str:
    """Numbers of verdicts, those that there are, ours after those of the paper."""
    shown = [
        pill(standing, f"{of[standing]} {source.word(standing, of[standing])}")
        for source, of in counts.items()
        for standing in Standing
        if of.get(standing)
    ]
    return " ".join(shown) or "no claims"


def measured(items: Sequence[Mapping[str, Any]]) -> str:
    """Values with their intervals; those beyond the first few are folded away."""
    lines = [html.escape(f"{item['what']}{_at(item['at'])}: {ledger.estimate_text(item)}") for item in items]
    shown, more = lines[:_VALUES], lines[_VALUES:]
    folded = f"<details><summary>{len(more)} more</summary>{'<br>'.join(more)}</details>" if more else ""
    return "<br>".join(shown) + folded


def _at(at: Mapping[str, Any]) -> str:
    """The point that a value is of: ` at 0.8`."""
    return f" at {', '.join(str(value) for value in at.values())}" if at else ""


def runs() -> str:
    """The table of what was run for each figure."""
    commits = _commits()

    def rows() -> Iterator[tuple[str, ...]]:
        for record in records():
            grid = record.grids[0]
            reading = f", reading `{grid['reading']}`" if grid["reading"] else ""
            yield (
                f'<a id="{record.figure.replace("/", "-")}"></a>{record.figure}',
                counts_text(record.standings()),
                f"{record.size}{reading}",
                str(grid["runs"]),
                f"results.{record.results}",
                code(grid["digest"][:16]),
                code(commits.get(_path(record.figure), "")) or "–",
                code(record.command),
            )

    columns = ("figure", "verdicts", "size", "runs", "version", "digest", "recorded in", "command")
    return table(columns, rows())


def _path(figure: str) -> str:
    return (folders.folder(Path("study"), figure) / RECORD).as_posix()


@cache
def _commits() -> Mapping[str, str]:
    """The commit that last changed each record; empty where there is no history, or no git."""
    if shutil.which("git") is None:
        return {}
    listed = subprocess.run(
        ["git", "log", "--format=commit %h", "--name-only", "--", "study/**/record.json"],  # noqa: S607
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    commits: dict[str, str] = {}
    commit = ""
    for line in listed.stdout.splitlines() if listed.returncode == 0 else []:
        if line.startswith("commit "):
            commit = line.removeprefix("commit ")
        elif line:
            commits.setdefault(line, commit)
    return commits
