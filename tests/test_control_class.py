"""The class of ACKs: a number, or that of their data."""

from pathlib import Path

import pytest

from priolane.cli import main

EXPERIMENT = """
title = "ACKs"
schemes = ["own"]
time = {{ measure = "1ms", drain = true }}
topology = {{ kind = "single_switch", hosts = 3, host_link = {{ rate = "10Gbps", delay = "1us" }} }}

[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = {{ of = "host", counts = "payload", value = 0.3 }}
class = 1

[scheme.own]
base = "newreno"
transport.control_class = {control_class}
port = {{ kind = "strict", queues = 2, buffer = {{ shared = "100pkt" }} }}
"""


def check(folder: Path, control_class: str) -> int:
    file = folder / "acks.toml"
    file.write_text(EXPERIMENT.format(control_class=control_class), encoding="utf-8")
    return main(["check", str(file)])


@pytest.mark.parametrize("control_class", ["0", "1", '"flow"'])
def test_acks_need_a_queue_of_their_class_and_none_if_they_have_that_of_their_data(
    control_class: str, tmp_path: Path
) -> None:
    assert check(tmp_path, control_class) == 0


@pytest.mark.parametrize(
    ("control_class", "message"),
    [
        ("15", "packets carry 16 classes, but the port has 2 queues"),
        ("16", 'control_class: 16 is out of range. Use a class from 0 to 15, or "flow"'),
        ('"flows"', 'control_class: unknown value "flows". Did you mean "flow"?'),
        ("true", "control_class: the value is true or false"),
    ],
)
def test_a_wrong_class_of_acks_is_one_message(
    control_class: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(tmp_path, control_class) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("priolane: error: ")
    assert message in line
