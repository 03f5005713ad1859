"""Flows that `priolane advise` draws: from sizes and a load, or as an experiment starts them."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import advise_world
import priolane
from priolane import cli
from priolane.advice.fabric import read_fabric
from priolane.advice.goals import read_goals
from priolane.advice.traffic import LOAD, SIZES, Traffic
from priolane.model.definition import Experiment
from priolane.model.experiment import Options
from priolane.results.results import load

# Mean 10 kB: half of the flows have 5 kB, half 15 kB.
SIZES_CSV = "bytes,cdf\n5000,0.5\n5000,0.5\n15000,0.5\n15000,1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    advise_world.write(tmp_path, 1, 100, kernel_module=False, queues=2)
    (tmp_path / "sizes.csv").write_text(SIZES_CSV)
    return tmp_path


def test_drawn_flows_offer_the_load_with_the_sizes_that_are_stated(folder: Path) -> None:
    fabric = read_fabric(folder / "fabric.toml", None, None)
    goals, _ = read_goals(["p99.small < 1ms"])
    flows = Traffic(sizes=str(folder / "sizes.csv"), load=0.4).flows(fabric, goals)
    # 25 windows with 100 flows of at most 20 kB, which all flows are.
    assert len(flows) == 2500
    assert set(flows.sizes.tolist()) == {5000, 15000}
    # 12 hosts with 10 Gbit/s, in bytes a second. A Poisson process of 2500 arrivals varies by 1/sqrt(2500), 2 %.
    offered = flows.sizes.sum() / flows.span_s / (12 * 10e9 / 8)
    assert offered == pytest.approx(0.4, rel=0.1)
    again = Traffic(sizes=str(folder / "sizes.csv"), load=0.4).flows(fabric, goals)
    assert again.columns.keys() == flows.columns.keys()
    assert all(np.array_equal(of, again.columns[name]) for name, of in flows.columns.items())


def test_drawn_flows_span_windows_that_are_longer_than_the_largest_takes(folder: Path) -> None:
    # One flow in 1000 has 10 MB, which take 8 ms of 10 Gbit/s; goals of small flows alone would need 2500 flows. The
    # largest flows end in the list, which has 36 times as long.
    (folder / "sizes.csv").write_text("bytes,cdf\n5000,0.999\n5000,0.999\n10000000,0.999\n10000000,1\n")
    fabric = read_fabric(folder / "fabric.toml", None, None)
    goals, _ = read_goals(["p99.small < 1ms"])
    flows = Traffic(sizes=str(folder / "sizes.csv"), load=0.4).flows(fabric, goals)
    assert flows.sizes.max() == 10_000_000
    assert flows.span_s >= 0.9 * 36 * 8e-3


def test_what_is_not_stated_is_taken_from_what_is_published_and_named() -> None:
    nothing = Traffic()
    assert (nothing.name, Traffic(load=0.3).name) == (f"{SIZES}-{LOAD:g}", f"{SIZES}-0.3")
    assert any(f"published of {SIZES}" in line for line in nothing.assumed)
    assert any(f"hosts are offered {LOAD:g}" in line for line in nothing.assumed)
    stated = Traffic(sizes="data_mining", load=0.3).assumed
    assert len(stated) == 1
    assert "drawn, not recorded" in stated[0]
    assert Traffic(file=Path("flows.csv")).assumed == ()


EXPERIMENT = """
title = "Coflows"
schemes = ["newreno"]
time = { warmup = "0ms", measure = "20ms", drain = true }
[topology]
kind = "single_switch"
hosts = 12
host_link = { rate = "10Gbps", delay = "1us" }
[[group]]
name = "jobs"
hosts = "*"
app = "coflow"
sizes = "sizes.csv"
mappers = 2
reducers = 2
load = { of = "host", counts = "payload", value = 0.1 }
"""


def test_an_experiment_gives_the_flows_that_its_groups_start(folder: Path) -> None:
    path = folder / "jobs.toml"
    path.write_text(EXPERIMENT)
    fabric = read_fabric(folder / "fabric.toml", None, None)
    goals, _ = read_goals(["cct.all < 1ms"])
    flows = Traffic(file=path).flows(fabric, goals)
    lines = Experiment.load(path).core.drawn(Options().to_json()).splitlines()
    assert lines[0] == "start_ns,src,dst,bytes,group,coflow"
    assert flows.groups == ("jobs",)
    assert len(flows) == len(lines) - 1
    # Two senders and two receivers: four flows each.
    assert set(Counter(flows.columns["coflow"].tolist()).values()) == {4}


_BOUND = 0.02
TENANTS = """
title = "Answers and bulk"
schemes = ["newreno"]
time = { warmup = "0ms", measure = "60ms", drain = true }
[topology]
kind = "single_switch"
hosts = 12
host_link = { rate = "10Gbps", delay = "1us" }
[[group]]
name = "bulk"
hosts = "*"
app = "poisson"
sizes = "sizes.csv"
load = { of = "host", counts = "payload", value = 0.5 }
[[group]]
name = "answers"
hosts = "*"
app = "incast"
fan_in = 4
size = "6kB"
period = "400us"
deadline = "60us"
"""


@pytest.fixture
def tenants(folder: Path) -> Path:
    """A folder with an experiment of two tenants, one of which has deadlines, and a fabric with classes of both."""
    (folder / "tenants.toml").write_text(TENANTS)
    (folder / "sizes.csv").write_text("bytes,cdf\n60000,1\n60000,1\n")
    fabric = (folder / "fabric.toml").read_text(encoding="utf-8")
    stated = (
        fabric.split("[metrics]")[0] + '[metrics.classes]\nanswers = { group = "answers" }\nbulk = { group = "bulk" }\n'
    )
    (folder / "fabric.toml").write_text(stated)
    return folder


def test_a_tenant_with_deadlines_gets_a_queue_that_meets_them(tenants: Path) -> None:
    advice = priolane.advise(
        tenants / "tenants.toml",
        tenants / "fabric.toml",
        goals=["deadline_missed.answers < 2%", "goodput.bulk > 80%"],
        budget="6e6hops",
        out=tenants / "out",
    )
    answer = json.loads((tenants / "out" / "advice.json").read_text(encoding="utf-8"))
    # Four answers take 20 us of the receiver's line, a packet before them 1 us; in one queue, 60 kB take 50 us.
    missed = {entry["scheme"]: entry["metrics"]["deadline_miss_rate.answers"]["mean"] for entry in answer["ranking"]}
    assert missed[answer["chosen"]] <= _BOUND < 2 * _BOUND < missed["today"]
    assert answer["ranking"][0]["goals"]["deadline_missed.answers < 2%"].startswith("missed")
    assert advice.judging is not None
    names = {candidate.name for candidate in advice.judging.candidates}
    assert {"deadlines", "tenants2", "tenants2_wfq1"} <= names
    # The bound has no queues: 60 us are enough for each answer alone.
    assert answer["alone"]["deadline_miss_rate.answers"] == 0
    assert answer["sensitivity"][0]["refused"] is None, "20 % more load"
    results = load(tenants / "out" / "runs" / "judged")
    assert {group["name"] for group in results.experiment["group"]} == {"bulk", "answers"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--goal", "deadline_missed.mail < 5%"], "there is no class 'mail'; one of answers, bulk, all"),
        (["--goal", "deadline_missed.answers > 5%"], "deadline_missed should be small; write <"),
        (["--goal", "deadline_missed.answers < 5ms"], "unit 'ms' does not fit; one of '%', '% of best', 'x best'"),
    ],
)
def test_a_goal_of_a_tenant_that_cannot_be_is_refused(
    tenants: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    files = [str(tenants / "tenants.toml"), "--fabric", str(tenants / "fabric.toml"), "-o", str(tenants / "out")]
    assert cli.main(["advise", *files, *arguments]) == 2
    assert says in capsys.readouterr().err


def test_classes_of_unknown_tenants_and_deadlines_that_no_flow_has_are_refused(
    tenants: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--fabric", str(tenants / "fabric.toml"), "-o", str(tenants / "out")]
    assert cli.main(["advise", str(tenants / "flows.csv"), *files, "--goal", "p99.bulk < 1ms"]) == 2
    errors = capsys.readouterr().err
    assert "key `metrics.classes.answers.group`: no flow of" in errors
    assert "is of 'answers'. Use all." in errors
    text = (tenants / "tenants.toml").read_text(encoding="utf-8").replace('deadline = "60us"', "")
    (tenants / "tenants.toml").write_text(text)
    goal = ["--goal", "deadline_missed.answers < 5%"]
    assert cli.main(["advise", str(tenants / "tenants.toml"), *files, *goal]) == 2
    assert "tenants.toml has a deadline. Use a list with the column `deadline_ns`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["flows.csv", "--sizes", "web_search"], "--sizes: the flows are those of flows.csv. Use the file, or"),
        (["flows.csv", "--load", "0.5"], "--load: the flows are those of flows.csv. Use the file, or"),
        (["--sizes", "nobody"], "--sizes nobody: "),
        (["--sizes", "absent.csv"], "absent.csv"),
        (["flows.csv", "--goal", "cct.all < 1ms"], "flows.csv names no coflows. Use a list with the column `coflow`"),
        (["jobs.toml"], "jobs.toml"),
    ],
)
def test_bad_input_is_a_line_and_exit_2(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(folder)
    assert cli.main(["advise", *arguments, "--fabric", "fabric.toml", "-o", "out"]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1, errors
    assert says in errors
    # Files that the command made for itself are not the user's.
    assert "drawn.toml" not in errors
    assert not (folder / "out").exists()


def test_an_answer_for_sizes_and_a_load_says_what_was_assumed(folder: Path) -> None:
    advice = priolane.advise(
        None,
        folder / "fabric.toml",
        sizes=str(folder / "sizes.csv"),
        load=0.4,
        goals=["p99.small < 1us"],
        out=folder / "out",
    )
    answer = json.loads((folder / "out" / "advice.json").read_text(encoding="utf-8"))
    # 5 kB take 4 us: no run is needed to see that.
    assert answer["kind"] == advice.kind.value == "impossible"
    assert any("drawn, not recorded" in line for line in answer["assumed"])
    assert not any("published" in line for line in answer["assumed"])
