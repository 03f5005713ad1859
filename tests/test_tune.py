"""Thresholds optimised against the simulator: the search by hand, and over a small experiment."""

import json
from pathlib import Path

import pytest

from priolane import cli
from priolane.execution.tune import descend

FILE = """title = "Two sizes"
schemes = ["auto"]
time = { flows = 600 }
[topology]
kind = "single_switch"
hosts = 4
host_link = { rate = "10Gbps", delay = "1us" }
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = { csv = "sizes.csv", interpolation = "step" }
load = { of = "host", counts = "payload", value = 0.8 }
[scheme.auto]
base = "dctcp"
assign = { kind = "size", thresholds = ["THRESHOLD"] }
host = { kind = "round_robin" }
nic = "pull"
[scheme.auto.port]
kind = "strict"
queues = 2
buffer = { shared = "512KiB" }
ecn = { per = "port", at = { "10Gbps" = "65pkt" } }
"""


def _written(folder: Path, threshold: str) -> Path:
    (folder / "sizes.csv").write_text("bytes,cdf\n10000,0.8\n1000000,1\n", encoding="utf-8")
    path = folder / "two.toml"
    path.write_text(FILE.replace("THRESHOLD", threshold), encoding="utf-8")
    return path


def test_the_search_ends_at_the_least_within_its_finest_step() -> None:
    def cost(thresholds: tuple[int, ...]) -> float:
        low, high = thresholds
        return abs(low / 30_000 - 1) + abs(high / 2_000_000 - 1)

    tries = descend((1_000, 100_000), cost)
    best = min(tries, key=lambda attempt: attempt.cost)
    # A step of 1.2 is at most 0.2 off for each.
    assert best.cost < 0.4
    assert tries[0].thresholds == (1_000, 100_000)
    assert all(low < high for low, high in (attempt.thresholds for attempt in tries))
    assert len({attempt.thresholds for attempt in tries}) == len(tries)


def test_no_more_are_tried_than_asked_for() -> None:
    assert len(descend((1_000, 100_000), lambda result: -float(sum(result)), most=7)) == 7


def test_a_threshold_that_parts_small_from_large_flows_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # With 2 MB all flows are of one class; between 10 kB and 1 MB small ones go first.
    path = _written(tmp_path, "2MB")
    arguments = ["plan", "thresholds", str(path), "auto", "--jobs", "1", "--most", "8", "-o", str(tmp_path / "out")]
    assert cli.main(arguments) == 0
    shown = capsys.readouterr().out
    line = next(line for line in shown.splitlines() if line.startswith("assign = "))
    result = int(line.split('"')[3].removesuffix("B"))
    assert 10_000 <= result < 1_000_000
    runs = [json.loads(file.read_text()) for file in (tmp_path / "out").glob("*/*/run.json")]
    assert len({run["summary"]["all"]["flows"] for run in runs}) == 1


@pytest.mark.parametrize(
    ("scheme", "message"), [("other", "there is no scheme 'other'"), ("auto", "has no thresholds of size")]
)
def test_what_has_no_thresholds_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scheme: str, message: str
) -> None:
    path = _written(tmp_path, "1MB")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('{ kind = "size", thresholds = ["1MB"] }', '{ kind = "none" }'), encoding="utf-8")
    assert cli.main(["plan", "thresholds", str(path), scheme, "-o", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err
