"""Recordings made by hand: a few packets of which every number is known, and 100,000 hops for the browser."""

from pathlib import Path
from typing import Any

import numpy as np

from priolane.replay.recording import NEVER, Column, Part, Recording

US = 1_000_000
_FLAGS = {"again", "marked"}


def recording(rows: list[dict[str, Any]], state: list[tuple[int, int, str, float]], **changes: Any) -> Recording:
    """A recording of the star of three hosts around `s0`; `rows` are those of the table of hops, by packet and hop."""
    nodes = [{"name": name, "tier": tier} for name, tier in (("h0", 0), ("h1", 0), ("h2", 0), ("s0", 1))]
    ends = [(0, 3), (3, 0), (1, 3), (3, 1), (2, 3), (3, 2)]
    flows: list[dict[str, Any]] = [
        {"id": 4, "src": 0, "dst": 1, "bytes": 2920, "start_ps": 10 * US, "fct_ps": 9 * US},
        {"id": 9, "src": 2, "dst": 1, "bytes": None, "start_ps": 10 * US, "fct_ps": None},
    ]
    known: dict[str, Any] = {
        "run": "13b8c4c2bab570ce",
        "scheme": "dctcp",
        "point": {},
        "seed": 1,
        "digest": "d" * 64,
        "stopped_at_ps": 100 * US,
        "full_ps": None,
        "nodes": nodes,
        "links": [_link(nodes, source, to) for source, to in ends],
        "flows": [{**flow, "retransmits": 0, "timeouts": 0} for flow in flows],
        "files": (Path("trace-network.parquet"), Path("trace-network-state.parquet")),
        "part": Part((4,), 5 * US, 50 * US, 1000),
        "hops": columns(rows),
        "state": _state(state),
    }
    return Recording(**{**known, **changes})


def _link(nodes: list[dict[str, Any]], source: int, to: int) -> dict[str, Any]:
    port = f"{nodes[source]['name']}->{nodes[to]['name']}"
    return {"port": port, "from": source, "to": to, "rate_bps": 10**10, "delay_ps": US}


def _state(state: list[tuple[int, int, str, float]]) -> dict[str, Column]:
    return {
        "flow": np.array([flow for flow, *_ in state], dtype=np.int64),
        "t_ps": np.array([at for _, at, *_ in state], dtype=np.int64),
        "metric": np.array([metric for *_, metric, _ in state], dtype=object),
        "value": np.array([value for *_, value in state], dtype=np.float64),
    }


def columns(rows: list[dict[str, Any]]) -> dict[str, Column]:
    """Columns of rows. What a row does not state is nothing, and an instant that it does not state never came."""
    defaults = {
        "flow": 4,
        "packet": 0,
        "hop": 0,
        "kind": "data",
        "offset": 0,
        "payload": 1460,
        "wire": 1538,
        "again": False,
        "marked": False,
        "link": 0,
        "class": 0,
        "host_level": 0,
        "queue": 0,
        "ahead_packets": 0,
        "ahead_bytes": 0,
        "fate": "arrived",
        **{f"{name}_ps": NEVER for name in ("made", "delivered", "queued", "start", "end", "arrived", "removed")},
    }
    columns_of: dict[str, Column] = {}
    for name, default in defaults.items():
        values = [row.get(name, default) for row in rows]
        kind: Any = object if isinstance(default, str) else bool if name in _FLAGS else np.int64
        columns_of[name] = np.array(values, dtype=kind)
    return columns_of


LEAVES, SPINES, HOSTS = 4, 2, 16


def large(packets: int = 25_000) -> Recording:
    """Packets between all hosts of a leaf-spine, four hops each: one every 200 ns, some of which wait at their last
    port in four classes; every 500th is dropped there."""
    names = [f"h{n}" for n in range(HOSTS)] + [f"leaf{n}" for n in range(LEAVES)] + [f"spine{n}" for n in range(SPINES)]
    tiers = [0] * HOSTS + [1] * LEAVES + [2] * SPINES
    nodes = [{"name": name, "tier": tier} for name, tier in zip(names, tiers, strict=True)]
    leaf_of = [HOSTS + host // (HOSTS // LEAVES) for host in range(HOSTS)]
    pairs = [(host, leaf_of[host]) for host in range(HOSTS)]
    pairs += [(HOSTS + leaf, HOSTS + LEAVES + spine) for leaf in range(LEAVES) for spine in range(SPINES)]
    both = [end for a, b in pairs for end in ((a, b), (b, a))]
    number = {pair: place for place, pair in enumerate(both)}
    rows: list[dict[str, Any]] = []
    for packet in range(packets):
        flow = packet % 40
        src, dst = flow % HOSTS, (flow % HOSTS + 4 + flow // HOSTS) % HOSTS
        spine = HOSTS + LEAVES + flow % SPINES
        path = [(src, leaf_of[src]), (leaf_of[src], spine), (spine, leaf_of[dst]), (leaf_of[dst], dst)]
        at = packet * US // 5
        common = {"flow": flow, "packet": packet, "made_ps": at, "class": flow % 4, "offset": 1460 * (packet // 40)}
        for hop, pair in enumerate(path):
            wait = (packet % 50) * US // 4 if hop == 3 else 0
            row = {**common, "hop": hop, "link": number[pair], "queued_ps": at, "queue": flow % 4}
            if hop == 3 and packet % 500 == 0:
                rows.append({**row, "fate": "dropped", "removed_ps": at})
                continue
            start = at + wait
            times = {"start_ps": start, "end_ps": start + 1_230_400, "arrived_ps": start + 2_230_400}
            rows.append({**row, **times, "marked": packet % 97 == 0 and hop == 3, "delivered_ps": start + 2_230_400})
            at = start + 2_230_400
    end = packets * US // 5
    flows = [
        {"id": flow, "src": flow % HOSTS, "dst": (flow % HOSTS + 4 + flow // HOSTS) % HOSTS, "bytes": 912_500}
        for flow in range(40)
    ]
    outcome = {"start_ps": 0, "fct_ps": end, "retransmits": 0, "timeouts": 0}
    state = [
        (flow, at * US, metric, float(base + 1460 * (at % 90)))
        for at in range(0, end // US, 2)
        for flow in (0, 7)
        for metric, base in (("cwnd_bytes", 14_600), ("in_flight_bytes", 7_300))
    ]
    return recording(
        rows,
        state,
        nodes=nodes,
        links=[_link(nodes, source, to) for source, to in both],
        flows=[{**flow, **outcome} for flow in flows],
        stopped_at_ps=end,
        part=Part((0, 7), 0, end, 10**6),
    )
