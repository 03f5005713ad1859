"""A page for each shipped scheme, and the table of all."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markdown_text import code, plain, sentence, source, table

from priolane import _core
from priolane.model import requirements
from priolane.model.keys import Part, parts
from priolane.model.toml import inline

ROOT = Path(__file__).parent.parent.parent
_ROWS = ("transport", "assign", "admit", "host", "nic", "port", "map", "pay")
# The rows that a file may leave out, as all schemes read them then.
_LEFT_OUT = {"assign": "none", "admit": "none"}


@dataclass(frozen=True)
class Scheme:
    """A shipped scheme: its file as read, the text as it stands, and what its comment says."""

    name: str
    paper: str
    text: str
    table: Mapping[str, Any]

    @property
    def about(self) -> str:
        """The comment at the top of the file."""
        lines: list[str] = []
        for line in self.text.splitlines():
            if not line.startswith("#"):
                break
            lines.append(line.removeprefix("#").strip())
        return " ".join(lines)

    def part(self, row: str) -> Part | None:
        """The part of a row."""
        name = part_name(self.table.get(row, _LEFT_OUT.get(row)))
        return next((part for part in parts() if (part.row, part.name) == (row, name)), None)

    @property
    def parts(self) -> list[Part]:
        """The parts of all rows."""
        return [part for row in _ROWS[:6] if (part := self.part(row)) is not None]


def part_name(written: Any) -> str:
    """The name of the part that a row is."""
    if isinstance(written, Mapping):
        return str(written.get("kind") or written.get("queue") or next(iter(written)))
    return str(written)


@cache
def schemes() -> tuple[Scheme, ...]:
    """All shipped schemes, in the order of `priolane list schemes`."""
    presets = []
    for entry in json.loads(_core.catalogue())["schemes"]:
        text = (ROOT / "schemes" / f"{entry['name']}.toml").read_text(encoding="utf-8")
        paper = "" if entry["paper"] == "-" else entry["paper"]
        presets.append(Scheme(entry["name"], paper, text, tomllib.loads(text)))
    return tuple(presets)


def index() -> str:
    """The table of all schemes."""
    rows = [
        (
            f"[`{scheme.name}`](schemes/{scheme.name}.md)",
            plain(scheme.paper) or "–",
            str(requirements.queues(scheme.table)),
            "; ".join(requirements.switches(scheme.table)),
            requirements.sizes(scheme.table),
        )
        for scheme in schemes()
    ]
    return table(("scheme", "paper", "queues", "what switch ports must do", "sizes known"), rows)


def pages() -> Iterator[tuple[str, str]]:
    """A page for each scheme, with its path."""
    for scheme in schemes():
        yield f"reference/schemes/{scheme.name}.md", _page(scheme)


def _page(scheme: Scheme) -> str:
    rows = [(_linked(scheme, row), code(inline(scheme.table[row]))) for row in _ROWS if row in scheme.table]
    facts = [
        ("Paper", plain(scheme.paper) or "–"),
        ("Switch ports must", "; ".join(requirements.switches(scheme.table))),
        ("Hosts need", "; ".join(requirements.hosts(scheme.table, scheme.parts))),
        ("Queues of a port", str(requirements.queues(scheme.table))),
        ("Sizes must be known", requirements.sizes(scheme.table)),
        ("Deadlines must be known", requirements.deadlines(scheme.table)),
    ]
    lines = [f"# {scheme.name}\n", sentence(plain(scheme.about)) + "\n" if scheme.about else ""]
    lines.append(table(("property", "value"), facts))
    lines += ["## Rows\n", table(("row", "in the file"), rows)]
    lines += ["## What the parts are\n", *(_part(part) for part in scheme.parts), ""]
    lines += ["## Assumptions\n", _assumptions(scheme.table.get("assumptions", []))]
    lines += ["## The file\n", f"```toml\n{scheme.text.rstrip()}\n```\n"]
    return "\n".join(lines)


def _linked(scheme: Scheme, row: str) -> str:
    part = scheme.part(row)
    return f"[`{row}`](../{row}.md#{part.name.replace('_', '-')})" if part is not None else code(row)


def _part(part: Part) -> str:
    link = f"[`{part.row} = {part.name}`](../{part.row}.md#{part.name.replace('_', '-')})"
    return f"- {link}: {sentence(plain(part.summary))} ({source(part.source, '../../')})"


_ENTRY = re.compile(r'^- <a id="([^"]+)"></a>\[(.+?)\]\(', re.MULTILINE)


@cache
def assumption_titles() -> Mapping[str, str]:
    """The title of each assumption by its anchor, in the order of docs/assumptions.md."""
    return dict(_ENTRY.findall((ROOT / "docs" / "assumptions.md").read_text(encoding="utf-8")))


def _assumptions(anchors: Sequence[str]) -> str:
    if not anchors:
        return "The file names none.\n"
    titles = assumption_titles()
    return "".join(f"- [{anchor}](../../assumptions.md#{anchor}): {titles[anchor]}\n" for anchor in anchors)
