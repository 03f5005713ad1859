"""The pages that a newcomer follows: what they have the reader type, and what they say is printed."""

from pathlib import Path
from typing import Any

import pytest

import documents

ROOT = Path(__file__).parent.parent
START = ROOT / "docs" / "start"


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    # The pages show what a pipe has.
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


def test_first_experiment_and_own_scheme(directory: Path) -> None:
    names: dict[str, Any] = {}
    assert documents.run_page(START / "first-experiment.md", names) >= 5
    assert documents.run_page(START / "own-scheme.md", names) >= 5
    assert (directory / "runs" / "first" / "report.html").is_file()
    assert (directory / "runs" / "own" / "report.html").is_file()


def test_commands_of_the_readme_print_what_it_shows(directory: Path) -> None:
    assert documents.run_page(ROOT / "README.md", {}) == 1
    assert (directory / "runs" / "first" / "report.html").is_file()


def test_own_traffic(directory: Path) -> None:
    assert documents.run_page(START / "own-traffic.md", {}) == 3
    assert (directory / "runs" / "mine" / "report.html").is_file()


def test_installed_commands_print_what_the_page_shows() -> None:
    assert documents.run_page(START / "install.md", {}) >= 1


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a\nb\n", "a\nb\n"),
        ("...\nb\n", "a\nb\n"),
        ("a\n...\n", "a\nb\nc\n"),
        ("a\n...\nd\n", "a\nb\nc\nd"),
        ("a  \n", "a\n"),
        ("a b ...\nc\n", "a b c d\nc\n"),
    ],
)
def test_an_output_is_as_shown(shown: str, printed: str) -> None:
    documents.compare(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a\n", "a\nb\n"),
        ("b\n", "a\nb\n"),
        ("a\nb\n", "a\n"),
        ("...\nc\n", "a\nb\n"),
        ("a\n...\na\n", "a\nb\n"),
        ("a b\n", "a  b\n"),
        ("a b ...\n", "a c d\n"),
        ("a b ...\n", "a bc d\n"),
    ],
)
def test_an_output_that_differs_is_found(shown: str, printed: str) -> None:
    with pytest.raises(AssertionError, match="print"):
        documents.compare(shown, printed)
