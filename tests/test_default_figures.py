"""Figures of experiments without panels, from flows whose bins and quantiles are worked out by hand."""

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_over_time import US, port, write_series

import factories
from priolane._core import InputError
from priolane.report.default_figures import DefaultFigure, default_figures, drawn_points, pooled_quantile
from priolane.report.over_time import over_time
from priolane.report.overview import overview
from priolane.report.write import write_report
from priolane.results.results import Results, load

Flow = tuple[int, float | None]
Flows = Sequence[Flow]


def write_flows(
    results: Results, scheme: str, seed: int, flows: Flows, *, timeouts: int = 0, load: float = 0.8
) -> None:
    """Gives the run of a scheme and seed at a load flows of (bytes, slowdown), each 1 ms long if it is alone."""
    run = next(run for run in results.select(scheme, {factories.LOAD: load}) if run.seed == seed)
    directory = results.directory / run.id
    bare = 10**9
    fct = [None if slowdown is None else round(slowdown * bare) for _, slowdown in flows]
    table = {
        "flow": pa.array(range(len(flows)), pa.uint32()),
        "src": pa.array([0] * len(flows), pa.uint32()),
        "dst": pa.array([1] * len(flows), pa.uint32()),
        "bytes": pa.array([size for size, _ in flows], pa.uint64()),
        "fct_ps": pa.array(fct, pa.uint64()),
        "bare_fct_ps": pa.array([bare] * len(flows), pa.uint64()),
        "slowdown": pa.array([slowdown for _, slowdown in flows], pa.float64()),
        "timeouts": pa.array([timeouts] * len(flows), pa.uint32()),
        "measured": pa.array([True] * len(flows), pa.bool_()),
    }
    pq.write_table(pa.table(table), directory / "flows.parquet")
    factories.edit(directory / "run.json", lambda record: record | {"files": factories.files(directory)})


@pytest.fixture
def bare(tmp_path: Path) -> Results:
    """Results of an experiment that states no panel."""
    return load(factories.make_results(tmp_path / "grid", panels=0))


def figures(results: Results) -> dict[str, DefaultFigure]:
    read = load(results.directory)
    return {
        default_figure.panel.title: default_figure
        for default_figure in default_figures(read, overview(read), over_time(read))
    }


P99, P50, FCT = "Slowdown by flow size, 99th percentile", "Slowdown by flow size, median", "Flow completion times"


def test_bins_have_equal_numbers_of_flows_and_their_quantiles(bare: Results) -> None:
    # 200 flows of 1 to 200 kB in two seeds, the slowdown of flow n is n: two bins of 100 flows for the 99th
    # percentile, of which the 99th value counts; eight bins of 25 flows for the median, the 13th value.
    flows = [(1000 * nth, float(nth)) for nth in range(1, 201)]
    for scheme in factories.SCHEMES:
        write_flows(bare, scheme, 1, flows[::2])
        write_flows(bare, scheme, 2, flows[1::2])
    result = figures(bare)
    tail = result[P99].panel.series[0].marks
    assert [mark.estimate.mean for mark in tail] == [99.0, 199.0]
    assert [mark.x for mark in tail] == [50_500.0, 150_500.0]
    median = result[P50].panel.series[0].marks
    assert [mark.estimate.mean for mark in median] == [25.0 * nth + 13 for nth in range(8)]
    # Two seeds have no interval.
    assert {mark.estimate.low for mark in (*tail, *median)} == {None}
    assert (result[P99].point, result[P99].others) == ("load 0.8", ())


def test_figures_of_flows_are_of_each_point_of_a_short_sweep(bare: Results) -> None:
    # The slowdown of all flows is 2 at load 0.5, and 3 at 0.8.
    for at_load, slowdown in ((0.5, 2.0), (0.8, 3.0)):
        for scheme in factories.SCHEMES:
            for seed in factories.SEEDS:
                write_flows(bare, scheme, seed, [(1000 * nth, slowdown) for nth in range(1, 101)], load=at_load)
    result = figures(bare)
    for name in (P99, P50):
        at = {
            at_all_point.point: {mark.estimate.mean for mark in at_all_point.panel.series[0].marks}
            for at_all_point in result[name].at_all_points
        }
        assert at == {"load 0.5": {2.0}, "load 0.8": {3.0}}
    assert [at_all_point.number for at_all_point in result[FCT].at_all_points] == [0, 1]
    page = write_report(load(bare.directory)).read_text(encoding="utf-8")
    assert page.count('data-point="0"') == page.count('data-at="0"') == 3
    # Without scripts the last point is shown, and no button.
    assert page.count('<div data-at="0" hidden="">') == page.count('<div data-at="1">') == 3
    assert page.count('aria-label="Point of the sweep" hidden=""') == 3


