"""The page of evidence for `advise` has the numbers of the kept records, and these are of the worlds as they are."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from advise_worlds import WORLDS

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import worlds_page  # noqa: E402

PAGE = ROOT / "docs" / "evidence" / "advise.md"


@pytest.fixture(scope="module")
def kept() -> list[dict[str, Any]]:
    """The kept records."""
    read: list[dict[str, Any]] = json.loads(worlds_page.KEPT.read_text(encoding="utf-8"))
    return read


def test_the_page_has_the_numbers_of_the_kept_records(kept: list[dict[str, Any]]) -> None:
    page = PAGE.read_text(encoding="utf-8").splitlines()
    assert [row for row in (*worlds_page.counts(kept), *worlds_page.takes(kept)) if row not in page] == []


def test_records_are_of_the_worlds_as_they_are(kept: list[dict[str, Any]]) -> None:
    now = {world.name: (world.kind.value, list(world.goals)) for world in WORLDS}
    assert {record["world"]: (record["stated"], record["goals"]) for record in kept} == now


def _record(kind: str, stated: str, met: list[bool], cost: list[int]) -> dict[str, Any]:
    row = {"name": "a", "family": "f", "cost": [2, 2, 2], "lists_met": 5, "values": {"p99": [1.0] * 5}}
    answer = {"kind": kind, "kept": met, "cost": cost, "family": "f", "intervals": [["a", "p99", 1.0, 2.0, 1.5]]}
    return {"world": "w", "stated": stated, "candidates": 9, "truth": {"rows": [row]}, "answers": [answer]}


def test_wrong_kinds_missed_intervals_and_broken_promises_are_counted() -> None:
    good = _record("change", "change", [True] * 5, [2, 2, 2])
    bad = _record("change", "change nothing", [True, False, True, True, True], [4, 3, 2])
    bad["answers"][0]["intervals"].append(["a", "p99", 1.0, 2.0, 2.5])
    kinds, intervals, promises, cheapest = worlds_page.counts([good, bad])
    assert kinds.endswith("| 1 of 2 |")
    assert intervals.endswith("| 2 of 3 (67 %) |")
    assert promises.endswith("| 9 of 10 (90 %) |")
    assert cheapest.endswith("| 1 of 2 (50 %) |")
