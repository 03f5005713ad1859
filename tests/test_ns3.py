import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from priolane import _core
from priolane.cli import main
from priolane.simulators import ns3


def side(hops: int, cpu_s: float, fct_s: tuple[float, ...]) -> ns3.SimulatorRun:
    return ns3.SimulatorRun(hops, cpu_s, (1_000, 100_000, 99_999, 20_000_000)[: len(fct_s)], fct_s)


def test_ratio_is_of_rates_pair_by_pair() -> None:
    # 100 and 80 hops/s against 2 and 1: 50, 80.
    fast, slow = side(100, 1.0, (1.0,)), side(160, 2.0, (1.0,))
    pairs = ((fast, side(100, 50.0, (1.0,))), (slow, side(100, 100.0, (1.0,))))
    assert ns3.Comparison(pairs).ratios == (50.0, 65.0, 80.0)


def test_flows_are_told_by_size_class() -> None:
    ours, theirs = side(1, 1.0, (1.0, 5.0, 3.0, 7.0)), side(1, 1.0, (2.0, 5.5, 4.0, 8.0))
    classes = {row.name: row for row in ns3.Comparison(((ours, theirs),)).classes}
    small = classes["below 100 kB"]
    assert (small.flows, small.mean_s, small.p99_s) == (2, (2.0, 3.0), (3.0, 4.0))
    assert classes["100 kB to 10 MB"].mean_s == (5.0, 5.5)
    assert classes["above 10 MB"].p99_s == (7.0, 8.0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"packet_hops": 1, "cpu_s": 1}',
        '{"packet_hops": 1, "cpu_s": 1, "flow_bytes": [1, 2], "fct_s": [0.1]}',
        '{"packet_hops": 1, "cpu_s": 0, "flow_bytes": [1], "fct_s": [0.1]}',
    ],
)
def test_what_is_not_a_run_is_refused(text: str) -> None:
    with pytest.raises(_core.RunFailed):
        ns3.read_side(text)


def test_both_programs_print_the_keys_that_are_read() -> None:
    ours = json.loads(_core.bench_side(1))
    assert list(ours) == list(ns3.RESULT_KEYS)
    printed = re.findall(r'\\"(\w+)\\": ', (ns3.SOURCES / "leafspine.cc").read_text(encoding="utf-8"))
    assert set(ns3.RESULT_KEYS) <= set(printed), "the program of the peer lacks a key"
    # What is printed reads as what was run: 7,861 bytes are the first flow of the list.
    assert ns3.read_side(_core.bench_side(1)).sizes == (7_861,)


def test_the_peer_declares_the_options_that_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def output(command: list[str]) -> str:
        commands.append(command)
        return _core.bench_side(2)

    monkeypatch.setattr(ns3, "build", lambda _tell: Path("peer"))
    monkeypatch.setattr(ns3, "_output", output)
    comparison = ns3.compare(2, 1, lambda _: None)
    assert comparison.pairs[0][0].sizes == comparison.pairs[0][1].sizes
    results = {word.partition("=")[0].removeprefix("--") for word in commands[0][1:]}
    source = (ns3.SOURCES / "leafspine.cc").read_text(encoding="utf-8")
    assert results == set(re.findall(r'AddValue\("(\w+)"', source))


def test_without_ns3_it_is_skipped_with_the_package_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, code in {"pkg-config": 1, "make": 0, "c++": 0}.items():
        tool = tmp_path / name
        tool.write_text(f"#!/bin/sh\nexit {code}\n")
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert main(["bench", "--against", "ns3"]) == 0
    shown = capsys.readouterr()
    assert "skipped" in shown.err
    assert "libns3-dev" in shown.err
    assert shown.out == ""


def test_a_program_that_fails_is_exit_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(ns3, "build", lambda _tell: Path("/bin/false"))
    assert main(["bench", "--against", "ns3", "--flows", "1"]) == 1
    assert "/bin/false ended with 1" in capsys.readouterr().err


def test_both_say_the_same_of_the_first_flows(tmp_path: Path) -> None:
    try:
        ns3.ns3_version()
    except ns3.SimulatorMissing as missing:
        pytest.skip(str(missing))
    done = subprocess.run(
        [sys.executable, "-m", "priolane.cli", "bench", "--against", "ns3", "--flows", "5", "--repeat", "1", "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("priolane/ns3-*/leafspine"))
    answer = json.loads(done.stdout)
    pair = answer["pairs"][0]
    # Five flows that hardly meet: as many packets and times within a percent.
    assert pair["priolane"]["packet_hops"] == pytest.approx(pair["ns3"]["packet_hops"], rel=0.01)
    for size_class in answer["classes"]:
        ours, theirs = size_class["mean_s"]
        assert ours == pytest.approx(theirs, rel=0.01)
    assert answer["ratio"]["median"] > 1
