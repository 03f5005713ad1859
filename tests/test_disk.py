"""Disks that are full, directories that must not be written, and several writers at once: real processes throughout."""

import fcntl
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import smoke
from priolane.cli import main
from priolane.results.results import load
from priolane.storage.files import LOCK_FILE, DirectoryInUse, WriteError, sole_writer, write_whole
from rings import cases

# `-B`: Python would write truncated bytecode, which later tests read, where no file can grow.
COMMAND = [sys.executable, "-B", "-m", "priolane.cli"]
SERIES = ["--set", 'sample_every="10us"']
FIX = "fix this and run the command again"
KEPT = f"{FIX}; complete runs are kept"


def call(*arguments: str | Path, largest: int | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command line; with `largest`, as on a disk on which no file can grow beyond so many bytes."""

    def limit() -> None:
        if largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "MPLBACKEND": "agg"},
        preexec_fn=limit,
    )


def files(directory: Path) -> dict[str, bytes]:
    """Everything in a directory but locks."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.name.endswith("lock")
    }


def runs(directory: Path) -> dict[str, bytes]:
    """The files of whole runs."""
    return {name: data for name, data in files(directory).items() if name[0] != "." and name[16:17] == "/"}


@pytest.mark.parametrize("jobs", cases(["2"], ["1"]))
def test_a_full_disk_is_one_line_and_loses_no_whole_run(tmp_path: Path, jobs: str) -> None:
    experiment, out = smoke.write_experiment(tmp_path), tmp_path / "out"
    assert call("run", experiment, "-o", out, "--seeds", "1").returncode == 0
    before = runs(out)
    assert len(before) == 2 * 4
    # grid.json has less than 4 kB, flows.parquet more.
    result = call("run", experiment, "-o", out, "--jobs", jobs, largest=4096)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "cannot write" in result.stderr
    assert "flows.parquet: File too large" in result.stderr
    assert KEPT in result.stderr
    assert runs(out) == before
    assert not [name for name in files(out) if "tmp" in name]
    assert call("run", experiment, "-o", out).returncode == 0
    after = runs(out)
    assert len(after) == 4 * 4
    assert {name: after[name] for name in before} == before


@pytest.mark.soak
def test_a_full_disk_at_the_page_keeps_runs_and_the_page_before(tmp_path: Path) -> None:
    experiment, out = smoke.write_experiment(tmp_path), tmp_path / "out"
    assert call("run", experiment, "-o", out, *SERIES).returncode == 0
    whole = files(out)
    # The page is larger than the figures, which are written first.
    largest = max(len(data) for name, data in whole.items() if name.startswith("figures/"))
    assert len(whole["report.html"]) > largest + 1
    result = call("report", out, largest=largest + 1)
    assert result.returncode == 1
    assert result.stderr == f"priolane: failed: cannot write {out / 'report.html'}: File too large; {KEPT}\n"
    assert files(out) == whole


