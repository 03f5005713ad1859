"""Points of a sweep that change nothing for a scheme are one run of it, which counts at each of them."""

from pathlib import Path

import priolane
from smoke import write_experiment

# PIAS alone has another timeout at the second point.
SWEEP = """
[[sweep.timeout]]
label = 1

[[sweep.timeout]]
label = 2
"scheme.pias.transport.min_rto" = "20ms"

[[claim]]
section = "ours"
says = "DCTCP does not depend on the timeout of PIAS"
at = { timeout = 1 }
bound = { of = { metric = "fct.all.dctcp", at = { timeout = 2 } }, over = "fct.all.dctcp", above = 0.99, below = 1.01 }
"""


def test_points_that_are_alike_for_a_scheme_share_its_runs(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, measure="1ms")
    experiment.write_text(experiment.read_text(encoding="utf-8") + SWEEP, encoding="utf-8")
    results = priolane.run(experiment, tmp_path / "out", jobs=2)
    ids = {(run.scheme, run.point["timeout"], run.seed): run.id for run in results.runs}
    assert len(ids) == 8
    assert all(ids["dctcp", 1, seed] == ids["dctcp", 2, seed] for seed in (1, 2))
    assert all(ids["pias", 1, seed] != ids["pias", 2, seed] for seed in (1, 2))
    assert len(results.records) == len(set(ids.values())) == 6
    summary = results.to_pandas(scheme="dctcp", point={"timeout": 2})
    assert set(summary["timeout"]) == {2}
    assert len(summary[summary["class"] == "all"]) == 2
    flows = results.flows(scheme="dctcp", point={"timeout": 1})
    assert results.flows(scheme="dctcp").num_rows == 2 * flows.num_rows > 0
    (ratio,) = results.report.claims[-1].contrasts
    assert ratio.estimate.mean == 1
