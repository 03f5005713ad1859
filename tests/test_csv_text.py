"""A spreadsheet shows the cells of a CSV and calculates none."""

import csv
import io
from pathlib import Path

import factories
from priolane import load
from priolane.cli import main
from priolane.text.csv_text import csv_cell, csv_text

FORMULAS = ("=cmd|'/c calc'!A1", "+1+cmd|x", "-2+3", "@SUM(A1)", "\t=1", "\n=1", "\uff1d1", "=", "--1", "-x")
NUMBERS = ("-1", "+1.5", "-0.25", "-1e-05", "-inf", "inf", "nan", "1", "", "-.5")
TEXTS = ("web", "a=b", "'x", "1-2", "a,b", 'a"b', "a\nb")


def test_texts_that_begin_a_formula_get_an_apostrophe_and_numbers_do_not() -> None:
    assert [csv_cell(text) for text in FORMULAS] == [f"'{text}" for text in FORMULAS]
    assert [csv_cell(text) for text in (*NUMBERS, *TEXTS)] == [*NUMBERS, *TEXTS]
    assert [csv_cell(text) for text in ("\r=1", "a\r=1", "a\r\nb")] == ["'\n=1", "a\n=1", "a\nb"]


def test_cells_are_read_back_as_they_were_but_for_the_apostrophe() -> None:
    rows = [list(FORMULAS), list(NUMBERS), list(TEXTS)]
    read = list(csv.reader(io.StringIO(csv_text(rows), newline="")))
    assert read == [[f"'{text}" for text in FORMULAS], list(NUMBERS), list(TEXTS)]


def formulas(text: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row if csv_cell(cell) != cell]


def test_no_csv_of_results_has_a_formula(tmp_path: Path) -> None:
    directory = factories.make_results(tmp_path / "results")
    for path in [directory / "grid.json", directory / "report.json", *directory.glob("*/run.json")]:
        text = path.read_text(encoding="utf-8")
        for scheme in factories.SCHEMES:
            text = text.replace(f'"{scheme}"', f'"=cmd|{scheme}!A1"')
        path.write_text(text.replace('"small"', '"@small"'), encoding="utf-8")
        factories.edit(path, lambda value: value)
    results = load(directory)
    assert results.runs[0].scheme.startswith("=cmd|")
    written = [results.to_csv(tmp_path / "summary.csv", "summary"), results.to_csv(tmp_path / "flows.csv", "flows")]
    assert main(["report", str(directory)]) == 0
    written += sorted((directory / "figures").glob("*.csv"))
    assert len(written) >= 3
    for path in written:
        text = path.read_bytes().decode()
        assert formulas(text) == [], path
    assert any("'=cmd|dctcp!A1" in path.read_text(encoding="utf-8") for path in written)
