"""Small pictures of figures, and which run each shows."""

import io
import json
import sys
from pathlib import Path

import pytest
from PIL import Image

import factories
from priolane.cli import main
from priolane.study.record import read_record

sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "site_pages"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "study"))
import phone_pictures

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
    picture = to / "papers" / "nos2" / "fig6" / "picture.webp"
    assert picture.stat().st_size <= gallery.MOST_BYTES
    with Image.open(picture) as opened:
        assert opened.width >= 480
    digest = json.loads((results / "nos2-fig6" / "report.json").read_text(encoding="utf-8"))["digest"]
    assert gallery.run_shown(picture) == {"digest": digest, "size": "quick", "seeds": 2}
    assert gallery.pictures(to) == {"nos2/fig6": picture}


def test_a_figure_without_results_keeps_its_picture(results: Path, tmp_path: Path) -> None:
    to = tmp_path / "study"
    gallery.make(results, to)
    other = to / "papers" / "nos2" / "fig7" / "picture.webp"
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
    Image.effect_noise((480, 4_800), 90).convert("RGB").save(noise)
    with pytest.raises(ValueError, match=f"above {gallery.MOST_BYTES} bytes"):
        gallery.make_thumbnail(noise, {})


def test_a_picture_keeps_every_pixel_and_its_run() -> None:
    few = Image.effect_noise((64, 48), 90).convert("RGB").quantize(32)
    with Image.open(io.BytesIO(gallery.encoded(few, {"seeds": 2}))) as opened:
        assert opened.convert("RGB").tobytes() == few.convert("RGB").tobytes()
        assert json.loads(opened.getexif()[0x010E]) == {"seeds": 2}


def test_kept_pictures_are_small_and_are_of_figures_that_are_recorded() -> None:
    kept = gallery.pictures()
    assert len(kept) > 70
    assert {figure: path for figure, path in kept.items() if path.stat().st_size > gallery.MOST_BYTES} == {}
    for figure, path in kept.items():
        assert set(gallery.run_shown(path)) == {"digest", "size", "seeds"}
        assert read_record(figure) is not None, figure


def drawn(path: Path, *boxes: tuple[int, int, int, int]) -> Path:
    """A white picture of 960 x 400 with black boxes."""
    picture = Image.new("RGB", (960, 400), "white")
    for box in boxes:
        picture.paste("black", box)
    picture.save(path)
    return path


def test_a_phone_gets_the_right_column_of_panels_below_the_left_one(tmp_path: Path) -> None:
    # The gap is from 440 to 519, so that the cut is at 479. The left column ends at 300 and has 12 px of ground below.
    two = drawn(tmp_path / "two.png", (20, 10, 440, 300), (520, 10, 900, 200))
    content = phone_pictures.stacked(two)
    assert content is not None
    with Image.open(io.BytesIO(content)) as opened:
        stack = opened.convert("L")
    assert stack.size == (481, 312 + 212)
    assert stack.getpixel((100, 100)) == 0
    # The right panel begins 520 - 479 px from the left, and 10 px below the left column.
    assert [stack.getpixel((x, y)) for x, y in ((40, 330), (41, 330), (41, 321), (41, 322))] == [255, 0, 255, 0]


def test_a_picture_with_a_panel_across_its_middle_stays_in_one_piece(tmp_path: Path) -> None:
    across = drawn(tmp_path / "across.png", (20, 10, 440, 150), (520, 10, 900, 150), (20, 200, 900, 390))
    assert phone_pictures.stacked(across) is None
    assert phone_pictures.stacked(drawn(tmp_path / "left.png", (20, 10, 440, 300))) is None
    assert phone_pictures.is_wide(across)
