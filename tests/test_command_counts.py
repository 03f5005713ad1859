"""The cost of short commands: counts that are kept, and how they are read and compared."""

import json
import shutil
from pathlib import Path

import pytest

from priolane.cli import command_counts, main
from priolane.cli.command_counts import Counts, Row
from rings import cases

CALLGRIND = """\
events: Ir
ob=(1) /usr/lib/libpython3.11.so
fl=(1) a.c
fn=(1) f
16 100
+3 20
cob=(2) /tree/priolane/_core.abi3.so
cfn=(2) g
calls=7 0
* 5000
17 1
ob=(2)
fn=(2)
0 5000
ob=(1)
fn=(3) h
-2 30
totals: 5151
"""


def test_instructions_are_summed_by_object_without_those_of_callees() -> None:
    result = command_counts.instructions_by_object(CALLGRIND.splitlines())
    assert result == {"/usr/lib/libpython3.11.so": 151, "/tree/priolane/_core.abi3.so": 5000}


def test_counts_out_of_the_band_missing_or_new_are_told() -> None:
    names = ("modules of a", "instructions of a", "instructions of b", "drawings per panel")
    kept = Counts("P", dict(zip(names, (100, 1000, 1000, 1), strict=True)) | {"plannings of gone": 1})
    now = Counts("P", dict(zip(names, (104, 1051, 949, 2), strict=True)) | {"modules of new": 3})
    rows = {row.name: row for row in command_counts.compare_counts(now, kept)}
    reasons = {name: row.why for name, row in rows.items() if row.why}
    assert reasons == {
        "instructions of a": "+5.1 %",
        "instructions of b": "-5.1 %",
        "drawings per panel": "+100.0 %",
        "modules of new": "not kept",
    }
    assert rows["plannings of gone"] == Row("plannings of gone", None, 1)
    # What another Python imports and takes says nothing; how often a grid is planned does.
    elsewhere = Counts("Q", {name: 10 * count for name, count in kept.by_name.items()})
    assert [row.name for row in command_counts.compare_counts(elsewhere, kept) if row.why] == [
        "drawings per panel",
        "plannings of gone",
    ]


def test_kept_counts_are_read_as_they_are_written() -> None:
    text = command_counts.KEPT.read_text(encoding="utf-8")
    assert command_counts.to_toml(command_counts.read_kept(text)) == text


def test_without_valgrind_the_command_says_so_and_counts_the_rest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(command_counts, "_counted", lambda *_: {"modules": 1, "plannings": 1, "drawings": 2})
    monkeypatch.setattr(Path, "glob", lambda *_: iter([Path("panel-1.png")]))
    assert main(["bench", "--commands", "--json"]) == 1
    shown, errors = capsys.readouterr()
    assert "instructions are not counted: there is no valgrind (Debian: apt-get install valgrind)" in errors
    rows = {row["name"]: row for row in json.loads(shown)}
    assert rows["instructions of --help"]["now"] is None
    assert (rows["drawings per panel"]["now"], rows["drawings per panel"]["why"]) == (2, "+100.0 %")


# Callgrind takes ten seconds and more for a command: `make soak` counts the instructions of all.
@pytest.mark.parametrize("commands", cases([("--help",)], [command_counts.SHORT]))
def test_short_commands_take_what_they_took(commands: tuple[str, ...]) -> None:
    kept = command_counts.read_kept(command_counts.KEPT.read_text(encoding="utf-8"))
    valgrind = shutil.which("valgrind") is not None
    now = command_counts.count(instructions=commands if valgrind else ())
    rows = list(command_counts.compare_counts(now, kept))
    assert [row for row in rows if row.why] == []
    if not valgrind or command_counts.comparable(now, kept):
        pytest.skip(command_counts.comparable(now, kept) or "instructions: there is no valgrind")
    assert {row.name for row in rows if row.name.startswith("instructions") and row.now is not None} == {
        f"instructions of {command}" for command in commands
    }
