"""`priolane list schemes` in words: whose a scheme is, its queues, what it must know, what switches must do."""

import json
import re
from pathlib import Path

import pytest

from priolane.cli import main
from priolane.cli.brief.listed_schemes import listed_schemes, scheme_lines
from priolane.cli.brief.screen import Screen

ROOT = Path(__file__).parent.parent
# What the papers say: queues of a port, whether flow sizes are known, and words for what ports do.
KNOWN = {
    "newreno": (1, "no", "one queue"),
    "dctcp": (1, "no", "ECN"),
    "pias": (8, "distribution", "8 strict priorities"),
    "pfabric": (1, "each flow", "rank"),
    "ndp": (2, "no", "trim packets"),
    "nscc": (2, "no", "trim packets"),
    "homa": (8, "each flow", "strict"),
    "hpcc": (1, "no", "INT"),
    "physical_swift": (9, "no", "pause 8 classes (PFC)"),
    "expresspass": (3, "no", "tokens"),
}


def test_schemes_are_listed_in_words() -> None:
    by_name = {listed_scheme.name: listed_scheme for listed_scheme in listed_schemes()}
    assert set(by_name) == {path.stem for path in (ROOT / "schemes").glob("*.toml")}
    for name, (queues, sizes, switches) in KNOWN.items():
        assert (by_name[name].queues, by_name[name].sizes) == (queues, sizes), name
        assert switches in by_name[name].switches, name
    assert by_name["pias"].paper == "PIAS (NSDI 2015)"
    # A scheme of no paper says what it is.
    assert by_name["ps"].paper.startswith("Fair sharing of a host's line")
    assert all(scheme.paper and scheme.paper != "-" for scheme in by_name.values())


@pytest.mark.parametrize("columns", [60, 100])
def test_lines_are_as_wide_as_the_screen_and_lose_no_word(columns: int) -> None:
    lines = scheme_lines(Screen(columns, is_utf8=True))
    assert max(map(len, lines)) <= columns
    text = " ".join(" ".join(lines).split())
    for listed_scheme in listed_schemes():
        # Texts that are wrapped within a column are whole, if lines of other columns are taken out.
        assert " ".join(listed_scheme.paper.split()[:2]) in text
        assert f"{listed_scheme.name} " in f"{text} "
    assert "…" not in text


def test_the_command_prints_words_and_parts_when_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert main(["list", "schemes"]) == 0
    words = capsys.readouterr().out
    assert max(map(len, words.splitlines())) <= 100
    assert re.search(r"^pias +8 +distribution +have 8 strict priorities; mark packets \(ECN\)$", words, re.MULTILINE)
    assert main(["list", "schemes", "-v"]) == 0
    assert re.search(r"^pias +PIAS \(NSDI 2015\) +dctcp +strict", capsys.readouterr().out, re.MULTILINE)
    assert main(["list", "schemes", "--json"]) == 0
    assert {"name", "paper", "transport", "port"} <= set(json.loads(capsys.readouterr().out)[0])
