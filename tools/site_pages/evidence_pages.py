"""Pages of evidence, read from the tests: what each file tests, which tests run both engines, how many there are."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_text import code, plain, table

ROOT = Path(__file__).parent.parent.parent
_FAULTS = ROOT / "tools" / "planted_faults.toml"
_ORACLES = ROOT / "docs" / "evidence" / "oracles.md"
# Functions of tests that compare the outcome of both engines, and of nodes in shuffled order.
_BOTH_ENGINES = re.compile(r"\bagreed(?:_with)?\(")
_RUST_TEST = re.compile(
    r"#\[test\]\s*(?:#\[[^\]]*\]\s*)*(?:///[^\n]*\s*)*(?:pub(?:\(\w+\))?\s+)?fn\s+(\w+)(.*?)(?=#\[test\]|\Z)", re.DOTALL
)
_MODULE_COMMENT = re.compile(r"^//!\s?(.*)$", re.MULTILINE)
# Links of rustdoc, which lead nowhere on these pages: [`Name`] and [`Name`](path).
_RUSTDOC_LINK = re.compile(r"\[(`[^`]+`)\](?:\([^)]*\))?")
# Titles by crate or folder, in the order of the page.
_PARTS: Mapping[str, str] = {
    "crates/priolane-core": "Algorithms: transports, ports, schedulers, assignment, admission",
    "crates/priolane-sim": "Simulator: topology, nodes, engines",
    "crates/priolane-lab": "Experiments, metrics, verdicts",
    "crates/priolane-workload": "Workloads and imported flow lists",
    "crates/priolane-results": "Tables, records, checksums",
    "crates/priolane-net": "Endpoints over UDP",
    "tests": "Command, Python, report page, site",
}
_REST = "Other crates"


@dataclass(frozen=True)
class TestFile:
    """A file with tests: its path from the root, what its first comment says, and its tests in their order."""

    path: str
    about: str
    tests: tuple[str, ...]
    both_engines: tuple[str, ...]
    """Those of `tests` that compare both engines."""


@cache
def test_files() -> tuple[TestFile, ...]:
    """All files of the repository that have tests, by path."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "crates/*.rs", "tests/test_*.py"],  # noqa: S607
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    texts = [_read(path) for path in sorted(listed.stdout.splitlines()) if (ROOT / path).is_file()]
    return tuple(file for file in texts if file.tests)


def _read(path: str) -> TestFile:
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".py"):
        tree = ast.parse(text)
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
        return TestFile(path, _first_sentence(ast.get_docstring(tree) or ""), tuple(names), ())
    tests = [(match[1], match[2]) for match in _RUST_TEST.finditer(text)]
    both = tuple(name for name, body in tests if _BOTH_ENGINES.search(body))
    comment = _RUSTDOC_LINK.sub(r"\1", " ".join(_MODULE_COMMENT.findall(text.split("\n\n", 1)[0])))
    return TestFile(path, _first_sentence(comment), tuple(name for name, _ in tests), both)


def _first_sentence(text: str) -> str:
    """The first sentence of a comment, its line ends as spaces."""
    return re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0]


def tests() -> str:
    """Every test by the part of the program that it tests: files with their first comment, names folded away."""
    lines = []
    for title, files in _by_part():
        count = sum(len(file.tests) for file in files)
        lines += [f"## {title}\n", f"{count} tests in {len(files)} files.\n", *map(_details, files)]
    return "\n".join(lines)


def _by_part() -> Iterator[tuple[str, Sequence[TestFile]]]:
    of_parts: dict[str, list[TestFile]] = {title: [] for title in (*_PARTS.values(), _REST)}
    for file in test_files():
        title = next((title for start, title in _PARTS.items() if file.path.startswith(f"{start}/")), _REST)
        of_parts[title].append(file)
    return ((title, files) for title, files in of_parts.items() if files)


def _details(file: TestFile) -> str:
    path = file.path.removeprefix("crates/priolane-")
    title = file.about.rstrip(".").replace("`", "").replace('"', "'") or path
    names = "\n".join(f"- {_sentence(name)}" for name in file.tests)
    return f'??? note "{plain(title)} ({len(file.tests)})"\n\n    {code(file.path)}\n\n{_indented(names)}\n'


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def _sentence(name: str) -> str:
    """A test's name as words: `test_a_run_ends` as `a run ends`."""
    return name.removeprefix("test_").replace("_", " ")


def engines() -> str:
    """The tests that run both engines, by file."""
    rows = (
        (code(file.path.removeprefix("crates/priolane-")), plain(file.about), str(len(file.both_engines)))
        for file in test_files()
        if file.both_engines
    )
    return table(("file", "what it tests", "tests on both engines"), rows)


def summary() -> str:
    """Kinds of evidence with their numbers."""
    files = test_files()
    oracles = _ORACLES.read_text(encoding="utf-8").partition("## Invariants")
    compared = sum(
        line.startswith("| ") and not line.startswith(("| compared", "|--")) for line in oracles[0].split("\n")
    )
    faults = len(tomllib.loads(_FAULTS.read_text(encoding="utf-8"))["fault"])
    total = sum(len(file.tests) for file in files)
    both = sum(len(file.both_engines) for file in files)
    rows = (
        ("[Oracles](evidence/oracles.md)", "Is a result right?", f"{compared} comparisons"),
        ("[Other simulators](evidence/simulators.md)", "Do others get the same?", "ns-3.37, YAPS, csg-htsim"),
        ("[Engines](evidence/engines.md)", "Is the fast engine right?", f"{both} tests on both engines"),
        (
            "[Planted faults](evidence/faults.md)",
            "Would a test notice an error?",
            f"{faults} faults, each found by its test",
        ),
        ("[Tests](evidence/tests.md)", "What is tested?", f"{total:,} tests in {len(files)} files"),
    )
    return table(("page", "question", "what there is"), rows)
