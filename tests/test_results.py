import subprocess
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import factories
import priolane
from priolane import InputError, load
from priolane.report.write import write_report
from priolane.results.results import Results


def test_summary_has_a_row_per_run_and_size_class(results: Results) -> None:
    summary = results.summary()
    assert len(summary) == 4 * 2 * 2 * 2  # schemes x loads x seeds x classes
    assert {"run", "scheme", factories.LOAD, "seed", "class", "mean_fct_s"} <= set(summary.columns)
    rows = summary[(summary.scheme == "nos2") & (summary["class"] == "all") & (summary.seed == 1)]
    # 3.0 ms x (1 + 0.5) x 1.01 at load 0.5
    assert rows[rows[factories.LOAD] == 0.5].mean_fct_s.item() == pytest.approx(0.0030 * 1.5 * 1.01)


def test_flows_are_chosen_by_scheme_and_point_and_name_their_run(results: Results) -> None:
    flows = results.flows(scheme="nos2", point={factories.LOAD: 0.8})
    assert flows.num_rows == 3 * 2  # flows x seeds
    assert flows.column_names[:3] == ["run", "scheme", "seed"]
    assert flows["seed"].to_pylist() == [1, 1, 1, 2, 2, 2]
    assert flows["fct_ps"].null_count == 2
    assert results.flows().num_rows == 3 * 16


def test_ports_are_read_the_same_way(results: Results) -> None:
    assert results.ports(scheme="es8")["port"].to_pylist() == ["leaf0->spine1"] * 4
    assert isinstance(results.ports(), pa.Table)


def test_a_scheme_that_was_not_run_is_named(results: Results) -> None:
    with pytest.raises(InputError, match=r"Use a scheme of .*es8.*; `point` has values of"):
        results.flows(scheme="top")
    with pytest.raises(InputError, match="no run has that scheme and point"):
        results.flows(point={factories.LOAD: 7})


def test_a_directory_without_results_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no results here"):
        load(tmp_path)


def test_a_spoilt_grid_note_is_bad_input(results: Results) -> None:
    (results.directory / "grid.json").write_text('{"source": 3')
    with pytest.raises(InputError, match=r"grid\.json: damaged: it has no checksum"):
        load(results.directory)
    factories.write(results.directory / "grid.json", {"source": 3})
    with pytest.raises(InputError, match="not a grid note"):
        load(results.directory)


def test_an_unfinished_grid_says_how_to_continue(results: Results) -> None:
    (results.directory / results.runs[0].id / "run.json").unlink()
    with pytest.raises(InputError, match=r"15 of 16 runs are there .*`priolane run .*fig6\.toml --set"):
        _ = load(results.directory).report


def test_a_report_of_another_version_is_bad_input(results: Results) -> None:
    factories.edit(results.directory / "report.json", lambda report: {"seeds": report["seeds"]})
    with pytest.raises(InputError, match="not a report of this version"):
        _ = results.report


def test_results_show_themselves_in_a_line_and_as_a_table(results: Results) -> None:
    factories.edit(results.directory / "grid.json", lambda note: note | {"title": "<b>&"})
    titled = load(results.directory)
    assert repr(titled) == f"<Results '<b>&': 16 of 16 runs in {results.directory}>"
    shown = titled._repr_html_()
    assert "&lt;b&gt;&amp;" in shown
    assert "<b>&</b>" not in shown
    # A row for each scheme, load and class, and one of names.
    assert shown.count("<tr") == 4 * 2 * 2 + 1
    # 3.0 ms x (1 + 0.5) x 1.015, the mean of the two seeds, is 4.5675 ms
    assert "0.00456" in shown


def test_tables_go_to_arrow_pandas_and_csv(results: Results, tmp_path: Path) -> None:
    assert results.to_pandas().shape == results.summary().shape
    assert results.to_pandas("ports", scheme="es8")["port"].tolist() == ["leaf0->spine1"] * 4
    path = results.to_csv(tmp_path / "flows.csv", "flows", scheme="nos2", point={factories.LOAD: 0.8})
    read = pd.read_csv(path)
    assert read["bytes"].tolist() == [1460, 50_000, 2_000_000] * 2
    assert read["fct_ps"].isna().tolist() == [False, False, True] * 2
    assert results.to_arrow("summary", scheme="pias").num_rows == 2 * 2 * 2
    with pytest.raises(InputError, match="no run has that scheme"):
        results.to_arrow(scheme="top")


def test_tables_go_to_polars_by_arrow(results: Results) -> None:
    import polars  # noqa: PLC0415

    frame = results.to_polars("flows", scheme="nos2", point={factories.LOAD: 0.8})
    assert isinstance(frame, polars.DataFrame)
    assert frame["fct_ps"].to_list() == results.flows("nos2", {factories.LOAD: 0.8})["fct_ps"].to_pylist()


def test_without_polars_the_message_says_what_to_install(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="pip install polars"):
        results.to_polars()


@pytest.fixture
def no_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package pandas is not installed: its import fails."""

    class Absent(MetaPathFinder):
        def find_spec(self, fullname: str, path: object, target: object = None) -> None:
            if fullname == "pandas":
                raise ModuleNotFoundError(fullname)

    for name in [name for name in sys.modules if name.partition(".")[0] == "pandas"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Absent(), *sys.meta_path])


@pytest.mark.usefixtures("no_pandas")
def test_without_pandas_the_message_says_what_installs_it(results: Results) -> None:
    with pytest.raises(ImportError, match=r"summary needs pandas.*; pip install pandas"):
        results.summary()
    with pytest.raises(ImportError, match=r"to_pandas needs pandas.*; pip install pandas"):
        results.to_pandas()


@pytest.mark.usefixtures("no_pandas")
def test_all_else_of_results_takes_no_pandas(results: Results, tmp_path: Path) -> None:
    assert results.to_arrow("summary", scheme="pias").num_rows == 2 * 2 * 2
    assert results.to_csv(tmp_path / "summary.csv").read_text(encoding="utf-8").startswith('"run","scheme"')
    assert "pip install pandas" in results._repr_html_()
    assert write_report(results).is_file()


def test_functions_of_the_package_are_functions_in_every_order(results: Results) -> None:
    assert priolane.compare(results, results.directory).identical
    names = ["trace", "compare", "thresholds", "check", "run", "load", "plan", "trace"]
    code = f"import priolane\nassert all(callable(getattr(priolane, name)) for name in {names!r})"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_thresholds_are_asked_for_by_name() -> None:
    ladders = priolane.thresholds(levels=2, load=0.8, sizes="web_search_pkt1460")
    assert ladders.of("opt").thresholds == (1_946_180,)
    assert [ladders.of("nos2", place).levels for place in ("switch", "host")] == [2, 8]
    with pytest.raises(InputError, match="published: no thresholds"):
        ladders.of("published")
    with pytest.raises(InputError, match="thresholds:"):
        priolane.thresholds(levels=300, load=0.8, sizes="web_search")
