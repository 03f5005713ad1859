"""The imports of a command: counted, since time depends on the machine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FIRST = str(ROOT / "experiments" / "recipes" / "first.toml")
SLOW = {"concurrent", "jinja2", "matplotlib", "multiprocessing", "numpy", "pandas", "pyarrow", "rich"}
SCRIPT = """
import json, sys
before = set(sys.modules)
from priolane.command import main
try:
    sys.exit(main())
finally:
    print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)
"""


def imported(*arguments: str) -> list[str]:
    """The modules that a command imports."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], check=True, capture_output=True, text=True)
    names: list[str] = json.loads(done.stderr)
    return names


def slow(names: list[str]) -> set[str]:
    return {name.partition(".")[0] for name in names} & SLOW


@pytest.mark.parametrize(
    ("arguments", "most"),
    [(["--version"], 50), (["--help"], 50), (["check", FIRST], 85)],
    ids=["version", "help", "check"],
)
def test_a_command_that_neither_runs_nor_draws_imports_little(arguments: list[str], most: int) -> None:
    # The first check on a machine calibrates its predictions.
    imported(*arguments)
    names = imported(*arguments)
    assert slow(names) == set()
    assert len(names) <= most


def test_the_help_of_a_command_imports_no_other_command() -> None:
    names = [name for name in imported("run", "--help") if name.startswith("priolane.cli.")]
    assert "priolane.cli.run" in names
    assert not {"priolane.cli.trace", "priolane.cli.compare", "priolane.cli.bench"} & set(names)


def test_a_table_takes_rich_and_nothing_else_that_is_slow() -> None:
    assert slow(imported("list", "transports")) == {"rich"}
    assert slow(imported("list", "schemes")) == set()
