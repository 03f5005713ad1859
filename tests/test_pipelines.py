"""`app = "pipeline"` on an idle network, by both engines, against the closed forms of GPipe."""

from pathlib import Path
from typing import Any

import pytest

import priolane
from priolane.cli import main

# Activations of 20 packets of 1460 B, gradients of 10; forward 100 us, backward 200 us.
KEYS = 'activations = "29200B"\ngradients = "14600B"\nforward = "100us"\n'

EXPERIMENT = """title = "A job"
schemes = ["plain"]
seeds = 1
time = {{ measure = "1s", drain = true }}
host = {{ send_jitter = "0ns" }}
topology = {{ kind = "single_switch", hosts = {hosts}, host_link = {{ rate = "10Gbps", delay = "1us" }} }}
scheme = {{ plain = {{ base = "newreno", transport = {{ handshake = "none", init_window = "10000pkt" }} }} }}
[[group]]
name = "job"
hosts = "*"
app = "pipeline"
{keys}
"""


def message_us(packets: int) -> float:
    """A message over two lines of 10 Gbit/s and 1 us, alone: 1538 B a packet."""
    return (packets + 1) * 1.2304 + 2


def job(folder: Path, hosts: int, keys: str) -> dict[str, Any]:
    """The record of the job, verified by the other engine."""
    (folder / "x.toml").write_text(EXPERIMENT.format(hosts=hosts, keys=keys))
    assert main(["run", str(folder / "x.toml"), "-o", str(folder / "out"), "--verify"]) == 0
    (record,) = priolane.load(folder / "out").records.values()
    found: dict[str, Any] = record["jobs"]["all"]
    return found


@pytest.mark.parametrize(("stages", "batches"), [(2, 1), (4, 8), (5, 3)])
def test_gpipe_takes_its_closed_form_and_leaves_its_bubble(stages: int, batches: int, tmp_path: Path) -> None:
    found = job(tmp_path, stages, f'{KEYS}schedule = "gpipe"\nmicro_batches = {batches}\niterations = 2\n')
    # The last stage waits for a message over each boundary, and the first stage for one back.
    transfers = (stages - 1) * (message_us(20) + message_us(10))
    one = (batches + stages - 1) * 300 + transfers
    # Stages go at one pace: in a stage between others the ACK of what just came (67.2 ns) may be on the line first,
    # once each way.
    acks = 2 * (stages - 2) * 0.0672
    assert 2 * one - 1e-5 < found["time_s"] * 1e6 < 2 * (one + acks) + 1e-5
    assert 2 * transfers - 1e-5 < found["exposed_s"] * 1e6 < 2 * (transfers + acks) + 1e-5
    assert found["computing"] == pytest.approx(batches * 300e-6 * 2 / found["time_s"], abs=1e-9)
    # The last iteration ends with its last gradients, 200 us before the first stage has computed.
    assert found["iterations"]["count"] == 2
    assert found["iterations"]["mean_s"] * 1e6 == pytest.approx(one - 200 / 2, abs=acks + 1e-5)
    assert found["ranks"] == stages


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b"])
def test_the_metric_is_the_bubble_of_p_minus_1_of_m_plus_p_minus_1(schedule: str, tmp_path: Path) -> None:
    # Messages of a byte take 2.13 us of 10 ms, and replicas of stages do the same: 3 / 11.
    keys = f'schedule = "{schedule}"\nactivations = "1B"\nforward = "10ms"\nmicro_batches = 8\nstages = 4\n'
    panel = 'metrics.classes = { job = { group = "job" } }\n'
    claim = 'bound = { of = "job_bubble.job.plain", above = 0.27227, below = 0.2735 }\n'
    text = EXPERIMENT.format(hosts=8, keys=keys).replace("[[group]]", f"{panel}[[group]]", 1)
    text = text.replace("seeds = 1", "seeds = 2")
    (tmp_path / "x.toml").write_text(f'{text}[[claim]]\nsection = "s"\nsays = "a bubble"\n{claim}')
    results = priolane.run(tmp_path / "x.toml", tmp_path / "out")
    for record in results.records.values():
        assert 1 - record["jobs"]["all"]["computing"] == pytest.approx(3 / 11, abs=1e-3)
    (judged,) = results.report.claims
    assert judged.verdict == "reproduced"


@pytest.mark.parametrize(
    ("hosts", "keys", "message"),
    [
        (6, f"{KEYS}micro_batches = 4\nstages = 4\n", "group.job.stages: 6 hosts cannot be divided into 4 stages"),
        (6, f"{KEYS}micro_batches = 4\nstages = 1\n", "group.job.stages"),
        (6, KEYS, "micro_batches = 8"),
        (6, f"{KEYS}micro_batches = 0\n", "group.job.micro_batches"),
        (6, f'{KEYS}micro_batches = 4\nschedule = "2f2b"\n', "group.job.schedule"),
        (6, KEYS.replace("29200B", "0B") + "micro_batches = 4\n", "group.job.activations: the flow has no bytes"),
        (6, KEYS.replace("forward", "forwards") + "micro_batches = 4\n", "forwards"),
        (6, f"{KEYS}micro_batches = 8\niterations = 1000000\n", "there would be more than 50 million flows"),
    ],
)
def test_each_mistake_is_refused_at_its_key(
    hosts: int, keys: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.toml").write_text(EXPERIMENT.format(hosts=hosts, keys=keys))
    assert main(["check", str(tmp_path / "x.toml")]) == 2
    assert message in capsys.readouterr().err
