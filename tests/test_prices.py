"""Prices: promised rates and bills from a file, the optimum beside a convex solver, bad input."""

import json
from pathlib import Path
from typing import Any

import pytest

from priolane import cli
from priolane.model.definition import Experiment
from priolane.model.experiment import Options
from priolane.results import prices

PAYLOAD = 1460 / 1538

PARKING_LOT = """
title = "Two bottlenecks, three classes"
schemes = ["paccp"]
rates_every = "2ms"
time = { warmup = "4ms", measure = "16ms" }
price = { p0 = 1.0, p2 = 0.5 }

[topology]
kind = "leaf_spine"
leaves = 3
spines = 1
hosts_per_leaf = 4
host_link = { rate = "10Gbps", delay = "5us" }
fabric_link = { rate = "10Gbps", delay = "20us" }
paths = "pinned"

[[group]]
name = "plain"
hosts = "0-3"
app = "long_lived"
pairs = [{ src = 0, dst = 4 }, { src = 1, dst = 8 }, { src = 2, dst = 9 }]
size = "endless"

[[group]]
name = "paid"
hosts = "4-7"
app = "long_lived"
pairs = [{ src = 4, dst = 8 }, { src = 5, dst = 10, count = 2 }, { src = 6, dst = 0 }]
size = "endless"
w = 3
plan = "vbp"

[[group]]
name = "sure"
hosts = "8-11"
app = "long_lived"
pairs = [{ src = 8, dst = 5 }, { src = 3, dst = 11 }]
size = "endless"
theta = "4Gbps"
w = 1
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan with prices."""
    path = tmp_path / "plan.toml"
    path.write_text(PARKING_LOT, encoding="utf-8")
    return path


def _links(host: int, to: int) -> list[str]:
    return [f"h{host}", f"up{host // 4}", f"down{to // 4}", f"to{to}"]


ENDS = {0: 4, 1: 8, 2: 9, 4: 8, 5: 10, 6: 0, 8: 5, 3: 11}


def test_the_optimum_is_that_of_a_convex_solver(plan: Path) -> None:
    """Clarabel, by cvxpy: max sum of w c (log(z + 1) - z log(z / (z + 1))), z = x / c, c two packets a round trip."""
    cvxpy: Any = pytest.importorskip("cvxpy")
    (promise,) = prices.promised_rates(plan, Options())
    flows = promise["flows"]
    # A full packet and its ACK of 84 B, over 10 Gbps links of 5, 20, 20 and 5 us, four hops each way.
    rtt = 2 * 50e-6 + 4 * (1538 + 84) * 8 / 10e9
    knee = 2 * 1460 * 8 / rtt
    z = cvxpy.Variable(len(flows), nonneg=True)
    weights = [flow["w"] for flow in flows]
    utility = cvxpy.sum(cvxpy.multiply(weights, cvxpy.log1p(z) - cvxpy.rel_entr(z, z + 1)))
    shared: dict[str, list[int]] = {}
    for i, flow in enumerate(flows):
        for link in _links(flow["host"], ENDS[flow["host"]]):
            shared.setdefault(link, []).append(i)
    assert len(flows) == 9
    capacity = 10e9 * PAYLOAD / knee
    limits = [sum(z[flow] for flow in own) <= capacity for own in shared.values()]
    minima = [z[i] >= flow["theta_bps"] / knee for i, flow in enumerate(flows)]
    cvxpy.Problem(cvxpy.Maximize(utility), limits + minima).solve(solver=cvxpy.CLARABEL)
    best = [float(x) * knee for x in z.value]
    assert [flow["best_bps"] for flow in flows] == pytest.approx(best, rel=2e-4)


def test_a_machine_is_promised_its_weight_whatever_its_flows(plan: Path) -> None:
    """Host 4 has one flow of w = 3, host 5 two of w = 1.5 each."""
    (promise,) = prices.promised_rates(plan, Options())
    weights: dict[int, list[float]] = {flow["host"]: [] for flow in promise["flows"]}
    for flow in promise["flows"]:
        weights[flow["host"]].append(flow["w"])
    assert (weights[4], weights[5]) == ([3.0], [1.5, 1.5])
    assert promise["overbooked"] == []


