"""`priolane run --profile`, with the compiled module."""

import json
from pathlib import Path

import pytest

from priolane.cli import main

STAR = """
title = "One switch"
schemes = ["dctcp", "newreno"]
seeds = 2
time = { warmup = "0ms", measure = "5ms", drain = true }

[topology]
kind = "single_switch"
hosts = 8
host_link = { rate = "10Gbps", delay = "1us" }

[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.6 }
"""
PHASES = {"transport", "hosts", "switches", "engine", "setup", "results"}


@pytest.fixture
def star(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "star.toml"
    path.write_text(STAR)
    return path


def test_a_profile_has_a_row_for_each_scheme_and_keeps_nothing(
    star: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(star), "--profile", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [(row["scheme"], row["seed"]) for row in answer] == [("dctcp", 1), ("newreno", 1)]
    for row in answer:
        shares = {each["phase"]: each["share"] for each in row["shares"]}
        assert set(shares) == PHASES
        assert sum(shares.values()) == pytest.approx(1.0)
        assert min(shares["transport"], shares["hosts"], shares["switches"]) > 0.01
        assert row["packet_hops"] > 10_000
        assert row["seconds"] * row["rounds"] > 0.1
    assert [path.name for path in tmp_path.iterdir()] == ["star.toml"]


def test_a_profile_is_a_table(star: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(star), "--profile", "--set", 'schemes=["dctcp"]', "--seed-list", "7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["scheme", "packet-hops", "CPU", "s"]
    assert len(lines) == 3
    assert sum(int(cell) for cell in lines[1].split()[-6:]) == pytest.approx(100, abs=3)
    assert lines[2] == "of the first run of each scheme (seed 7); no results are kept"


@pytest.mark.parametrize(
    "needless", [["--threads", "2"], ["--verify"], ["-o", "out"], ["--jobs", "2"], ["--until", "decided"]]
)
def test_choices_that_a_profile_has_no_use_for_are_refused(
    star: Path, needless: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(star), "--profile", *needless]) == 2
    shown, errors = capsys.readouterr()
    assert shown == ""
    assert errors.startswith("priolane: error: --profile runs on one thread and keeps no results; leave --")
