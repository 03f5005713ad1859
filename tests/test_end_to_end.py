"""The command line as its users have it: real processes, the compiled module, real runs."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import priolane
import smoke
from rings import cases

COMMAND = [sys.executable, "-m", "priolane.cli"]


def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False, env=_environment()
    )


def _environment() -> dict[str, str]:
    return {**os.environ, "MPLBACKEND": "agg"}


def results_of(directory: Path) -> dict[str, bytes]:
    """The bytes of all result files, without page and figures."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.name == "run.json" or path.suffix == ".parquet"
    }


def test_jobs_and_order_do_not_change_results(tmp_path: Path) -> None:
    experiment = smoke.write_experiment(tmp_path)
    assert call("run", experiment, "-o", tmp_path / "one", "--jobs", "1").returncode == 0
    assert call("run", experiment, "-o", tmp_path / "two", "--jobs", "2").returncode == 0
    first, two = results_of(tmp_path / "one"), results_of(tmp_path / "two")
    assert len(first) >= 4 * 2
    assert first == two


def test_a_script_without_a_guard_runs_once_in_several_processes(tmp_path: Path) -> None:
    experiment = smoke.write_experiment(tmp_path)
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, priolane\n"
        "sys.stdout.write('begun\\n')\n"
        f"results = priolane.run({str(experiment)!r}, out={str(tmp_path / 'out')!r}, jobs=2)\n"
        "assert sys.modules['__main__'].__file__.endswith('script.py')\n"
        "sys.stdout.write(f'{len(results.runs)} runs\\n')\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "begun\n4 runs\n", "")


def test_threads_of_a_run_do_not_change_results(tmp_path: Path) -> None:
    experiment = smoke.write_experiment(tmp_path)
    assert call("run", experiment, "-o", tmp_path / "one", "--jobs", "1").returncode == 0
    assert call("run", experiment, "-o", tmp_path / "two", "--jobs", "1", "--threads", "2").returncode == 0
    assert results_of(tmp_path / "one") == results_of(tmp_path / "two")
    assert call("run", experiment, "-o", tmp_path / "three", "--threads", "0").returncode == 2


def test_a_second_call_repeats_no_run(tmp_path: Path) -> None:
    experiment = smoke.write_experiment(tmp_path)
    call("run", experiment, "-o", tmp_path / "out")
    stamps = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*/run.json")}
    assert call("run", experiment, "-o", tmp_path / "out").returncode == 0
    assert len(stamps) == 4
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps


def test_bad_input_is_one_line_with_file_key_and_fix(tmp_path: Path) -> None:
    experiment = smoke.write_experiment(tmp_path)
    result = call("run", experiment, "-o", tmp_path / "out", "--set", "group.all.load.value=7.5")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "load" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("jobs", cases(["2"], ["1"]))
def test_ctrl_c_ends_at_once_and_keeps_whole_runs(tmp_path: Path, jobs: str) -> None:
    experiment = smoke.write_experiment(tmp_path, measure="100s")
    out = tmp_path / "out"
    child = subprocess.Popen(
        [*COMMAND, "run", str(experiment), "-o", str(out), "--jobs", jobs],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - no threads here
        env=_environment(),
    )
    wait_for(out / "grid.json")
    time.sleep(3)
    assert child.poll() is None
    request = time.monotonic()
    os.killpg(child.pid, signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    took = time.monotonic() - request
    assert child.returncode == 130
    # The runs take minutes. An idle machine needs less than a second; a busy one gets as long as twelve starts take.
    begun = time.monotonic()
    call("--version")
    assert took < max(3.0, 12 * (time.monotonic() - begun))
    assert errors.strip() == "priolane: interrupted", "no run is complete"
    assert len(priolane.load(out).missing()) == 4


@pytest.mark.parametrize("how", cases([signal.SIGKILL], [signal.SIGTERM]))
def test_workers_end_with_their_command_however_that_ends(tmp_path: Path, how: signal.Signals) -> None:
    experiment = smoke.write_experiment(tmp_path, measure="100s")
    out = tmp_path / "out"
    child = subprocess.Popen(
        [*COMMAND, "run", str(experiment), "-o", str(out), "--jobs", "2"],
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=_environment(),
    )
    wait_for(out / "grid.json")
    time.sleep(3)
    assert len(_session(child.pid)) > 2
    child.send_signal(how)
    child.communicate(timeout=60)
    assert child.returncode == (130 if how is signal.SIGTERM else -how)
    ended(child.pid)


def ended(leader: int) -> None:
    """Waits until no process of a session is left."""
    deadline = time.monotonic() + 30
    while left := _session(leader):
        assert time.monotonic() < deadline, f"{left} are still there"
        time.sleep(0.1)


def _session(leader: int) -> list[int]:
    """The processes of a session that have not ended."""
    results = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, session = stat.read_text(encoding="utf-8").rpartition(")")[2].split()[:4]
            if int(session) == leader and state != "Z":
                results.append(int(stat.parent.name))
    return results


@contextlib.contextmanager
def command(*arguments: str | Path, module: str = "priolane.cli") -> Iterator[subprocess.Popen[str]]:
    """A command in a process group of its own, with Python's handler of Ctrl-C. Nothing of it outlives the context."""
    child = subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - no threads here
        env=_environment(),
    )
    with child:
        try:
            yield child
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.02)


