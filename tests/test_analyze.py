"""`priolane analyze`: numbers worked out by hand, a small simulation beside them, bad input."""

import json
from pathlib import Path

import pytest

from priolane import cli

STATED = """
flows = 8
sizes = ["100B", "400B"]
shares = [0.75, 0.25]
deadlines = ["1s", "2s"]
mix = [[1, 0], [0.5, 0.5]]
bytes = { rate = "1600bps", scale = "100B", exponent = -0.5 }
latency = { rate = "1600bps", scale = "1s", exponent = -1 }
"""

EXPERIMENT = """
title = "Two flows, one of which cannot be in time"
schemes = ["dctcp"]
seeds = 1
time = { flows = 2, limit = "1s" }
topology = { kind = "single_switch", hosts = 2, host_link = { rate = "10Gbps", delay = "1us" } }
[[group]]
name = "all"
hosts = "*"
app = "flows"
list = "flows.csv"
"""


def _model(folder: Path, text: str) -> str:
    path = folder / "model.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_model_of_the_document_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", str(Path(__file__).parent.parent / "docs" / "model.toml")]) == 0
    assert capsys.readouterr().out.count("\n") > 5


def test_closed_forms_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", _model(tmp_path, STATED)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("8 flows; sigma of T 100B (Eq. 7)")
    # T = [6 x 100, 2 x 400]; R = [6 x 1, 2 x 1.5].
    assert lines[2].split() == ["100B", "0.7500", "600B", "1.0000", "0.0000", "6s"]
    assert lines[3].split() == ["400B", "0.2500", "800B", "0.5000", "0.5000", "3s"]
    # By size: 200 B/s and 100 B/s. By requirement: 200 B/s for 1 s, 100 B/s for 2 s.
    assert [line.split() for line in lines[6:9]] == [
        ["100B", "500ms", "0.00"],
        ["400B", "4s", "100.00"],
        ["all", "1.375s", "25.00"],
    ]
    assert lines[12].split() == ["400B", "3s", "100.00"]
    assert lines[-1].endswith("an FCT may be below the line's time.")


def test_an_experiments_flows_beside_their_simulation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "experiment.toml").write_text(EXPERIMENT, encoding="utf-8")
    flows = "start_ns,src,dst,bytes,class,deadline_ns\n0,0,1,25000,0,5000\n10000000,0,1,1500000,0,30000000\n"
    (tmp_path / "flows.csv").write_text(flows, encoding="utf-8")
    law = 'bytes = { scheme = "dctcp", scale = "100kB", exponent = -0.5 }'
    text = f'experiment = "experiment.toml"\nsize_edges = ["100kB"]\ndeadline_edges = ["1ms"]\n{law}\n'
    assert cli.main(["analyze", "--json", _model(tmp_path, text)]) == 0
    answer = json.loads(capsys.readouterr().out)
    result = answer["bytes"]
    # 25 kB take 20 us at 10 Gbps, and may take 5.
    assert result["simulated"]["figures"]["missed"] == [1.0, 0.0]
    assert result["predicted"]["mean_s"] == pytest.approx(result["simulated"]["figures"]["mean_s"])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("0.25]", "0.35]"), "one share for each size"),
        (("-0.5", "0.5"), "out of range"),
        (('"1s", "2s"', '"2s", "1s"'), "increase from class to class"),
        (('scale = "100B"', 'scale = "0B"'), "the value is zero"),
        (("flows = 8", "flows = 0"), "must be above 0"),
    ],
)
def test_bad_models_get_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], says: str
) -> None:
    assert cli.main(["analyze", _model(tmp_path, STATED.replace(*change))]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1
