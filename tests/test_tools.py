import json
import sys
from pathlib import Path

import pytest

from priolane import _core

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import check_commits
import check_prose
import check_sizes
import check_vocabulary
import train


def test_a_function_of_81_lines_is_found() -> None:
    body = "    pass\n" * 80
    assert list(check_sizes.violations("x.py", f"def f():\n{body}"))
    assert not list(check_sizes.violations("x.py", f"def f():\n{body[:-9]}"))


def test_a_file_of_801_lines_is_found() -> None:
    assert list(check_sizes.violations("x.rs", "\n" * 801)) == ["x.rs: 801 lines (at most 800)"]
    assert not list(check_sizes.violations("x.rs", "\n" * 800))


@pytest.mark.parametrize(
    ("signature", "count"),
    [
        ("fn f(&self, (a, b): (u8, u8), c: u8, d: u8, e: u8)", 6),
        ("fn f(&self, (a, b): (u8, u8), c: u8, d: u8, e: u8, f: u8)", 7),
        (
            "fn f<C: Fn(u8) -> V<u8>>(\n &self, // (a, b): c\n (a, b): (V<u8>, C), (c, d, e): (A, B, C), g: [u8; 2])",
            7,
        ),
        # Clippy counts these.
        ("fn f(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: Fn(u8, u8) -> u8)", 7),
    ],
)
def test_the_parts_of_tuples_are_arguments(signature: str, count: int) -> None:
    results = list(check_sizes.violations("x.rs", f"{signature} {{}}\n"))
    hidden = count > check_sizes.ARGUMENTS and "(a, b)" in signature
    assert results == ([f"x.rs: function f has {count} arguments with those in tuples (at most 6)"] if hidden else [])


@pytest.mark.soak
def test_what_a_build_learns_from_are_scenarios_of_the_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "FLOWS", 1)
    ran: list[str] = []
    bench = _core.bench

    def noted(request: str) -> str:
        answer = bench(request)
        ran.extend(scenario["name"] for scenario in json.loads(answer)["scenarios"])
        return answer

    monkeypatch.setattr(_core, "bench", noted)
    train.main()
    assert set(_core.bench_scenarios()) < set(ran)
    assert {"top_leafspine144", "dctcp_leafspine144_pfc"} < set(ran)


@pytest.mark.parametrize(
    ("subject", "wrong"),
    [
        ("sim/engine: skip empty windows", None),
        ("docs: embed the schema", None),
        ("skip empty windows", "no area"),
        ("docs, tests: split a page", "no area"),
        ("docs: split a page.", "period"),
        ("docs: splitting a page", "imperative"),
        ("docs: a page less", "imperative"),
        ("docs: split " + "a page and " * 8 + "more", "characters"),
    ],
)
def test_subjects_of_commits_have_an_area_and_an_imperative(subject: str, wrong: str | None) -> None:
    violation = check_commits.violation(subject)
    assert violation is None if wrong is None else violation is not None and wrong in violation


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.rs", "struct Knob;\nlet knob = Knob;\n", [1]),
        ("a.rs", '/// Runs anew.\nfn run() {}\nlet text = "anew";\n', [1]),
        ("a.py", '"""Runs.\n\nAll anew."""\n\nclass Knob:\n    pass\n', [3, 5]),
        ("a.md", "It runs anew.\n\n```\nanew\n```\n\nthe key `anew`\n", [1]),
    ],
)
def test_listed_names_and_phrases_are_found(name: str, text: str, lines: list[int]) -> None:
    messages = check_vocabulary.violations(name, text, {"Knob": "Option"}, {"anew": "again"})
    assert sorted(int(line.split(":")[1]) for line in messages) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# A title\n\n" + "word " * 36 + "\n", [3]),
        ("word " * 35 + "\n", []),
        ("word " * 20 + "end. " + "Word " * 20 + "\n", []),
        ("word " * 20 + "as in Fig. " + "Word " * 20 + "\n", [1]),
        ("```\n" + "word " * 40 + "\n```\n", []),
        ("- " + "word " * 20 + "\n- " + "word " * 20 + "\n", []),
        ("| a | b |\n|---|---|\n| " + "word " * 36 + "| b |\n", [3]),
        ("`" + "word " * 40 + "` [" + "word " * 10 + "](page.md)\n", []),
        ("A load of .9, 10us, 5 +- 1, 95% of it.\n", [1, 1, 1, 1]),
        ("A load of 0.9, 10 us, 5 ± 1, 95 % of it, ns-3.37, `10us`, 1.2.3.\n", []),
    ],
)
def test_sentences_that_are_too_long_and_numbers_of_another_form_are_found(text: str, lines: list[int]) -> None:
    assert [int(line.split(":")[1]) for line in check_prose.violations("a.md", text)] == lines


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("This is no limit.\n", 1),
        ("There is no limit, and it is no longer than 5. Two are no better.\n", 0),
        ("| a | b |\n|---|---|\n| points are no limits | there are no points |\n", 1),
        ("With one class it is none.\n\nWhere there is none, wait.\n", 1),
        ("All of it\nis lost. Some of its parts are.\n", 1),
        ("They are told\napart, which tells them apart.\n", 2),
        ("Times are of the last run, and each is of two papers. It is of the order of 3 us.\n", 2),
        ("Files that are no more, are removed; there are no more files, and they are no more than 3.\n", 1),
        ("Two candidates ended in the race.\n", 1),
        ("What is tried, what bounds it, and the test.\n", 1),
        ("What is tried, where? What a flow sends is not in its packets, but in its tables.\n", 0),
        ("```\nall of it is none\n```\n\nThe option `is no such` of `of it`.\n", 0),
    ],
)
def test_phrases_that_are_hard_to_read_are_found_in_pages_for_users(text: str, times: int) -> None:
    for page in ("README.md", "docs/a.md", "docs/guides/a.md"):
        results = list(check_prose.violations(page, text))
        assert len(results) == times
        assert all("hard to read" in line for line in results)
    assert not list(check_prose.violations("CONTRIBUTING.md", text))


def test_the_list_of_changes_and_links_are_not_checked() -> None:
    pages = check_prose.pages(Path(__file__).parent.parent)
    assert "docs/concepts.md" in pages
    assert not {"CHANGELOG.md", "crates/priolane-lab/data/adding-a-scheme.md"} & set(pages)