@pytest.mark.parametrize("apart", cases([0.05], [0.0, 0.3]))
def test_a_second_ctrl_c_neither_hangs_nor_speaks(tmp_path: Path, apart: float) -> None:
    experiment, out = smoke.write_experiment(tmp_path, measure="100s"), tmp_path / "out"
    with command("run", experiment, "-o", out, "--jobs", "2") as child:
        wait_for(out / "grid.json")
        time.sleep(0.7)
        for _ in range(2):
            os.killpg(child.pid, signal.SIGINT)
            time.sleep(apart)
        _, errors = child.communicate(timeout=60)
        ended(child.pid)
    assert child.returncode == 130
    assert errors.strip() == "priolane: interrupted"


def _catches(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


@pytest.mark.parametrize("delay", cases([0.1, 0.6], [0.0, 0.05, 0.2, 0.4, 0.8, 1.2]))
def test_ctrl_c_while_the_command_starts_is_one_line(tmp_path: Path, delay: float) -> None:
    experiment = smoke.write_experiment(tmp_path, measure="100s")
    with command("run", experiment, "-o", tmp_path / "out", "--jobs", "2", module="priolane") as child:
        # Before that it is the interpreter that starts, which has a handler of its own for SIGINT and none for SIGTERM.
        while not _catches(child.pid, signal.SIGTERM):
            assert child.poll() is None
            time.sleep(0.001)
        time.sleep(delay)
        os.killpg(child.pid, signal.SIGINT)
        _, errors = child.communicate(timeout=60)
    assert child.returncode == 130
    assert errors.count("\n") == 1
    assert errors.startswith("priolane: interrupted")


@pytest.mark.parametrize("closed", cases([1], [2]))
def test_a_closed_stream_is_no_error(tmp_path: Path, closed: int) -> None:
    experiment, out = smoke.write_experiment(tmp_path), tmp_path / "out"
    process = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}>&-', "sh", *COMMAND, "run", str(experiment), "-o", str(out), "--seeds", "1"],
        capture_output=True,
        text=True,
        check=False,
        env=_environment(),
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert ("report.html" in process.stdout) == (closed == 2)
    assert priolane.load(out).missing() == []


@pytest.mark.parametrize("name", ["yaps_alone", "htsim_ndp_alone"])
def test_flows_alone_take_the_times_of_other_simulators(tmp_path: Path, name: str) -> None:
    experiment = Path(priolane.__file__).parent.parent.parent / "experiments" / "validation" / f"{name}.toml"
    claims = experiment.read_text(encoding="utf-8").count("[[claim]]")
    done = call("run", experiment, "-o", tmp_path / "runs", "-v")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("the stated numbers within") == claims
    report = json.loads((tmp_path / "runs" / "report.json").read_text(encoding="utf-8"))
    assert [claim["verdict"] for claim in report["claims"]] == ["reproduced"] * claims
    assert {claim["source"] for claim in report["claims"]} == {"ours"}
    assert "the stated numbers within" in (tmp_path / "runs" / "report.html").read_text(encoding="utf-8")
