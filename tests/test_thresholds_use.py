"""`priolane thresholds`: the ladder that it names."""

import json

import pytest

from priolane import cli


def test_one_ladder_is_named_to_be_used(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["thresholds", "--sizes", "web_search", "--levels", "3", "--load", "0.5"]
    assert cli.main([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    costs = {
        solver["solver"]: ladder["costs"]["byte_share"]
        for solver in answer["solvers"]
        for ladder in solver["ladders"]
        if ladder["levels"] == 3 and ladder["costs"]["byte_share"] is not None
    }
    assert len(costs) > 1
    assert answer["use"]["solver"] == "opt"
    assert costs["opt"] <= min(costs.values()) * (1 + 1e-6)
    # Thresholds at the largest size part nothing.
    (ladder,) = next(solver["ladders"] for solver in answer["solvers"] if solver["solver"] == "opt")
    largest = answer["traffic"]["largest_bytes"]
    assert answer["use"]["thresholds"] == [at for at in ladder["thresholds"] if at < largest]
    assert cli.main(words) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    at = ", ".join(map(str, answer["use"]["thresholds"]))
    assert last.startswith(f"use {at} bytes (opt): the least byte-share cost")
    # Who asks for one solver has chosen.
    assert cli.main([*words, "--solver", "es"]) == 0
    assert "use " not in capsys.readouterr().out
