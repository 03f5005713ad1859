"""The table of results, whose means, intervals and marks are worked out by hand."""

import csv
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import factories
from priolane import InputError, _core, load
from priolane.cli import main
from priolane.comparison.schemes import Winner, compare_schemes
from priolane.report.overview import Entry, Overview, bounds_text, overview
from priolane.report.overview_files import as_csv, as_json, narrowed
from priolane.report.overview_page import page_tables
from priolane.report.overview_text import columns_of, interval_text, mean_text, notes
from priolane.results.estimate import Average
from priolane.results.results import Results

# By scheme and seed: mean FCT in seconds.
Fcts = Mapping[str, Mapping[int, float]]
THREE: Fcts = {
    "a": {1: 0.0010, 2: 0.0011, 3: 0.0012},
    "b": {1: 0.0020, 2: 0.0021, 3: 0.0022},
    "c": {1: 0.0009, 2: 0.0030, 3: 0.0040},
}


def results(
    directory: Path,
    fcts: Fcts,
    loads: tuple[float, ...] = (0.8,),
    classes: Mapping[str, Any] | None = None,
    **more: Any,
) -> Path:
    """Results of schemes at loads, in one class beside `all`; FCT grows with the load."""
    cells = [(at, seed, scheme) for at in loads for scheme, by_seed in fcts.items() for seed in by_seed]
    runs: list[dict[str, Any]] = [
        {"id": f"{nth:016x}", "scheme": scheme, "point": {factories.LOAD: at}, "seed": seed}
        for nth, (at, seed, scheme) in enumerate(cells)
    ]
    directory.mkdir(parents=True)
    options: dict[str, Any] = {"sets": [], "seeds": None, "schemes": None, "size": "default"}
    note = {"source": "fig6.toml", "title": "t", "options": options, "runs": runs, "warnings": []}
    factories.write(directory / "grid.json", note)
    for run in runs:
        fct = fcts[run["scheme"]][run["seed"]] * run["point"][factories.LOAD] / 0.8
        summary = {
            "flows": 100,
            "unfinished": 0,
            "mean_fct_s": fct,
            "p50_fct_s": fct / 2,
            "p99_fct_s": 10 * fct,
            "mean_slowdown": 2.0,
            "p99_slowdown": 5.0,
            "goodput_bps": 1e6 / fct,
            "timeouts": 3,
            "timed_out": 0.03,
        }
        record = factories.record(run)
        record["merged"]["metrics"] = {"classes": dict(classes or {})}
        record["summary"] = {"all": summary, **({name: summary | {"flows": 40} for name in classes or {"small": 0}})}
        (directory / run["id"]).mkdir()
        factories.write(directory / run["id"] / "run.json", record | more | {"files": []})
    return directory


def entry(view: Overview, scheme: str, name: str, size_class: str = "all", at: float = 0.8) -> Entry:
    section = next(section for section in view.sections if section.name == size_class)
    row = next(row for row in section.rows if row.scheme == scheme and row.point[factories.LOAD] == at)
    return row.entries[[quantity.name for quantity in section.quantities].index(name)]


def test_means_and_intervals_are_over_seeds(tmp_path: Path) -> None:
    view = overview(load(results(tmp_path / "r", THREE)))
    estimate = entry(view, "a", "fct").estimate
    # Logarithms of 1.0, 1.1 and 1.2: mean 0.092545, s = 0.091181, so that Student's upper end is exp(0.092545 + 4.3027
    # x 0.091181 / sqrt(3)) = 1.376; the skewness of -0.136 moves the lower end from 0.875 to 0.846.
    assert estimate.mean == pytest.approx(1.32 ** (1 / 3) * 1e-3)
    assert (estimate.low, estimate.high) == pytest.approx((0.8464e-3, 1.3759e-3), rel=1e-4)
    # c: the interval is wide, and above 0.
    low = entry(view, "c", "fct").estimate.low
    assert low == pytest.approx(0.046195e-3, rel=1e-3)
    # The goodput of all seeds is inverse to the FCT, and so are mean and interval.
    goodput = entry(view, "a", "goodput").estimate
    assert goodput.mean == pytest.approx(1.0 / 1.32 ** (1 / 3), rel=1e-9)
    assert goodput.high == pytest.approx(1e-3 / 0.8464e-3, rel=1e-4)
    # A share is arithmetic; three seeds with one value do not show how it varies.
    timed_out = entry(view, "a", "timed_out").estimate
    assert (timed_out.average, timed_out.high) == (Average.ARITHMETIC, None)
    assert timed_out.mean == pytest.approx(3.0)


