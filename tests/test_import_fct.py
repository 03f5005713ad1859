"""`priolane import fct`: results of other simulators beside those of priolane."""

from pathlib import Path

import numpy as np
import pytest

import priolane
from priolane.cli import main

# Node n is 0b, then n in four digits, then 01. Sizes 1 kB and 200 MB; 2 and 17 ms, in idle networks 1 and 16.5 ms.
FCT = """0b000201 0b000101 10000 100 1000 2000000000 2000000 1000000
0b000301 0b000101 10001 100 200000000 2000000000 17000000 16500000
0b010301 0b000101 10002 100 1000 2000000500 3000000 1000000
"""
EXPERIMENT = """title = "Ours"
schemes = ["newreno"]
seeds = 2
time = { flows = 3 }
topology = { kind = "single_switch", hosts = 4, host_link = { rate = "10Gbps", delay = "1us" } }
group = [{ name = "a", hosts = "*", app = "flows", list = [
    { src = 0, dst = 1, size = "1kB", start = "0ns" }, { src = 2, dst = 1, size = "200kB", start = "0ns" },
    { src = 3, dst = 1, size = "1kB", start = "500ns" }] }]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with results of another simulator."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fct.txt").write_text(FCT)
    return tmp_path


def test_completion_times_are_a_run_with_the_flows_and_their_summary(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "fct", str(folder / "fct.txt"), "-o", "theirs", "--scheme", "hpcc"]) == 0
    shown = capsys.readouterr().out
    assert "3 flows that finished, 200 MB, as scheme hpcc, seed 1" in shown
    results = priolane.load("theirs")
    (record,) = results.records.values()
    every, small = record["summary"]["all"], record["summary"]["small"]
    # (2 + 17 + 3) / 3 ms; the median of three is the second, the 99th percentile the third.
    assert every["mean_fct_s"] == pytest.approx(22e-3 / 3)
    assert (every["p50_fct_s"], every["p99_fct_s"]) == (3e-3, 17e-3)
    # Small flows take 2 and 3 times as long as alone: mean 2.5, of which the deviation of times is 0.5 ms.
    assert (small["flows"], small["mean_slowdown"], small["p50_slowdown"]) == (2, 2.5, 2.0)
    assert small["std_fct_s"] == pytest.approx(0.5e-3)
    assert every["goodput_bps"] == pytest.approx(8 * 200_002_000 / 22e-3)
    flows = results.flows().to_pylist()
    assert [flow["src"] for flow in flows] == [2, 3, 0x0103]
    assert [flow["fct_ps"] for flow in flows] == [2_000_000_000, 17_000_000_000, 3_000_000_000]
    assert np.allclose([flow["slowdown"] for flow in flows], [2, 17 / 16.5, 3])


def test_they_are_compared_with_results_of_the_same_experiment(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "x.toml").write_text(EXPERIMENT)
    assert main(["run", "x.toml", "-o", "ours"]) == 0
    for seed in (1, 2):
        rows = FCT.replace(" 2000000 1000000", f" {1_000_000 * seed} 1000000")
        (folder / "fct.txt").write_text(rows)
        assert main(["import", "fct", "fct.txt", "-o", "theirs", "--like", "ours", "--seed", str(seed)]) == 0
    assert [(run.scheme, run.seed) for run in priolane.load("theirs").runs] == [("newreno", 1), ("newreno", 2)]
    capsys.readouterr()
    assert main(["compare", "ours", "theirs", "-v"]) == 0
    shown = capsys.readouterr().out
    assert "2 runs in both, 0 of them identical to the bit" in shown
    assert "mean_fct_s" in shown
    # The experiment is that of --like: no key differs.
    assert "experiments differ" not in shown


def test_a_csv_may_lack_what_is_unknown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "fct.csv").write_text("fct_ns,bytes,start_ns\n1000,10,0\n3000.0,20,5\n")
    assert main(["import", "fct", "fct.csv", "-o", "theirs"]) == 0
    assert "no times of idle networks" in capsys.readouterr().out
    (record,) = priolane.load("theirs").records.values()
    assert record["summary"]["all"]["mean_fct_s"] == pytest.approx(2e-6)
    assert "mean_slowdown" not in record["summary"]["all"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file has no flows"),
        ("bytes,start_ns,fct_ns\n", "the file has no flows"),
        ("0b000201 0b000101 1 2 3\n", "fct.txt:1: the row has 5 cells"),
        (FCT.replace("3000000", "never"), "fct.txt:3: fct_ns: 'never' is not a whole number"),
        (FCT.replace("3000000 1", "0 1"), "fct.txt:3: fct_ns: '0' is not a whole number above zero"),
        (FCT.replace("0b010301", "0xzz"), "fct.txt:3: src: '0xzz' is not"),
        ("fct_ns,bytes\n1,2\n", "start_ns: the column is missing"),
        ("fct_ns,bytes,start_ns\n1,2\n", "fct.txt:2: start_ns: '' is not"),
        ("fct_ns,bytes,start_ns,bytes\n1,2,3,4\n", "fct.txt:1: bytes: the column is there 2 times"),
        (f"fct_ns,bytes,start_ns\n{'1' * 200_000},2,3\n", "fct.txt:2: the row is not CSV"),
        ("\xff\n", "line 1: byte 0 is not UTF-8"),
    ],
)
def test_other_files_are_refused_in_one_line(
    text: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "fct.txt").write_bytes(text.encode("latin-1"))
    assert main(["import", "fct", "fct.txt", "-o", "theirs"]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert message in errors
    assert not (folder / "theirs").exists()


def test_other_results_are_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.toml").write_text(EXPERIMENT)
    assert main(["run", "x.toml", "-o", "ours"]) == 0
    assert main(["import", "fct", "fct.txt", "-o", "ours"]) == 2
    assert "the results here are not imported" in capsys.readouterr().err
    assert main(["import", "fct", "fct.txt", "-o", "theirs", "--like", "ours", "--scheme", "dctcp"]) == 2
    assert "ours has no runs of dctcp. Use one of newreno" in capsys.readouterr().err


def test_a_file_of_a_spreadsheet_may_begin_with_a_byte_order_mark_and_quote_its_cells(folder: Path) -> None:
    (folder / "fct.csv").write_bytes('\ufefffct_ns,bytes,start_ns\r\n"1000","10",0\r\n'.encode())
    assert main(["import", "fct", "fct.csv", "-o", "theirs"]) == 0
    assert [flow["fct_ps"] for flow in priolane.load("theirs").flows().to_pylist()] == [1_000_000]


@pytest.mark.usefixtures("folder")
def test_they_are_shown_by_results_and_have_no_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "fct", "fct.txt", "-o", "theirs", "--scheme", "hpcc"]) == 0
    capsys.readouterr()
    for option in ("--csv", "--json", "-v"):
        assert main(["results", "theirs", option]) == 0
    shown = capsys.readouterr().out
    assert "hpcc" in shown
    assert "whole runs" not in shown
    assert main(["report", "theirs"]) == 2
    assert "results of another simulator, which have no report" in capsys.readouterr().err


def test_the_same_flows_are_not_another_seed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "fct", "fct.txt", "-o", "theirs"]) == 0
    capsys.readouterr()
    (folder / "copy.txt").write_text(FCT)
    assert main(["import", "fct", "copy.txt", "-o", "theirs", "--seed", "2"]) == 2
    errors = capsys.readouterr().err
    assert "--seed 2: theirs has the same flows as seed 1 of scheme imported" in errors
    assert errors.count("\n") == 1
    # Two schemes may have the same flows: nothing is taken for variance.
    assert main(["import", "fct", "copy.txt", "-o", "theirs", "--scheme", "other"]) == 0
    assert [(run.scheme, run.seed) for run in priolane.load("theirs").runs] == [("imported", 1), ("other", 1)]


def test_a_file_that_is_cut_off_is_noticed_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "fct", "fct.txt", "-o", "whole"]) == 0
    (folder / "cut.txt").write_text("".join(FCT.splitlines(keepends=True)[:1]))
    assert main(["import", "fct", "cut.txt", "-o", "cut"]) == 0
    capsys.readouterr()
    warned = "not the same traffic: runs of imported have 3 flows in the first and 1 in the second. Is a file cut off?"
    assert main(["compare", "whole", "cut"]) == 0
    shown = capsys.readouterr().out
    assert warned in " ".join(" ".join(shown.splitlines()[:2]).split())
    # Values have units, and signs are explained.
    assert " 7.33 ms " in shown
    assert " -6.85 ms " in shown
    assert "may have moved, or has no interval: run more seeds" in shown
    assert main(["compare", "whole", "cut", "-v"]) == 0
    assert f"warning: {warned}\n" in capsys.readouterr().out
    assert main(["compare", "whole", "whole"]) == 0
    assert "not the same traffic" not in capsys.readouterr().out


def test_of_two_schemes_the_file_is_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.toml").write_text(EXPERIMENT.replace('["newreno"]', '["newreno", "dctcp"]'))
    assert main(["run", "x.toml", "-o", "ours"]) == 0
    capsys.readouterr()
    assert main(["import", "fct", "fct.txt", "-o", "theirs", "--like", "ours"]) == 2
    errors = capsys.readouterr().err
    assert errors.endswith(
        "ours has 2 schemes. Say which one the file is of: `--scheme newreno` or `--scheme dctcp`.\n"
    )
    assert main(["import", "fct", "fct.txt", "-o", "theirs", "--like", "ours", "--scheme", "dctcp"]) == 0


@pytest.mark.usefixtures("folder")
def test_times_to_the_last_ack_are_compared_with_those(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "fct", "fct.txt", "-o", "theirs"]) == 0
    assert "a flow ends with its last ACK" in capsys.readouterr().out
    (record,) = priolane.load("theirs").records.values()
    assert record["summary"]["all"]["mean_fct_acked_s"] == pytest.approx(22e-3 / 3)


def test_another_file_does_not_replace_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "fct", "fct.txt", "-o", "theirs"]) == 0
    (record,) = priolane.load("theirs").records.values()
    assert main(["import", "fct", "fct.txt", "-o", "theirs"]) == 0
    (folder / "other.txt").write_text(FCT.replace("3000000", "4000000"))
    assert main(["import", "fct", "other.txt", "-o", "theirs"]) == 2
    assert "scheme imported, seed 1 is there already" in capsys.readouterr().err
    assert list(priolane.load("theirs").records.values()) == [record]
    assert main(["import", "fct", "other.txt", "-o", "theirs", "--seed", "2"]) == 0
    assert len(priolane.load("theirs").runs) == 2
