"""The cost of short commands, counted and not timed: the same on every machine with the same Python.

Instructions are counted under callgrind. Those of the compiled module are left out: how many they are depends on how it
was compiled. Modules are those that a command imports, its own and others. A grid is planned once in a process, and a
panel is drawn once, whatever is made of it. command_counts.toml has the counts that are kept.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from priolane._core import RunFailed

KEPT = Path(__file__).with_suffix(".toml")
FIRST = Path(__file__).parent.parent / "experiments" / "recipes" / "first.toml"
# How far a count may be from the one that is kept; counts below it may not differ at all.
BAND = 0.05

# Commands whose start is waited for.
_ARGUMENTS = {"--version": ["--version"], "--help": ["--help"], "check first.toml": ["check", str(FIRST)]}
SHORT = tuple(_ARGUMENTS)
# One that runs and draws, as small as can be.
_RUN = ["run", str(FIRST), "--seeds", "1", "--set", 'time.measure="1ms"', "--jobs", "1", "-o"]

# Runs the command of its arguments, and writes what it took to the file that is named first.
_COUNTING = """
import json, sys
before = set(sys.modules)
target, sys.argv = sys.argv[1], sys.argv[1:]
counts = {"plannings": 0, "drawings": 0}
from priolane import _core
experiments = _core.Experiment
class Counted:
    def __init__(self, experiment):
        self.experiment = experiment
    def __getattr__(self, name):
        counts["plannings"] += name == "plan"
        return getattr(self.experiment, name)
class Experiments:
    @staticmethod
    def from_path(path):
        return Counted(experiments.from_path(path))
_core.Experiment = Experiments
def drawing(draw, *arguments, **more):
    counts["drawings"] += 1
    return draw(*arguments, **more)
class Hook:
    def find_spec(self, name, path=None, target=None):
        if name == "priolane.report.page_figures":
            sys.meta_path.remove(self)
            from priolane.figure import draw
            draw_panel = draw.draw_panel
            draw.draw_panel = lambda *arguments, **more: drawing(draw_panel, *arguments, **more)
sys.meta_path.insert(0, Hook())
from priolane.command import main
try:
    code = main()
except SystemExit as end:
    code = end.code or 0
counts["modules"] = len(set(sys.modules) - before)
with open(target, "w", encoding="utf-8") as stream:
    json.dump(counts, stream)
