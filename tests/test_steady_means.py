"""Means of a steady state over seeds: in the overview, in verdicts, and in comparisons."""

import json

import numpy as np
import pytest

from priolane.comparison.results import compare
from priolane.execution.session import run
from priolane.report.overview import overview
from priolane.results.results import Results

QUEUE = """
title = "Equal flows at a load"
schemes = ["newreno", "ps"]
time = { start = "warm", warmup = "200us", measure = "2ms", arrivals = "continue" }
[topology]
kind = "single_switch"
hosts = 3
host_link = { rate = "10Gbps", delay = "1us" }
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = { csv = "sizes.csv", interpolation = "step" }
load = { of = "host", counts = "wire", value = 0.6 }
[metrics]
baseline = "newreno"
[[claim]]
section = "means"
says = "some mean"
bound = { of = "fct.all.newreno", above = 1e-9 }
[[claim]]
section = "means"
says = "some gain"
bound = { of = "gain.all.ps", above = 0.01 }
"""


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("steady")
    (folder / "sizes.csv").write_text("bytes,cdf\n30000,0\n30000,1\n", encoding="utf-8")
    (folder / "queue.toml").write_text(QUEUE, encoding="utf-8")
    return run(folder / "queue.toml", folder / "out", seeds=8, jobs=2)


def jackknife(results: Results, scheme: str) -> float:
    """The ratio of sums without its bias of first order, by the textbook."""
    steady = [record["steady"]["all"] for record in results.records.values() if record["scheme"] == scheme]
    arrivals = np.array([row["arrivals"] for row in steady], float)
    times = arrivals * np.array([row["mean_fct_s"] for row in steady])
    n = len(steady)
    assert n == 8
    without = np.array([np.log(np.delete(times, i).sum() / np.delete(arrivals, i).sum()) for i in range(n)])
    return float(np.exp(n * np.log(times.sum() / arrivals.sum()) - (n - 1) * without.mean()))


def test_all_that_is_printed_is_the_ratio_of_sums(queue: Results) -> None:
    wanted = jackknife(queue, "newreno")
    (row,) = [row for row in overview(queue).classes[0].rows if row.scheme == "newreno"]
    assert row.entries[0].estimate.mean == pytest.approx(wanted, rel=1e-9)
    report = json.loads((queue.directory / "report.json").read_text(encoding="utf-8"))
    mean, gain = (claim["points"][0]["measured"][0] for claim in report["claims"])
    assert mean["mean"] == pytest.approx(wanted, rel=1e-9)
    assert gain["mean"] == pytest.approx(wanted / jackknife(queue, "ps"), rel=1e-9)
    # The geometric mean of the runs' means is another number.
    means = [record["steady"]["all"]["mean_fct_s"] for record in queue.records.values()]
    assert abs(np.exp(np.mean(np.log(means))) / wanted - 1) > 1e-3


def test_comparisons_have_the_same_means(queue: Results) -> None:
    (change,) = [
        change
        for change in compare(queue, queue).changes
        if (change.scheme, change.size_class, change.metric) == ("newreno", "all", "mean_fct_s")
    ]
    assert change.first == pytest.approx(jackknife(queue, "newreno"), rel=1e-9)
