"""`priolane import sizes`, and experiments and answers that take what it writes."""

import json
from pathlib import Path

import pytest

from priolane.advice.fabric import read_fabric
from priolane.advice.traffic import Traffic
from priolane.cli import main

PERCENT = "0 0\n10000 15\n50000 40\n1000000 80\n30000000 100\n"
PACKETS = "6 1 0\n6 1 0.15\n53 1 0.53\n667 1 0.7\n20000 1 1\n"
FABRIC = """[topology]
kind = "single_switch"
hosts = 4
host_link = { rate = "10Gbps", delay = "1us" }
[switch]
buffer = { dynamic = "4MB", alpha = 1 }
queues = 3
"""
EXPERIMENT = """title = "Sizes of others"
schemes = ["newreno"]
seeds = 1
time = { flows = 20 }
topology = { kind = "single_switch", hosts = 4, host_link = { rate = "10Gbps", delay = "1us" } }
[[group]]
name = "a"
hosts = "*"
app = "poisson"
sizes = "SIZES"
load = { of = "host", counts = "payload", value = 0.3 }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with tables of others."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "percent.txt").write_text(PERCENT)
    (tmp_path / "packets.tcl").write_text(PACKETS)
    (tmp_path / "fabric.toml").write_text(FABRIC)
    return tmp_path


def test_a_table_is_converted_and_its_form_and_mean_are_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "sizes", "percent.txt", "-o", "web.csv"]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines() == [
        "5 rows of 2 columns: sizes in bytes (the first size is 0), probabilities in per cent",
        "flows have sizes also between rows: tables of two or three columns are read so",
        # 0.15 x 5000 + 0.25 x 30000 + 0.4 x 525000 + 0.2 x 15.5 MB
        "mean size 3318250 bytes (3.32 MB), at most 30.0 MB",
        'use it as `sizes = "web.csv"` in a group, or with `--sizes web.csv`',
        "table    web.csv",
        "report   web.report.json",
    ]
    rows = (folder / "web.csv").read_text().splitlines()[1:]
    assert rows == ["bytes,cdf", "0,0", "10000,0.15", "50000,0.4", "1000000,0.8", "30000000,1"]
    assert main(["import", "sizes", "percent.txt", "-o", "web.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((folder / "web.report.json").read_text())


def test_what_may_be_read_in_two_ways_is_stated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["import", "sizes", "packets.tcl", "-o", "mining.csv"]
    assert main(command) == 2
    assert "sizes may be bytes (mean 3.1734 kB) or packets of 1460 bytes (mean 4.6331 MB)" in capsys.readouterr().err
    assert not (folder / "mining.csv").exists()
    # 1000 x (0.15 x 6 + 0.38 x 29.5 + 0.17 x 360 + 0.3 x 10333.5)
    assert main([*command, "--unit", "packets", "--mss", "1000"]) == 0
    assert "mean size 3173360 bytes" in capsys.readouterr().out


def test_a_table_that_was_changed_or_is_another_file_is_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["import", "sizes", "percent.txt", "-o", "web.csv"]
    (folder / "web.csv").write_text("mine")
    assert main(command) == 2
    assert "web.csv: the file was not written by an import" in capsys.readouterr().err
    (folder / "web.csv").unlink()
    assert main(command) == main(command) == 0
    (folder / "web.csv").write_text("changed")
    assert main(command) == 2
    assert (folder / "web.csv").read_text() == "changed"
    assert main([*command[:-1], "percent.txt"]) == 2
    assert "the input would be overwritten" in capsys.readouterr().err
    assert (folder / "percent.txt").read_text() == PERCENT


def test_experiments_and_answers_find_a_table_by_its_path_and_name_the_command_for_another(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hint = "Run `priolane import sizes"
    for name in ("percent.txt", "./percent.txt"):
        (folder / "x.toml").write_text(EXPERIMENT.replace("SIZES", name))
        assert main(["check", "x.toml"]) == 2
        assert hint in capsys.readouterr().err
    assert main(["import", "sizes", "percent.txt", "-o", "web.txt"]) == 0
    (folder / "x.toml").write_text(EXPERIMENT.replace("SIZES", "web.txt"))
    assert main(["check", "x.toml"]) == 0
    capsys.readouterr()
    # A size table has any ending, or none.
    (folder / "web").write_text((folder / "web.txt").read_text())
    fabric = read_fabric(folder / "fabric.toml")
    for name in ("web.txt", "web"):
        sizes = Traffic(sizes=name, load=0.4).flows(fabric, []).sizes
        assert sizes.max() > 1_000_000
    assert main(["advise", "--sizes", "percent.txt", "--fabric", "fabric.toml", "-o", "advice"]) == 2
    error = capsys.readouterr().err
    assert "priolane import sizes" in error
    assert "percent.txt" in error
