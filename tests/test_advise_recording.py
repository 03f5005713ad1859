"""The text of `priolane advise` on lists that come from recordings, by the report of their import."""

import json
from pathlib import Path

import pytest

import advise_world
from priolane import cli
from priolane.advice.doubts import find_doubts
from priolane.advice.flow_list import read_flows
from priolane.advice.recording import Recording, read_recording
from priolane.advice.traffic import Traffic

# 1200 TCP flows, one in each second; every fourth has no SYN.
VPC = "srcaddr dstaddr srcport dstport protocol packets bytes start end tcp-flags action log-status\n" + "".join(
    f"10.0.0.{nth % 7 + 1} 10.0.1.{nth % 5 + 1} {1000 + nth} 80 6 {nth % 9 + 2} {(nth % 9 + 2) * 900} "
    f"{1_714_521_600 + nth} {1_714_521_601 + nth} {0 if nth % 4 == 0 else 3} ACCEPT OK\n"
    for nth in range(1200)
)


def _imported(folder: Path, text: str, *arguments: str) -> Path:
    (folder / "record.txt").write_text(text, encoding="utf-8")
    flows = folder / "flows.csv"
    assert cli.main(["import", "auto", str(folder / "record.txt"), "-o", str(flows), *arguments]) == 0
    return flows


def test_late_coarse_and_missing_starts_are_doubted(tmp_path: Path) -> None:
    flows = _imported(tmp_path, VPC)
    doubts = list(find_doubts(read_flows(flows), None))
    assert [doubt.split(":")[0] for doubt in doubts] == [
        "starts are known to 1 s only",
        "the recording states starts up to 60 s late, each by its own delay",
        "300 flows (25 %) began before the recording",
    ]
    # The log has flags: nothing is assumed of beginnings.
    assert Traffic(file=flows).assumed == ()


def test_starts_that_were_spread_are_assumed_and_not_doubted(tmp_path: Path) -> None:
    flows = _imported(tmp_path, VPC, "--spread", "1s")
    assert not any("known to" in doubt for doubt in find_doubts(read_flows(flows), None))
    (assumed,) = Traffic(file=flows).assumed
    assert assumed.startswith("flows that start at one instant of the recording start evenly over 1 s")


def test_samples_are_doubted_and_their_beginnings_assumed(tmp_path: Path) -> None:
    header = "unixSecondsUTC,unixSecondsUTC_uS,srcIP,dstIP,IPProtocol,TCPSrcPort,TCPDstPort,IPSize,meanSkipCount\n"
    rows = "".join(
        f"{1_714_521_600 + nth},{nth * 7},10.0.0.{nth % 7 + 1},10.0.1.{nth % 5 + 1},6,{1000 + nth},80,1500,4096\n"
        for nth in range(1200)
    )
    flows = _imported(tmp_path, header + rows)
    doubts = list(find_doubts(read_flows(flows), None))
    assert [doubt.split(":")[0] for doubt in doubts] == [
        "the flows were sampled, 1 packet in 4096",
        "the recording states starts up to 1 s late, each by its own delay",
    ]
    (assumed,) = Traffic(file=flows).assumed
    assert assumed.startswith("flows begin where the recording shows them first")
    # What the user says of sampling comes first.
    assert "1 packet in 10:" in next(find_doubts(read_flows(flows), 10))


def test_lists_of_simulators_and_without_reports_are_not_doubted(tmp_path: Path) -> None:
    # Whole seconds are what the simulator was given, not a clock's.
    trace = "".join(f"{nth} {nth + 1} 0 0 {nth % 9 + 2} 0 0 {nth % 5} {nth % 5 + 1}\n" for nth in range(1200))
    flows = _imported(tmp_path, trace)
    assert read_recording(flows).tick_s == 1
    assert list(find_doubts(read_flows(flows), None)) == []
    assert Traffic(file=flows).assumed == ()
    (tmp_path / "flows.report.json").unlink()
    assert read_recording(flows) == Recording()


@pytest.mark.parametrize("report", ["[]", "{", '{"sampling": "many", "tick_ps": -1, "midstream": true, "format": []}'])
def test_a_report_that_is_none_says_nothing(report: str, tmp_path: Path) -> None:
    (tmp_path / "flows.report.json").write_text(report)
    assert read_recording(tmp_path / "flows.csv") == Recording()


def test_the_answer_has_what_the_recording_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    advise_world.write(tmp_path, 1, 1100)
    report = {
        "format": "vpc",
        "flows": 1100,
        "midstream": 110,
        "tick_ps": 10**12,
        "late_ps": 6 * 10**13,
        "spread_ps": 10**12,
    }
    (tmp_path / "flows.report.json").write_text(json.dumps(report))
    # A goal that links exclude: the answer takes no run.
    assert cli.main([*advise_world.arguments(tmp_path, "--explain"), "--goal", "p99.small < 1us"]) == 0
    shown = capsys.readouterr().out
    assert "uncertain: the recording states starts up to 60 s late" in shown
    assert "uncertain: 110 flows (10 %) began before the recording" in shown
    assert "assumed: flows that start at one instant of the recording start evenly over 1 s" in shown


def test_a_sampled_recording_and_coarse_starts_are_doubted(tmp_path: Path) -> None:
    header = "ts,te,td,sa,da,sp,dp,pr,flg,ipkt,ibyt"
    rows = [
        f"2024-01-01 00:00:{nth % 10:02d}.000,2024-01-01 00:00:{nth % 10:02d}.500,0.5,10.0.0.{nth % 7 + 1},"
        f"10.0.1.{nth % 5 + 1},{1000 + nth},80,TCP,.AP.SF,{nth % 9 + 2},{(nth % 9 + 2) * 900}"
        for nth in range(1200)
    ]
    record = tmp_path / "netflow.csv"
    record.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    path = tmp_path / "flows.csv"
    assert cli.main(["import", "nfdump", str(record), "--sampling", "1000", "-o", str(path)]) == 0
    flows = read_flows(path)
    doubts = list(find_doubts(flows, None))
    assert any("1 packet in 1000" in doubt for doubt in doubts)
    assert any("10 instants" in doubt for doubt in doubts)
    # The same list without a word of its sampling, unless the user says it.
    (tmp_path / "flows.report.json").unlink()
    assert not any("sampled" in doubt for doubt in find_doubts(flows, None))
    assert any("1 packet in 50" in doubt for doubt in find_doubts(flows, 50))
