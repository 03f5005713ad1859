"""The warnings of `priolane check` about schemes that differ in their hosts."""

import json
from pathlib import Path

import pytest

from priolane import cli
from priolane.model.host_differences import host_differences

FILE = """title = "Hosts"
schemes = ["dctcp", "pias", "top"]
time = { measure = "1ms" }
HOST
[topology]
kind = "single_switch"
hosts = 4
host_link = { rate = "10Gbps", delay = "1us" }
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.5 }
"""


def _warnings(folder: Path, host: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    path = folder / "x.toml"
    path.write_text(FILE.replace("HOST", host), encoding="utf-8")
    assert cli.main(["check", str(path), "--json"]) == 0
    return [text for text in json.loads(capsys.readouterr().out)["warnings"] if text.startswith("schemes differ")]


def test_settings_that_the_experiment_does_not_state_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = _warnings(tmp_path, "", capsys)
    assert any("minimum of the retransmission timeout (10ms: dctcp, pias; 1ms: top)" in text for text in result), result
    assert _warnings(tmp_path, 'host = { min_rto = "5ms", initial_rto = "5ms" }', capsys) == []
    swift = _warnings(tmp_path, 'host = { nic = "pull" }', capsys)
    assert not any("transmit queue" in text for text in swift)


def test_a_queue_of_tokens_and_a_missing_key_are_no_difference() -> None:
    queue = {"nic": {"queue": "fifo"}, "transport": {"handshake": "1rtt"}}
    pull = {"nic": "pull", "transport": {}}
    tokens = {"nic": "tokens", "transport": {"min_rto": "1ms"}}
    assert host_differences({"a": queue, "b": queue, "c": tokens}) == []
    (result,) = host_differences({"a": queue, "b": pull, "c": tokens})
    assert result.startswith("schemes differ in the transmit queue of hosts (a queue: a; none: b); `host.nic` states ")
