"""The ends of sends of `import goal` on an idle network against LogGOPS, where a message takes L + (s - 1) G."""

from pathlib import Path

import pytest

import priolane
from priolane.cli import main
from priolane.results.results import Results

# 70 packets of 1460 B on two lines of 10 Gbit/s and 1 us: 1538 B on the line each. Above LogGOPSim's S of 65,535 B.
BYTES = 70 * 1460
PACKET_US = 1.2304
MESSAGE_US = 71 * PACKET_US + 2
RECEIPT_US = 2 * 84 * 8e-4 + 2

EXPERIMENT = """title = "A job"
schemes = ["plain"]
seeds = 1
time = { measure = "10ms", drain = true }
host = { send_jitter = "0ns" }
topology = { kind = "single_switch", hosts = 2, host_link = { rate = "10Gbps", delay = "1us" } }
group = [{ name = "job", hosts = "*", app = "flows", list = "job.csv" }]
scheme = { plain = { base = "newreno", transport = { handshake = "none", init_window = "10000pkt" } } }
"""

# Rank 0 computes for 500 us when its send has ended; rank 1 receives after 400 us.
LATE = f"""num_ranks 2
rank 0 {{
s: send {BYTES}b to 1
c: calc 500000
c requires s
}}
rank 1 {{
b: calc 400000
r: recv {BYTES}b from 0
r requires b
}}
"""

TWO = f"""num_ranks 2
rank 0 {{
a: send {BYTES}b to 1 tag 1
b: send {BYTES}b to 1 tag 2
b requires a
}}
rank 1 {{
recv {BYTES}b from 0 tag 1
recv {BYTES}b from 0 tag 2
}}
"""


def ran(folder: Path, schedule: str, *flags: str) -> Results:
    (folder / "job.goal").write_text(schedule)
    (folder / "x.toml").write_text(EXPERIMENT)
    assert main(["import", "goal", str(folder / "job.goal"), "-o", str(folder / "job.csv"), *flags]) == 0
    return priolane.run(folder / "x.toml", folder / "out")


@pytest.mark.parametrize(
    ("flags", "end_us"),
    [
        # LogGOPS, eager with o = 0: the computation begins at once.
        (["--send-ends", "at-once"], 500),
        (["--eager", str(BYTES)], 500),
        # (s - 1) G of a NIC of 10 Gbit/s.
        (["--send-ends", "at-nic", "--nic-rate", "10Gbps"], BYTES * 8e-4 + 500),
        # The message, and a notification of 1 us.
        (["--send-ends", "delivered", "--eager", "0"], MESSAGE_US + 1 + 500),
        # A rendezvous: the receive at 400 us, a receipt, and the computation.
        (["--send-ends", "received"], 400 + RECEIPT_US + 500),
        ([], 400 + RECEIPT_US + 500),
    ],
)
def test_a_computation_begins_at_the_end_of_its_send(flags: list[str], end_us: float, tmp_path: Path) -> None:
    results = ran(tmp_path, LATE, *flags)
    (record,) = results.records.values()
    assert record["jobs"]["all"]["time_s"] * 1e6 == pytest.approx(end_us, abs=1e-5)


def test_a_nic_takes_one_message_after_the_other(tmp_path: Path) -> None:
    # The rate at which the line takes payload: the second message follows the last packet of the first.
    results = ran(tmp_path, TWO, "--send-ends", "at-nic", "--nic-rate", f"{round(10e9 * 1460 / 1538)}bps")
    flows = sorted(results.flows().to_pylist(), key=lambda flow: flow["start_ps"])
    assert flows[1]["start_ps"] == pytest.approx(70 * PACKET_US * 1e6, abs=100)
    assert [flow["fct_ps"] for flow in flows] == [pytest.approx(MESSAGE_US * 1e6, abs=100)] * 2


def test_messages_that_are_sent_at_once_share_the_line(tmp_path: Path) -> None:
    flows = ran(tmp_path, TWO, "--send-ends", "at-once").flows().to_pylist()
    assert [flow["start_ps"] for flow in flows] == [0, 0]
    # Hosts serve what comes first: the second message waits for all packets of the first, whose window is open.
    ends = sorted(flow["fct_ps"] for flow in flows)
    assert ends == [pytest.approx(MESSAGE_US * 1e6, abs=100), pytest.approx((141 * PACKET_US + 2) * 1e6, abs=100)]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--send-ends", "soon"], '--send-ends: unknown end "soon". Use at-once, at-nic, delivered or received.'),
        (["--send-ends", "at-nic"], "--send-ends: at-nic needs the rate of the NICs. Use --nic-rate"),
        (["--nic-rate", "10Gbps"], "--nic-rate: the rate of the NICs is for --send-ends at-nic."),
        (["--send-ends", "at-nic", "--nic-rate", "fast"], "--nic-rate: "),
        (["--send-ends", "at-once", "--eager", "9"], "--eager: all sends end at once."),
    ],
)
def test_mistakes_are_one_line(
    flags: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.goal").write_text(LATE)
    command = ["import", "goal", str(tmp_path / "job.goal"), "-o", str(tmp_path / "job.csv")]
    assert main([*command, *flags]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "job.csv").exists()


def test_only_jobs_have_sends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "flow.txt").write_text("1\n0 1 3 100 1000 0.5\n")
    command = ["import", "hpcc", str(tmp_path / "flow.txt"), "-o", str(tmp_path / "out.csv")]
    for flags in (["--send-ends", "delivered"], ["--eager", "5"]):
        assert main([*command, *flags]) == 2
        assert f"{flags[0]} has no meaning for the format hpcc" in capsys.readouterr().err
