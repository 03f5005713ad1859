"""Causes of claims: what files state, what the records say of it, and what the ledger counts."""

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from priolane.model import folders
from priolane.results.cause import Cause, CauseKind
from priolane.study import catalogue
from priolane.study.outcomes import Asks, Outcome, by_question, causes_of_failures, outcome, tally, why
from priolane.study.record import READINGS, RECORD, read_record

sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "study"))
import causes
import ledger

ROOT = Path(__file__).parent.parent

_TEST = re.compile(r"(?P<file>[\w/.-]+\.(py|rs))::(?P<name>\w+)")
_SENTENCE = re.compile(r"[A-Z0-9].*\.", re.DOTALL)


def _claims(file: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], Mapping[str, Any]]]:
    """The claims of an experiment file by section and text."""
    for claim in file.get("claim", []):
        yield (claim["section"], claim["says"]), claim


def _files() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for item in catalogue.figures():
        if item.experiment is not None:
            yield item.key, tomllib.loads(item.experiment.read_text(encoding="utf-8"))


def _drawn(file: Mapping[str, Any]) -> set[str]:
    """The quantities that the panels of a figure draw."""
    metrics = [metric for panel in file["panel"] for metric in [panel.get("metric"), *panel.get("metrics", [])]]
    return {metric.partition(".")[0] for metric in metrics if metric}


def _is_shown(cause: Cause, file: Mapping[str, Any]) -> bool:
    """Whether a proof is a test that there is, or a bound that the figure draws."""
    named = _TEST.fullmatch(cause.proof)
    if named is None:
        return cause.proof in _drawn(file)
    text = ROOT / named["file"]
    return text.is_file() and re.search(rf"\b(def|fn) {named['name']}\(", text.read_text(encoding="utf-8")) is not None


def test_causes_are_of_claims_that_are_contradicted_and_are_shown() -> None:
    for figure, file in _files():
        record = read_record(figure)
        readings = read_record(figure, file=READINGS)
        verdicts = {(claim["section"], claim["says"]): claim["verdict"] for claim in record.claims} if record else {}
        for key, claim in _claims(file):
            cause = Cause.of(claim.get("cause"))
            if cause is None:
                continue
            place = f"{figure}: {key[1]}"
            assert verdicts.get(key) == "contradicted", place
            if cause.proof:
                assert cause.kind is CauseKind.PAPER, place
                assert _is_shown(cause, file), place
            elif cause.evidence:
                assert _SENTENCE.fullmatch(cause.evidence), place
            else:
                assert readings is not None, place
                under = [grid["claims"] for grid in readings.grids[1:] if grid["reading"] == cause.reading]
                results = [claim["verdict"] for of in under for claim in of if (claim["section"], claim["says"]) == key]
                assert results == ["reproduced"], f"{place}: under {cause.reading} it is {results}"


def test_a_reading_is_no_cause_if_the_leading_one_reproduces_the_claim_in_the_same_grids() -> None:
    for figure, file in _files():
        readings = read_record(figure, file=READINGS)
        leading = {(claim["section"], claim["says"]): claim["verdict"] for claim in readings.claims} if readings else {}
        for key, claim in _claims(file):
            cause = Cause.of(claim.get("cause"))
            if cause is not None and cause.reading:
                assert leading[key] != "reproduced", f"{figure}: {key[1]}"


def test_records_have_the_causes_of_the_files() -> None:
    for figure, file in _files():
        path = folders.folder(folders.STUDY, figure) / RECORD
        if path.is_file():
            record = json.loads(path.read_text(encoding="utf-8"))
            assert causes.with_causes(record, file) == record, f"{figure}: make ledger"


def _claim(verdict: str, **stated: Any) -> dict[str, Any]:
    return {"verdict": verdict, "source": "paper", "lead": False, "test": {"kind": "ratio"}, **stated}


