"""The headlines of the papers in study/README.md, which are generated from the records."""

import dataclasses
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from priolane.model import folders
from priolane.study import catalogue
from priolane.study.record import Record, results_version

sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "study"))
import headlines
import ledger
import percentages


def test_the_headlines_follow_from_the_records() -> None:
    text = headlines.README.read_text(encoding="utf-8")
    assert text == headlines.readme(text, ledger.shipped()), "make ledger"


def test_every_paper_has_a_headline() -> None:
    assert [paper.id for paper in catalogue.papers() if not paper.headlines] == [folders.OURS]


def _row(record: Record, **changed: Any) -> list[str]:
    """The cells of the first headline of `record`'s figure, whose claim has these values."""
    paper, figure = record.figure.split("/")
    stated = next(paper_ for paper_ in catalogue.papers() if paper_.id == paper).headlines
    place, says = next((n, headline["claim"]) for n, headline in enumerate(stated) if headline["figure"] == figure)
    claims = [{**claim, **changed} if claim["says"] == says else claim for claim in record.claims]
    others = [other_record for other_record in ledger.shipped() if other_record.figure != record.figure]
    edited = dataclasses.replace(record, grids=({**record.grids[0], "claims": claims},))
    rows = [row for row in headlines.table([edited, *others]).splitlines() if row.startswith(f"| {_name(paper)} |")]
    return rows[place].strip("| ").split(" | ")


def _name(paper: str) -> str:
    return catalogue.names()[paper]


@pytest.mark.parametrize(
    ("changed", "holds", "why"),
    [
        ({"verdict": "reproduced"}, "yes", "–"),
        ({"verdict": "contradicted", "cause": None}, "no", "no cause is known"),
        ({"verdict": "undecided", "reason": "two seeds only"}, "undecided", "two seeds only"),
        (
            {"verdict": "contradicted", "cause": {"kind": "unstated", "reading": "pull"}},
            "under another reading",
            "a choice that the paper does not state decides: the claim is reproduced under the reading pull",
        ),
    ],
)
def test_a_headline_says_whether_it_holds_and_why(changed: Mapping[str, Any], holds: str, why: str) -> None:
    record = next(record_ for record_ in ledger.shipped() if record_.figure == "nos2/fig6")
    cells = _row(record, **{"cause": None, **changed})
    assert (cells[2], cells[6]) == (holds, why)
    # NOS2, ES-8 and PIAS are compared with each other.
    assert cells[3] == "gain in mean FCT, each pair of es8, pias, nos2"


def test_a_headline_without_a_recorded_claim_is_refused() -> None:
    results = [record for record in ledger.shipped() if record.figure != "nos2/fig6"]
    with pytest.raises(SystemExit, match="0 recorded claims of nos2/fig6 say"):
        headlines.table(results)


def test_headlines_of_older_results_are_marked_and_counted() -> None:
    now = [dataclasses.replace(record, results=results_version()) for record in ledger.shipped()]
    assert "¹" not in headlines.table(now)
    assert "recorded before" not in ledger.sentence(now)
    place = next(n for n, record in enumerate(now) if record.figure == "nos2/fig6")
    now[place] = dataclasses.replace(now[place], results=1)
    rows = [row for row in headlines.table(now).splitlines() if "¹ |" in row]
    assert rows
    assert all("papers/nos2/fig6/" in row for row in rows)
    assert "1 of the figures were recorded before" in ledger.sentence(now)


def test_the_extent_of_a_claim_is_its_pairs_and_points() -> None:
    def value(load: float, *schemes: str, key: str = "group.all.load.value") -> dict[str, Any]:
        return {"at": {key: load}, "sides": [{"scheme": scheme} for scheme in schemes]}

    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    assert percentages.extent([value(load, *pair) for load in (0.5, 0.8) for pair in pairs]) == "3 pairs x 2 loads"
    assert percentages.extent([value(load, "a", "b") for load in (0.5, 0.6, 0.8)]) == "3 loads"
    assert percentages.extent([value(nth, "a", key="case") for nth in range(3)]) == "3 points"
    # One pair lacks a load.
    assert percentages.extent([value(0.5, *pair) for pair in pairs] + [value(0.8, "a", "b")]) == "4 values"
