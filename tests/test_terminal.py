"""The output of commands has no character that a terminal obeys, whatever files say."""

import ast
import io
import json
import sys
from pathlib import Path

import pytest
from rich.text import Text

import adversarial
import export_plans
import factories
from hostile_texts import TEXTS
from priolane import _core
from priolane.cli import main, show
from priolane.storage.files import parse_json
from priolane.text.printable import escaped_json, message, printable, printable_line

OBEYED = "\x00\x07\x08\x0d\x1b\x7f\x85\x9b\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\ufeff"
HOSTILE = f"P\x1b]0;pwned\x07\x1b[2J\u202egnp.exe\u2066{OBEYED}"
SOURCE = Path(__file__).parent.parent / "python" / "priolane"
EXPERIMENT = """
title = {text}
paper = {text}
quote = {text}
figure = {text}
schemes = ["dctcp", "mine"]
seeds = 2
time = {{ measure = "200us", drain = true }}
[topology]
kind = "single_switch"
hosts = 3
host_link = {{ rate = "10Gbps", delay = "1us" }}
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = {{ of = "host", counts = "payload", value = 0.5 }}
[metrics]
baseline = "dctcp"
[scheme.mine]
base = "pias"
paper = {text}
[sweep]
case = [{{ label = {text}, "group.all.load.value" = 0.4 }}, {{ label = "other", "group.all.load.value" = 0.5 }}]
[[panel]]
kind = "line"
title = {text}
x = "case"
metric = "fct.all"
[[claim]]
section = {text}
says = {text}
order = ["fct.all.dctcp", "fct.all.mine"]
[reading.one]
evidence = {text}
decides = {text}
[reading.two]
evidence = {text}
decides = {text}
set = {{ "time.measure" = "300us" }}
"""


