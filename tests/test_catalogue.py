"""The catalogue of the study, which is its folders."""

from pathlib import Path

import pytest

from priolane import InputError
from priolane.model import folders
from priolane.study import catalogue

PAPER = 'place = 1\nname = "P"\ntitle = "A paper"\nvenue = ""\norder = ["fig2", "fig1"]\n'
DRAWING = '\n[drawing.fig1]\nname = "Fig. 1"\nabout = "Architecture"\n'
ABOUT = 'name = "Fig. 2"\nabout = "Rates"\n'


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "papers" / "p").mkdir(parents=True)
    (tmp_path / "papers" / "p" / "paper.toml").write_text(PAPER + DRAWING)
    add(tmp_path, "p/fig2")
    return tmp_path


def add(study: Path, key: str, about: str = ABOUT) -> Path:
    folder = folders.folder(study, key)
    folder.mkdir(parents=True)
    (folder / "about.toml").write_text(about)
    (folder / "figure.toml").touch()
    return folder


def test_a_figure_is_a_folder_and_nothing_else(study: Path) -> None:
    assert [item.key for item in catalogue.figures(study)] == ["p/fig2", "p/fig1"]
    for name in ("fig9", "fig3"):
        add(study, f"p/{name}")
    results = list(catalogue.figures(study))
    # Those that the order does not name come last.
    assert [item.key for item in results] == ["p/fig2", "p/fig1", "p/fig3", "p/fig9"]
    assert results[0].experiment == study / "papers" / "p" / "fig2" / "figure.toml"
    assert (results[1].experiment, results[1].state) == (None, "nothing to measure")
    assert (results[0].name, results[0].about, results[0].conclusion) == ("Fig. 2", "Rates", "")


def test_papers_have_the_order_of_their_places_and_figures_of_ours_are_a_folder_too(study: Path) -> None:
    (study / "ours").mkdir()
    (study / "ours" / "paper.toml").write_text('place = 0\nname = "ours"\ntitle = ""\nvenue = ""\norder = []\n')
    add(study, "ours/league")
    assert [item.key for item in catalogue.figures(study)] == ["ours/league", "p/fig2", "p/fig1"]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("paper.toml", PAPER, "paper.toml: order: no folder and no .drawing.ID. has the name fig1"),
        ("paper.toml", PAPER.replace("venue", "where"), "paper.toml: no key 'venue'; a paper has name"),
        ("paper.toml", "name =", "paper.toml: "),
        ("fig2/about.toml", 'name = "Fig. 2"', "about.toml: no key 'about'; a figure has name and about"),
        ("fig2/about.toml", None, "about.toml: .*No such file"),
    ],
)
def test_a_folder_that_says_too_little_is_refused(study: Path, file: str, text: str | None, message: str) -> None:
    path = study / "papers" / "p" / file
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    with pytest.raises(InputError, match=message):
        list(catalogue.figures(study))


def test_shipped_figures_are_all_in_the_order_of_their_papers() -> None:
    for paper in catalogue.papers():
        figures = [item.id for item in catalogue.figures() if item.paper == paper.id]
        assert tuple(figures) == paper.order
