"""The parts that go together: the objections of the checker to schemes with both, as a table."""

import json

import pytest

from priolane import _core
from priolane._core import InputError
from priolane.cli import main
from priolane.model import matrix


def test_each_part_of_the_catalogue_goes_with_some_other_as_its_example_has_it() -> None:
    kinds = {
        "transport": "transports",
        "assign": "assign",
        "admit": "admit",
        "host": "host",
        "nic": "nic",
        "port": "ports",
    }
    catalogue = json.loads(_core.catalogue())
    for row, kind in kinds.items():
        result = matrix.matrix(row, "transport" if row != "transport" else "port")
        names = {entry["name"] for entry in catalogue[kind]}
        assert len(names) == len(catalogue[kind])
        assert {cell.first for cell in result.cells if cell.fits} == names, row


def test_pairs_that_a_shipped_scheme_has_go_together_and_others_say_why_not() -> None:
    result = matrix.matrix("transport", "admit")
    assert len(result.cells) == len(result.firsts) * len(result.seconds)
    aequitas = result.cell("dctcp", "aequitas")
    assert aequitas.fits
    # Three classes need a port that tells them apart.
    assert aequitas.beside["port"] == "strict"
    homa = result.cell("homa", "aequitas")
    assert not homa.fits
    assert "`homa`" in homa.reason
    assert result.cell("homa", "none").fits
    # With priority = "asked", receivers of TOP use the classes of flows.
    assert result.cell("top", "firapam").beside["transport"] == '{ priority = "asked", classes = 3 }'


def test_a_reason_is_about_the_pair_and_names_the_remedy() -> None:
    result = matrix.matrix("nic", "port")
    reason = result.cell("tokens", "strict").reason
    assert "nic `tokens`" in reason
    assert "port `tokens`" in reason
    assert result.cell("tokens", "tokens").fits
    assert set(result.reasons()[reason]["tokens"]) > {"strict", "fifo"}


def test_prices_are_a_row_too() -> None:
    result = matrix.matrix("port", "pricing")
    assert not result.cell("fifo", "class").fits
    assert result.cell("strict", "class").fits
    assert result.cell("fifo", "share").rows["transport"] == "paccp"


@pytest.mark.parametrize(("row", "column", "says"), [("ports", "nic", "use one of"), ("nic", "nic", "two rows")])
def test_rows_that_are_not_there_are_refused(row: str, column: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        matrix.matrix(row, column)


def test_the_command_prints_yes_no_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "nic", "--matrix"]) == 0
    shown = capsys.readouterr().out.splitlines()
    columns = shown[0].split()[2:]
    (homa,) = [line.split()[1:] for line in shown if line.startswith("homa ")]
    assert dict(zip(columns, homa, strict=True)) == {
        name: "yes" if name == "pull" else "no" for name in matrix.choices("nic")
    }
    assert any(line.startswith("no: ") and "homa with" in line for line in shown)


def test_json_has_a_scheme_for_each_pair_that_fits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "ports", "--matrix", "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)
    pairs = {(pair["transport"], pair["port"]): pair for pair in answer["pairs"]}
    assert pairs["ndp", "trimming"]["scheme"]["host"] == "own"
    assert pairs["ndp", "fifo"]["scheme"] is None
    assert all(pair["fits"] == (pair["reason"] is None) for pair in answer["pairs"])


def test_list_without_a_kind_and_a_matrix_of_no_row_are_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 2
    assert main(["list", "schemes", "--matrix"]) == 2
    assert capsys.readouterr().err.count("\n") == 2
