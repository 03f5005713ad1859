"""`priolane channels`: numbers worked out by hand, its forms, bad input."""

import json
from pathlib import Path

import pytest

from priolane import cli

QUEUES = ["--queues", "2.64MB", "6", "1us"]


def _answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert cli.main(["channels", "--json", *arguments]) == 0
    answer: dict[str, object] = json.loads(capsys.readouterr().out)
    return answer


def test_channels_of_the_paper_are_four_microseconds_wide(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["channels", "--priorities", "8", *QUEUES]) == 0
    lines = capsys.readouterr().out.splitlines()
    # 150 flows x 150 B at 100 Gbps are 1.8 us, and 0.8 of that: A = 3.24 us (the paper: 3.2); B = 0.8 us.
    assert "A = 3.240 us" in lines[0]
    assert "B = 0.800 us" in lines[0]
    assert "A + B = 4.040 us" in lines[0]
    rows = [line.split() for line in lines[2:10]]
    # The best class, CS7, has the eighth channel: 8 x 4.04 us, and D_limit A / 2 + B = 2.42 us above that.
    assert rows[0] == ["0", "56", "32.320", "34.740"]
    assert rows[7] == ["7", "0", "4.040", "6.460"]
    assert lines[10].endswith('priorities = 8, fluctuation = "3240ns", noise = "800ns" }')
    # 1.5 x 100 Gbps x 2 us = 37.5 kB; 2.64 MB over 0.6 Tbps = 4.4 MB/Tbps.
    assert lines[11] == (
        "8 lossless queues fit (headroom 37500 B per queue and port, 1.5 R 2 d; PFC has 8); buffer 4.40 MB/Tbps"
    )
    assert len(lines) == 12


def test_json_has_the_same_numbers_and_no_queues_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    answer = _answer(capsys, "--priorities", "8")
    assert (answer["width_ps"], answer["queues"]) == (4_040_000, None)
    assert len(_list(answer["channels"])) == 8
    # 2 MB over six ports of 37.5 kB: 8.9; 1 MB: 4.4.
    small = _answer(capsys, "--priorities", "8", "--queues", "1MB", "6", "1us")["queues"]
    assert isinstance(small, dict)
    assert small["lossless"] == 4


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def test_noise_from_a_file_and_its_scale_widen_channels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "noise.csv"
    trace.write_text("ns,cdf\n0,0\n1000,0.5\n3000,1\n", encoding="utf-8")

    def noise(*arguments: str) -> object:
        return _answer(capsys, "--priorities", "2", "--noise", str(trace), *arguments)["noise_ps"]

    # Half of the samples are within 1 us, three quarters within 2 us.
    assert noise("--part", "0.5") == 1_000_000
    assert noise("--part", "0.75") == 2_000_000
    assert noise("--part", "0.75", "--scale", "1.5") == 3_000_000


def test_fluctuation_follows_flows_step_rate_and_the_controller(capsys: pytest.CaptureFixture[str]) -> None:
    def fluctuation(*arguments: str) -> object:
        return _answer(capsys, "--priorities", "8", *arguments)["fluctuation_ps"]

    # 1.8 us x (1 + beta), while that is less than max_mdf of the best class's target.
    assert fluctuation("--flows", "300") == 6_480_000
    assert fluctuation("--rate", "200Gbps") == 1_620_000
    assert fluctuation("--step", "300B") == 6_480_000
    assert fluctuation("--beta", "0.5") == 2_700_000
    # A = 1.8 us + 0.01 (12 us + 8 (A + 0.8 us)): (1.8 + 0.12 + 0.064) / 0.92 = 2.157 us, upwards to the nanosecond.
    assert fluctuation("--max-mdf", "0.01") == 2_157_000
    assert fluctuation("--max-mdf", "0.01", "--base-rtt", "24us") == 2_287_000


def test_a_wanted_utilization_says_what_part_of_the_noise_has_room(capsys: pytest.CaptureFixture[str]) -> None:
    # Five flows of 100 Gbps have 44 samples each in a round trip: 1 in 1,000 may be wrong by more than B.
    few = _answer(capsys, "--priorities", "8", "--flows", "5", "--utilization", "0.98")["part"]
    many = _answer(capsys, "--priorities", "8", "--flows", "150", "--utilization", "0.98")["part"]
    assert isinstance(few, float)
    assert isinstance(many, float)
    assert 0.9985 < few < 0.9993
    assert 0.95 < many < 0.98
    assert cli.main(["channels", "--priorities", "8", "--flows", "5", "--utilization", "0.98"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert "5 flows" in shown[1]
    assert "98.0 %" in shown[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--rate", "12"], "rate"),
        (["--base-rtt", "fast"], "base_rtt"),
        (["--step", "0B"], "step"),
        (["--flows", "1000000", "--step", "1GB"], "wider than a second"),
        (["--noise", "none.csv"], "none.csv"),
        (["--packet", "0B"], "packet"),
        (["--queues", "much", "6", "1us"], "switch.buffer"),
        (["--queues", "2.64MB", "six", "1us"], "'six'"),
        (["--queues", "2.64MB", "0", "1us"], "'0'"),
        (["--queues", "2.64MB", "6", "1"], "switch.delay"),
    ],
)
def test_a_wrong_quantity_is_one_message(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["channels", "--priorities", "8", *arguments]) == 2
    shown, errors = capsys.readouterr()
    assert shown == ""
    assert errors.count("\n") == 1
    assert says in errors


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--priorities", "0"],
        ["--priorities", "17"],
        ["--priorities", "-1"],
        ["--priorities", "8", "--flows", "0"],
        ["--priorities", "8", "--flows", "99999999999"],
        ["--priorities", "8", "--scale", "nan"],
        ["--priorities", "8", "--scale", "-1"],
        ["--priorities", "8", "--part", "1.5"],
        ["--priorities", "8", "--utilization", "0"],
        ["--priorities", "8", "--utilization", "0.9", "--part", "0.9"],
        ["--priorities", "8", "--beta", "0"],
        ["--priorities", "8", "--max-mdf", "inf"],
        ["--priorities", "8", "--queues", "2.64MB", "6"],
    ],
)
def test_wrong_numbers_are_refused_where_they_stand(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["channels", *arguments])
    assert stopped.value.code == 2
    errors = capsys.readouterr().err
    assert errors.count("error:") == 1