def test_bills_of_a_plan(plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """20 ms: a best-effort machine 0.02; w = 3 with P1 = 0.6: 0.02 (1 + 1.2); 4 Gbps by the flow: 0.02 (0.5 * 4)."""
    assert cli.main(["price", str(plan), "-o", str(tmp_path / "out"), "--jobs", "1", "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)
    owed = {(row["group"], row["host"]): row["total"] for row in run["machines"]}
    assert owed["plain", 0] == pytest.approx(0.02)
    assert owed["paid", 7] == owed["paid", 4] == pytest.approx(0.044)
    assert [row["total"] for row in run["flows"]] == pytest.approx([0.04, 0.04])
    assert [row["flow"] is not None and row["plan"] for row in run["flows"]] == ["fbp", "fbp"]
    assert 0.5 < run["utility"] < 1.0
    got = [row for row in run["machines"] if row["rate_bps"]]
    assert len(got) == 8
    assert all(0 < row["rate_bps"] <= 10e9 * PAYLOAD for row in got)
    # The table says the same, and does not run again.
    assert cli.main(["price", str(plan), "-o", str(tmp_path / "out"), "--jobs", "1"]) == 0
    text = capsys.readouterr().out
    assert "0.044" in text
    assert "of the optimum's" in text


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('theta = "4Gbps"', 'theta = "40Gbps"', "above the link rate 10Gbps"),
        ("w = 3", "w = 0", "the weight 0 "),
        ("w = 3", "w = -2", "the weight -2 "),
        ("p0 = 1.0", "p0 = -1.0", "the price -1 "),
        ('hosts = "4-7"', 'hosts = ""', "not a host"),
        ("w = 3", 'w = 3\ncos = "GOLD"', "GOLD"),
        ('schemes = ["paccp"]', 'schemes = ["dctcp"]', "ignores"),
        ("price = {", "# price = {", "no [price]"),
    ],
)
def test_bad_input_is_one_message(
    plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, says: str
) -> None:
    """And exit code 2, and nothing is written."""
    assert old in PARKING_LOT
    plan.write_text(PARKING_LOT.replace(old, new, 1), encoding="utf-8")
    assert cli.main(["price", str(plan), "-o", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert not (tmp_path / "out").exists()


def test_overbooked_minima_are_promised_in_proportion(plan: Path) -> None:
    """Three flows of 4 Gbps into one host of 9.49 Gbps payload: a third of it each."""
    text = PARKING_LOT.replace("{ src = 3, dst = 11 }]", "{ src = 3, dst = 5 }, { src = 9, dst = 5 }]")
    plan.write_text(text, encoding="utf-8")
    (promise,) = prices.promised_rates(plan, Options())
    sure = [flow["promised_bps"] for flow in promise["flows"] if flow["group"] == "sure"]
    assert sure == pytest.approx([10e9 * PAYLOAD / 3] * 3, rel=1e-3)
    assert any("h5" in port for port in promise["overbooked"])


def test_p1_is_what_makes_price_follow_rate() -> None:
    """Ratios 1.6 and 2.8 at w = 2 and 4: P1 is 0.6 P0 by each, and so by the fit."""
    ratios = ((2.0, 1.6), (4.0, 2.8))
    results = [prices.WeightValue("paccp", w=w, load=0.8, ratio=r, p1=(r - 1) / (w - 1), seeds=1) for w, r in ratios]
    ((scheme, load, p1),) = prices.fitted_p1(results)
    assert (scheme, load) == ("paccp", 0.8)
    assert p1 == pytest.approx(0.6)


def test_promised_says_why_there_is_no_optimum(plan: Path) -> None:
    """A finite workload has none."""
    plan.write_text(PARKING_LOT.replace('"endless"', '"1MB"'), encoding="utf-8")
    (promise,) = json.loads(Experiment.load(plan).core.promised(Options().to_json()))
    assert promise["flows"] == []
    assert "endless" in promise["reason"]
