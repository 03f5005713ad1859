"""Small pictures of figures, and which run each shows."""

import json
import sys
from pathlib import Path

import pytest
from PIL import Image

import factories
from priolane.cli import main
from priolane.study.record import read_record

sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "study"))
import gallery


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A directory with the results of one figure, drawn."""
    factories.make_results(tmp_path / "runs" / "nos2-fig6")
    assert main(["report", str(tmp_path / "runs" / "nos2-fig6"), "--png"]) == 0
    return tmp_path / "runs"


def test_a_picture_is_made_of_results_and_says_of_which_run(results: Path, tmp_path: Path) -> None:
    to = tmp_path / "study"
    assert gallery.make(results, to) == ["nos2/fig6"]
    picture = to / "papers" / "nos2" / "fig6" / "picture.png"
    assert picture.stat().st_size <= gallery.MOST_BYTES
    with Image.open(picture) as opened:
        assert opened.width >= 480
    digest = json.loads((results / "nos2-fig6" / "report.json").read_text(encoding="utf-8"))["digest"]
    assert gallery.run_shown(picture) == {"digest": digest, "size": "quick", "seeds": 2}
    assert gallery.pictures(to) == {"nos2/fig6": picture}


def test_a_figure_without_results_keeps_its_picture(results: Path, tmp_path: Path) -> None:
    to = tmp_path / "study"
    gallery.make(results, to)
    other = to / "papers" / "nos2" / "fig7" / "picture.png"
    other.parent.mkdir()
    other.write_bytes(b"kept")
    gallery.make(results, to)
    assert other.read_bytes() == b"kept"
    assert list(gallery.pictures(to)) == ["nos2/fig6", "nos2/fig7"]


def test_a_picture_of_many_colours_is_made_narrower_until_it_is_small(tmp_path: Path) -> None:
    noise = tmp_path / "noise.png"
    Image.effect_noise((1200, 200), 90).convert("RGB").save(noise)
    make_thumbnail = gallery.make_thumbnail(noise, {})
    assert len(make_thumbnail) <= gallery.MOST_BYTES
    Image.effect_noise((2400, 14_400), 90).convert("RGB").save(noise)
    with pytest.raises(ValueError, match=f"above {gallery.MOST_BYTES} bytes"):
        gallery.make_thumbnail(noise, {})


def test_kept_pictures_are_small_and_are_of_figures_that_are_recorded() -> None:
    kept = gallery.pictures()
    assert len(kept) > 70
    assert {figure: path for figure, path in kept.items() if path.stat().st_size > gallery.MOST_BYTES} == {}
    for figure, path in kept.items():
        assert set(gallery.run_shown(path)) == {"digest", "size", "seeds"}
        assert read_record(figure) is not None, figure
