"""`priolane trace`: what it asks for, what it prints, and that tshark reads its captures."""

import json
import shutil
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fake_core import FakeCore
from priolane.cli import main

EXPERIMENT = """
title = "Two senders, one receiver, a link that loses"
schemes = ["dctcp", "newreno"]
time = { flows = 2 }
seeds = 2
[topology]
kind = "single_switch"
hosts = 3
host_link = { rate = "10Gbps", delay = "1us", loss = 0.01 }
[[group]]
name = "list"
hosts = "*"
app = "flows"
list = "flows.csv"
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "flows.csv").write_text("start_ns,src,dst,bytes\n0,0,2,438000\n0,1,2,438000\n")
    path = tmp_path / "x.toml"
    path.write_text(EXPERIMENT)
    return path


def test_the_command_asks_for_one_flow_of_one_run(
    core: FakeCore, experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ["trace", str(experiment), "--flow", "7", "--scheme", "nos2", "--seed", "1", "--at", "s0->h1"]
    arguments += ["--set", "time.flows=9", "--point", "group.all.load.value=0.5", "-o", str(out)]
    assert main(arguments) == 0
    assert core.traced == [{"flow": 7, "seed": 1, "point": [["group.all.load.value", "0.5"]], "at": "s0->h1"}]
    assert core.options[0]["schemes"] == ["nos2"]
    assert core.options[0]["sets"] == [["time.flows", "9"]]
    shown, errors = capsys.readouterr()
    assert errors == ""
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert lines[0] == ("flow 7: host 0 to host 1, 1,460 B, class 2 asked for; started at 5.000 us, did not complete")
    assert lines[1].startswith("run 00000000000000ff: nos2, load.value = 0.5, seed 1; digest ddd")
    assert lines[2] == "2 packets on 3 hops: 1 sent again, 0 dropped, 1 lost, 1 marked; 2 captured at h0->s0"
    assert "5.000 0 data 0..1,460 2 h0->s0 0.000, s0->h1 1.250 (3) CE LOST: random loss of the link" in lines
    assert "9.000 1 ack 0 again 2 h0->s0 0.000 10.067 cwnd 14,600, srtt 6.500 us, alpha 0.0625" in lines
    assert lines[-1] == f"wrote {out / 'trace-7.pcap'}"


def test_json_holds_packets_hops_and_state(
    core: FakeCore, experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", str(experiment), "--flow", "0", "--seed", "1", "-o", str(tmp_path / "out"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [packet["number"] for packet in answer["packets"]] == [0, 1]
    assert [hop["port"] for hop in answer["packets"][0]["hops"]] == ["h0->s0", "s0->h1"]
    assert answer["state"][0] == [10_067_200, "cwnd_bytes", 14_600.0]
    assert core.traced[0]["at"] is None


def test_several_runs_are_one_line_and_exit_2(
    core: FakeCore, experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", str(experiment), "--flow", "0", "-o", str(tmp_path / "out")]) == 2
    shown, errors = capsys.readouterr()
    assert shown == ""
    assert errors.count("\n") == 1
    assert "Add --seed K (from 1 to 2)" in errors
    assert len(core.traced) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (["--seed", "1"], "Add --scheme dctcp|newreno"),
        (["--seed", "3", "--scheme", "dctcp"], "no seed 3"),
        (["--seed", "1", "--scheme", "dctcp", "--flow", "2"], "a flow from 0 to 1"),
        (["--seed", "1", "--scheme", "dctcp", "--at", "h0->h1"], "h0->s0, s0->h2"),
        (["--seed", "1", "--scheme", "dctcp", "--point", "load=1"], "the experiment has no sweep"),
    ],
)
def test_what_cannot_be_traced_is_exit_2(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: list[str], says: str
) -> None:
    flow = [] if "--flow" in change else ["--flow", "0"]
    assert main(["trace", str(experiment), *flow, "-o", str(tmp_path / "out"), *change]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert says in errors
    assert not (tmp_path / "out").exists()


def dissected(capture: Path, *fields: str) -> list[list[str]]:
    """The fields of each packet as tshark reads them, checksums verified."""
    results = [part for field in fields for part in ("-e", field)]
    options = [
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "tcp.check_checksum:TRUE",
        "-o",
        "tcp.relative_sequence_numbers:FALSE",
    ]
    read = subprocess.run(
        ["tshark", "-r", str(capture), "-T", "fields", *options, *results], check=True, capture_output=True, text=True
    )
    return [line.split("\t") for line in read.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_what_the_tables_say(experiment: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["trace", str(experiment), "--flow", "0", "--scheme", "dctcp", "--seed", "1", "-o", str(out)]) == 0
    rows = [row for row in pq.read_table(out / "trace-0.parquet").to_pylist() if row["port"] in {"h0->s0", "s0->h0"}]
    passed = [
        (row["start_ps"] if row["port"] == "h0->s0" else row["arrived_ps"], row)
        for row in rows
        if row["port"] == "h0->s0" or row["arrived_ps"] is not None
    ]
    # At one instant, what came in stands before what it called for.
    passed.sort(key=lambda pair: (pair[0], pair[1]["queued_ps"]))
    fields = ["frame.time_epoch", "tcp.len", "tcp.seq_raw", "tcp.ack_raw", "ip.src", "ip.dsfield.ecn"]
    packets = dissected(out / "trace-0.pcap", *fields)
    assert len(packets) == len(passed) > 600
    for (at_ps, row), (time, length, seq, ack, source, ecn) in zip(passed, packets, strict=True):
        seconds, _, fraction = time.partition(".")
        assert int(seconds) * 10**9 + int(fraction) == at_ps // 1000
        assert int(length) == row["payload"]
        assert source == f"10.0.0.{row['src'] + 1}"
        assert int(ecn) == (3 if row["congested"] else 2 if row["ecn"] else 0)
        if row["kind"] == "data":
            assert (int(seq), int(ack)) == (row["offset"] + 1, 1)
        elif row["src"] == 2 and row["kind"] == "ack":
            assert (int(seq), int(ack)) == (1, row["offset"] + 1)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_finds_nothing_malformed_and_knows_the_retransmissions(experiment: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["trace", str(experiment), "--flow", "1", "--scheme", "dctcp", "--seed", "1", "-o", str(out)]) == 0
    fields = [
        "ip.checksum.status",
        "_ws.malformed",
        "tcp.options.sack_le",
        "tcp.analysis.retransmission",
        "tcp.flags.syn",
    ]
    packets = dissected(out / "trace-1.pcap", *fields)
    assert {packet[0] for packet in packets} == {"1"}
    assert {packet[1] for packet in packets} == {""}
    assert sum(packet[4] in {"1", "True"} for packet in packets) == 2
    again = [r for r in pq.read_table(out / "trace-1.parquet").to_pylist() if r["again"] and r["port"] == "h1->s0"]
    assert len(again) > 0
    assert sum(packet[3] != "" for packet in packets) > 0
    assert any(packet[2] for packet in packets)
    # tshark verifies only the TCP checksums of packets that it has whole: those without payload.
    checked = dissected(out / "trace-1.pcap", "tcp.len", "tcp.checksum.status")
    assert {status for length, status in checked if length == "0"} == {"1"}
