"""The rollout of an answer: changed hosts beside unchanged ones, on flows of which theory says what is best.

Hosts 0 to 3 send small flows and hosts 4 to 9 bulk flows. The answer gives small flows the first of two queues. Bulk
flows are in the last queue under it, as are all flows from unchanged hosts. So the network in which hosts 0 to 3 are
changed and no other is that in which all are.
"""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyarrow import csv

import advise_world
from advise_files import made_list
from advise_world import answer, arguments, asked
from priolane import cli
from priolane._core import InputError
from priolane.advice.candidate import Candidate
from priolane.advice.changed_hosts import racks_of, read_hosts
from priolane.advice.changes import Today
from priolane.advice.rollout import _by_sides, obstacle, unsorted

pytestmark = pytest.mark.xdist_group("advise_rollout")

GOALS = ("p99.small < 100us", "goodput.bulk > 50%")
SMALL, BULK = GOALS


@pytest.fixture(scope="module")
def rollouts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The answers with the hosts of small flows changed, and with all."""
    answers = {}
    for hosts in ("0-3", "all"):
        folder = tmp_path_factory.mktemp("rollout")
        advise_world.write(folder, 1, 900, kernel_module=False, queues=2)
        words = ("--budget", "8e6hops", "--today", "dctcp", "--changed", hosts, *asked(*GOALS))
        assert cli.main(arguments(folder, *words)) == 0
        answers[hosts] = {**answer(folder), "folder": folder}
    return answers


def _values(step: dict[str, Any], side: str) -> dict[str, float]:
    return {goal: outcome["value"] for goal, outcome in step["goals"][side].items()}


def test_a_whole_rollout_is_the_answer_itself(rollouts: dict[str, dict[str, Any]]) -> None:
    for hosts, sides in (("0-3", ("changed", "unchanged")), ("all", ("changed", "changed"))):
        advised = rollouts[hosts]["ranking"][1]["metrics"]
        step = rollouts[hosts]["rollout"][-1]
        assert (step["percent"], step["refused"]) == (100, None)
        assert _values(step, sides[0])[SMALL] == pytest.approx(advised["fct_p99.small"]["mean"], rel=1e-9)
        assert _values(step, sides[1])[BULK] == pytest.approx(advised["goodput.bulk"]["mean"], rel=1e-9)
    assert list(rollouts["all"]["rollout"][-1]["goals"]) == ["changed"]


def test_small_flows_of_unchanged_hosts_wait_with_bulk_flows(rollouts: dict[str, dict[str, Any]]) -> None:
    steps = rollouts["0-3"]["rollout"]
    assert [(step["percent"], step["hosts"], step["of_hosts"]) for step in steps] == [
        (10, 1, 4),
        (50, 2, 4),
        (100, 4, 4),
    ]
    now = rollouts["0-3"]["ranking"][0]["metrics"]["fct_p99.small"]["mean"]
    for step in steps[:2]:
        changed, unchanged = _values(step, "changed")[SMALL], _values(step, "unchanged")[SMALL]
        # By Cobham the first queue waits for its own load of 0.1 alone; the last one waits for all, as today.
        assert changed < 0.5 * unchanged
        assert unchanged == pytest.approx(now, rel=0.5)


def test_both_sides_have_all_flows_of_their_hosts(rollouts: dict[str, dict[str, Any]]) -> None:
    folder = rollouts["0-3"]["folder"]
    out = folder / "out"
    listed = csv.read_csv(folder / "flows.csv")
    for part, hosts in ((10, {0}), (50, {0, 1}), (100, {0, 1, 2, 3})):
        sides = {
            side: csv.read_csv(out / f"flows_rollout_{part}" / f"all_{side}.csv") for side in ("changed", "unchanged")
        }
        assert sum(table.num_rows for table in sides.values()) == listed.num_rows
        assert set(sides["changed"]["src"].to_pylist()) == hosts
        assert not hosts & set(sides["unchanged"]["src"].to_pylist())
        assert set(sides["unchanged"]["class"].to_pylist()) == {1}


def test_the_table_and_the_page_have_each_step(rollouts: dict[str, dict[str, Any]]) -> None:
    page = (rollouts["0-3"]["folder"] / "out" / "advice.html").read_text(encoding="utf-8")
    assert "While hosts are changed" in page
    for text in ("10 % (1 of 4)", "50 % (2 of 4)", "100 % (4 of 4)"):
        assert text in page


def test_hosts_that_sort_flows_take_them_in_turn_beside_another_transport() -> None:
    sorting = {"kind": "mlfq", "levels": 2, "thresholds": ["20kB"]}
    rows = {"base": "dctcp", "port": {"kind": "strict", "queues": 2}, "host": sorting}
    advised = Candidate("sorted", "f", "", rows, 2)
    assert unsorted(advised).rows == {**rows, "host": {"kind": "round_robin"}}
    plain = Candidate("plain", "f", "", {"base": "dctcp"}, 1)
    assert unsorted(plain) is plain


@pytest.mark.parametrize("text", ["", "rack9", "12", "3-1", "0-12", "-1", "rack", "٣", "0,,1", "x"])
def test_names_of_no_host_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="names none of 12 hosts in 3 racks"):
        read_hosts(text, [0] * 4 + [1] * 4 + [2] * 4)


def test_hosts_are_named_by_number_range_and_rack() -> None:
    racks = [0, 0, 1, 1, 2, 2]
    assert read_hosts("all", racks) == (0, 1, 2, 3, 4, 5)
    assert read_hosts("hosts=4, 0-1,rack2", racks) == (4, 0, 1, 5)
    link = {"rate": "10Gbps", "delay": "1us"}
    leaf_spine = {"kind": "leaf_spine", "leaves": 3, "spines": 2, "hosts_per_leaf": 2}
    assert list(racks_of({**leaf_spine, "host_link": link, "fabric_link": link})) == racks


def test_relative_goals_refer_to_the_candidates_that_were_judged(tmp_path: Path) -> None:
    advise_world.write(tmp_path, 1, 900, kernel_module=False, queues=2)
    goals = (*GOALS, "slowdown_p99.small < 150%")
    assert (
        cli.main(arguments(tmp_path, "--budget", "8e6hops", "--today", "dctcp", "--changed", "0-3", *asked(*goals)))
        == 0
    )
    first, *_, last = answer(tmp_path)["rollout"]
    # The best candidate serves small flows first: those of unchanged hosts are far above 1.5 times its slowdown.
    assert first["goals"]["unchanged"][goals[2]]["verdict"] == "missed"
    assert last["goals"]["changed"][goals[2]]["verdict"].startswith("met")


def test_classes_of_tenants_are_those_of_both_sides(tmp_path: Path) -> None:
    flows, fabric = advise_world.write(tmp_path, 1, 900, kernel_module=False, queues=2)
    head, *rows = flows.read_text(encoding="utf-8").splitlines()
    named = [f"{row},{'web' if int(row.split(',')[1]) < 4 else 'batch'}" for row in rows]
    flows.write_text("\n".join([f"{head},group", *named]) + "\n", encoding="utf-8")
    text = fabric.read_text(encoding="utf-8").replace("small = {", 'small = { group = "web",')
    fabric.write_text(text, encoding="utf-8")
    words = ("--budget", "8e6hops", "--today", "dctcp", "--changed", "0-1", *asked(*GOALS))
    assert cli.main(arguments(tmp_path, *words)) == 0
    for step in answer(tmp_path)["rollout"]:
        assert step["refused"] is None
        assert _values(step, "changed")[SMALL] < _values(step, "unchanged")[SMALL]


def test_classes_by_group_are_those_of_the_groups_of_both_sides() -> None:
    sides = ["web_changed", "batch_changed", "batch_unchanged"]
    first = {"kind": "bytes_sent", "levels": 2, "thresholds": ["1kB"], "first": {"batch": 1, "web": 0}}
    named = _by_sides(replace(LADDER, rows={"base": "dctcp", "assign": first}), ["batch", "web"], sides)
    # Unchanged hosts have a transport of their own, so that the scheme gives them no class.
    assert named.rows["assign"] == {**first, "first": {"web_changed": 0, "batch_changed": 1}}
    group = {"kind": "group", "classes": [1, 0]}
    placed = _by_sides(replace(LADDER, rows={"base": "dctcp", "assign": group}), ["batch", "web"], sides)
    assert placed.rows["assign"] == {"kind": "group", "classes": [0, 1, 1]}
    assert _by_sides(LADDER, ["batch", "web"], sides) is LADDER


PLAIN = Candidate("today", "dctcp", "", {"base": "dctcp", "host": {"kind": "round_robin"}}, 1)
LADDER = Candidate(
    "a", "a", "", {"base": "dctcp", "assign": {"kind": "bytes_sent", "levels": 2, "thresholds": ["1kB"]}}, 2
)


@pytest.mark.parametrize(
    ("now", "then", "changed", "whole", "why"),
    [
        (PLAIN, LADDER, (0,), False, None),
        (PLAIN, PLAIN, (0,), False, "no host changes"),
        (PLAIN, LADDER, (0,), True, "wait for others"),
        (LADDER, PLAIN, (0,), False, "give flows classes"),
        (PLAIN, LADDER, (1,), False, "send no flow"),
    ],
)
def test_a_rollout_that_is_not_run_says_why(
    *, now: Candidate, then: Candidate, changed: tuple[int, ...], whole: bool, why: str | None
) -> None:
    context: Any = SimpleNamespace(
        today=Today(now), changed=changed, needs_whole_list=whole, flows=made_list([0, 1], [1, 1])
    )
    result = obstacle(context, then)
    assert (result is None) == (why is None)
    assert why is None or (result is not None and why in result)
