"""Labels pushed apart, against the best of all ways to push them, and texts in the room that there is."""

import itertools
import random

import pytest

from priolane.figure.layout import shortened, spread, width_of, wrapped


def best_by_search(places: list[float], ends: tuple[int, int], gap: int) -> float:
    """The least sum of squared moves over whole pixels, in order and so far apart."""
    ordered = sorted(places)
    grid = range(ends[0], ends[1] + 1)
    ways = (
        way
        for way in itertools.combinations(grid, len(places))
        if all(after - before >= gap for before, after in itertools.pairwise(way))
    )
    return min(sum((a - b) ** 2 for a, b in zip(way, ordered, strict=True)) for way in ways)


def test_labels_are_as_near_to_their_places_as_gaps_allow() -> None:
    draw = random.Random(3)  # noqa: S311 - no secret
    for _ in range(60):
        places = [float(draw.randrange(0, 25)) for _ in range(draw.randrange(1, 5))]
        result = spread(places, 0, 24, gap=5)
        moved = sum((a - b) ** 2 for a, b in zip(result, places, strict=True))
        # Places between pixels are at most as far as the best whole ones.
        assert moved <= best_by_search(places, (0, 24), 5) + 1e-9
        assert all(0 <= at <= 24 for at in result)
        ordered = sorted(result)
        assert all(after - before >= 5 - 1e-9 for before, after in itertools.pairwise(ordered))
        by_place = [result[nth] for nth in sorted(range(len(places)), key=places.__getitem__)]
        assert by_place == sorted(by_place)


def test_labels_by_hand() -> None:
    assert spread([50, 50], 0, 100, gap=14) == [43, 57]
    assert spread([99, 10, 98], 0, 100, gap=14) == [100, 10, 86]
    assert spread([], 0, 10) == []
    # More labels than there is room for keep their distance and leave the frame below.
    assert spread([1, 1, 1], 0, 10, gap=14) == [0, 14, 28]


@pytest.mark.parametrize("text", ["deadline_miss_rate", "W" * 40, "il" * 40, "Ж" * 20, "漢字" * 10, ""])
def test_a_cut_text_fits_its_room(text: str) -> None:
    for room in (10.0, 40.0, 90.0):
        cut = shortened(text, room, 12)
        assert cut == text or (cut.endswith("…") and width_of(cut, 12) <= max(room, width_of("…", 12)))


def test_names_break_at_spaces_and_behind_joints_and_nowhere_else() -> None:
    assert wrapped("one two", width_of("one two", 12), 12) == ["one two"]
    assert wrapped("one two", width_of("one tw", 12), 12) == ["one", "two"]
    assert wrapped("miss_rate", width_of("miss_", 12), 12) == ["miss_", "rate"]
    assert wrapped("mmmm", width_of("mm", 12), 12) is None
