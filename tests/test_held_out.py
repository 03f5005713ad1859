"""Verdicts with each half of the seeds of a figure."""

import sys
from pathlib import Path

from priolane.cli import main
from priolane.study.record import Record

sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "study"))
import held_out
from held_out import Judged, Row


def test_halves_of_the_seeds_are_judged_alone(tmp_path: Path) -> None:
    assert main(["reproduce", "nos2/fig1", "--seeds", "8", "-o", str(tmp_path / "nos2-fig1")]) == 0
    [fig1] = held_out.halves(tmp_path)
    assert (fig1.figure, fig1.seeds) == ("nos2/fig1", 8)
    row = fig1.row()
    # Three flows on one link: seeds draw only times of departure, so both halves decide most claims.
    assert row.claims == len(fig1.first) > row.claims - row.twice - row.once
    assert row.twice >= row.claims - 2
    assert row.flips == 0


def test_a_flip_is_a_claim_that_one_half_reproduces_and_the_other_contradicts() -> None:
    first = ("reproduced", "contradicted", "reproduced", "undecided", "contradicted")
    second = ("contradicted", "reproduced", "undecided", "contradicted", "contradicted")
    row = Judged("nos2/fig6", 8, 5, first, second).row()
    assert (row.claims, row.twice, row.once, row.flips) == (5, 3, 2, 2)
    assert Judged("nos2/fig6", 8, 5, ("incomplete",), ("incomplete",)).row().twice == 0
    assert held_out.summary([row]) == "1 figures are judged twice. Both halves decide 3 claims, and 2 of these flip."


def test_rows_of_other_figures_are_kept() -> None:
    kept = [Row("nos2/fig1", 3, 8, 9, 9, 0, 0), Row("nos2/fig6", 3, 8, 17, 3, 8, 1), Row("nos2/gone", 3, 8, 1, 1, 0, 0)]
    read = held_out.rows(held_out.written(kept))
    assert list(read.values()) == kept
    judged = Judged("nos2/fig6", 16, 5, ("reproduced",), ("undecided",))
    # In the order of the figures, without the one that is no more.
    assert held_out.merged(read, [judged]) == [kept[0], Row("nos2/fig6", 5, 16, 1, 0, 1, 0)]


def test_records_without_a_row_or_with_one_of_other_runs_are_named() -> None:
    def record(figure: str, results: int, seeds: int) -> Record:
        return Record(figure, "", "", results, ({"seeds": list(range(seeds))},))

    listed = [Row("nos2/fig6", 5, 16, 18, 15, 0, 0), Row("nos2/tail", 3, 8, 6, 5, 0, 0)]
    recorded = [record("nos2/fig1", 3, 2), record("nos2/fig6", 5, 16), record("nos2/tail", 5, 8)]
    text = held_out.gaps(listed, [*recorded, record("nos2/hetero", 4, 8)])
    assert "Recorded with 8 seeds or more, and not judged so: nos2/hetero.\n" in text
    assert "Judged with other runs than those of the record: nos2/tail.\n" in text
    assert held_out.gaps(listed, recorded[:2]) == ""


def test_the_page_of_evidence_says_what_the_kept_rows_do() -> None:
    listed = list(held_out.rows(held_out.KEPT.read_text(encoding="utf-8")).values())
    assert held_out.summary(listed) in " ".join(held_out.PAGE.read_text(encoding="utf-8").split())


def test_figures_with_few_seeds_are_left_out(tmp_path: Path) -> None:
    assert main(["reproduce", "nos2/fig1", "--seeds", "7", "-o", str(tmp_path / "nos2-fig1")]) == 0
    assert list(held_out.halves(tmp_path)) == []
