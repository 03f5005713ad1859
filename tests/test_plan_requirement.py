"""`priolane plan requirement`: R_base by point and seed, and bad input."""

import json
from pathlib import Path

import pytest

from priolane import cli

FILE = """title = "Required"
schemes = ["dctcp"]
seeds = 2
time = { warmup = "0s", measure = "5ms" }
[topology]
kind = "single_switch"
hosts = 4
host_link = { rate = "10Gbps", delay = "1us" }
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "facebook_hadoop"
load = { of = "host", counts = "payload", value = 0.5 }
deadline = [{ share = 0.5, r_base = 1, over = 2 }, { share = 0.5, r_base = 2 }]
[sweep]
"group.all.load.value" = [0.2, 0.8]
"""


def _written(folder: Path, text: str) -> str:
    path = folder / "required.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_each_point_and_seed_has_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _written(tmp_path, FILE)
    assert cli.main(["plan", "requirement", path, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["point"][0][1], row["seed"]) for row in rows] == [(0.2, 1), (0.2, 2), (0.8, 1), (0.8, 2)]
    assert len({row["fits"] for row in rows}) == 4
    assert cli.main(["plan", "requirement", path]) == 0
    assert rows[0]["fits"] in capsys.readouterr().out


def test_without_multiples_there_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = FILE.replace("r_base = 1, over = 2", 'within = "1ms"').replace("r_base = 2", 'within = "2ms"')
    assert cli.main(["plan", "requirement", _written(tmp_path, text)]) == 2
    assert "no group has deadlines in multiples of R_base" in capsys.readouterr().err