def test_the_best_is_marked_only_where_its_differences_to_all_others_exclude_0(tmp_path: Path) -> None:
    two = {name: by_seed for name, by_seed in THREE.items() if name != "c"}
    view = overview(load(results(tmp_path / "two", two)))
    # b - a is 1 ms in each seed.
    assert [entry(view, name, "fct").best for name in "ab"] == [True, False]
    assert [entry(view, name, "goodput").best for name in "ab"] == [True, False]
    # Slowdowns are the same, and of timeouts none is best.
    assert not any(entry(view, name, quantity).best for name in "ab" for quantity in ("slowdown", "timeouts"))
    # c - a is -0.1, 1.9, 2.8 ms: mean 1.533, half 4.3027 x 1.484 / sqrt(3) = 3.69. Then a is not separated from c.
    view = overview(load(results(tmp_path / "three", THREE)))
    assert not any(entry(view, name, "fct").best for name in "abc")


def test_a_scheme_whose_flows_did_not_finish_is_not_the_best_and_the_others_are_compared(tmp_path: Path) -> None:
    three = {**{name: THREE[name] for name in "ab"}, "left": {1: 1e-4, 2: 1e-4, 3: 1.1e-4}}
    directory = results(tmp_path / "r", three)
    result = overview(load(directory))
    assert [entry(result, name, "fct").best for name in three] == [False, False, True]
    for path in directory.glob("*/run.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["scheme"] == "left" and record["seed"] == 2:
            record["summary"]["all"]["unfinished"] = 1
            record.pop("file_sha256")
            factories.write(path, record)
    view = overview(load(directory))
    assert [entry(view, name, "fct").best for name in three] == [True, False, False]
    assert "Flows of left did not finish" in " ".join(notes(view, "*"))


def test_a_mean_by_littles_law_leaves_no_flow_out_and_may_be_the_best(tmp_path: Path) -> None:
    directory = results(tmp_path / "r", {name: THREE[name] for name in "ab"}, steady={"all": {}, "small": {}})
    for path in directory.glob("*/run.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["scheme"] == "a":
            record["summary"]["all"]["unfinished"] = 3
            record.pop("file_sha256")
            factories.write(path, record)
    view = overview(load(directory))
    assert [entry(view, "a", name).left_out for name in ("fct", "slowdown", "fct_p50", "fct_p99")] == [0, 0, 9, 9]
    assert entry(view, "a", "fct").best
    assert not entry(view, "a", "fct_p99").best
    text = " ".join(notes(view, "*"))
    assert (
        "Flows of a did not finish: they are left out of median FCT, p99 FCT, p99 slowdown, goodput, which are not"
        in text
    )
    comparison = compare_schemes(view, "a", "b")
    metrics = {contest.change.metric for contest in comparison.contests if contest.change.size_class == "all"}
    assert (metrics, comparison.incomplete) == ({"fct", "slowdown"}, 4)


def test_one_seed_has_no_interval_and_no_best(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = results(tmp_path / "r", {"a": {1: 0.001}, "b": {1: 0.002}})
    view = overview(load(directory))
    assert (entry(view, "a", "fct").estimate.high, entry(view, "a", "fct").best) == (None, False)
    assert main(["results", str(directory)]) == 0
    assert "One seed: no intervals" in capsys.readouterr().out


def test_classes_are_those_of_the_experiment_from_small_to_large_or_the_usual_ones(tmp_path: Path) -> None:
    stated = {"bulk": {"from": "1MB", "group": ["x", "y"]}, "mice": {"below": "100kB"}}
    view = overview(load(results(tmp_path / "r", THREE, classes=stated)))
    assert [(section.name, section.text) for section in view.classes] == [
        ("all", "all flows"),
        ("mice", "below 100kB"),
        ("bulk", "from 1MB, group x or y"),
    ]
    assert not view.uses_default_classes
    view = overview(load(results(tmp_path / "usual", THREE)))
    assert (view.uses_default_classes, [section.text for section in view.classes]) == (
        True,
        ["all flows", "up to 100kB"],
    )
    assert bounds_text(json.loads(_core.usual_classes())["large"]) == "above 1MB"
    assert bounds_text({"group": ["a", "b", "c"], "asked": 1}) == "group a or b or c, class asked 1"
    assert bounds_text({"group": ["a", "b", "c", "d"]}) == "group a, b, or 2 others"


def test_tokens_are_apart_from_data(tmp_path: Path) -> None:
    tokens = {"dropped": 2, "expired_at_hosts": 5, "expired_at_ports": 6}
    view = overview(load(results(tmp_path / "r", THREE, tokens=tokens)))
    names = [quantity.name for quantity in view.runs.quantities]
    # Three packets were dropped, two of them tokens; nothing was lost or trimmed, and no flow is unfinished.
    assert names == ["drops", "timeouts", "tokens_dropped", "tokens_expired"]
    means = [result.estimate.mean for result in view.runs.rows[0].entries]
    assert means == [1.0, 2.0, 2.0, 11.0]


def test_a_column_has_one_unit_and_its_numbers_three_digits(tmp_path: Path) -> None:
    view = overview(load(results(tmp_path / "r", THREE)))
    column = columns_of(view.classes[0])[0]
    # The middle of 1.1, 2.1 and 2.63 ms is above 1 ms.
    assert (column.unit, mean_text(column, entry(view, "a", "fct"))) == ("ms", "1.10")
    assert interval_text(column, entry(view, "a", "fct")) == "[0.846, 1.38]"
    assert interval_text(column, entry(view, "c", "fct")) == "[0.0462, 15.8]"


def test_the_table_fits_the_terminal_and_says_what_it_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    two = {name: by_seed for name, by_seed in THREE.items() if name != "c"}
    results(tmp_path / "r", two)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["results", "r", "-v"]) == 0
    wide = capsys.readouterr().out
    assert "1.10 [0.846, 1.38]*" in wide
    assert "Not shown" not in wide
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["results", "r", "-v"]) == 0
    narrow = capsys.readouterr().out
    assert max(map(len, narrow.splitlines())) <= 60
    assert "1.10*" in narrow
    assert "[0.846" not in narrow
    assert "Not shown for want of width" in narrow
    assert "\x1b" not in wide + narrow


def test_the_warnings_that_are_counted_are_all_printed_when_asked(
    results: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [f"setting {nth} may be a mistake" for nth in range(5)]
    factories.edit(results.directory / "report.json", lambda report: report | {"warnings": texts})
    assert main(["results", str(results.directory)]) == 0
    assert re.search(r"\d+ more warnings: -v", capsys.readouterr().out)
    assert main(["results", str(results.directory), "-v"]) == 0
    every = capsys.readouterr().out
    assert all(f"warning: {text}\n" in every for text in texts)
    assert "claims of the paper: " in every


def test_of_a_large_sweep_the_last_point_is_shown_and_how_to_see_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = results(tmp_path / "r", THREE, loads=tuple(n / 20 for n in range(1, 15)))
    assert main(["results", str(directory), "-v"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Shown is load.value = 0.7, the last of 14 sweep points" in shown
    assert "--point load.value=0.05" in shown
    assert main(["results", str(directory), "--point", "load.value=0.05", "--class", "all", "-v"]) == 0
    printed = capsys.readouterr().out
    # 1.097 ms at 0.8 is 68.6 us at 0.05.
    assert "68.6" in printed
    assert "whole runs" not in printed


def test_the_page_has_a_row_a_scheme_and_folds_all_points_of_a_long_sweep(tmp_path: Path) -> None:
    loads = tuple(n / 20 for n in range(1, 15))
    long = page_tables(overview(load(results(tmp_path / "long", THREE, loads=loads))), None)
    assert [len(table.rows) for table in long] == [3] * 3
    # Four of fourteen, a third of the sweep apart.
    assert long[0].points == ("load 0.05", "load 0.25", "load 0.5", "load 0.7")
    assert [len(table.every.rows) for table in long if table.every is not None] == [42] * 3
    assert {len(row.cells) for row in long[0].rows} == {4 * len(long[0].groups)}
    assert [table.is_open for table in long] == [True, False, False]
    short = page_tables(overview(load(results(tmp_path / "short", THREE, loads=(0.4, 0.8)))), "small")
    assert [(len(table.rows), table.points, table.every) for table in short] == [
        (3, ("load 0.4", "load 0.8"), None)
    ] * 3
    assert [table.heading.partition(":")[0] for table in short if table.is_open] == ["small"]


def test_csv_and_json_have_all_digits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = results(tmp_path / "r", THREE)
    assert main(["results", str(directory), "--csv", "--class", "small"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["class"], row["scheme"], row[factories.LOAD]) for row in rows] == [
        ("small", name, "0.8") for name in "abc"
    ]
    assert float(rows[0]["fct (s) high"]) == pytest.approx(0.00137586, rel=1e-4)
    assert main(["results", str(directory), "--json", "--scheme", "a"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert {row["scheme"] for row in read["rows"]} == {"a"}
    value = read["rows"][0]["values"]["fct"]
    assert (value["unit"], value["better"], value["seeds"]) == ("s", "less", {"1": 0.001, "2": 0.0011, "3": 0.0012})
    whole = overview(load(directory))
    assert len(as_csv(whole).splitlines()) == 1 + 3 * 3
    assert read["interval"]["contains"] == as_json(whole)["interval"]["contains"]


@pytest.mark.parametrize(
    ("narrowing", "says"),
    [
        ({"schemes": ["x"]}, "--scheme x: there is no such scheme in these results; one of a, b, c"),
        ({"classes": ["mice"]}, "--class mice: there is no such class in these results; one of all, small, run"),
        ({"point": [("value", "0.7")]}, f"--point value=0.7: no run has that value; {factories.LOAD} is 0.4, 0.8"),
        ({"point": [("fanin", "7")]}, f"--point fanin=7: no such key; one of {factories.LOAD}"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(tmp_path: Path, narrowing: dict[str, Any], says: str) -> None:
    view = overview(load(results(tmp_path / "r", THREE, loads=(0.4, 0.8))))
    with pytest.raises(InputError) as error:
        narrowed(view, **narrowing)
    assert str(error.value) == says


def test_recorded_flows_have_intervals_without_the_flows(tmp_path: Path) -> None:
    view = overview(load(results(tmp_path / "r", THREE)))
    assert view.drawn == "each seed draws new flows, paths, and ties"
    merged = factories.merged("a", 0.8)
    merged["group"][0]["app"] = "flows"
    view = overview(load(results(tmp_path / "recorded", THREE, merged=merged)))
    assert view.drawn.startswith("seeds change only paths and ties")


def test_schemes_of_one_directory_are_compared_by_seed_and_corrected_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = results(tmp_path / "r", THREE)
    comparison = compare_schemes(overview(load(directory)), "a", "b")
    won = {(contest.change.size_class, contest.change.metric) for contest in comparison.won(Winner.FIRST)}
    # a / b is 0.5, 0.5238 and 0.5455 by seed: geometric mean 0.52276, t = 25.8 on logarithms, p = 0.0015, times 8
    # metrics 0.012. Means, medians and tails are alike, and goodput is inverse.
    assert {("all", "fct"), ("small", "fct"), ("all", "goodput")} <= won
    first = next(contest for contest in comparison.contests if contest.change.metric == "fct")
    assert first.change.change == pytest.approx(-0.477242, rel=1e-5)
    # Slowdowns are the same in every seed: not tested.
    assert comparison.tested == 8
    assert not comparison.won(Winner.SECOND)
    assert main(["compare", str(directory), "--schemes", "a", "b", "-v"]) == 0
    shown = capsys.readouterr().out
    assert "Does a beat b? Of 8 metrics tested it is better in 8, worse in 0, and open in 0" in shown
    assert "the same" in shown
    assert main(["compare", str(directory), "--schemes", "b", "a", "--json", "--class", "all"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["tested"], {contest["better"] for contest in read["contests"]}) == (4, {"a", None})


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "give a second DIR, or --schemes A B"),
        (["--schemes", "a", "x"], "--schemes x: there is no such scheme"),
        (["--schemes", "a", "a"], "two different schemes"),
        (["DIR", "--schemes", "a", "b"], "leave the second DIR out"),
        (["DIR", "--class", "all"], "go with --schemes A B"),
    ],
)
def test_wrong_comparisons_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    directory = str(results(tmp_path / "r", THREE))
    assert main(["compare", directory, *(directory if word == "DIR" else word for word in arguments)]) == 2
    error = capsys.readouterr().err
    assert says.lower() in error.lower()
    assert error.count("\n") == 1