def test_a_long_sweep_is_drawn_at_its_first_middle_and_last_point() -> None:
    assert [drawn_points(count) for count in range(4)] == [[], [0], [0, 1], [0, 1, 2]]
    assert [drawn_points(count) for count in (4, 5, 8)] == [[0, 1, 3], [0, 2, 4], [0, 3, 7]]


def test_flows_of_one_size_are_one_bin(bare: Results) -> None:
    flows = [(1000, float(nth)) for nth in range(1, 201)]
    for scheme in factories.SCHEMES:
        write_flows(bare, scheme, 1, flows[::2])
        write_flows(bare, scheme, 2, flows[1::2])
    (mark,) = figures(bare)[P50].panel.series[0].marks
    assert (mark.x, mark.estimate.mean) == (1000.0, 100.0)


def test_few_flows_have_no_tail(bare: Results) -> None:
    for scheme in factories.SCHEMES:
        write_flows(bare, scheme, 1, [(1000 * nth, 1.0 + nth) for nth in range(1, 12)])
        write_flows(bare, scheme, 2, [])
    result = figures(bare)
    assert P99 not in result
    assert [mark.estimate.mean for mark in result[P50].panel.series[0].marks] == [7.0]


def test_flows_that_did_not_finish_are_beyond_all_times(bare: Results) -> None:
    # 8 of 10 flows finish, within 2 to 9 ms: 80 % within 9 ms, and no time has 82 %.
    flows: list[Flow] = [(1000, float(nth)) for nth in range(2, 10)]
    for scheme in factories.SCHEMES:
        write_flows(bare, scheme, 1, [*flows, (1000, None), (1000, None)])
        write_flows(bare, scheme, 2, [])
    marks = figures(bare)[FCT].panel.series[0].marks
    times = {mark.estimate.mean: mark.x for mark in marks}
    assert times[0.5] == pytest.approx(6e-3)
    assert times[0.8] == pytest.approx(9e-3)
    assert max(share for share in times if share is not None) == 0.8


def test_a_dotted_line_is_where_a_flow_waits_for_one_timeout(bare: Results) -> None:
    def with_timeout(record: dict[str, Any]) -> dict[str, Any]:
        merged = record["merged"]
        merged["scheme"][record["scheme"]]["transport"]["initial_rto"] = "10ms"
        return record | {"merged": merged}

    flows: list[Flow] = [(1000 * nth, 2.0) for nth in range(1, 251)]
    for scheme in factories.SCHEMES:
        for seed in factories.SEEDS:
            write_flows(bare, scheme, seed, flows)
    for run in bare.runs:
        factories.edit(bare.directory / run.id / "run.json", with_timeout)
    # Nothing timed out: the line would say nothing.
    assert figures(bare)[P99].guides == ()
    write_flows(bare, "pias", 1, flows, timeouts=1)
    tail = figures(bare)[P99]
    (guide,) = tail.guides
    # 10 ms and the 1 ms of each flow alone.
    assert [y for _, y in guide.points] == [11.0] * 5
    assert [x for x, _ in guide.points] == [mark.x for mark in tail.panel.series[0].marks]
    assert "10\u202fms" in guide.text
    # It is above the frame.
    assert guide.text not in write_report(load(bare.directory)).read_text(encoding="utf-8")
    write_flows(bare, "pias", 1, [(size, 20.0) for size, _ in flows], timeouts=1)
    page = write_report(load(bare.directory)).read_text(encoding="utf-8")
    # Its text stands in the legend, where no curve is, and in neither drawing.
    assert page.count(f"</svg>{guide.text}</li>") == 1
    assert page.count(guide.text) == 1
    assert [line.x for line in figures(bare)[FCT].lines] == [0.01]


def test_the_interval_of_a_quantile_is_the_bootstrap_over_seeds() -> None:
    draw = random.Random(5)  # noqa: S311 - no secret
    by_seed = [np.sort(np.array([draw.lognormvariate(seed / 10, 1) for _ in range(200)])) for seed in range(8)]
    result = pooled_quantile(by_seed, 0.99)
    everything = np.sort(np.concatenate(by_seed))
    assert result.mean == everything[math.ceil(0.99 * 1600) - 1]
    # The same by drawing values themselves, with other random numbers and ten times as often.
    again = np.random.default_rng(1)
    plain = [
        float(
            np.quantile(np.concatenate([by_seed[nth] for nth in again.integers(0, 8, 8)]), 0.99, method="inverted_cdf")
        )
        for _ in range(2000)
    ]
    low, high = np.quantile(plain, [0.025, 0.975])
    assert result.low == pytest.approx(low, rel=0.1)
    assert result.high == pytest.approx(high, rel=0.1)
    assert pooled_quantile(by_seed, 0.99) == result
    assert pooled_quantile(by_seed[:4], 0.99).low is None


