"""The changes from what runs today to a candidate, and what they cost."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advise_files import EVERYTHING, FABRIC, write_fabric
from priolane._core import InputError
from priolane.advice.candidate import Candidate, strict
from priolane.advice.changes import ORDER, Step, Today, merged, read_order, today
from priolane.advice.fabric import HOST_FEATURES, SWITCH_FEATURES, read_fabric
from priolane.advice.feasible import requires, shipped

# The steps of shipped schemes from NewReno in one queue, by what papers change: `+` parts them.
FROM_NEWRENO = {
    "newreno": "",
    "cubic": "congestion_control",
    "dctcp": "switch_marking+congestion_control",
    "ns3_dctcp": "switch_marking+congestion_control",
    "d2tcp": "switch_marking+congestion_module",
    "paccp": "congestion_module",
    "paccp_dctcp": "switch_marking+congestion_module",
    "swift": "congestion_module",
    "ledbat": "congestion_module",
    "dcqcn": "switch_marking+switch_feature+congestion_module",
    "timely": "switch_feature+congestion_module",
    "hpcc": "switch_feature+congestion_module",
    "physical_swift": "switch_queue+switch_feature+congestion_module",
    "physical_star_swift": "switch_queue+switch_feature+congestion_module",
    "prioplus_swift": "dscp+switch_queue+congestion_module",
    "prioplus_ledbat": "dscp+switch_queue+congestion_module",
    "pifo_swift": "switch_feature+congestion_module",
    "aifo_swift": "switch_feature+congestion_module",
    "pias": "dscp+switch_marking+switch_queue+host_qdisc+congestion_control",
    "es8": "dscp+switch_marking+switch_queue+host_qdisc+congestion_control",
    "nos2": "dscp+switch_marking+switch_queue+host_qdisc+congestion_control",
    "aequitas": "switch_marking+switch_queue+congestion_control+user_stack",
    "firapam": "switch_marking+switch_queue+congestion_control+user_stack",
    "homa": "switch_queue+kernel_module",
    "expresspass": "switch_feature+kernel_module",
    "top": "switch_feature+kernel_module",
    "ndp": "switch_feature+user_stack",
    "nscc": "switch_marking+switch_feature+user_stack",
    "phost": "switch_queue+user_stack",
    "pfabric": "host_qdisc+switch_feature+user_stack",
}
BOUNDS = {"ps", "srpt", "srpt_ranked", "ideal_tokens"}
"""Schemes that are no deployments."""


def _candidate(base: str, queues: int = 1, **rows: Any) -> Candidate:
    return Candidate(f"candidate_{base}", base, "", {"base": base, **rows}, queues)


def _today(folder: Path, text: str = "", scheme: str | None = None, order: tuple[str, ...] = ()) -> Today:
    everything = FABRIC.replace("queues = 3", "queues = 9") + EVERYTHING
    return today(read_fabric(write_fabric(folder, everything + text), today=scheme), order)


def _steps(now: Today, candidate: Candidate) -> str:
    return "+".join(step.value for step in now.steps(candidate))


def test_every_shipped_scheme_has_its_steps_from_newreno(tmp_path: Path) -> None:
    now = _today(tmp_path)
    assert {name: _steps(now, _candidate(name)) for name in shipped().keys() - BOUNDS} == FROM_NEWRENO


def test_a_scheme_takes_no_step_from_itself(tmp_path: Path) -> None:
    for name in shipped():
        assert not _today(tmp_path, scheme=name).steps(_candidate(name)), name


def test_a_change_to_dcqcn_needs_nics(tmp_path: Path) -> None:
    now = _today(tmp_path)
    assert now.in_words(_candidate("dcqcn")) == (
        "marking at switches, a feature of switches and RoCE NICs, which run its congestion control"
    )
    assert now.in_words(_candidate("swift")) == "a congestion control as a kernel module"


STEPS: Mapping[str, set[Step]] = {
    "ecn": {Step.SWITCH_MARKING},
    "dscp": {Step.DSCP},
    "pfc": {Step.SWITCH_FEATURE},
    "int": {Step.SWITCH_FEATURE},
    "trimming": {Step.SWITCH_FEATURE},
    "token_limiter": {Step.SWITCH_FEATURE},
    "rank_queues": {Step.SWITCH_FEATURE},
    "congestion_control": {Step.CONGESTION_CONTROL, Step.CONGESTION_MODULE},
    "congestion_module": {Step.CONGESTION_MODULE},
    "kernel_module": {Step.KERNEL_MODULE, Step.USER_STACK},
    "user_stack": {Step.USER_STACK},
    # Applications state sizes: nothing is configured.
    "sizes_known": set(),
}
"""The steps of which one has what a scheme requires of switches and hosts."""


def test_what_a_scheme_requires_beyond_today_is_among_its_steps(tmp_path: Path) -> None:
    assert STEPS.keys() == {*SWITCH_FEATURES, *HOST_FEATURES}
    for name in ("newreno", "dctcp", "swift", "homa"):
        now = _today(tmp_path, scheme=name)
        has = requires(shipped()[name])
        for other in shipped().keys() - BOUNDS:
            taken = set(now.steps(_candidate(other)))
            for need in requires(shipped()[other]):
                if need not in has and STEPS.get(need):
                    assert taken & STEPS[need], f"{name} to {other}: {need}"


def test_ladders_take_dscp_and_queues_where_their_transport_runs_already(tmp_path: Path) -> None:
    now = _today(tmp_path, scheme="dctcp")
    levels = {"kind": "bytes_sent", "levels": 2, "thresholds": ["20kB"]}
    ladder = _candidate("dctcp", 2, assign=levels, port=strict(2), host={"kind": "round_robin"})
    assert _steps(now, ladder) == "dscp+switch_queue"
    hosts = _candidate("dctcp", 2, assign=levels, port=strict(2), host={**levels, "kind": "mlfq"})
    assert _steps(now, hosts) == "dscp+switch_queue+host_qdisc"
    marking = _candidate("dctcp", port={"kind": "fifo", "ecn": {"per": "queue", "at": {"25Gbps": "80pkt"}}})
    assert _steps(now, marking) == "switch_marking"
    window = _candidate("dctcp", transport={"init_window": "30pkt"})
    assert _steps(now, window) == "host_parameter"
    assert _steps(now, _candidate("dctcp", transport={"min_rto": "1ms"})) == "host_parameter"
    # A handshake is that of the fabric's hosts for all.
    assert _steps(now, _candidate("dctcp", transport={"handshake": "none"})) == ""
    # The same queues with other thresholds take other marks alone; what is switched off costs nothing.
    piased = Today(replace(ladder, name="today", places=("assign",)))
    assert _steps(piased, piased.candidate.with_thresholds((30_000,), "moved")) == "dscp"
    assert _steps(piased, _candidate("dctcp")) == ""
    weighted = _candidate("dctcp", 2, assign=levels, port={"kind": "wfq", "queues": 2, "weights": [4, 1]})
    assert _steps(piased, weighted) == "switch_queue"
    assert _steps(piased, _candidate("dctcp", 3, assign=levels, port=strict(3))) == "switch_queue"


def test_rows_of_today_are_its_own(tmp_path: Path) -> None:
    now = _today(tmp_path, '[today]\nscheme = "dctcp"\ntransport = { init_window = "20pkt" }\n')
    assert now.candidate.family == "dctcp"
    assert merged(now.candidate.rows)["transport"]["init_window"] == "20pkt"
    assert _steps(now, _candidate("dctcp")) == "host_parameter"
    assert _steps(now, _candidate("dctcp", transport={"init_window": "20pkt"})) == ""


def test_rows_of_another_kind_replace_those_of_the_base() -> None:
    tables = merged({"base": "dctcp", "port": strict(2), "transport": {"init_window": "20pkt"}})
    assert tables["port"] == strict(2)
    assert tables["transport"]["kind"] == "dctcp"
    assert tables["transport"]["init_window"] == "20pkt"


def test_the_most_expensive_step_decides_then_their_number_then_queues(tmp_path: Path) -> None:
    now = _today(tmp_path)
    levels = {"kind": "group", "classes": [0, 1]}
    cheapest = [
        now.candidate,
        _candidate("newreno", 2, assign=levels, port=strict(2)),
        _candidate("newreno", 3, assign=levels, port=strict(3)),
        _candidate("dctcp"),
        _candidate("dctcp", 2, assign=levels, port=strict(2)),
        _candidate("swift"),
        _candidate("homa", 8),
        _candidate("ndp"),
    ]
    costs = [now.cost(candidate) for candidate in cheapest]
    assert costs == sorted(set(costs))
    assert now.cost(now.candidate) == (-1, 0, 1)


def test_users_order_steps(tmp_path: Path) -> None:
    swift, ladder = (
        _candidate("swift"),
        _candidate("newreno", 2, assign={"kind": "group", "classes": [0, 1]}, port=strict(2)),
    )
    default, own = _today(tmp_path), _today(tmp_path, order=("congestion_module", "user_stack"))
    assert default.cost(ladder) < default.cost(swift)
    assert own.cost(swift) < own.cost(ladder)
    # Those that are not named follow in their order.
    assert own.order == (
        Step.CONGESTION_MODULE,
        Step.USER_STACK,
        *(step for step in ORDER if step not in (Step.CONGESTION_MODULE, Step.USER_STACK)),
    )
    assert own.in_words(_candidate("hpcc")) == "a congestion control as a kernel module and a feature of switches"
    assert default.in_words(_candidate("dctcp", 2, assign={"kind": "group"}, port=strict(2))) == (
        "DSCP at hosts, marking at switches, queues at switches and another congestion control of the kernel"
    )
    assert own.in_words(own.candidate) == "nothing"


def test_an_unknown_or_repeated_step_and_an_unknown_scheme_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--steps: there is no step 'dcsp'; one of dscp, switch_marking, "):
        read_order(["dcsp"])
    with pytest.raises(InputError, match="--steps: dscp is there twice; name each step once"):
        read_order(["dscp", "user_stack", "dscp"])
    with pytest.raises(InputError, match=r"key `today\.scheme`: there is no scheme 'cubicle'; `priolane list schemes`"):
        _today(tmp_path, scheme="cubicle")
