"""Runs in which only the groups of a class send, beside those of a grid."""

import json
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import priolane
from priolane._core import InputError
from priolane.cli import main

JOBS = """
title = "Two jobs"
schemes = ["dctcp"]
seeds = 2
time = { measure = "20ms" }
topology = { kind = "single_switch", hosts = 6, host_link = { rate = "10Gbps", delay = "1us" } }
metrics.classes = { a = { group = "a" }, b = { group = "b" } }

[[group]]
name = "a"
hosts = "0-3"
app = "collective"
operation = "all_reduce"
size = "20kB"
iterations = 2

[[group]]
name = "b"
hosts = "2-5"
app = "collective"
operation = "all_reduce"
size = "20kB"
iterations = 2

[[claim]]
says = "beside the other, a job takes longer"
bound = { of = "job_over_alone.a.dctcp", above = 1 }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "x.toml"
    path.write_text(JOBS, encoding="utf-8")
    return path


@pytest.mark.parametrize("how", ["in turn", "side by side", "elsewhere"])
def test_the_runs_alone_are_carried_out_beside_the_grid(how: str, file: Path, tmp_path: Path) -> None:
    if how == "elsewhere":
        with ProcessPoolExecutor(1) as pool:
            results = priolane.run(file, tmp_path / "out", on=pool)
    else:
        results = priolane.run(file, tmp_path / "out", jobs=1 if how == "in turn" else 2)
    assert (len(results.runs), len(results.alone), results.missing()) == (2, 2, [])
    assert len(results.records) == 2, "tables and summaries are those of the grid"
    job = [
        json.loads((tmp_path / "out" / run.id / "run.json").read_text(encoding="utf-8"))["jobs"]["a"]["time_s"]
        for run in (*results.runs, *results.alone)
    ]
    ratios = [job[0] / job[2], job[1] / job[3]]
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    (measured,) = report["claims"][0]["points"][0]["measured"]
    # The mean over seeds is geometric.
    assert measured["mean"] == pytest.approx((ratios[0] * ratios[1]) ** 0.5)
    assert all(ratio > 1.05 for ratio in ratios), ratios


def test_a_run_alone_that_is_gone_is_missing_and_made_again(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    results = priolane.run(file, out)
    gone = results.alone[1].id
    shutil.rmtree(out / gone)
    with pytest.raises(InputError, match="3 of 4 runs are there and no report yet"):
        _ = priolane.load(out).report
    assert [run.id for run in priolane.load(out).missing()] == [gone]
    assert priolane.run(file, out).missing() == []
    moved = tmp_path / "moved"
    shutil.move(out, moved)
    assert priolane.load(moved).missing() == []


def test_check_and_plan_count_the_runs_alone(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned = priolane.plan(file)
    assert len(planned.costs) == len(planned.all_runs) == 4
    # Half of the flows, and no more than half of the cost.
    assert planned.costs[2] < 0.6 * planned.costs[0]
    assert priolane.check(file)["alone"] == 2
    assert main(["check", str(file)]) == 0
    assert "2 runs (1 scheme, 2 seeds), 2 of groups alone" in " ".join(capsys.readouterr().out.split())
    file.write_text(JOBS.partition("[[claim]]")[0], encoding="utf-8")
    assert priolane.plan(file).alone == ()
    assert main(["check", str(file)]) == 0
    assert "alone" not in capsys.readouterr().out.partition("\n")[0]
