"""The quantities by which ports of switches are compared: the length of their queues, and the number of tokens."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from priolane.hosts.agreement_ports import port_quantities
from priolane.storage.run_files import RunPlace

FRAME = {"mtu": "1500B", "link": "18B", "gap": "20B"}
MARKS = {"per": "port", "at": {"10Gbps": "65pkt"}}
# A full packet on the wire.
FULL = 1538


def record(
    port: dict[str, Any], longest: int | None = None, *, stopped_at_ps: int = 0, delay: str = "1us"
) -> dict[str, Any]:
    """The record of a run on lines of 10 Gbit/s, as far as ports go."""
    topology = {"kind": "single_switch", "host_link": {"rate": "10Gbps", "delay": delay}}
    return {
        "merged": {"scheme": {"s": {"port": port}}, "topology": topology, "frame": FRAME},
        "ports": {"switches": {"max_queue_bytes": longest}},
        "stopped_at_ps": stopped_at_ps,
    }


NOWHERE = RunPlace(Path(), "")


def quantities(
    records: list[dict[str, Any]], runs: tuple[RunPlace, RunPlace] = (NOWHERE, NOWHERE)
) -> list[tuple[Any, ...]]:
    result = port_quantities("s", records, runs)
    return [(of.quantity, of.simulated, of.measured, of.tolerance, of.agrees) for of in result]


@pytest.mark.parametrize(("simulated", "measured", "agrees"), [(20, 70, True), (20, 71, False), (90, 95, True)])
def test_a_queue_may_be_five_packets_beyond_the_threshold_or_the_simulated_one(
    simulated: int, measured: int, *, agrees: bool
) -> None:
    records = [record({"ecn": MARKS}, longest * FULL) for longest in (simulated, measured)]
    ((quantity, of_simulated, of_measured, tolerance, verdict),) = quantities(records)
    assert (quantity, of_simulated, of_measured, verdict) == ("longest queue (packets)", simulated, measured, agrees)
    assert tolerance == f"at most 5 more than {'65' if simulated < 65 else f'the simulated {simulated}'}"


def test_queues_are_compared_where_ports_mark_and_both_sides_know_them() -> None:
    assert quantities([record({"ecn": MARKS}, FULL), record({"ecn": MARKS}, None)]) == []
    assert quantities([record({"kind": "fifo"}, FULL), record({"kind": "fifo"}, 99 * FULL)]) == []
    # Two queues with a threshold each: 130 packets.
    port = {"queues": 2, "ecn": {**MARKS, "per": "queue"}}
    assert [row[-1] for row in quantities([record(port, FULL), record(port, 135 * FULL)])] == [True]
    assert [row[-1] for row in quantities([record(port, FULL), record(port, 136 * FULL)])] == [False]


@pytest.mark.parametrize(("sent", "agrees"), [(772, True), (773, False)])
def test_no_port_sends_more_tokens_than_their_rate(tmp_path: Path, sent: int, *, agrees: bool) -> None:
    # 10 Gbit/s for 1 ms are 1,250,000 bytes: 770.6 tokens of 84 bytes with 1538 bytes of data each, and two at once.
    runs = (RunPlace(tmp_path, "simulated"), RunPlace(tmp_path, "measured"))
    for run, tokens in zip(runs, (100, sent), strict=True):
        (tmp_path / run.run_id).mkdir()
        # A host's own port may send more; data and signals are no tokens.
        columns = {
            "port": ["h0->s0", "s0->h0", "s0->h0", "s0->h0", "s0->h1"],
            "link": [0, 1, 1, 1, 3],
            "class": [0, 0, 5, 13, 1],
            "packets": [5_000, tokens - 50, 50, 5_000, 7],
        }
        pq.write_table(pa.table(columns), run.file("ports.parquet").path)
    port = {"kind": "tokens", "token": "84B"}
    records = [record(port, stopped_at_ps=10**9), record(port, stopped_at_ps=10**9)]
    ((quantity, simulated, other, tolerance, verdict),) = quantities(records, runs)
    assert (quantity, tolerance, verdict) == ("tokens at a port over their rate", "at most 1", agrees)
    assert simulated == pytest.approx(100 / 772.6, rel=1e-3)
    assert other == pytest.approx(sent / 772.6, rel=1e-3)