def obeyed(text: str) -> list[str]:
    return sorted({letter for letter in text if printable(letter) != letter})


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "x.toml"
    text = json.dumps(HOSTILE).replace("\x7f", "\\u007f")
    path.write_text(EXPERIMENT.format(text=text), encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    code = main([str(word) for word in words])
    shown, errors = capsys.readouterr()
    return code, shown + errors


def test_commands_print_no_character_of_an_experiment_that_a_terminal_obeys(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, again = tmp_path / "out", tmp_path / "again"
    commands: list[tuple[int, list[str | Path]]] = [
        (0, ["check", experiment]),
        (0, ["check", experiment, "--json"]),
        (0, ["run", experiment, "-o", out, "--jobs", "1"]),
        (0, ["run", experiment, "-o", again, "--jobs", "1", "--seed-list", "7,8"]),
        (0, ["report", out]),
        (0, ["results", out]),
        (0, ["results", out, "--json"]),
        (0, ["results", out, "--csv"]),
        (2, ["results", out, "--scheme", "none"]),
        (2, ["results", out, "--point", "case=none"]),
        (0, ["compare", out, again]),
        (0, ["compare", out, again, "--json"]),
        (2, ["trace", experiment, "--flow", "0", "-o", tmp_path / "trace"]),
        (2, ["run", experiment, "-o", tmp_path / "other", "--reading", "none"]),
        (2, ["export", "tc", experiment, "--scheme", "mine", "-o", tmp_path / "tc"]),
        (2, ["run", experiment, "-o", tmp_path / "none", "--set", f"time={HOSTILE[1:]}"]),
    ]
    printed = ""
    for expected, words in commands:
        code, text = run(capsys, *words)
        assert obeyed(text) == [], words
        assert code == expected, (words, text)
        printed += text
    assert "gnp.exe" in printed, "the texts were shown"
    # Values are the same in JSON, where a terminal's characters are escaped.
    assert run(capsys, "check", experiment, "--json")[1].count("\\u202e") > 0


@pytest.mark.parametrize("target", ["tc", "eos", "hosts"])
def test_export_prints_no_character_that_a_terminal_obeys(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = export_plans.write_experiment(tmp_path)
    paper = "scheme.dctcp.paper=" + json.dumps(HOSTILE).replace("\x7f", "\\u007f")
    for more in ([], ["--json"], ["--strict"]):
        words = ["export", target, experiment, "--scheme", "dctcp", "-o", tmp_path / "out", "--set", paper, *more]
        _, text = run(capsys, *words)
        assert text
        assert obeyed(text) == []
    name = "a\x1b[31m\u202eb"
    scheme = f'[scheme.{json.dumps(name)}]\nbase = "dctcp"\n'
    path = tmp_path / "named.toml"
    path.write_text(experiment.read_text(encoding="utf-8") + scheme, encoding="utf-8")
    code, text = run(capsys, "export", target, path, "--scheme", name, "-o", tmp_path / "none")
    assert code == 2
    assert obeyed(text) == []
    listed = tmp_path / "ports.csv"
    listed.write_text(f"name,rate\n{name},10Gbps\n", encoding="utf-8")
    code, text = run(capsys, "export", target, experiment, "--scheme", "dctcp", "--ports", listed)
    assert code == 2
    assert obeyed(text) == []


@pytest.mark.parametrize("text", [HOSTILE, *list(TEXTS.values())[:2]])
def test_results_of_somebody_else_print_no_character_that_a_terminal_obeys(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = factories.make_results(tmp_path / "results", panels=1)
    adversarial.spoil(directory, text)
    for words in (["results", directory], ["results", directory, "--json"], ["compare", directory, directory]):
        _, printed = run(capsys, *words)
        assert obeyed(printed) == []


def test_every_character_that_a_terminal_obeys_is_replaced_and_others_are_not() -> None:
    assert printable(OBEYED) == "\N{REPLACEMENT CHARACTER}" * len(OBEYED)
    assert printable("a\tb\nc ä € 漢 § – ×") == "a\tb\nc ä € 漢 § – ×"
    assert printable_line("a\tb\nc") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"
    for text in TEXTS.values():
        assert json.loads(escaped_json(json.dumps(text, ensure_ascii=False))) == text
        assert obeyed(escaped_json(json.dumps(text, ensure_ascii=False))) == []
    assert parse_json(json.dumps({HOSTILE: [HOSTILE]})) == {printable(HOSTILE): [printable(HOSTILE)]}
    # Each character alone, as itself where JSON takes it, and as an escape, beside escapes that hide nothing.
    plain = 'a "b"\n\t\\'
    for sign in OBEYED:
        for is_ascii in (True, False):
            assert parse_json(json.dumps([sign, plain], ensure_ascii=is_ascii)) == [printable(sign), plain]


def test_python_replaces_the_characters_that_the_core_lists() -> None:
    listed = {number for first, last in _core.unprintable() for number in range(first, last + 1)}
    assert {0x1B, 0xAD, 0x180E, 0x202E, 0xFFFF, 0xE0041} <= listed
    surrogates = set(range(0xD800, 0xE000))
    replaced = {number for number in range(sys.maxunicode + 1) if printable(chr(number)) != chr(number)}
    assert replaced - {0xFFFD} == listed - {ord("\t"), ord("\n")} | surrogates


def test_lines_tables_and_messages_are_printable(capsys: pytest.CaptureFixture[str]) -> None:
    show.line(HOSTILE)
    show.note(HOSTILE)
    show.table([HOSTILE], [[HOSTILE], [Text(HOSTILE, style="bold")]])
    show.json_lines({HOSTILE: HOSTILE})
    message(HOSTILE)
    shown, errors = capsys.readouterr()
    assert obeyed(shown + errors) == []
    assert shown.count("gnp.exe") == 6
    stream = io.StringIO()
    message("x" * 30_000, stream)
    assert len(stream.getvalue()) < 21_000


# Where text may be written to a stream: what is printed there goes through `printable`.
# A class of the user prints what the user wants.
WRITERS = {
    "text/printable.py",
    "model/class_source.py",
    "hosts/linux_process.py",
    "cli/show.py",
    "cli/overview.py",
    "cli/progress.py",
}


def test_no_other_module_prints() -> None:
    results = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name.startswith(("peers/", "simulators/")):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called in ("print", "sys.stdout.write", "sys.stderr.write", "Console"):
                results.add(name)
    assert results == WRITERS
