"""Verdicts with each half of the seeds of a figure."""

import sys
from pathlib import Path

from priolane.cli import main

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import held_out
from held_out import Judged


def test_halves_of_the_seeds_are_judged_alone(tmp_path: Path) -> None:
    assert main(["reproduce", "nos2/fig1", "--seeds", "8", "-o", str(tmp_path / "nos2-fig1")]) == 0
    [fig1] = held_out.halves(tmp_path)
    assert (fig1.figure, fig1.seeds) == ("nos2/fig1", 8)
    # Three flows on one link: no seed changes anything, so both halves decide all claims alike.
    assert fig1.first == fig1.second
    assert fig1.decided_twice() == len(fig1.first) > 0
    assert fig1.flips() == 0


def test_a_flip_is_a_claim_that_one_half_reproduces_and_the_other_contradicts() -> None:
    first = ("reproduced", "contradicted", "reproduced", "undecided", "contradicted")
    second = ("contradicted", "reproduced", "undecided", "contradicted", "contradicted")
    judged = Judged("nos2/fig6", 8, first, second)
    assert judged.flips() == 2
    assert judged.decided_twice() == 3
    assert Judged("nos2/fig6", 8, ("incomplete",), ("incomplete",)).decided_twice() == 0
    text = held_out.page([judged])
    assert "| nos2/fig6 | 8 | 5 | 3 | 2 | 2 |" in text.splitlines()
    assert "Both halves decide 3 claims, of which 2 flip." in text


def test_figures_with_few_seeds_are_left_out(tmp_path: Path) -> None:
    assert main(["reproduce", "nos2/fig1", "--seeds", "7", "-o", str(tmp_path / "nos2-fig1")]) == 0
    assert list(held_out.halves(tmp_path)) == []
