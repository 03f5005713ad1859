"""Candidates that `priolane advise` composes of those that lead the race, and remedies of tails by timeouts."""

import random
from pathlib import Path
from typing import Any

import pytest

import priolane
from advise_files import FABRIC, of_pseudo, steady, write_fabric, write_flows, write_recorded
from priolane.advice import feasible
from priolane.advice.candidate import Candidate
from priolane.advice.changes import Step, merged, today
from priolane.advice.composition import compose, leading, together, with_shorter_timeouts
from priolane.advice.fabric import Fabric, read_fabric
from priolane.advice.flow_list import FlowList, read_flows
from priolane.advice.goals import read_goals
from priolane.advice.racing import Limits, Why, enter, race
from priolane.advice.samples import Trial
from priolane.advice.trials import Trials
from priolane.advice.windows import FEWEST, Jackknife

MODULES = '[host]\nmin_rto = "200ms"\ncongestion_module = true\n'
LADDER = Candidate(
    "sent2_opt",
    "by bytes sent",
    "two queues",
    {
        "base": "dctcp",
        "assign": {"kind": "bytes_sent", "levels": 2, "thresholds": ["100000B"]},
        "port": {"kind": "strict", "queues": 2},
        "host": {"kind": "round_robin"},
    },
    2,
    (100_000,),
    ("assign",),
)


def _plain(name: str) -> Candidate:
    return Candidate(name, name, name, {"base": name, "host": {"kind": "round_robin"}}, 1)


def _fabric(folder: Path, more: str = MODULES) -> tuple[Fabric, FlowList]:
    return read_fabric(write_fabric(folder, FABRIC + more)), read_flows(write_recorded(folder))


def test_the_leading_ladder_is_tried_on_the_next_best_transports(tmp_path: Path) -> None:
    fabric, flows = _fabric(tmp_path)
    schemes = feasible.feasible(fabric, flows)
    order = [LADDER, _plain("dctcp"), _plain("swift"), _plain("ledbat"), _plain("newreno"), _plain("cubic")]
    made = {candidate.name: candidate for candidate in compose(order, fabric, schemes, ())}
    # DCTCP has the ladder; Swift and LEDBAT come next in the race, and two transports are tried.
    others = {name for name in made if "_on_" in name}
    assert others == {"sent2_opt_on_swift", "sent2_opt_on_ledbat"}
    for name in others:
        rows = merged(made[name].rows)
        assert rows["transport"]["kind"] == name.removeprefix("sent2_opt_on_")
        assert (rows["assign"]["thresholds"], rows["port"]["queues"]) == (["100000B"], 2)
    assert made.keys() - others == {"sent2_opt_iw3", "sent2_opt_iw40", "sent2_opt_k0_5", "sent2_opt_k2"}


def test_the_better_window_and_the_better_marking_run_together(tmp_path: Path) -> None:
    fabric, flows = _fabric(tmp_path)
    made = {candidate.name: candidate for candidate in compose([LADDER], fabric, feasible.feasible(fabric, flows), ())}
    order = [made[f"sent2_opt_{name}"] for name in ("k2", "iw3", "k0_5", "iw40")]
    (both,) = together(LADDER, [LADDER, *order], fabric)
    assert both.name == "sent2_opt_iw3_k2"
    # Each row is that of the candidate which ran with it alone.
    window, marking = made["sent2_opt_iw3"].rows, made["sent2_opt_k2"].rows
    assert both.rows == {**LADDER.rows, "transport": window["transport"], "port": marking["port"]}
    assert together(LADDER, [LADDER, made["sent2_opt_k2"]], fabric) == ()
    unmarked, _ = _fabric(tmp_path, '[host]\nmin_rto = "200ms"\n')
    assert together(LADDER, [LADDER, made["sent2_opt_iw3"]], unmarked) == ()


def test_without_a_ladder_the_leader_gets_other_parameters(tmp_path: Path) -> None:
    fabric, flows = _fabric(tmp_path)
    schemes = feasible.feasible(fabric, flows)
    narrow = next(
        candidate for candidate in compose([_plain("dctcp")], fabric, schemes, ()) if candidate.name == "dctcp_iw3"
    )
    assert {candidate.name for candidate in compose([narrow], fabric, schemes, ())} == {
        "dctcp_iw3_k0_5",
        "dctcp_iw3_k2",
    }
    assert compose([], fabric, schemes, ()) == ()
    assert leading([]) is None
    # A leader that has another window already runs with that and other marks at once.
    assert together(narrow, [narrow, *compose([narrow], fabric, schemes, ())], fabric) == ()


