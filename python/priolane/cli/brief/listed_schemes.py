"""The text of `priolane list schemes`: whose a scheme is, its queues, what it must know, and what switches must do."""

import json
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from priolane import _core
from priolane.cli.brief.screen import Screen
from priolane.model import requirements
from priolane.model.shipped_schemes import first_sentence, text_of

_LEAST_ROOM = 36
_HEAD = ("scheme", "queues", "sizes known", "switch ports must ...; paper")


@dataclass(frozen=True)
class ListedScheme:
    """A shipped scheme in words. `paper` is who it is from, or what its file says it is where it is of no paper."""

    name: str
    paper: str
    queues: int
    sizes: str
    switches: str


def listed_schemes() -> Iterator[ListedScheme]:
    """All shipped schemes, in the order of the catalogue."""
    for entry in json.loads(_core.catalogue())["schemes"]:
        text = text_of(entry["name"])
        table = tomllib.loads(text)
        yield ListedScheme(
            name=entry["name"],
            paper=entry["paper"] if entry["paper"] != "-" else first_sentence(text),
            queues=requirements.queues(table),
            sizes=requirements.sizes(table),
            switches="; ".join(requirements.switches(table)),
        )


def scheme_lines(screen: Screen) -> list[str]:
    """A line or more for each scheme: what switch ports must do, then whose it is."""
    schemes = list(listed_schemes())
    rows = [(scheme.name, str(scheme.queues), scheme.sizes) for scheme in schemes]
    widths = [max(len(row[nth]) for row in (_HEAD, *rows)) for nth in range(3)]
    lines = _row(screen, _HEAD[:3], widths, _HEAD[3])
    for row, scheme in zip(rows, schemes, strict=True):
        lines += _row(screen, row, widths, f"{scheme.switches}\n{scheme.paper}")
    return lines


def _row(screen: Screen, cells: tuple[str, ...], widths: list[int], texts: str) -> list[str]:
    """The cells, and beside them, or below them where there is no room, the texts, each on lines of its own."""
    before = "".join(f"{cell.ljust(width)}  " for cell, width in zip(cells, widths, strict=True))
    is_beside = screen.columns - len(before) >= _LEAST_ROOM
    indent = " " * (len(before) if is_beside else 4)
    room = screen.columns - len(indent)
    wrapped = [indent + line for text in texts.splitlines() for line in textwrap.wrap(screen.text(text), room)]
    return [before + wrapped[0].strip(), *wrapped[1:]] if is_beside else [screen.cut(before.rstrip()), *wrapped]
