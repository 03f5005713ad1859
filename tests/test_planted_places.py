"""Places whose names can be guessed, and what somebody else has put there: links, FIFOs."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import smoke
from priolane.cli import main
from priolane.storage.directory import is_run

FLOWS = "0 1.000001 1.5 2 0.49 0 0 1\n1 1e-06 1.5 3 0.49 0 1 0\n"
_ENDS_S = 120.0


def _trace(folder: Path, out: Path) -> list[str]:
    experiment = smoke.write_experiment(folder)
    return ["trace", str(experiment), "--flow", "0", "--seed", "1", "--scheme", "pias", "-o", str(out)]


def _import(folder: Path, out: Path) -> list[str]:
    (folder / "flows.txt").write_text(FLOWS, encoding="utf-8")
    return ["import", "yaps", str(folder / "flows.txt"), "-o", str(out / "flows.csv")]


# The temporary files of a command, P for its process.
TEMPORARY: dict[Callable[[Path, Path], list[str]], list[str]] = {
    _trace: [".trace-0.parquet.P.tmp", ".trace-0-state.parquet.P.tmp", ".trace-0.pcap.P.tmp"],
    _import: [".flows.csv.P.part", ".flows.hosts.csv.P.part", ".flows.report.json.P.part"],
}


@pytest.mark.parametrize("command", TEMPORARY, ids=lambda command: command.__name__)
def test_no_link_in_the_place_of_a_temporary_file_is_followed(
    tmp_path: Path, command: Callable[[Path, Path], list[str]]
) -> None:
    out, victim = tmp_path / "out", tmp_path / "victim"
    out.mkdir()
    victim.write_text("mine", encoding="utf-8")
    for name in TEMPORARY[command]:
        (out / name.replace("P", str(os.getpid()))).symlink_to(victim)
    assert main(command(tmp_path, out)) == 0
    assert victim.read_text(encoding="utf-8") == "mine"
    assert not any(path.is_symlink() for path in out.iterdir())


def _ends(words: list[str]) -> int:
    """The exit code of a command, which must end by itself."""
    code = "import sys; from priolane.cli import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.run([sys.executable, "-c", code, *words], timeout=_ENDS_S, check=False).returncode


def test_no_command_waits_for_a_fifo_in_the_place_of_a_leftover(tmp_path: Path) -> None:
    for command, names in TEMPORARY.items():
        out = tmp_path / command.__name__
        out.mkdir()
        for name in names:
            os.mkfifo(out / name.replace("P", "1"))
        assert _ends(command(tmp_path, out)) == 0


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grid")
    experiment = smoke.write_experiment(folder, "200us")
    assert main(["run", str(experiment), "--seeds", "1", "-o", str(folder / "out")]) == 0
    return folder


@pytest.mark.parametrize("place", [".lock", ".grid.lock", "owner of a draft"])
def test_no_command_waits_for_a_fifo_in_the_place_of_a_lock(grid: Path, tmp_path: Path, place: str) -> None:
    out = tmp_path / "out"
    shutil.copytree(grid / "out", out)
    if place == "owner of a draft":
        run = next(path.name for path in out.iterdir() if is_run(path.name))
        (out / f".tmp-{run}-1-1").mkdir()
        os.mkfifo(out / f".tmp-{run}-1-1" / "owner")
    else:
        (out / place).unlink(missing_ok=True)
        os.mkfifo(out / place)
    words = ["run", str(grid / "first.toml"), "--seeds", "1", "-o", str(out)]
    assert _ends(words) == (0 if place == "owner of a draft" else 1)


def test_a_lock_that_is_a_link_to_another_file_is_not_written(
    grid: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, victim = tmp_path / "out", tmp_path / "victim"
    shutil.copytree(grid / "out", out)
    victim.write_text("mine", encoding="utf-8")
    (out / ".grid.lock").unlink()
    (out / ".grid.lock").hardlink_to(victim)
    assert main(["run", str(grid / "first.toml"), "--seeds", "1", "-o", str(out)]) == 1
    assert victim.read_text(encoding="utf-8") == "mine"
    assert re.search(r"\.grid\.lock: the path names a link or no regular file", capsys.readouterr().err)