def test_thinning_long_lists_moves_a_quantile_by_a_part_in_a_thousand_of_ranks_at_most() -> None:
    # Of 0 to 1 in equal steps the quantile is its own share; all seeds are equal, so that the interval is a point.
    by_seed = [np.linspace(0, 1, 200_000) for _ in range(5)]
    result = pooled_quantile(by_seed, 0.99)
    assert result.mean == pytest.approx(0.99, abs=1e-5)
    assert (result.low, result.high) == pytest.approx((0.99, 0.99), abs=1.1e-3)


def test_goodput_over_the_sweep_is_that_of_the_table(bare: Results) -> None:
    def with_goodput(record: dict[str, Any]) -> dict[str, Any]:
        summary = record["summary"]
        summary["all"]["goodput_bps"] = 1e9 * record["seed"] * (1 + record["point"][factories.LOAD])
        return record | {"summary": summary}

    for run in bare.runs:
        factories.edit(bare.directory / run.id / "run.json", with_goodput)
    panel = figures(bare)["Goodput of a flow"].panel
    assert (panel.kind, panel.x_label, panel.y_label) == ("line", "load (part of capacity)", "goodput (Gbit/s)")
    (first, second) = panel.series[0].marks
    assert (first.x, second.x) == (0.5, 0.8)
    # Geometric means of seeds 1 and 2: the root of 2 times 1.5, and times 1.8.
    assert first.estimate.mean == pytest.approx(1.5 * math.sqrt(2))
    assert second.estimate.mean == pytest.approx(1.8 * math.sqrt(2))


def test_the_longest_queue_has_a_strip_for_each_scheme_and_is_drawn_once(bare: Results) -> None:
    # Bins of four instants: 90 kB at one of them is the longest queue of the first bin.
    for scheme, queued in (("nos2", 90_000.0), ("pias", 50_000.0)):
        write_series(bare, scheme, 1, [*port(10, "s0->h1", queued, 1), *port(20, "s0->h2", 1, 1)], 4001 * US)
    figure = figures(bare)["Longest queue over time"]
    assert [series.label for series in figure.panel.series] == ["nos2", "pias"]
    assert [series.marks[0].estimate.mean for series in figure.panel.series] == [90.0, 50.0]
    assert figure.panel.y_label == "longest queue (kB)"
    assert figure.caption.startswith("s0->h1, the switch port with the most bytes waiting")
    page = write_report(load(bare.directory)).read_text(encoding="utf-8")
    assert "s0-&gt;h1: bytes waiting" not in page
    assert "s0-&gt;h1: rate of bytes sent" in page


def test_a_page_without_panels_has_the_figures_by_default_with_their_csv(bare: Results) -> None:
    flows: list[Flow] = [(1000 * nth, 1.0 + nth / 100) for nth in range(1, 201)]
    for scheme in factories.SCHEMES:
        for seed in factories.SEEDS:
            write_flows(bare, scheme, seed, flows)
    page = write_report(load(bare.directory)).read_text(encoding="utf-8")
    assert "The experiment states no [[panel]]: these are the figures by default." in page
    # The fourth one is of claims.
    assert page.count('<figure class="figure') == 4
    assert page.count('<figure class="figure hero"') == 1
    assert {path.name for path in (bare.directory / "figures").glob("panel-*")} == {
        f"panel-{nth}.{ending}" for nth in (1, 2, 3) for ending in ("csv", "svg")
    }


def test_a_report_with_panels_has_no_figures_by_default(tmp_path: Path) -> None:
    results = load(factories.make_results(tmp_path / "grid", panels=1))
    assert "by default" not in write_report(results).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("column", "values", "says"),
    [
        ("slowdown", pa.array(["1", "2"]), "it has no column 'slowdown' of flows"),
        ("slowdown", pa.array([float("nan"), 1.0]), "the column 'slowdown' has a value that no flow has"),
        ("bytes", pa.array([0, 5], pa.uint64()), "the column 'bytes' has a value that no flow has"),
        ("measured", None, "damaged"),
    ],
    ids=["texts", "not_a_number", "no_bytes", "no_column"],
)
def test_a_damaged_table_of_flows_is_refused_in_one_line(
    bare: Results, column: str, values: pa.Array | None, says: str
) -> None:
    run = next(iter(bare.select("nos2", {factories.LOAD: 0.8})))
    directory = bare.directory / run.id
    write_flows(bare, "nos2", run.seed, [(1000, 1.0), (2000, 2.0)])
    table = pq.read_table(directory / "flows.parquet").drop_columns([column])
    pq.write_table(table if values is None else table.append_column(column, values), directory / "flows.parquet")
    factories.edit(directory / "run.json", lambda record: record | {"files": factories.files(directory)})
    with pytest.raises(InputError, match="damaged") as refused:
        write_report(load(bare.directory))
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
