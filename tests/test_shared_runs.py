"""Points of a sweep that change nothing for a scheme are one run of it, which counts at each of them."""

from pathlib import Path

import priolane

EXPERIMENT = """
title = "One of two schemes hears of the sweep"
schemes = ["none", "size2"]
seeds = 2
time = { flows = 40, limit = "50ms" }

[topology]
kind = "single_switch"
hosts = 4
host_link = { rate = "10Gbps", delay = "1us" }

[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.5 }

[scheme.none]
base = "dctcp"

[scheme.size2]
base = "dctcp"
assign = { kind = "equal_bytes", levels = 2, from = "all" }
port = { kind = "strict", queues = 2 }

[[sweep.error]]
label = 1

[[sweep.error]]
label = 64
"scheme.size2.assign.error" = 64

[[claim]]
section = "ours"
says = "who goes by nothing hears of no error"
at = { error = 1 }
bound = { of = { metric = "fct.all.none", at = { error = 64 } }, over = "fct.all.none", above = 0.99, below = 1.01 }
"""


def test_points_that_are_alike_for_a_scheme_share_its_runs(tmp_path: Path) -> None:
    experiment = tmp_path / "shared.toml"
    experiment.write_text(EXPERIMENT, encoding="utf-8")
    results = priolane.run(experiment, tmp_path / "out", jobs=2)
    ids = {(run.scheme, run.point["error"], run.seed): run.id for run in results.runs}
    assert len(ids) == 8
    assert all(ids["none", 1, seed] == ids["none", 64, seed] for seed in (1, 2))
    assert all(ids["size2", 1, seed] != ids["size2", 64, seed] for seed in (1, 2))
    assert len(results.records) == len(set(ids.values())) == 6
    summary = results.to_pandas(scheme="none", point={"error": 64})
    assert set(summary["error"]) == {64}
    assert len(summary[summary["class"] == "all"]) == 2
    assert results.flows(scheme="none").num_rows == 2 * 2 * 40
    (claim,) = results.report.claims
    (ratio,) = claim.contrasts
    assert ratio.estimate.mean == 1
