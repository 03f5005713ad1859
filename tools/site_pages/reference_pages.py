"""Pages of metrics, tables, commands, pairs of parts and planted faults."""

import argparse
import json
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from markdown_text import code, plain, table

from priolane import _core, cli
from priolane.model.matrix import Matrix, matrix

ROOT = Path(__file__).parent.parent.parent


def metrics() -> str:
    """The page of metrics, family by family."""
    lines = []
    for family, of_family in groupby(json.loads(_core.metrics()), key=itemgetter("family")):
        rows = (_metric(metric) for metric in of_family)
        lines += [f"## {family}\n", table(("quantity", "unit", "range", "of", "meaning", "needs"), rows)]
    return "\n".join(lines)


def _metric(metric: Mapping[str, Any]) -> tuple[str, ...]:
    star = "*" if metric["tuned"] else ""
    needs = ", ".join(metric["needs"]) or "–"
    unit, ends = _unit(metric["unit"]), _range(metric["range"])
    return f"`{metric['name']}`{star}", unit, ends, metric["of"], metric["meaning"], needs


def _unit(unit: str) -> str:
    return "–" if unit == "1" else unit


def _range(ends: list[float | None]) -> str:
    low, high = ("" if end is None else f"{end:g}" for end in ends)
    if not low and not high:
        return "any"
    return f"{low or 'any'} to {high}" if high else f"from {low}"


_TINY = """
title = "columns"
schemes = ["paccp"]
seeds = 1
time = { measure = "100us", drain = true, limit = "10ms" }
sample_every = "50us"
price = { p0 = 1 }

[topology]
kind = "single_switch"
hosts = 4
host_link = { rate = "10Gbps", delay = "1us" }

[[group]]
name = "all"
hosts = "*"
app = "flows"
list = "flows.csv"
w = 2
"""
_TABLES: Mapping[str, str] = {
    "flows": "One row per flow, by id.",
    "ports": "One row per egress port, class, and queue that saw a packet.",
    "series": "One row per instant, entity, and metric; with `sample_every`.",
    "coflows": "One row per coflow; only where flows belong to coflows.",
    "bills": "One row per machine, and per flow that pays for itself; only where the experiment has `price`.",
}


def columns() -> str:
    """The page of the columns of tables, read from those that a small run leaves."""
    lines = []
    for name, rows in _columns().items():
        lines += [f"## {name}.parquet {{ #{name} }}\n", _TABLES[name] + "\n"]
        lines.append(table(("column", "type", "unit", "meaning"), rows))
    return "\n".join(lines)


@cache
def _columns() -> dict[str, list[tuple[str, ...]]]:
    import priolane  # noqa: PLC0415 - runs are slow to load

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "columns.toml"
        file.write_text(_TINY, encoding="utf-8")
        rows = "start_ns,src,dst,bytes,coflow\n0,0,1,3000,0\n0,2,1,3000,0\n"
        file.with_name("flows.csv").write_text(rows, encoding="utf-8")
        results = priolane.run(file, Path(folder) / "out", jobs=1)
        (run,) = results.runs
        columns = {}
        for name in _TABLES:
            schema = pq.read_schema(Path(folder) / "out" / run.id / f"{name}.parquet")
            columns[name] = [
                (code(field.name), str(field.type), *(_metadata(field.metadata, key) for key in ("unit", "meaning")))
                for field in schema
            ]
    return columns


def _metadata(metadata: Mapping[bytes, bytes] | None, key: str) -> str:
    text = (metadata or {}).get(key.encode(), b"").decode()
    return plain("–" if text in ("", "1") and key == "unit" else text)


class _Formatter(argparse.HelpFormatter):
    """Help of a width that does not depend on the terminal."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=110)


def commands() -> str:
    """The page of commands, from the parser."""
    top = cli.parser(cli.COMMANDS)
    rows = ((f"[`{name}`](#{name})", plain(about)) for name, about in cli.COMMANDS.items())
    lines = [table(("command", "what it does"), rows)]
    for name, parser in _below(top, ""):
        parser.formatter_class = _Formatter
        mark = "##" if " " not in name else "###"
        lines += [
            f"{mark} {name} {{ #{name.replace(' ', '-')} }}\n",
            f"```text\n{parser.format_help().rstrip()}\n```\n",
        ]
    return "\n".join(lines)


def _below(parser: argparse.ArgumentParser, called: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                words = f"{called} {name}".strip()
                yield words, command
                yield from _below(command, words)


_PAIRS = (
    ("transport", "port"),
    ("transport", "assign"),
    ("transport", "host"),
    ("transport", "nic"),
    ("transport", "admit"),
    ("transport", "pricing"),
    ("host", "nic"),
    ("nic", "port"),
    ("assign", "port"),
    ("admit", "port"),
)


def pairs() -> str:
    """The page of the matrix."""
    return "\n".join(_matrix(matrix(row, column)) for row, column in _PAIRS)


def _matrix(matrix: Matrix) -> str:
    row, column = matrix.row, matrix.column
    name = f"{row}-{column}"
    reasons = list(matrix.reasons())
    beside = list(dict.fromkeys(_beside(cell.beside) for cell in matrix.cells if cell.beside))
    letters = {text: chr(ord("a") + nth) for nth, text in enumerate(beside)}

    def mark(first: str, second: str) -> str:
        cell = matrix.cell(first, second)
        if not cell.fits:
            number = reasons.index(cell.reason) + 1
            return f'<a class="no" href="#{name}-{number}">{number}</a>'
        letter = letters.get(_beside(cell.beside), "")
        return f'<span class="yes">✓{f"<sup>{letter}</sup>" if letter else ""}</span>'

    def line(first: str) -> str:
        cells = "".join(f"<td>{mark(first, second)}</td>" for second in matrix.seconds)
        return f"<tr><th>{_to(row, first)}</th>{cells}</tr>"

    head = "".join(f"<th>{_to(column, second)}</th>" for second in matrix.seconds)
    body = "\n".join(line(first) for first in matrix.firsts)
    lines = [
        f"## {row} with {column}\n",
        '<div class="md-typeset__scrollwrap"><div class="md-typeset__table">',
        f'<table class="matrix"><thead><tr><th></th>{head}</tr></thead>',
        f"<tbody>\n{body}\n</tbody></table></div></div>\n",
    ]
    lines += [f"- **{letter}**: with {text}" for text, letter in letters.items()]
    lines += [f'- <a id="{name}-{nth}"></a>**{nth}**: {plain(reason)}' for nth, reason in enumerate(reasons, 1)]
    return "\n".join([*lines, ""])


def _beside(rows: Mapping[str, str]) -> str:
    return ", ".join(f"`{row} = {part}`" for row, part in sorted(rows.items()))


def _to(row: str, part: str) -> str:
    """The name of a part as a link to its keys."""
    if row == "pricing":
        return f"<code>{part}</code>"
    return f'<a href="reference/{row}.html#{part.replace("_", "-")}"><code>{part}</code></a>'


def faults() -> str:
    """The page of planted faults, from the list that `make soak` plants."""
    listed = tomllib.loads((ROOT / "tools" / "planted_faults.toml").read_text(encoding="utf-8"))["fault"]
    rows = [(plain(fault["name"]), code(_short(fault["file"])), code(fault["test"].split(" ")[-1])) for fault in listed]
    return table(("fault", "file", "test that catches it"), rows)


def _short(file: str) -> str:
    return file.removeprefix("crates/priolane-").replace("/src/", "/")
