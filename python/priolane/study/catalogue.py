"""The catalogue of the study: figures and tables of the papers, and figures of ours. Their folders are the catalogue.

    study/papers/PAPER/paper.toml    `name`, `title`, `venue`, `place` among the papers, `order` of its figures,
                                     in `[drawing.ID]` the figures in which there is nothing to measure, and in
                                     `[[headline]]` what the paper is about: `says`, and the `claim` of a `figure` that
                                     asks it
    study/papers/PAPER/ID/           a figure: about.toml, figure.toml (the experiment), and what belongs to it
    study/ours/                      the same for figures of no paper

about.toml has `name`, `about`, and for some `conclusion`: what the recorded verdicts come to, in a sentence, and
`newer`: what the present version of results gives, in a clause, where the record belongs to an older one. Figures
that `order` does not name come last. `[names]` of a paper or a figure says in words what its schemes and classes of
flows are; those of a figure go before those of its paper.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from priolane._core import InputError
from priolane.model.folders import EXPERIMENT, OURS, STUDY

_ABOUT, _PAPER = "about.toml", "paper.toml"
ALL = "all"
"""The word that stands for all figures of a paper, or of all papers."""


@dataclass(frozen=True)
class Paper:
    """A paper, or our own figures under `ours`. `venue` is empty if it is not known.

    A headline has `says`, a sentence, and the `figure` and the `claim`, its text, that asks it.
    """

    id: str
    name: str
    title: str
    venue: str
    place: int
    order: tuple[str, ...]
    drawings: Mapping[str, Mapping[str, str]]
    headlines: tuple[Mapping[str, str], ...]
    names: Mapping[str, str]
    folder: Path


@dataclass(frozen=True)
class PaperFigure:
    """A figure or table of a paper, or of ours. `experiment` is its file, `None` where there is nothing to measure.

    `conclusion` is what the recorded verdicts come to, in a sentence, and `newer` what the present version of results
    gives instead of an older record, in a clause; most figures have neither. `names` are words for
    schemes and classes of flows.
    """

    paper: str
    id: str
    name: str
    about: str
    experiment: Path | None
    conclusion: str = ""
    newer: str = ""
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The name of the figure on the command line: `nos2/fig6`."""
        return f"{self.paper}/{self.id}"

    @property
    def stated(self) -> Mapping[str, Any]:
        """The content of its experiment; empty where there is nothing to measure."""
        return {} if self.experiment is None else tomllib.loads(self.experiment.read_text(encoding="utf-8"))

    @property
    def state(self) -> str:
        """`experiment` if there is a file to run, whatever becomes of its claims; else `nothing to measure`."""
        return "nothing to measure" if self.experiment is None else "experiment"


@cache
def papers(study: Path = STUDY) -> tuple[Paper, ...]:
    """The papers of a study in their order; figures of ours are last. Raises `InputError` for a damaged paper.toml."""
    files = [*(study / "papers").glob(f"*/{_PAPER}"), *study.glob(f"{OURS}/{_PAPER}")]
    return tuple(sorted(map(_paper, files), key=lambda paper: paper.place))


def figures(study: Path = STUDY) -> Iterator[PaperFigure]:
    """Every figure and table of a study, paper by paper. Raises `InputError` for a folder that is not of a figure."""
    for paper in papers(study):
        names = {path.parent.name for path in paper.folder.glob(f"*/{EXPERIMENT}")} | set(paper.drawings)
        unknown = [name for name in paper.order if name not in names]
        if unknown:
            raise InputError(
                f"{paper.folder / _PAPER}: order: no folder and no [drawing.ID] has the name {', '.join(unknown)}"
            )
        for name in [*paper.order, *sorted(names - set(paper.order))]:
            yield _figure(paper, name)


def names() -> dict[str, str]:
    """The common names of the papers: `NOS2` for `nos2`."""
    return {paper.id: paper.name for paper in papers()}


def _paper(file: Path) -> Paper:
    table = _read(file)
    try:
        return Paper(
            id=file.parent.name,
            name=table["name"],
            title=table["title"],
            venue=table["venue"],
            place=table["place"],
            order=tuple(table["order"]),
            drawings=table.get("drawing", {}),
            headlines=tuple(table.get("headline", ())),
            names=table.get("names", {}),
            folder=file.parent,
        )
    except KeyError as error:
        raise InputError(f"{file}: no key {error}; a paper has name, title, venue, place, and order") from error


def _figure(paper: Paper, name: str) -> PaperFigure:
    file = paper.folder / name / _ABOUT
    drawn = paper.drawings.get(name)
    table = _read(file) if drawn is None else drawn
    try:
        return PaperFigure(
            paper=paper.id,
            id=name,
            name=table["name"],
            about=table["about"],
            experiment=file.with_name(EXPERIMENT) if drawn is None else None,
            conclusion=table.get("conclusion", ""),
            newer=table.get("newer", ""),
            names=_names(paper, table),
        )
    except KeyError as error:
        raise InputError(f"{file}: no key {error}; a figure has name and about") from error


def _names(paper: Paper, table: Mapping[str, Any]) -> Mapping[str, str]:
    """The words for names in a figure: those of its paper, and its own in their place."""
    own: Mapping[str, str] = table.get("names", {})
    return {**paper.names, **own}


def _read(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: {error}") from error


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
    matching = of_paper if is_group(name) else [item for item in of_paper if item.id == figure]
    if not matching:
        known = ", ".join(item.id for item in of_paper)
        raise InputError(f"`{name}`: {paper} has no {figure}; it has {known}")
    ready = [item for item in matching if item.experiment is not None]
    if not ready:
        raise InputError(
            f"`{name}` cannot be reproduced: {matching[0].state}; `priolane reproduce --list` shows what can"
        )
    return ready
