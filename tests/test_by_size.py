"""Panels by flow size: the bins, values, and axes of a real run, worked out again by numpy from its table of flows."""

import numpy as np
import pytest

import priolane
from priolane.report.write import write_report
from priolane.results.results import Results

EXPERIMENT = """
title = "Slowdown by size"
schemes = ["dctcp", "nos2"]
seeds = 3
time = { measure = "60ms" }

[topology]
kind = "single_switch"
hosts = 8
host_link = { rate = "10Gbps", delay = "1us" }

[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.5 }

[metrics]
classes = { small = { below = "1MB" } }

[[panel]]
title = "p95"
kind = "line"
by = "size"
metric = "slowdown_p95.small"

[[panel]]
title = "mean"
kind = "line"
by = "size"
metric = "fct.small"
x_label = "size of web flows (B)"
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("by_size")
    (folder / "x.toml").write_text(EXPERIMENT, encoding="utf-8")
    return priolane.run(folder / "x.toml", folder / "runs")


@pytest.mark.parametrize("nth", [0, 1])
def test_marks_are_the_statistic_of_the_flows_between_quantiles_of_size(results: Results, nth: int) -> None:
    table = results.flows().to_pandas()
    table = table[table["measured"] & table["fct_ps"].notna() & (table["bytes"] < 1_000_000)]
    sizes = np.sort(table["bytes"].to_numpy())
    panel = results.report.panels[nth]
    assert [curve.scheme for curve in panel.series] == ["dctcp", "nos2"]
    # Enough flows for eight bins: 20 a bin of the scheme with fewer of them.
    assert table.groupby("scheme").size().min() > 8 * 20
    starts = [sizes[len(sizes) * cut // 8] for cut in range(8)]
    assert len(set(starts)) == 8
    for series in panel.series:
        own = table[table["scheme"] == series.scheme]
        assert len(series.marks) == 8
        for mark, low, high in zip(series.marks, starts, [*starts[1:], np.inf], strict=True):
            flows = own[(own["bytes"] >= low) & (own["bytes"] < high)]
            between = sizes[(sizes >= low) & (sizes < high)]
            assert mark.x == np.quantile(between, 0.5, method="inverted_cdf")
            p95 = np.quantile(flows["slowdown"], 0.95, method="inverted_cdf")
            expected = flows["fct_ps"].mean() / 1e12 if nth else p95
            of_mark = mark.estimate
            assert of_mark.mean == pytest.approx(expected, rel=1e-9)
            assert of_mark.seeds == 3
            assert of_mark.low is not None
            assert of_mark.high is not None
            assert of_mark.mean is not None
            assert of_mark.low < of_mark.mean < of_mark.high


def test_the_axis_is_the_flow_size_in_decades(results: Results) -> None:
    tail, mean = results.report.panels
    assert (tail.x_label, tail.log_x) == ("flow size (B), log scale", True)
    assert (mean.x_label, mean.log_x) == ("size of web flows (B)", True)
    page = write_report(results).read_text(encoding="utf-8")
    assert page.count("flow size") >= 2