def test_nothing_is_left_of_a_file_that_did_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("the one before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(WriteError, match=r"cannot write .*page\.html: File too large"):
            write_whole(path, "x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == "the one before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_directory_that_must_not_be_written_is_one_line(tmp_path: Path) -> None:
    experiment, out = smoke.write_experiment(tmp_path), tmp_path / "out"
    out.mkdir(mode=0o555)
    # Root may write everywhere unless it gives that up.
    humble = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-all"] if os.geteuid() == 0 else []
    if humble and shutil.which("setpriv") is None:
        pytest.skip("root writes everywhere, and there is no setpriv to give that up")
    process = subprocess.run(
        [*humble, *COMMAND, "run", str(experiment), "-o", str(out)], capture_output=True, text=True, check=False
    )
    assert process.returncode == 1, process.stderr
    assert process.stderr == f"priolane: failed: cannot write {out / LOCK_FILE}: Permission denied; {FIX}\n"
    assert list(out.iterdir()) == []


def test_a_second_grid_in_a_directory_names_the_first(tmp_path: Path) -> None:
    experiment, out = smoke.write_experiment(tmp_path, measure="100s"), tmp_path / "out"
    child = start(experiment, out)
    try:
        result = call("run", experiment, "-o", out)
        assert result.returncode == 1
        assert result.stderr.count("\n") == 1
        assert f"{out}: process {child.pid} on " in result.stderr
        assert "is filling it now; wait for it, or choose another directory with -o" in result.stderr
    finally:
        stop(child)
    # It was killed: the lock went with it, the file stayed.
    assert (out / LOCK_FILE).is_file()
    with sole_writer(out):
        assert (out / LOCK_FILE).read_text().startswith(f"process {os.getpid()} on ")


def test_a_directory_is_free_again_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), sole_writer(tmp_path):
        raise KeyError
    with (
        sole_writer(tmp_path),
        pytest.raises(DirectoryInUse, match=f"process {os.getpid()} on "),
        sole_writer(tmp_path),
    ):
        pass


def start(experiment: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    """Starts a grid with two workers, in a process group of its own, and waits until it has begun."""
    child = subprocess.Popen(
        [*COMMAND, "run", str(experiment), "-o", str(out), "--jobs", "2", *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not (out / "grid.json").exists():
        assert child.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return child


def stop(child: subprocess.Popen[bytes]) -> None:
    """Kills a grid and its workers; nothing of them can tidy up."""
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()


@pytest.mark.soak
def test_grids_killed_with_series_resume_to_the_same_bytes(tmp_path: Path) -> None:
    experiment, out, whole = smoke.write_experiment(tmp_path), tmp_path / "out", tmp_path / "whole"
    options = [*SERIES, "--seeds", "6"]
    assert call("run", experiment, "-o", whole, *options).returncode == 0
    wanted = runs(whole)
    assert sum(name.endswith("series.parquet") for name in wanted) == 12
    seen = set()
    for delay in (0.4, 0.6, 0.8):
        (out / "grid.json").unlink(missing_ok=True)
        child = start(experiment, out, *options)
        time.sleep(delay)
        stop(child)
        there = runs(out)
        assert all(wanted[name] == data for name, data in there.items())
        seen.add(len(there) // 4)
    assert seen - {12}, "no grid was killed before it was whole"
    assert call("run", experiment, "-o", out, *options).returncode == 0
    assert runs(out) == wanted
    assert load(out).missing() == []
    assert not [name for name in files(out) if "tmp" in name]


def test_a_killed_trace_leaves_whole_files_or_none_and_the_next_tidies_up(tmp_path: Path) -> None:
    experiment, out = smoke.write_experiment(tmp_path), tmp_path / "out"
    arguments = ["trace", str(experiment), "--flow", "0", "--seed", "1", "--scheme", "pias", "-o"]
    result = call(*arguments, tmp_path / "whole")
    assert result.returncode == 0, result.stderr
    wanted = files(tmp_path / "whole")
    assert sorted(wanted) == [".priolane-files.json", "trace-0-state.parquet", "trace-0.parquet", "trace-0.pcap"]
    for nth in range(6):
        child = subprocess.Popen([*COMMAND, *arguments, str(out)], stdout=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 60
        while not out.exists() and time.monotonic() < deadline and child.poll() is None:
            time.sleep(0.0005)
        time.sleep(0.001 * nth)
        stop(child)
        there = {name: data for name, data in files(out).items() if not name.startswith(".")} if out.exists() else {}
        assert all(wanted[name] == data for name, data in there.items())
        if nth % 2 == 0:
            shutil.rmtree(out, ignore_errors=True)
    out.mkdir(exist_ok=True)
    (out / ".trace-0.parquet.1.tmp").write_bytes(b"half")
    assert call(*arguments, out).returncode == 0
    assert files(out) == wanted


def test_drafts_that_killed_writers_left_are_removed_and_those_of_others_stay(tmp_path: Path) -> None:
    path, writer = (
        tmp_path / "note.json",
        "import sys; from pathlib import Path; from priolane.storage.files import write_whole\n",
    )
    killed = "import os, signal; os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
    run = [sys.executable, "-c", writer + killed + "write_whole(Path(sys.argv[1]), 'half')", str(path)]
    assert subprocess.run(run, check=False).returncode == -signal.SIGKILL
    [left] = tmp_path.iterdir()
    (tmp_path / ".note.json.mine").write_text("of somebody else", encoding="utf-8")
    with (tmp_path / ".note.json.other.draft").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        write_whole(path, "whole")
    assert not left.exists()
    assert {file.name for file in tmp_path.iterdir()} == {".note.json.mine", ".note.json.other.draft", "note.json"}
    assert path.read_text(encoding="utf-8") == "whole"


def test_a_trace_that_finds_no_room_leaves_no_directory(tmp_path: Path) -> None:
    experiment, out = smoke.write_experiment(tmp_path), tmp_path / "out"
    result = call("trace", experiment, "--flow", "0", "--seed", "1", "--scheme", "pias", "-o", out, largest=100)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith(": File too large; nothing was written\n")
    assert not out.exists()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_standard_output_is_an_error(capfd: pytest.CaptureFixture[str], unbuffered: str) -> None:
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [*COMMAND, "list", "schemes"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert process.returncode == 1
    assert process.stderr.startswith("priolane: failed: ")
    assert "No space left on device" in process.stderr
    assert main(["list", "schemes"]) == 0
    assert capfd.readouterr().err == ""
