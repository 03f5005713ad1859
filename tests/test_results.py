from pathlib import Path

import pyarrow as pa
import pytest

import made
from priolane import InputError, load
from priolane.results import Results


def test_summary_has_a_row_per_run_and_size_class(results: Results) -> None:
    summary = results.summary()
    assert len(summary) == 4 * 2 * 2 * 2  # schemes x loads x seeds x classes
    assert {"run", "scheme", made.LOAD, "seed", "class", "mean_fct_s"} <= set(summary.columns)
    one = summary[(summary.scheme == "nos2") & (summary["class"] == "all") & (summary.seed == 1)]
    # 3.0 ms x (1 + 0.5) x 1.01 at load 0.5
    assert one[one[made.LOAD] == 0.5].mean_fct_s.item() == pytest.approx(0.0030 * 1.5 * 1.01)


def test_flows_are_chosen_by_scheme_and_point_and_name_their_run(results: Results) -> None:
    flows = results.flows(scheme="nos2", point={made.LOAD: 0.8})
    assert flows.num_rows == 3 * 2  # flows x seeds
    assert flows.column_names[:3] == ["run", "scheme", "seed"]
    assert flows["seed"].to_pylist() == [1, 1, 1, 2, 2, 2]
    assert flows["fct_ps"].null_count == 2
    assert results.flows().num_rows == 3 * 16


def test_ports_are_read_the_same_way(results: Results) -> None:
    assert results.ports(scheme="es8")["port"].to_pylist() == ["leaf0->spine1"] * 4
    assert isinstance(results.ports(), pa.Table)


def test_a_scheme_that_was_not_run_is_named(results: Results) -> None:
    with pytest.raises(KeyError, match=r"flows\.parquet"):
        results.flows(scheme="top")


def test_a_directory_without_results_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no results here"):
        load(tmp_path)


def test_a_spoilt_grid_note_is_bad_input(results: Results) -> None:
    (results.directory / "grid.json").write_text('{"source": 3')
    with pytest.raises(InputError, match=r"grid\.json: damaged: it has no checksum"):
        load(results.directory)
    made.write(results.directory / "grid.json", {"source": 3})
    with pytest.raises(InputError, match="not a grid note"):
        load(results.directory)


def test_an_unfinished_grid_says_how_to_continue(results: Results) -> None:
    (results.directory / results.runs[0].id / "run.json").unlink()
    with pytest.raises(InputError, match=r"15 of 16 runs are there .*`priolane run .*fig6\.toml --set"):
        _ = load(results.directory).report


def test_a_report_of_another_version_is_bad_input(results: Results) -> None:
    made.edit(results.directory / "report.json", lambda report: {"seeds": report["seeds"]})
    with pytest.raises(InputError, match="not a report of this version"):
        _ = results.report