@pytest.mark.parametrize(
    ("more", "now", "expected"),
    [
        # Flows of open connections wait as long before their first acknowledgement as after it.
        ('[host]\nmin_rto = "200ms"\n', {}, {"4ms": ("4ms", "4ms"), "1ms": ("1ms", "1ms")}),
        ('[host]\nmin_rto = "200ms"\ninitial_rto = "1s"\n', {}, {"4ms": ("4ms", None), "1ms": ("1ms", None)}),
        ('[host]\nmin_rto = "4ms"\n', {}, {"1ms": ("1ms", "1ms")}),
        ('[host]\nmin_rto = "300us"\n', {}, {}),
        ('[host]\nmin_rto = "200ms"\n', {"min_rto": "2ms", "initial_rto": "2ms"}, {"1ms": ("1ms", "1ms")}),
    ],
)
def test_shorter_timeouts_are_a_parameter_of_hosts(
    tmp_path: Path, more: str, now: dict[str, str], expected: dict[str, Any]
) -> None:
    fabric, _ = _fabric(tmp_path, more)
    runs = today(fabric)
    candidate = Candidate("today", "newreno", "what runs now", {**runs.candidate.rows, "transport": now}, 1)
    made = {made.name: made for made in with_shorter_timeouts(candidate, fabric)}
    assert made.keys() == {f"today_rto_{timeout}" for timeout in expected}
    for timeout, (least, first) in expected.items():
        rows = made[f"today_rto_{timeout}"].rows["transport"]
        assert (rows["min_rto"], rows.get("initial_rto")) == (least, first)
        assert runs.steps(made[f"today_rto_{timeout}"]) == (Step.HOST_PARAMETER,)


def test_a_transport_with_a_fixed_timer_keeps_it(tmp_path: Path) -> None:
    fabric, _ = _fabric(tmp_path)
    assert not list(with_shorter_timeouts(_plain("pfabric"), fabric))


def _trial(value: Jackknife, hops: int) -> Trials:
    return {1: Trial({"fct_p99.small": value}, hops, {"small": 0.7}, {}, 0.5, {})}


def test_composed_candidates_enter_one_more_round_beside_those_that_are_left() -> None:
    goals, _ = read_goals(["p99.small < 1ms"])
    noise = [0.0, 0.1, -0.1, 0.05, -0.05]
    values = {
        "a": of_pseudo([-7.0 + deviation for deviation in noise]),
        "worse": of_pseudo([-6.0 + deviation for deviation in noise]),
    }
    raced = race(
        list(values),
        (FEWEST,),
        goals,
        lambda names, count: {name: _trial(values[name], 10 * (count + 1)) for name in names},
        Limits(1e9),
        lambda _: None,
    )
    assert (raced.left, raced.order) == (("a",), ("a", "worse"))
    new = {"better": of_pseudo([-8.0 + deviation for deviation in noise]), "twin": values["a"]}
    entered = enter(raced, goals, {name: _trial(value, 60) for name, value in new.items()})
    assert entered.left == ("better",)
    # The one that led is worse than what was made of it; what does the same as another is not told apart by luck.
    assert {name: how.why for name, how in entered.ended.items()} == {
        "worse": Why.EXCLUDED,
        "a": Why.EXCLUDED,
        "twin": Why.SAME,
    }
    assert entered.hops == raced.hops + 120
    assert entered.rounds[-1].ran == ("a", "better", "twin")
    assert entered.timed_out["better"] == {"small": 0.7}
    stuck = enter(raced, goals, {"stuck": _trial(Jackknife(steady(1.0).values * float("inf")), 60)})
    assert (stuck.left, stuck.order) == (("a",), ("a", "worse"))


SWITCH = """[topology]
kind = "single_switch"
hosts = 8
host_link = { rate = "10Gbps", delay = "1us" }
[switch]
buffer = { per_queue = "20pkt" }
queues = 1
ecn = false
[host]
min_rto = "200ms"
dscp = false
congestion_control = false
"""


def test_where_the_tail_is_the_timeout_a_shorter_one_is_the_answer(tmp_path: Path) -> None:
    # Bursts of six flows overflow a queue of 20 packets, and a flow whose last packets are lost waits for its timer.
    draw = random.Random(3)  # noqa: S311 - flows, not secrets
    rows = []
    for burst in range(500):
        dst = draw.randrange(8)
        rows += [(burst * 20_000_000 + draw.randrange(2000), src, dst, 20_000) for src in range(7) if src != dst]
    rows.sort()
    flows, fabric = write_flows(tmp_path, rows), write_fabric(tmp_path, SWITCH)
    advice = priolane.advise(flows, fabric, goals=["p99.small < 30ms"], budget="5e7hops", out=tmp_path / "out")
    assert advice.judging is not None
    now = advice.judging.now
    assert now.timed_out["small"] == 1.0
    # The timer alone is 200 ms; with the shorter one the slowest flows end within some of them.
    assert (now.estimates["fct_p99.small"].mean or 0.0) > 0.2
    assert advice.advised is not None
    assert advice.advised.name.startswith("today_rto_")
    assert advice.headline.startswith("A smallest retransmission timeout of ")
    assert advice.headline.endswith("needs a parameter of hosts")
    plan = (advice.directory / "experiment.toml").read_text(encoding="utf-8")
    assert f"[scheme.{advice.advised.name}]" in plan
