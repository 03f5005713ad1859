"""The lint on the form of doc comments: examples that it refuses, and examples that it accepts."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import check_doc_comments

RELATIVE = "a relative clause"
LOWER = "begins in lower case"
NO_STOP = "does not end in a full stop"


def rust(*lines: str) -> str:
    """A function with a doc comment."""
    return "".join(f"/// {line}\n" for line in lines) + "fn f() {}\n"


def python(text: str) -> str:
    """A function with a docstring."""
    return f'def f():\n    """{text}"""\n'


@pytest.mark.parametrize("item", [rust, python])
@pytest.mark.parametrize(
    ("comment", "mistakes"),
    [
        ("What it speaks.", [RELATIVE]),
        ("How many were lost.", [RELATIVE]),
        ("Where the host is bound.", [RELATIVE]),
        ("When the packet was sent. It may be late.", [RELATIVE]),
        ("Why it failed, in words.", [RELATIVE]),
        ("Which packets wait, and for how long.", [RELATIVE]),
        ("Who waits.", [RELATIVE]),
        ("Whose turn it is.", [RELATIVE]),
        ("By which endless flows are counted; `None` if nobody asks.", [RELATIVE]),
        ("How much is kept", [RELATIVE, NO_STOP]),
        ("the rate of the line.", [LOWER]),
        ("The rate of the line", [NO_STOP]),
        ("The rate of the line,", [NO_STOP]),
        ("The rate of the line:", [NO_STOP]),
        ("The transport that the host speaks.", []),
        ("Returns what a scheme needs.", []),
        ("Whether the socket is open.", []),
        ("Is the other host still there?", []),
        ("What happens if two hosts greet at once?", []),
        ("Where no bins are asked for, the list is empty.", []),
        ("When the timer expires, `poll` returns it.", []),
        ("`None` if there is no key.", []),
        ("pFabric's port, with a small buffer.", []),
        ("d_o; `None` for a flow without a deadline.", []),
        ("gamma, above 0.", []),
        ("n packets of 1538 B.", []),
        ("The mistake, as in the file (see above).", []),
        ('The words "go" and "stop." (twice.)', []),
        ("However many hosts there are, the bound holds.", []),
    ],
)
def test_the_form_of_a_comment_is_checked(item: object, comment: str, mistakes: list[str]) -> None:
    name, text = ("a.rs", rust(comment)) if item is rust else ("a.py", python(comment))
    messages = list(check_doc_comments.violations(name, text))
    assert len(messages) == len(mistakes), messages
    assert all(mistake in line for mistake, line in zip(mistakes, messages, strict=True))


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (["The rate.", "", "How it is read."], [3]),
        (["The rate.", "", "# Errors", "Why it failed."], [4]),
        (["The rate.", "", "# Errors", "", "no full stop"], [5, 5]),
        (["The sum is", "", "```text", "what is this", "```", "", "and never more."], []),
        (["The sum is", "", "    what is this", "", "and never more."], []),
        (["One of these:", "", "- what is this", "- how", "  it goes on", "", "All end."], []),
        (["One of these", "1. what is this"], []),
        (["| what | how |", "|---|---|", "| a | b |"], []),
        (["The rate,", "over two", "lines."], []),
        (["The rate over", "two lines"], [1]),
    ],
)
def test_paragraphs_are_checked_and_code_lists_tables_and_headings_are_not(lines: list[str], wrong: list[int]) -> None:
    messages = list(check_doc_comments.violations("a.rs", rust(*lines)))
    assert [int(line.split(":")[1]) for line in messages] == wrong
    docstring = ("\n    ".join(lines)).replace("    \n", "\n")
    messages = list(check_doc_comments.violations("a.py", python(docstring)))
    assert [int(line.split(":")[1]) - 1 for line in messages] == wrong


def test_each_doc_comment_of_rust_is_checked_but_no_other_comment() -> None:
    text = (
        "//! What this module does.\n\n// how it works\n//// not documentation\n/// What is kept.\n#[derive(Debug)]\n"
    )
    lines = [line.split(":")[1] for line in check_doc_comments.violations("a.rs", text)]
    assert lines == ["1", "5"]


def test_texts_of_keys_are_not_checked() -> None:
    for attribute in ("#[key(default = 1)]", "#[derive(Keys)]\n#[keys(tag = x)]"):
        assert not list(check_doc_comments.violations("a.rs", f"/// How packets are routed.\n{attribute}\nx: u8,\n"))
    assert list(check_doc_comments.violations("a.rs", "/// How packets are routed.\n#[serde(default)]\nx: u8,\n"))


def test_docstrings_of_modules_classes_attributes_and_constants_are_checked_and_other_strings_are_not() -> None:
    text = '"""What this is."""\n\nA = 1\n"""How much."""\n\n\n'
    text += "# how it works\n#: Of the longest message,\n#: in bytes\nC = 2\n\n\n"
    text += 'class B:\n    """Why."""\n\n    b: str = "what"\n    """Which."""\n'
    lines = [line.split(":")[1] for line in check_doc_comments.violations("a.py", text)]
    assert sorted(lines, key=int) == ["1", "4", "8", "14", "17"]


def test_a_message_names_the_place_the_comment_and_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(check_doc_comments, "ROOT", tmp_path)
    monkeypatch.setattr(check_doc_comments, "sources", lambda _: ["a.rs"])
    (tmp_path / "a.rs").write_text("\n" + rust("What it speaks."), "utf-8")
    assert check_doc_comments.main() == 1
    printed = capsys.readouterr().out
    assert printed.startswith('a.rs:2: "What it speaks.": a relative clause without a head noun. Name the thing:')
    (tmp_path / "a.rs").write_text(rust("The scheme."), "utf-8")
    assert check_doc_comments.main() == 0
    assert capsys.readouterr().out == "doc comments: those of 1 files are sentences or noun phrases\n"


def test_the_sources_of_the_project_are_found() -> None:
    names = check_doc_comments.sources(Path(__file__).parent.parent)
    assert {"crates/priolane-net/src/config.rs", "python/priolane/net.py", "tests/test_check_doc_comments.py"} <= {
        *names
    }
    assert "tools/check_doc_comments.py" in names
