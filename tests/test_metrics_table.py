import base64
import csv
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

import factories
from priolane.report.metrics_table import as_csv, table_of
from priolane.report.write import write_report
from priolane.results.report import Report
from priolane.results.results import Results, load

METRICS = ("slowdown.all", "fct.mice")


def interval(mean: float | None) -> dict[str, Any]:
    """An estimate of two seeds, 0.5 wide to both sides."""
    if mean is None:
        return {"average": "arithmetic", "mean": None, "low": None, "high": None, "n": 0}
    return {"average": "arithmetic", "mean": mean, "low": mean - 0.5, "high": mean + 0.5, "n": 2}


def panel(values: dict[tuple[str, float], tuple[float | None, ...]]) -> dict[str, Any]:
    """A table of `METRICS` by scheme and load, as the lab reports it."""
    return {
        "title": "Every scheme",
        "kind": "table",
        "x": None,
        "x_label": None,
        "y_label": None,
        "log_y": False,
        "reference": None,
        "x_values": list(METRICS),
        "series": [
            {
                "scheme": scheme,
                "quantity": "*",
                "class": "*",
                "at": {factories.LOAD: at},
                "points": [{"x": name, **interval(value)} for name, value in zip(METRICS, row, strict=True)],
            }
            for (scheme, at), row in values.items()
        ],
    }


VALUES: dict[tuple[str, float], tuple[float | None, ...]] = {
    ("dctcp", 0.5): (1.5, 2.0),
    ("dctcp", 0.8): (10.25, None),
    ("<b>&", 0.8): (3.0, 4.0),
}


@pytest.fixture
def results(tmp_path: Path) -> Results:
    directory = factories.make_results(tmp_path / "grid")
    factories.edit(directory / "report.json", lambda report: report | {"panels": [report["panels"][0], panel(VALUES)]})
    return load(directory)


def read(results: Results) -> Report:
    return results.report


def test_a_row_is_a_scheme_at_a_point_and_what_has_no_value_is_a_dash(results: Results) -> None:
    table = table_of(read(results).tables[0])
    assert (table.columns, table.texts) == (("scheme", "load", *METRICS), 2)
    assert [[cell.text for cell in row[:2]] for row in table.rows] == [
        ["dctcp", "0.5"],
        ["dctcp", "0.8"],
        ["<b>&", "0.8"],
    ]
    assert [(cell.text, cell.number) for cell in table.rows[1][2:]] == [("10.2 [9.75, 10.8]", 10.25), ("–", None)]
    assert table.choices == {0: ("dctcp", "<b>&"), 1: ("0.5", "0.8")}


def test_the_csv_has_means_and_both_ends_in_full(results: Results) -> None:
    rows = list(csv.DictReader(as_csv(read(results).tables[0]).decode().splitlines()))
    assert [row["scheme"] for row in rows] == ["dctcp", "dctcp", "<b>&"]
    ends = [rows[1][f"slowdown.all{end}"] for end in ("", "_low", "_high")]
    assert ends == ["10.25", "9.75", "10.75"]
    assert rows[1]["fct.mice"] == ""


def test_a_table_is_in_the_page_and_a_file_and_no_picture(results: Results) -> None:
    page = write_report(results).read_text(encoding="utf-8")
    names = sorted(path.name for path in (results.directory / "figures").iterdir())
    assert names == ["panel-1.csv", "panel-1.svg", "results.csv", "table-1.csv"]
    # The other figure is of claims.
    assert (page.count("<figure"), page.count('class="fig forest"')) == (2, 2)
    assert '<td class="number" data-value="10.25">10.2 [9.75, 10.8]</td>' in page
    assert "&lt;b&gt;&amp;" in page
    assert "<b>" not in page


def test_the_policy_allows_the_scripts_of_figures_and_of_tables_where_there_are_some(
    results: Results, tmp_path: Path
) -> None:
    page = write_report(results).read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert len(scripts) == page.count("<script") == 2
    assert policy
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert f"; script-src 'sha256-{hashes[0]}' 'sha256-{hashes[1]}';" in policy[1]
    assert not [script for script in scripts if re.search(r"fetch|XMLHttp|import|eval|innerHTML|https?:", script)]
    assert not [script for script in scripts if re.search(r"setAttribute\(.style|insertRule|cssText", script)]
    drawn = write_report(load(factories.make_results(tmp_path / "drawn", 1))).read_text(encoding="utf-8")
    assert re.findall(r"<script>(.*?)</script>", drawn, re.DOTALL) == scripts[:1]
    only_table = factories.make_results(tmp_path / "table", 1)
    factories.edit(only_table / "report.json", lambda report: report | {"panels": [panel(VALUES)]})
    plain = write_report(load(only_table)).read_text(encoding="utf-8")
    assert re.findall(r"<script>(.*?)</script>", plain, re.DOTALL) == scripts[1:]
