"""`priolane plan top`: the paper's switch, its forms, bad input."""

import json

import pytest

from priolane import cli


def _answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert cli.main(["plan", "top", "--json", *arguments]) == 0
    answer: dict[str, object] = json.loads(capsys.readouterr().out)
    return answer


def test_the_switch_of_the_paper_has_21_ports_24_vlans_and_room_for_85_k_servers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = _answer(capsys)
    assert (answer["top_ports"], answer["assistant_ports"]) == (21, 42)
    assert (answer["vlans"], answer["vlans_full"]) == (24, 27)
    assert answer["hosts"] == 262_144 // 3 >= 85_000
    # 42 converters of 20 dollars.
    assert answer["assistant_cost"] == 840


def test_a_table_says_the_same_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    # 6 x 84 B at 5 % of 10 Gbps are 8.064 us, twice, and 10 us.
    expiry = ["--expiry", "10us", "2", "--depth", "6", "--clock", "0ns", "--share", "0.05"]
    assert cli.main(["plan", "top", "--rate", "10Gbps", *expiry]) == 0
    shown = capsys.readouterr().out
    assert "21" in shown
    assert "room for 87381 servers" in shown
    assert "26.128 us" in shown


def test_a_group_limiter_needs_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    answer = _answer(capsys, "--limiter", "group")
    assert (answer["top_ports"], answer["assistant_ports"], answer["vlans"]) == (32, 0, 0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--rate", "40"], "rate"),
        (["--ports", "1"], "ports"),
        (["--lanes", "1"], "lanes"),
        (["--classes", "9"], "classes"),
        (["--limiter", "group", "--classes", "7"], "classes"),
        (["--token", "0B"], "token"),
        (["--frame", "84B"], "lanes"),
        (["--assistant-price", "-1"], "assistant_price"),
        (["--cable", "5"], "cable"),
        (["--expiry", "10", "2"], "path.delay"),
        (["--expiry", "10us", "two"], "'two'"),
        (["--expiry", "10us", "0"], "path.queues"),
        (["--expiry", "10us", "2", "--share", "1"], "path.share"),
    ],
)
def test_a_wrong_value_is_one_message(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plan", "top", *arguments]) == 2
    shown, errors = capsys.readouterr()
    assert shown == ""
    assert errors.count("\n") == 1
    assert says in errors


@pytest.mark.parametrize("option", ["--assistant-price", "--switch-price", "--share"])
@pytest.mark.parametrize("number", ["nan", "inf", "much"])
def test_what_is_no_number_is_refused(option: str, number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["plan", "top", option, number])
    assert stopped.value.code == 2
    assert f"argument {option}: {number!r} is not a number" in capsys.readouterr().err
