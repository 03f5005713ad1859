"""Runs elsewhere: what comes back is what a local run gives, whatever ends meanwhile."""

import concurrent.futures
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

import priolane
from priolane import _core
from priolane.execution import work_unit
from priolane.execution.backend import Backend, parse_backend
from priolane.execution.cluster import DaskWorkers
from priolane.execution.dispatch import Call, CallSource, Completion, Dispatcher, WorkerDied
from priolane.execution.grid import Watcher, run_grid
from priolane.execution.settings import Settings
from priolane.execution.worker import JobResult
from priolane.model.experiment import Options

pytestmark = pytest.mark.xdist_group("cluster")

BIN = Path(sys.executable).parent
# Runs of about 0.1 s, of a file beside the experiment.
EXPERIMENT = """
title = "Sent elsewhere"
schemes = ["dctcp", "newreno"]
seeds = 4
time = { flows = 200 }
topology = { kind = "single_switch", hosts = 4, host_link = { rate = "10Gbps", delay = "1us" } }
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = { csv = "sizes.csv", interpolation = "linear" }
load = { of = "host", counts = "payload", value = 0.5 }
"""

INTERRUPTED = "priolane: interrupted: complete runs are kept, the same command continues\n"


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "sizes.csv").write_text("bytes,cdf\n1000,0.5\n100000,1\n", encoding="utf-8")
    path = tmp_path / "x.toml"
    path.write_text(EXPERIMENT, encoding="utf-8")
    return path


