import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import planted_faults
from planted_faults import Fault


def test_every_fault_has_its_place_in_the_tree() -> None:
    faults = planted_faults.read(planted_faults.FAULTS.read_text("utf-8"))
    assert len({fault.name for fault in faults}) == len(faults) >= 20
    for fault in faults:
        text = (planted_faults.ROOT / fault.file).read_text("utf-8")
        assert fault.planted(text) != text


def test_every_test_of_a_fault_is_in_the_tree() -> None:
    faults = planted_faults.read(planted_faults.FAULTS.read_text("utf-8"))
    sources = [path for top in ("crates", "examples") for path in (planted_faults.ROOT / top).rglob("*.rs")]
    functions = set(re.findall(r"\bfn (\w+)\(", "\n".join(path.read_text("utf-8") for path in sources)))
    for fault in faults:
        file, is_python, name = fault.test.partition(".py::")
        if is_python:
            text = (planted_faults.ROOT / f"{file}.py").read_text("utf-8")
            assert f"\ndef {name.partition('[')[0]}(" in text, fault.test
        else:
            assert fault.test.split()[-1].rpartition("::")[2] in functions, fault.test


def test_a_fault_without_one_place_is_refused() -> None:
    fault = Fault("x", "a.rs", "+ 1", "", "tests/test_x.py::test_y")
    assert fault.planted("a + 1") == "a "
    for text in ("a", "a + 1 + 1"):
        with pytest.raises(ValueError, match=r"x: a.rs has [02] times"):
            fault.planted(text)


@pytest.mark.parametrize(
    ("code", "out", "errors", "outcome"),
    [
        (0, "test result: ok. 1 passed; 0 failed; 0 ignored", "", "green"),
        (0, "test result: ok. 0 passed; 0 failed; 0 ignored", "", "broken: there is no such test"),
        (101, "test result: FAILED. 0 passed; 1 failed;", "error: test failed, to rerun pass `--lib`", "red"),
        (101, "", "error[E0425]: cannot find value", "broken: error[E0425]: cannot find value"),
        (0, "1 passed in 0.10s", "", "green"),
        (0, "12 passed in 0.10s", "", "green"),
        (0, "3 skipped in 0.10s", "", "broken: there is no such test"),
        (1, "1 failed in 0.10s", "", "red"),
        (4, "ERROR: not found", "", "broken: ERROR: not found"),
    ],
)
def test_only_a_test_that_ran_is_green_or_red(code: int, out: str, errors: str, outcome: str) -> None:
    assert planted_faults.classify(code, out, errors) == outcome