sys.exit(code)
"""


class CountError(Exception):
    """The reason why instructions are not counted here."""


@dataclass(frozen=True)
class Counts:
    """Counts by what is counted, in words, and the Python that they are counts of."""

    python: str
    by_name: Mapping[str, int]


@dataclass(frozen=True)
class Row:
    """A count beside the kept one; `None` where there is none. `why` says what is wrong, and is empty if nothing is."""

    name: str
    now: int | None
    kept: int | None
    why: str = ""


def this_python() -> str:
    """Release and compiler of this Python: others import other modules, and take other instructions."""
    return f"{platform.python_implementation()} {platform.python_version()}, {platform.python_compiler()}"


def read_kept(text: str) -> Counts:
    """The kept counts, from TOML."""
    table = tomllib.loads(text)
    return Counts(str(table["python"]), {str(name): int(count) for name, count in table["counts"].items()})


def comparable(now: Counts, kept: Counts) -> str:
    """The reason why instructions and modules are not compared; empty if they are."""
    return "" if now.python == kept.python else f"this is {now.python}, the kept counts are of {kept.python}"


def to_toml(counts: Counts) -> str:
    """As they are kept."""
    lines = ["# What short commands take; written by `python tools/keep_command_counts.py`.", ""]
    lines += [f'python = "{counts.python}"', "", "[counts]"]
    return "\n".join([*lines, *(f'"{name}" = {count}' for name, count in counts.by_name.items())]) + "\n"


def count(*, instructions: Collection[str] = SHORT) -> Counts:
    """Counts what commands take, and the instructions of those of `SHORT` that are named.

    Raises `CountError` where valgrind is missing for these, and `RunFailed` where a command fails.
    """
    if instructions and shutil.which("valgrind") is None:
        raise CountError("there is no valgrind (Debian: apt-get install valgrind)")
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as directory:
        for name, arguments in _ARGUMENTS.items():
            # The first check calibrates its predictions.
            _counted(Path(directory), arguments)
            counts[f"modules of {name}"] = _counted(Path(directory), arguments)["modules"]
            if name in instructions:
                counts[f"instructions of {name}"] = _instructions(Path(directory), arguments)
        counts |= _of_a_run(Path(directory))
    return Counts(this_python(), counts)


def compare_counts(now: Counts, kept: Counts) -> Iterator[Row]:
    """Every count beside the kept one. Of another Python, instructions and modules are not compared."""
    for name in dict.fromkeys([*kept.by_name, *now.by_name]):
        count, before = now.by_name.get(name), kept.by_name.get(name)
        yield Row(name, count, before, _why(name, (count, before), same=now.python == kept.python))


def _why(name: str, counts: tuple[int | None, int | None], *, same: bool) -> str:
    now, kept = counts
    if kept is None:
        return "not kept"
    if now is None:
        return ""
    if name.startswith(("instructions", "modules")) and not same:
        return ""
    change = now / kept - 1
    return f"{change * 100:+.1f} %" if abs(change) > BAND else ""


def _of_a_run(directory: Path) -> dict[str, int]:
    """The number of times that a run plans its grid, and draws a panel, rounded up."""
    out = directory / "out"
    counts = _counted(directory, [*_RUN, str(out)])
    panels = len(list((out / "figures").glob("panel-*.csv")))
    if panels == 0:
        raise RunFailed(f"{FIRST} has no panel to draw")
    drawings, left = divmod(counts["drawings"], panels)
    return {"plannings of run first.toml": counts["plannings"], "drawings per panel": drawings + (left > 0)}


def _counted(directory: Path, arguments: Iterable[str]) -> dict[str, int]:
    target = directory / "counts.json"
    _call(directory, [sys.executable, "-c", _COUNTING, str(target), *arguments])
    counts: dict[str, int] = json.loads(target.read_text(encoding="utf-8"))
    return counts


def _instructions(directory: Path, arguments: Iterable[str]) -> int:
    """Of one command whose modules are compiled, without those of the compiled module."""
    target = directory / "callgrind.out"
    command = [sys.executable, "-m", "priolane", *arguments]
    _call(directory, command)
    _call(directory, ["valgrind", "--tool=callgrind", f"--callgrind-out-file={target}", *command])
    by_object = instructions_by_object(target.read_text(encoding="utf-8", errors="replace").splitlines())
    target.unlink()
    return sum(count for name, count in by_object.items() if "priolane/_core" not in name)


def _call(directory: Path, command: list[str]) -> None:
    # Sets are in another order with another seed of hashes. Modules are compiled where that can be written.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONHASHSEED": "0", "PYTHONPYCACHEPREFIX": str(directory / "compiled")}
    environment |= {"XDG_CACHE_HOME": str(directory / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603
    if done.returncode != 0:
        raise RunFailed(f"{' '.join(command[-4:])} ended with {done.returncode}: {done.stderr[-500:]}")


_OBJECT = re.compile(r"ob=\((\d+)\)(?: (.*))?")
_CALLED_OBJECT = re.compile(r"cob=\((\d+)\)(?: (.*))?")
_COST = re.compile(r"[+\-*\d]\S* (\d+)")


def instructions_by_object(lines: Iterable[str]) -> dict[str, int]:
    """The instructions of each object file itself, from the lines of a callgrind file.

    The line after `calls=` has what a called function took, which its own lines have already.
    """
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    current, of_called = "", False
    for line in lines:
        if match := _OBJECT.fullmatch(line) or _CALLED_OBJECT.fullmatch(line):
            names.setdefault(match[1], match[2] or "")
            if line.startswith("ob"):
                current = names[match[1]]
        elif line.startswith("calls="):
            of_called = True
        elif match := _COST.fullmatch(line.rstrip()):
            if not of_called:
                counts[current] = counts.get(current, 0) + int(match[1])
            of_called = False
    return counts
