"""Commands that are killed at random moments leave nothing behind, and the same command continues them."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import advise_world
import export_plans
import smoke
from rings import SOAK

_PATIENCE_S = 60.0
_IN_SOAK = 20
Words = list[str]


def _run(_: Path) -> Words:
    smoke.write_experiment(Path())
    return ["run", "first.toml", "-o", "out/results", "--jobs", "2"]


def _export(_: Path) -> Words:
    export_plans.write_experiment(Path())
    return ["export", "tc", "load.toml", "--scheme", "nos2", "-o", "out/files"]


def _import(_: Path) -> Words:
    flows = [f"{n % 16} {(n + 1) % 16} 3 100 {1000 + n} {2 + n * 1e-6:.6f}" for n in range(50_000)]
    Path("flows.txt").write_text("\n".join([str(len(flows)), *flows, ""]), encoding="utf-8")
    return ["import", "hpcc", "flows.txt", "-o", "out/flows.csv", "--sizes", "out/sizes.csv"]


def _trace(_: Path) -> Words:
    smoke.write_experiment(Path())
    return ["trace", "first.toml", "--flow", "0", "--seed", "1", "--scheme", "pias", "-o", "out/trace"]


def _advise(_: Path) -> Words:
    flows, fabric = advise_world.write(Path(), 1, 300)
    return ["advise", str(flows), "--fabric", str(fabric), "--budget", "2e7hops", "--jobs", "2", "-o", "out/answer"]


COMMANDS: dict[str, Callable[[Path], Words]] = {
    "run": _run,
    "export": _export,
    "import": _import,
    "trace": _trace,
    "advise": _advise,
}
CASES = [
    pytest.param(name, number, marks=() if number < 1 and name != "advise" else SOAK, id=f"{name}-{number}")
    for name in COMMANDS
    for number in range(_IN_SOAK)
]


def _start(words: Words) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "priolane.cli", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=os.environ | {"TMPDIR": str(Path("tmp").absolute()), "MPLBACKEND": "agg"},
    )


def _finish(words: Words) -> None:
    with _start(words) as child:
        _, errors = child.communicate(timeout=300)
    assert child.returncode == 0, errors.decode()


def _files(directory: Path) -> dict[str, bytes]:
    """Everything in a directory but locks, which stay."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.name.endswith("lock")
    }


def _session(leader: int) -> Iterator[int]:
    """The processes of a session that have not ended."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = stat.read_text(encoding="utf-8").rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == leader and state != "Z":
            yield int(stat.parent.name)


def _semaphores(leader: int) -> set[Path]:
    """The named semaphores that processes of a session have mapped."""
    results = set()
    for process in _session(leader):
        try:
            maps = Path(f"/proc/{process}/maps").read_text(encoding="utf-8")
        except OSError:
            continue
        results |= {Path(line.split()[5]) for line in maps.splitlines() if "/shm/sem." in line}
    return results


def _wait_until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


References = dict[str, tuple[Path, dict[str, bytes], float]]


@pytest.fixture(scope="module")
def references() -> References:
    """By command: its directory, the files of an uninterrupted one, and the seconds that it took. Tests fill it."""
    return {}


def _reference(name: str, references: References, where: Path) -> tuple[Path, Words, dict[str, bytes], float]:
    known = references.get(name)
    directory = known[0] if known else where
    os.chdir(directory)
    words = COMMANDS[name](directory)
    if known:
        return (directory, words, *known[1:])
    for made in ("out", "tmp"):
        (directory / made).mkdir()
    begun = time.monotonic()
    _finish(words)
    references[name] = directory, _files(directory / "out"), time.monotonic() - begun
    return (directory, words, *references[name][1:])


@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_killed_command_leaves_nothing_and_continues(
    name: str,
    number: int,
    references: References,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    directory, words, wanted, whole_s = _reference(name, references, tmp_path)
    out, temporary = directory / "out", directory / "tmp"
    shutil.rmtree(out)
    out.mkdir()
    moment_s = random.Random(f"{name} {number}").uniform(0.2, 1.0) * whole_s  # noqa: S311 - not for secrets
    with _start(words) as child:
        time.sleep(moment_s)
        semaphores = _semaphores(child.pid)
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=_PATIENCE_S)
        _wait_until(lambda: not list(_session(child.pid)), "processes are left")
    _wait_until(lambda: not any(map(Path.exists, semaphores)), f"semaphores are left: {semaphores}")
    assert list(temporary.iterdir()) == []
    # What has its final name is whole, and of a run all files are.
    there = {file: data for file, data in _files(out).items() if not any(part[0] == "." for part in Path(file).parts)}
    records = {file for file in there if Path(file).name in ("grid.json", "advice.json", "report.json", "report.html")}
    assert {file: there[file] for file in there.keys() - records} == {
        file: wanted[file] for file in there.keys() - records
    }
    _finish(words)
    assert _files(out) == wanted
    assert list(temporary.iterdir()) == []
