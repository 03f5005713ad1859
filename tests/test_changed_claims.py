"""Claims that were removed or changed: the page of the study, and the shares over both lists."""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from priolane.study import catalogue
from priolane.study.outcomes import Outcome
from priolane.study.record import Record

sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "study"))
import changed_claims
import ledger


def _record(figure: str, *claims: tuple[str, str]) -> Record:
    stated = [{"says": says, "source": "paper", "verdict": verdict} for says, verdict in claims]
    return Record(
        figure, "", "", 6, ({"claims": [*stated, {"says": "a check", "source": "ours", "verdict": "undecided"}]},)
    )


def _stated(monkeypatch: pytest.MonkeyPatch, *changes: dict[str, Any]) -> None:
    monkeypatch.setattr(changed_claims, "stated", lambda: {"changed": changes})


def test_the_page_follows_from_the_file_and_the_records() -> None:
    text = changed_claims.PAGE.read_text(encoding="utf-8")
    assert text == changed_claims.page(text, ledger.both_lists(ledger.shipped())), "make ledger"


def test_changes_name_figures_that_there_are() -> None:
    known = {item.key for item in catalogue.figures()}
    named = {
        figure for changes in changed_claims.stated().values() for change in changes for figure in change["figures"]
    }
    assert named - known == set()


def test_the_list_before_has_what_was_asked_in_place_of_what_asks_it_now(monkeypatch: pytest.MonkeyPatch) -> None:
    _stated(
        monkeypatch,
        {"was": {"fails": 3}, "now": ["x/new"]},
        {"was": {"undecided": 2, "reading": 1}, "now": [{"figure": "x/fig", "says": ["b"]}]},
        {"was": {"reproduced": 1}},
    )
    new = _record("x/new", ("average", "reproduced"))
    figure = _record("x/fig", ("a", "reproduced"), ("b is here", "undecided"), ("c", "reproduced"))
    # Today: average, a, and c are reproduced, and b is undecided.
    today = Counter({Outcome.REPRODUCED: 3, Outcome.UNDECIDED: 1})
    expected = {Outcome.REPRODUCED: 3, Outcome.UNDECIDED: 2, Outcome.UNDER_A_READING: 1, Outcome.FAILS: 3}
    assert +changed_claims.before(today, [new, figure]) == Counter(expected)


@pytest.mark.parametrize("begin", ["d", "b"])
def test_a_claim_that_is_named_is_one_recorded_claim(monkeypatch: pytest.MonkeyPatch, begin: str) -> None:
    _stated(monkeypatch, {"was": {"fails": 1}, "now": [{"figure": "x/fig", "says": [begin]}]})
    with pytest.raises(SystemExit, match=f"recorded claims of x/fig begin with `{begin}`"):
        changed_claims.before({}, [_record("x/fig", ("b one", "reproduced"), ("b two", "reproduced"))])


def test_a_page_without_a_mark_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"has no lines <!-- average: make ledger -->"):
        changed_claims.page("# Claims\n", "")
