"""Connections that stay open for many requests: what hosts remember of them, against counts by hand and a run."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np

import priolane
from advise_files import made_list, write_fabric, write_flows
from priolane.advice.candidate import Candidate
from priolane.advice.connections import folded, notes, remembered
from priolane.advice.flow_list import read_flows

LADDER = Candidate(
    "sent3",
    "by bytes sent",
    "",
    {
        "base": "dctcp",
        "assign": {"kind": "bytes_sent", "levels": 3, "thresholds": ["100kB", "1MB"]},
        "port": {"kind": "strict", "queues": 3},
    },
    3,
)
# Starts in seconds, hosts that send, bytes, connections.
ROWS = [
    (0.0, 0, 60_000, "a"),
    (0.1, 0, 40_000, "a"),
    # 100 kB were sent: the second queue begins there.
    (0.2, 0, 900_000, "a"),
    # The other side of the connection has sent nothing yet.
    (0.25, 1, 5_000, "a"),
    (0.3, 0, 10_000, "a"),
    # After 1.2 s the connection begins from zero, if idle ones are forgotten.
    (1.5, 0, 10_000, "a"),
    (1.6, 0, 10_000, "b"),
    (1.7, 0, 10_000, ""),
    (1.8, 0, 10_000, ""),
]


def test_what_connections_sent_before_decides_the_queue_in_which_flows_begin(tmp_path: Path) -> None:
    rows = [(round(at * 1e9), src, 1 - src, sent, name) for at, src, sent, name in ROWS]
    # The list needs more flows, which come before and share no connection.
    rows = [(0, 2, 3, 1_000, f"own{nth}") for nth in range(60)] + rows
    flows = read_flows(write_flows(tmp_path, rows, "start_ns,src,dst,bytes,connection"))
    for_ever, idle = remembered(flows, LADDER)
    assert for_ever.asked[60:].tolist() == [0, 0, 1, 0, 2, 2, 0, 0, 0]
    assert idle.asked[60:].tolist() == [0, 0, 1, 0, 2, 0, 0, 0, 0]
    assert not for_ever.asked[:60].any()
    assert (for_ever.demoted, idle.demoted, for_ever.is_reset, idle.is_reset) == (3, 2, False, True)
    (note,) = notes(flows, LADDER)
    assert note.startswith("1 connections stay open for 6 of 69 flows with 1.02 MB, and hosts count the bytes of a")
    assert "3 flows (4.35 %) begin in a lower queue, and 2 flows (2.90 %) if idle connections are forgotten" in note


def test_a_flow_begins_as_far_below_its_tenant_as_its_connection_has_sent(tmp_path: Path) -> None:
    rows = [(round(at * 1e9), src, 1 - src, sent, name) for at, src, sent, name in ROWS]
    flows = read_flows(write_flows(tmp_path, [(0, 2, 3, 1_000, "x")] * 60 + rows, "start_ns,src,dst,bytes,connection"))
    flows = replace(flows, groups=("web", "batch"), group_of=np.arange(len(flows)) % 2)
    assign = {**LADDER.rows["assign"], "first": {"batch": 1}}
    tenants = replace(LADDER, rows={**LADDER.rows, "assign": assign})
    (plain, _), (own, _) = remembered(flows, LADDER), remembered(flows, tenants)
    assert own.demoted == plain.demoted
    assert (own.asked - plain.asked).tolist() == [0, 1] * 34 + [0]
    # The list has the classes then, and not the scheme. Levels 0 to 2 from class 3 on end in the last queue.
    made = folded(tenants, own.asked).rows
    assert "first" not in made["assign"]
    assert made["map"] == {"class": [0, 1, 2, 2, 2, 2][: int(own.asked.max()) + 3]}


def test_lists_without_connections_say_what_is_not_known() -> None:
    flows = made_list([0, 1, 2], [1, 1, 1])
    (note,) = notes(flows, LADDER)
    assert "A column `connection` of the list" in note
    assert remembered(flows, LADDER) == ()
    alone = made_list([0, 1, 2], [1, 1, 1])
    alone = replace(alone, connections=np.arange(3))
    assert list(notes(alone, LADDER)) == [
        "each connection of the list has one flow, so that hosts count the bytes of flows"
    ]
    by_size = Candidate("size", "", "", {**LADDER.rows, "assign": {"kind": "size", "thresholds": ["1kB"]}}, 3)
    assert not list(notes(flows, by_size))


FABRIC = """[topology]
kind = "single_switch"
hosts = 6
host_link = { rate = "10Gbps", delay = "1us" }
[switch]
buffer = { dynamic = "4MB", alpha = 1 }
queues = 2
[host]
min_rto = "5ms"
[today]
scheme = "dctcp"
"""


def test_a_connection_that_is_never_forgotten_loses_the_first_queue(tmp_path: Path) -> None:
    # Requests of 10 kB come over six connections that stay open, and bulk flows of 1.5 MB fill the links.
    draw = random.Random(4)  # noqa: S311 - flows, not secrets
    rows: list[tuple[object, ...]] = []
    for nth in range(3000):
        src = draw.randrange(6)
        rows.append((nth * 100_000, src, src ^ 1, 10_000, f"rpc{src}"))
    for nth in range(700):
        src, dst = draw.sample(range(6), 2)
        rows.append((nth * 420_000 + 7, src, dst, 1_500_000, f"copy{nth}"))
    rows.sort(key=lambda row: int(str(row[0])))
    flows = write_flows(tmp_path, rows, "start_ns,src,dst,bytes,connection")
    advice = priolane.advise(
        flows,
        write_fabric(tmp_path, FABRIC),
        goals=["p99.small < 75us"],
        without=["newreno", "cubic"],
        budget="1e8hops",
        out=tmp_path / "out",
    )
    assert advice.advised is not None
    assert advice.advised.rows["assign"]["kind"] == "bytes_sent"
    assert advice.judging is not None
    by_name = {finding.disturbance.name: finding for finding in advice.judging.sensitivity}
    kept = by_name["connections"].outcomes[advice.advised.name][0]
    plain = by_name["load_down"].outcomes[advice.advised.name][0]
    # All but the first requests of a connection begin behind bulk flows: the goal is missed by far.
    assert kept.verdict.value == "missed"
    assert (kept.value or 0.0) > 2 * (plain.value or 1.0)
    assert "connections stay open for 3000 of 3700 flows" in advice.notes[0]
    nft = next(command for command in advice.commands if command.target == "nft")
    assert nft.command is not None
    assert "--idle 1s" in nft.command
