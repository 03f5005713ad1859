"""The figures and tables of the papers and our own, and which of them have an experiment here."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from priolane._core import InputError

_HERE = Path(__file__).parent
STUDY = _HERE / "study" / "files"
"""The study: a folder for each figure, and what papers have in common. In the repository it is study/."""
EXPERIMENT = "figure.toml"
"""The name of the experiment file in the folder of a figure."""
OURS = "ours"
"""The word that stands in a paper's place for figures of no paper."""
ALL = "all"
"""The word that stands for all figures of a paper, or of all papers."""


@dataclass(frozen=True)
class PaperFigure:
    """A figure or table of a paper, or of ours. `experiment` is its experiment file, `None` where there is none yet.

    `conclusion` is what the recorded verdicts come to, in a sentence; most figures have none.
    """

    paper: str
    id: str
    name: str
    about: str
    shows: str
    experiment: Path | None
    conclusion: str = ""

    @property
    def key(self) -> str:
        """The name of the figure on the command line: `nos2/fig6`."""
        return f"{self.paper}/{self.id}"

    @property
    def state(self) -> str:
        """`experiment` if there is a file to run, whatever becomes of its claims; `no experiment yet`, or `nothing to
        measure`."""
        if self.experiment is not None:
            return "experiment"
        return "no experiment yet" if self.shows == "results" else "nothing to measure"


def figures() -> Iterator[PaperFigure]:
    """Every figure and table of the catalogue, paper by paper."""
    for paper, entry in _catalogue().items():
        for item in entry["items"]:
            path = folder(STUDY, f"{paper}/{item['id']}") / EXPERIMENT
            yield PaperFigure(paper=paper, **item, experiment=path if path.is_file() else None)


def names() -> dict[str, str]:
    """The common names of the papers: `NOS2` for `nos2`."""
    return {paper: str(entry["name"]) for paper, entry in _catalogue().items()}


def _catalogue() -> dict[str, Any]:
    return tomllib.loads((_HERE / "papers.toml").read_text(encoding="utf-8"))


def folder(study: Path, figure: str) -> Path:
    """The folder of a figure such as `nos2/fig6` in a study: papers/nos2/fig6, and ours/league for one of ours."""
    paper, _, name = figure.partition("/")
    return study / OURS / name if paper == OURS else study / "papers" / paper / name


def is_group(name: str) -> bool:
    """Whether a name means all figures of a paper, or of all papers, however many these are."""
    return "/" not in name or name.endswith(f"/{ALL}")


def find(name: str) -> list[PaperFigure]:
    """The items that have an experiment, of those that `PAPER/FIG`, `PAPER` or `PAPER/all`, or `all` names.

    Raises `InputError` where there is nothing to run.
    """
    everything = list(figures())
    paper, _, figure = name.partition("/")
    of_paper = everything if name == ALL else [item for item in everything if item.paper == paper]
    if not of_paper or name.endswith("/"):
        known = ", ".join(names())
        raise InputError(
            f"`{name}` is not PAPER/FIG, PAPER or all; papers are {known} (see `priolane reproduce --list`)"
        )
    chosen = of_paper if is_group(name) else [item for item in of_paper if item.id == figure]
    if not chosen:
        known = ", ".join(item.id for item in of_paper)
        raise InputError(f"`{name}`: {paper} has no {figure}; it has {known}")
    ready = [item for item in chosen if item.experiment is not None]
    if not ready:
        raise InputError(
            f"`{name}` cannot be reproduced: {chosen[0].state}; `priolane reproduce --list` shows what can"
        )
    return ready