READING = {"kind": "unstated", "reading": "any_host"}
PROOF = {"kind": "paper", "proof": "tests/test_proofs.py::test_a"}
SLIP = {"kind": "paper", "evidence": "The text has 1.15, and the figure 1.01."}
BAND = {"kind": "ours", "evidence": "The band is ours."}


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (_claim("reproduced"), Outcome.REPRODUCED),
        (_claim("undecided"), Outcome.UNDECIDED),
        (_claim("incomplete"), Outcome.UNDECIDED),
        (_claim("contradicted"), Outcome.FAILS),
        (_claim("contradicted", cause=READING), Outcome.UNDER_A_READING),
        (_claim("contradicted", cause=PROOF), Outcome.IMPOSSIBLE),
        (_claim("contradicted", cause=SLIP), Outcome.FAILS),
        (_claim("contradicted", cause=BAND), Outcome.FAILS),
        (_claim("undecided", cause=READING), Outcome.UNDECIDED),
        (_claim("reproduced", fitted="deadlines"), Outcome.FITTED),
        (_claim("contradicted", fitted="deadlines", cause=READING), Outcome.FITTED),
    ],
)
def test_an_outcome_is_made_of_verdict_and_cause(claim: dict[str, Any], expected: Outcome) -> None:
    assert outcome(claim) is expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (_claim("reproduced"), ""),
        (_claim("undecided", reason="two seeds"), "two seeds"),
        (_claim("contradicted"), "no cause is known"),
        (_claim("contradicted", cause=BAND), "our band or our sentence decides: The band is ours"),
        (_claim("contradicted", cause=PROOF), "the paper contradicts itself: a (tests/test_proofs.py)"),
        (
            _claim("contradicted", cause=READING),
            "a choice that the paper does not state decides: the claim is reproduced under the reading any_host",
        ),
        (
            _claim("contradicted", cause={"kind": "paper", "proof": "fct_bound"}),
            "the paper contradicts itself: the figure draws the bound fct_bound",
        ),
        (_claim("contradicted", fitted="the deadlines", cause=READING), "the deadlines were fitted to it"),
    ],
)
def test_a_verdict_has_its_reason_in_plain_words(claim: dict[str, Any], expected: str) -> None:
    assert why(claim) == expected


def test_every_contradicted_claim_of_the_study_has_a_cause() -> None:
    without = [
        f"{figure}: {claim['says']}"
        for figure, _ in _files()
        if (record := read_record(figure)) is not None
        for claim in record.claims
        if claim["verdict"] == "contradicted" and not claim.get("cause")
    ]
    assert without == []


def test_claims_that_do_not_hold_are_counted_by_their_causes() -> None:
    claims = [_claim("contradicted"), _claim("contradicted", cause=BAND), _claim("contradicted", cause=READING)]
    assert tally(claims) == Counter({Outcome.FAILS: 2, Outcome.UNDER_A_READING: 1})
    assert causes_of_failures(claims) == Counter({None: 1, CauseKind.OURS: 1})


def test_the_first_claim_is_the_headline_if_none_leads() -> None:
    order = _claim("reproduced", test={"kind": "order"})
    number, leader = _claim("reproduced"), _claim("reproduced", lead=True)
    assert [asks for asks, _ in by_question([order, order, number])] == [Asks.HEADLINE, Asks.ORDER, Asks.MAGNITUDE]
    assert [asks for asks, _ in by_question([order, leader, number])] == [Asks.ORDER, Asks.HEADLINE, Asks.MAGNITUDE]


@pytest.mark.parametrize(
    "value",
    [{"kind": "paper"}, {"kind": "paper", "proof": "a", "reading": "b"}, {"kind": "other", "evidence": "It is."}],
)
def test_a_cause_of_no_version_is_refused(value: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"cause has one of|CauseKind"):
        Cause.of(value)


def test_causes_of_a_file_come_into_the_record_and_leave_it() -> None:
    kept = {"section": "1", "says": "a", "lead": False, "flags": []}
    record = {"figure": "x/y", "grids": [{"reading": None, "claims": [kept]}]}
    stated = {"claim": [{"section": "1", "says": "a", "cause": READING, "fitted": "deadlines"}]}
    result = causes.with_causes(record, stated)
    assert result["grids"][0]["claims"] == [
        {"section": "1", "says": "a", "lead": False, "cause": READING, "fitted": "deadlines", "flags": []}
    ]
    assert causes.with_causes(result, {"claim": []}) == record
    assert causes.with_causes(result, {"claim": [{"section": "1", "says": "b", "cause": READING}]}) == record


def test_the_ledger_counts_each_claim_of_a_paper_once() -> None:
    records = ledger.shipped()
    rows = [line.split(" | ") for line in ledger.outcomes(records).splitlines()[2:]]
    by_paper = [[int(cell.rstrip(" |")) for cell in row[1:]] for row in rows if not row[0].startswith("| all")]
    by_question_ = [[int(cell.rstrip(" |")) for cell in row[1:]] for row in rows if row[0].startswith("| all")]
    totals = [sum(column) for column in zip(*by_paper, strict=True)]
    assert totals == [sum(column) for column in zip(*by_question_, strict=True)]
    papers = [record for record in records if record.figure.partition("/")[0] in ledger.NAMES]
    assert sum(totals) == sum(claim["source"] == "paper" for record in papers for claim in record.claims)
    lines = ledger.causes(records).splitlines()[2:]
    fails = [[int(cell.rstrip(" |")) for cell in line.split(" | ")[1:]] for line in lines]
    assert sum(map(sum, fails)) == totals[list(Outcome).index(Outcome.FAILS)]
