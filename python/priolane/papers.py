"""The figures and tables of the papers and our own, and which of them have an experiment here."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from priolane._core import InputError

_HERE = Path(__file__).parent
_EXPERIMENTS = _HERE / "experiments"
# Figures of no paper.
_OURS = "ours"


@dataclass(frozen=True)
class Item:
    """A figure or table of a paper, or of ours. `experiment` is its experiment file, `None` where there is none yet."""

    paper: str
    id: str
    name: str
    about: str
    shows: str
    experiment: Path | None

    @property
    def key(self) -> str:
        """How it is called on the command line: `nos2/fig6`."""
        return f"{self.paper}/{self.id}"

    @property
    def state(self) -> str:
        """`experiment` if there is a file to run, whatever becomes of its claims; `no experiment yet`, or `nothing to
        measure`."""
        if self.experiment is not None:
            return "experiment"
        return "no experiment yet" if self.shows == "results" else "nothing to measure"


def items() -> Iterator[Item]:
    """Every figure and table of the catalogue, paper by paper."""
    papers = tomllib.loads((_HERE / "papers.toml").read_text(encoding="utf-8"))
    for paper, entry in papers.items():
        for item in entry["items"]:
            path = _folder(paper) / f"{item['id']}.toml"
            yield Item(paper=paper, **item, experiment=path if path.is_file() else None)


def _folder(paper: str) -> Path:
    return _EXPERIMENTS / _OURS if paper == _OURS else _EXPERIMENTS / "papers" / paper


def find(name: str) -> list[Item]:
    """The items that `PAPER/FIG` or `PAPER/all` names; raises `InputError` where there is nothing to run."""
    everything = list(items())
    paper, _, figure = name.partition("/")
    of_paper = [item for item in everything if item.paper == paper]
    if not of_paper or not figure:
        known = ", ".join(sorted({item.paper for item in everything}))
        raise InputError(
            f"`{name}` is not PAPER/FIG or PAPER/all; papers are {known} (see `priolane reproduce --list`)"
        )
    chosen = of_paper if figure == "all" else [item for item in of_paper if item.id == figure]
    if not chosen:
        known = ", ".join(item.id for item in of_paper)
        raise InputError(f"`{name}`: {paper} has no {figure}; it has {known}")
    ready = [item for item in chosen if item.experiment is not None]
    if not ready:
        raise InputError(
            f"`{name}` cannot be reproduced: {chosen[0].state}; `priolane reproduce --list` shows what can"
        )
    return ready