def contents(directory: Path) -> dict[str, bytes]:
    """The files of all runs."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in sorted(directory.glob("[0-9a-f]*/*"))}


class Log(Watcher):
    """The outcome of runs, and the messages about them."""

    def __init__(self) -> None:
        self.done: list[JobResult] = []
        self.lines: list[str] = []

    def finished(self, run: Any, done: JobResult) -> None:
        self.done.append(done)

    def notify(self, line: str) -> None:
        self.lines.append(line)


class Cluster:
    """A scheduler and two workers, each a process with its nanny."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.processes: list[subprocess.Popen[bytes]] = []
        note = directory / "scheduler.json"
        quiet = ["--no-dashboard", "--no-show"]
        self.scheduler = self.start("scheduler", "--host=127.0.0.1", "--port=0", f"--scheduler-file={note}", *quiet)
        # The last of the file is its closing brace.
        wait(lambda: note.exists() and note.read_text().rstrip().endswith("}"))
        self.address = json.loads(note.read_text())["address"]
        self.on = Backend("dask", self.address.removeprefix("tcp://"))

    def start(self, what: str, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + what, *arguments]
        with (self.directory / "log").open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **(environment or {})})
        self.processes.append(process)
        return process

    def worker(self, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        options = ["--nthreads=1", "--host=127.0.0.1", "--no-dashboard", "--death-timeout=120"]
        return self.start("worker", self.address, *options, environment=environment)

    def end(self) -> None:
        for process in reversed(self.processes):
            for each in [*psutil.Process(process.pid).children(recursive=True)] if process.poll() is None else []:
                each.kill()
            process.kill()
            process.wait()


def wait(ready: Callable[[], bool], patience_s: float = 60) -> None:
    end = time.monotonic() + patience_s
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    for _ in range(2):
        made.worker()
    yield made
    made.end()


@pytest.fixture
def lone(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler without workers."""
    (tmp_path / "cluster").mkdir()
    made = Cluster(tmp_path / "cluster")
    yield made
    made.end()


def run_on(on: Any, experiment: Path, out: Path, log: Log | None = None, **options: Any) -> Log:
    log = log or Log()
    run_grid(experiment, out, Options(**options), Settings(on=on), log)
    return log


@contextmanager
def client(on: Backend, experiment: Path, out: Path) -> Iterator[subprocess.Popen[str]]:
    """The command with 20 runs of some tenths of a second."""
    command = ["run", str(experiment), "--seeds", "10", "--set", "time.flows=3000", "-o", str(out)]
    with subprocess.Popen(
        [str(BIN / "priolane"), *command, "--on", str(on)], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_two_workers_give_the_bytes_of_a_local_run(cluster: Cluster, experiment: Path, tmp_path: Path) -> None:
    priolane.run(experiment, out=tmp_path / "local")
    log = run_on(cluster.on, experiment, tmp_path / "dask")
    assert [done.ran for done in log.done] == [True] * 8
    assert contents(tmp_path / "dask") == contents(tmp_path / "local") != {}
    # What is there is not sent again.
    assert [done.ran for done in run_on(cluster.on, experiment, tmp_path / "dask").done] == [False] * 8


@pytest.mark.soak
def test_nothing_is_lost_or_accepted_twice_while_workers_are_killed(
    cluster: Cluster, experiment: Path, tmp_path: Path
) -> None:
    over = threading.Event()
    kills: list[int] = []
    log = Log()

    def kill() -> None:
        done = -1
        while not over.wait(2.0 if kills else 0.7):
            # A worker that starts is spared: on a busy machine that takes longer than a kill is away.
            if len(log.done) == done:
                continue
            done = len(log.done)
            nanny = random.choice(cluster.processes[1:])  # noqa: S311
            for process in psutil.Process(nanny.pid).children():
                if "spawn_main" in " ".join(process.cmdline()):
                    process.kill()
                    kills.append(process.pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        run_on(cluster.on, experiment, tmp_path / "out", log, seeds=15, sets=(("time.flows", "3000"),))
    finally:
        over.set()
        thread.join()
    assert kills
    ran = [done.run_id for done in log.done if done.ran]
    assert len(ran) == len(set(ran)) == 30
    assert not priolane.load(tmp_path / "out").missing()


@pytest.mark.soak
def test_a_client_that_is_killed_and_started_again_repeats_nothing(
    cluster: Cluster, experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with client(cluster.on, experiment, out) as process:
        wait(lambda: len(list(out.glob("[0-9a-f]*/run.json"))) >= 3)
        process.kill()
        process.wait()
    there = {path: path.stat().st_mtime_ns for path in out.glob("[0-9a-f]*/run.json")}
    assert len(there) < 20
    sent: list[str] = []
    submit = DaskWorkers.submit

    def counted(self: DaskWorkers, calls: Sequence[Call]) -> None:
        sent.extend(call.run_id for call in calls)
        submit(self, calls)

    monkeypatch.setattr(DaskWorkers, "submit", counted)
    log = run_on(cluster.on, experiment, out, seeds=10, sets=(("time.flows", "3000"),))
    assert sum(not done.ran for done in log.done) == len(there)
    assert len(log.done) == 20
    assert sorted(sent) == sorted(done.run_id for done in log.done if done.ran)
    assert len(set(sent)) == len(sent) == 20 - len(there)
    assert all(path.stat().st_mtime_ns == at for path, at in there.items())


def test_a_worker_of_another_version_is_refused_with_what_to_install(
    lone: Cluster, experiment: Path, tmp_path: Path
) -> None:
    # A module that the worker loads at its start, by Python's own hook, gives it another version.
    (tmp_path / "sitecustomize.py").write_text(
        "from priolane import _core\n_core.version = lambda: '0.0.9+results.1'\n"
    )
    lone.worker({"PYTHONPATH": str(tmp_path)})
    with pytest.raises(priolane.RunFailed, match=r"has priolane 0\.0\.9\+results\.1 .* pip install") as refused:
        run_on(lone.on, experiment, tmp_path / "out")
    assert _core.version() in str(refused.value)
    assert contents(tmp_path / "out") == {}


def test_a_scheduler_without_workers_is_not_waited_for_in_silence_and_its_end_is_told(
    lone: Cluster, experiment: Path, tmp_path: Path
) -> None:
    log = Log()

    def kill() -> None:
        end = time.monotonic() + 60
        while not log.lines and time.monotonic() < end:
            time.sleep(0.05)
        lone.scheduler.kill()

    threading.Thread(target=kill, daemon=True).start()
    with pytest.raises(priolane.RunFailed, match="the scheduler is gone; start it again"):
        run_grid(experiment, tmp_path / "out", Options(), Settings(on=lone.on), log)
    assert log.lines == [f"{lone.on} has 0 workers: 8 runs wait for one (Ctrl-C stops)"]


def test_ctrl_c_ends_a_sweep_at_once_and_the_same_command_continues(
    cluster: Cluster, experiment: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with client(cluster.on, experiment, out) as process:
        wait(lambda: bool(list(out.glob("[0-9a-f]*/run.json"))))
        process.send_signal(signal.SIGINT)
        _, lines = process.communicate(timeout=60)
    assert process.returncode == 130
    # A busy machine is told how far it is before.
    assert lines.splitlines(keepends=True)[-1] == INTERRUPTED


def test_what_dask_still_waits_for_at_the_end_is_not_printed(cluster: Cluster) -> None:
    """A wait of Dask that times out as the loop ends, as in `BatchedSend`, is destroyed by Python at its exit."""
    script = """
import asyncio, sys
from priolane.execution.backend import parse_backend
from priolane.execution.cluster import connected

left = []

async def leave():
    left.append(asyncio.get_running_loop().create_future())
    left[0].set_exception(TimeoutError("Timeout"))

with connected(parse_backend(sys.argv[1]), {}) as workers:
    workers._client.sync(leave)
"""
    command = [sys.executable, "-c", script, str(cluster.on)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_slurm_jobs_are_what_dask_jobqueue_submits(experiment: Path, tmp_path: Path) -> None:
    """`sbatch` stands for Slurm: it runs the job on this machine."""
    for name, script in {
        "sbatch": 'setsid bash -c "$(cat "$1")" >/dev/null 2>&1 &\necho $! >> "$JOBS"\necho Submitted batch job $!',
        "scancel": "true",
    }.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{script}\n")
        (tmp_path / name).chmod(0o755)
    keys = {"CORES": "1", "MEMORY": "1GB", "INTERFACE": "lo", "WALLTIME": "00:10:00"}
    environment = {f"DASK_JOBQUEUE__SLURM__{key}": value for key, value in keys.items()}
    jobs = tmp_path / "jobs"
    environment |= {"PATH": f"{tmp_path}:{os.environ['PATH']}", "JOBS": str(jobs)}
    try:
        command = [str(BIN / "priolane"), "run", str(experiment), "-o", str(tmp_path / "out"), "--on", "slurm"]
        done = subprocess.run(
            command, env=os.environ | environment, capture_output=True, text=True, timeout=300, check=False
        )
    finally:
        for group in jobs.read_text().split() if jobs.exists() else []:
            end_group(int(group))
    # A worker takes a while to start, of which a busy machine is told.
    waiting = re.compile(r"priolane: (slurm:1 has 0 workers: \d runs wait for one|Sent elsewhere: \d of 8 runs)")
    assert [line for line in done.stderr.splitlines() if not waiting.match(line)] == []
    assert done.returncode == 0
    assert not priolane.load(tmp_path / "out").missing()


def end_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def test_processes_get_named_files_and_give_the_bytes_of_a_local_run(experiment: Path, tmp_path: Path) -> None:
    priolane.run(experiment, out=tmp_path / "local")
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        priolane.run(experiment, out=tmp_path / "threads", on=threads)
    assert contents(tmp_path / "threads") == contents(tmp_path / "local") != {}


class ScriptedWorkers:
    """A carrier that answers each call with what `answer` gives for it."""

    name = "the script"

    def __init__(self, answer: Callable[[Call], Sequence[Completion]]) -> None:
        self.answer = answer
        self.calls: list[Call] = []
        self.most = 0
        self.back: list[Completion] = []

    def submit(self, calls: Sequence[Call]) -> None:
        self.calls += calls
        self.back += [completion for call in calls for completion in self.answer(call)]
        self.most = max(self.most, len(self.back))

    def completions(self, timeout_s: float) -> Sequence[Completion]:
        return [self.back.pop(0)] if self.back else []

    def workers(self) -> int | None:
        return 2

    def cancel(self) -> None:
        self.calls.append(Call("cancelled", 0, ""))


def dispatched(remote: ScriptedWorkers, runs: int) -> tuple[list[str], list[str]]:
    """Ids of accepted runs, and what was said."""
    lines: list[str] = []

    def accept(run_id: str, answer: bytes) -> JobResult:
        if answer != b"right":
            raise _core.Damaged(f"run {run_id}: the answer is damaged")
        return JobResult(run_id, ran=True)

    work = CallSource(lambda run_id: run_id, accept, lambda: {"d": "text"})
    done = Dispatcher(remote, work, lines.append).execute([f"r{nth}" for nth in range(runs)])
    return [each.run_id for each in done], lines


def test_a_bounded_number_is_under_way_in_order_and_answers_that_come_twice_count_once() -> None:
    remote = ScriptedWorkers(lambda call: [Completion(call.run_id, b"right")] * 2)
    accepted, lines = dispatched(remote, 300)
    assert accepted == [f"r{nth}" for nth in range(300)]
    # Each of 64 completion back twice; when the first has, one more is under way.
    assert (lines, remote.most) == ([], 64 * 2 + 1)


def test_a_run_whose_worker_died_or_whose_answer_is_damaged_is_sent_again_and_given_up_in_the_end() -> None:
    def answer(call: Call) -> Sequence[Completion]:
        if call.run_id == "r0":
            return [Completion("r0", (b"wrong", b"right")[call.attempt])]
        return (
            [Completion("r1", error=WorkerDied("run r1: killed"))]
            if call.attempt == 0
            else [Completion("r1", b"right")]
        )

    accepted, lines = dispatched(ScriptedWorkers(answer), 2)
    assert sorted(accepted) == ["r0", "r1"]
    assert lines == ["run r0: the answer is damaged; sent again", "run r1: killed; sent again"]
    with pytest.raises(priolane.RunFailed, match="r0: the answer is damaged; given up after 4 times"):
        dispatched(ScriptedWorkers(lambda call: [Completion(call.run_id, b"wrong")]), 1)


def test_a_worker_that_wants_a_file_gets_it_and_errors_of_runs_end_the_sweep() -> None:
    wants = b"priolane wants files\n" + json.dumps(["d"]).encode()
    remote = ScriptedWorkers(lambda call: [Completion(call.run_id, b"right" if call.texts == {"d": "text"} else wants)])
    assert dispatched(remote, 2) == (["r0", "r1"], [])
    remote = ScriptedWorkers(
        lambda call: [Completion(call.run_id, error=priolane.RunFailed("bytes are not conserved"))]
    )
    with pytest.raises(priolane.RunFailed, match="conserved"):
        dispatched(remote, 3)
    assert remote.calls[-1].run_id == "cancelled"


def test_a_damaged_answer_is_refused_byte_by_byte(experiment: Path, tmp_path: Path) -> None:
    plan = priolane.plan(experiment).core
    grid = plan.open(tmp_path / "out", Settings().to_json())
    first, second = (run["id"] for run in json.loads(plan.to_json())["runs"][:2])
    work_unit.cache_files(plan.texts())
    answer = work_unit.run(work_unit.encode_call(grid.unit(first), Settings().of_a_unit()))
    stream = random.Random(1)  # noqa: S311
    for at in [0, 16, 17, 20, len(answer) - 1, *(stream.randrange(len(answer)) for _ in range(40))]:
        damaged = bytearray(answer)
        damaged[at] ^= 1
        with pytest.raises(_core.Damaged, match=f"run {first}: the answer"):
            grid.accept(first, bytes(damaged))
        with pytest.raises(_core.Damaged):
            grid.accept(first, answer[:at])
    with pytest.raises(_core.Damaged, match="the answer belongs to run"):
        grid.accept(second, answer)
    assert contents(tmp_path / "out") == {}
    assert [json.loads(grid.accept(first, answer))["ran"] for _ in range(2)] == [True, False]


def test_what_is_no_place_is_refused_with_what_to_write(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("dask://", "dask://host", "dask://h:70000", "dask-local:0", "dask-local", "slurm:x", "ray", ""):
        with pytest.raises(priolane.InputError, match="--on"):
            parse_backend(text)
    for text in ("local", "dask://[::1]:8786", "dask-local:3", "slurm:7"):
        assert str(parse_backend(text)) == text
    monkeypatch.setattr("priolane.execution.cluster._CONNECT_S", 0.5)
    with pytest.raises(priolane.InputError, match="no Dask scheduler answers"):
        priolane.run(experiment, on="dask://127.0.0.1:9", out=experiment.parent / "out")


def test_a_worker_refuses_a_call_of_another_version_or_build_before_it_reads_the_unit() -> None:
    call = json.loads(work_unit.encode_call("no unit", Settings().of_a_unit()))
    for key, fix in {"version": "pip install 'priolane", "build": "one wheel on both sides"}.items():
        with pytest.raises(priolane.RunFailed, match=f"this worker has priolane .*{fix}"):
            work_unit.run(json.dumps(call | {key: "0.2.0+results.9"}))


def test_without_dask_the_message_says_what_to_install(experiment: Path, tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError('No module named distributed')")
    done = subprocess.run(
        [str(BIN / "priolane"), "run", str(experiment), "-o", str(tmp_path / "out"), "--on", "dask://127.0.0.1:9"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        2,
        "priolane: error: --on: Dask cannot be loaded (No module named distributed); pip install 'priolane[cluster]'\n",
    )


@pytest.mark.soak
def test_ctrl_c_ends_the_workers_of_a_cluster_of_ours(experiment: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    on = Backend("dask-local", count=2)
    with client(on, experiment, out) as process:
        wait(lambda: bool(list(out.glob("[0-9a-f]*/run.json"))))
        workers = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        _, lines = process.communicate(timeout=60)
    # A slow machine has lines of progress before it.
    assert (process.returncode, lines[-len(INTERRUPTED) :]) == (130, INTERRUPTED)
    assert workers
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert alive == []
