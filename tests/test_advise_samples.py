"""The values that `priolane advise` reads from runs, against the summaries that the simulator makes of them."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import advise_runs
from advise_runs import CANDIDATES, WINDOWS, World
from priolane.advice.bounds import alone, by_links
from priolane.advice.goals import Goal, read_goals
from priolane.advice.samples import Trial, percentile, read_trial
from priolane.advice.windows import Windows
from priolane.results.results import Results
from priolane.storage.parquet_table import read_parquet

CLASSES = ("all", "small", "bulk", "web")

# Its fixtures are made once, by one worker.
pytestmark = pytest.mark.xdist_group("advise_samples")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return advise_runs.world(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="module")
def whole(world: World) -> Results:
    """The runs of all candidates on the whole list."""
    return world.run("whole", Windows.over(world.flows, WINDOWS), list(CANDIDATES))


@pytest.fixture(scope="module")
def trials(world: World, whole: Results) -> dict[str, Trial]:
    windows = Windows.over(world.flows, WINDOWS)
    experiment = world.experiment("whole", windows)
    content = experiment.read(whole, list(CANDIDATES), advise_runs.goals(CLASSES), windows)
    return {name: of[1] for name, of in content.items()}


def _record(results: Results, scheme: str) -> dict[str, Any]:
    (run,) = [run for run in results.runs if run.scheme == scheme]
    return dict(results.records[run.id])


def _stated(record: dict[str, Any], goal: Goal) -> float | None:
    table = record["coflows"] if goal.quantity.is_of_coflows else record["summary"]
    value = table[goal.size_class][goal.quantity.key]
    return None if value is None else goal.quantity.factor * float(value)


@pytest.mark.parametrize("scheme", list(CANDIDATES))
def test_values_of_a_whole_run_are_those_of_its_summary(whole: Results, trials: dict[str, Trial], scheme: str) -> None:
    record = _record(whole, scheme)
    compared = 0
    for goal in advise_runs.goals(CLASSES):
        value, stated = trials[scheme].values[goal.name], _stated(record, goal)
        # A window without a flow of the class leaves no value to read, and only so.
        if value is None:
            assert stated is None or goal.quantity.is_of_coflows, goal.name
            continue
        own = value.all if goal.quantity.is_part else math.exp(value.all)
        assert own == pytest.approx(stated, rel=1e-9), goal.name
        compared += 1
    assert compared >= 40
    assert trials[scheme].hops == record["counters"]["packet_hops"]
    assert trials[scheme].offered == record["load"]["offered_host"]


def test_the_run_has_what_may_go_wrong(whole: Results, trials: dict[str, Trial]) -> None:
    record = _record(whole, "newreno")
    assert record["counters"]["timeouts"] > 20
    assert 0.05 < record["summary"]["web"]["deadline_miss_rate"] < 0.95
    assert 0 < trials["newreno"].timed_out["all"] <= 1


def _table(whole: Results, scheme: str, columns: list[str]) -> pa.Table:
    (run,) = [run for run in whole.runs if run.scheme == scheme]
    return read_parquet(whole.checked(run.id, "flows.parquet"), columns)


def test_each_window_is_left_out_of_a_value_once(world: World, whole: Results, trials: dict[str, Trial]) -> None:
    windows = Windows.over(world.flows, WINDOWS)
    rows = _table(whole, "dctcp", ["start_ps", "fct_ps", "bytes", "group"]).to_pylist()
    value = trials["dctcp"].values["fct_p95.small"]
    assert value is not None
    for number in range(WINDOWS + 1):
        times = sorted(
            row["fct_ps"] * 1e-12
            for row in rows
            if row["bytes"] < 30_000
            and windows.length_ns * 1000 <= row["start_ps"] < windows.end_ns * 1000
            and row["start_ps"] // (windows.length_ns * 1000) != (number or None)
        )
        # The smallest that at least 95 % do not exceed.
        nearest = next(time for time in times if sum(other <= time for other in times) >= 0.95 * len(times))
        assert math.exp(value.values[number]) == pytest.approx(nearest)


@pytest.mark.parametrize("count", [1, 3])
def test_a_prefix_gives_its_flows_the_times_that_the_whole_list_does(world: World, whole: Results, count: int) -> None:
    windows = Windows.over(world.flows, WINDOWS)
    prefix = world.run(f"first{count}", windows.first(count), ["dctcp", "tenants"])
    end_ps = windows.first(count).end_ns * 1000
    assert end_ps < world.flows.span_ns * 1000
    for scheme in ("dctcp", "tenants"):
        columns = ["start_ps", "group", "src", "dst", "bytes", "measured", "fct_ps", "timeouts", "bare_fct_ps"]
        both = [
            sorted(
                tuple(row.values())
                for row in _table(part_of, scheme, columns).to_pylist()
                if windows.length_ns * 1000 <= row["start_ps"] < end_ps
            )
            for part_of in (prefix, whole)
        ]
        assert both[0] == both[1]
        assert len(both[0]) > 100
        # It takes less: that is what the race spares.
        hops = [_record(part_of, scheme)["counters"]["packet_hops"] for part_of in (prefix, whole)]
        assert hops[0] < hops[1]


def test_no_goal_that_a_run_meets_is_proved_impossible(world: World, trials: dict[str, Trial]) -> None:
    proved = 0
    for goal in advise_runs.goals(CLASSES):
        for scheme in CANDIDATES:
            value, bare = trials[scheme].values[goal.name], trials[scheme].bare
            if value is None or not value.is_finite:
                continue
            own = value.all if goal.quantity.is_part else math.exp(value.all)
            bound = own * (0.999 if goal.quantity.is_large_good else 1.001)
            met = replace(goal, bound=bound, against=None)
            if own > 0:
                assert alone([met], bare) == (), goal.name
                assert by_links([met], world.flows, world.fabric) == (), goal.name
        factor = 1e-3 if not goal.quantity.is_large_good else 1e3
        far = replace(goal, bound=goal.bound * factor, against=None)
        proved += bool(by_links([far], world.flows, world.fabric))
    assert proved >= 8


def test_no_value_is_better_than_each_flow_alone(trials: dict[str, Trial]) -> None:
    for goal in advise_runs.goals(CLASSES):
        for trial in trials.values():
            value, bare = trial.values[goal.name], trial.bare[goal.name]
            if value is not None and bare is not None:
                worse = value.all - bare.all
                assert (-worse if goal.quantity.is_large_good else worse) >= -1e-9, goal.name


_COLUMNS = {
    "group": pa.string(),
    "bytes": pa.int64(),
    "start_ps": pa.int64(),
    "fct_ps": pa.int64(),
    "bare_fct_ps": pa.int64(),
    "deadline_ps": pa.int64(),
    "timeouts": pa.int64(),
    "measured": pa.bool_(),
    "coflow": pa.int64(),
}


def _made(rows: list[dict[str, Any]], *goals: str) -> Trial:
    """The trial of a run with these flows, on five windows of 1 us."""
    plain = {"group": "all", "bytes": 1000, "bare_fct_ps": 100, "timeouts": 0, "measured": True}
    table = pa.Table.from_pylist([{**plain, **row} for row in rows], schema=pa.schema(list(_COLUMNS.items())))
    record = {"counters": {"packet_hops": 7}, "load": {"offered_host": None}}
    return read_trial(table, record, read_goals(goals)[0], {"few": {"below": "10B"}}, Windows(1000, 5))


def _each_window(**columns: Any) -> list[dict[str, Any]]:
    return [{"start_ps": nth * 1_000_000, "fct_ps": 500, **columns} for nth in range(6)]


def test_a_flow_that_did_not_finish_is_endless_and_late() -> None:
    rows = [*_each_window(deadline_ps=10**9), {"start_ps": 3_500_000, "fct_ps": None, "deadline_ps": 10**9}]
    result = _made(rows, "p50.all < 1ms", "goodput.all > 1Gbps", "deadline_missed.all < 5%")
    endless, goodput, late = (result.values[name] for name in ("fct_p50.all", "goodput.all", "deadline_miss_rate.all"))
    assert endless is not None
    assert goodput is not None
    assert late is not None
    assert (endless.all, goodput.all) == (math.inf, -math.inf)
    # One of the six flows that start after the first window.
    assert late.all == pytest.approx(1 / 6)
    assert result.longest_s["fct_p50.all"] == math.inf
    assert (result.offered, result.hops) == (0.0, 7)


def test_flows_of_the_first_window_and_unmeasured_ones_are_not_read() -> None:
    rows = _each_window()
    rows[0]["fct_ps"] = 10**9
    result = _made([*rows, {"start_ps": 3_500_000, "fct_ps": 10**9, "measured": False}], "mean.all < 1ms")
    value = result.values["fct.all"]
    assert value is not None
    assert np.exp(value.values) == pytest.approx([5e-10] * 6)


def test_a_class_that_one_window_alone_has_gives_no_value() -> None:
    rows = [*_each_window(), {"start_ps": 3_500_000, "fct_ps": 500, "bytes": 5}]
    assert _made(rows, "mean.few < 1ms").values["fct.few"] is None
    more = [*rows, {"start_ps": 4_500_000, "fct_ps": 500, "bytes": 5}]
    assert _made(more, "mean.few < 1ms").values["fct.few"] is not None


def test_the_slowest_flows_tell_of_timeouts() -> None:
    rows = _each_window()
    rows[3] |= {"fct_ps": 5000, "timeouts": 2}
    assert _made(rows, "p99.all < 1ms").timed_out == {"all": 1.0}
    rows[3]["fct_ps"] = 100
    assert _made(rows, "p99.all < 1ms").timed_out == {"all": pytest.approx(0.0)}


def test_a_coflow_ends_with_its_last_flow_and_is_of_the_window_of_its_first() -> None:
    rows = [
        {"start_ps": nth * 1_000_000 + part * 900_000, "fct_ps": 1000 * (part + 1), "coflow": nth}
        for nth in range(6)
        for part in range(2)
    ]
    value = _made(rows, "cct.all < 1ms").values["cct.all"]
    assert value is not None
    # 900 ns to the start of the second, and 2 ns that it takes.
    assert np.exp(value.values) == pytest.approx([902e-9] * 6)


def test_a_window_without_a_coflow_is_no_mistake() -> None:
    rows = [*_each_window(), *({"start_ps": 2_100_000, "fct_ps": 700, "coflow": nth} for nth in range(3))]
    assert _made(rows, "cct.all < 1ms").values["cct.all"] is None
    none = _made(_each_window(), "cct.all < 1ms")
    assert none.values["cct.all"] is None


def test_parts_have_the_least_width_that_their_cases_allow() -> None:
    never = _made([row for row in _each_window(deadline_ps=10**9) for _ in range(20)], "deadline_missed.all < 5%")
    value = never.values["deadline_miss_rate.all"]
    assert value is not None
    # None of 100 cases: the exact 95 % interval ends at 1 - 0.025^(1/100), 3.6 %; another list's is wider.
    assert value.half_width() == pytest.approx(math.sqrt(2) * (1 - 0.025 ** (1 / 100)), rel=0.03)


def test_percentiles_are_the_nearest_rank() -> None:
    draw = np.random.default_rng(2)
    for count in (1, 2, 19, 20, 21, 100, 999, 1000, 1001):
        values = draw.normal(size=count)
        for per_mille in (500, 950, 990, 999):
            ordered = sorted(values.tolist())
            place = next(nth for nth in range(count) if (nth + 1) * 1000 >= per_mille * count)
            assert percentile(values, per_mille) == ordered[place]
