"""Commands end whatever their object store does: by signals at once, and without them within a stated time."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

import smoke
from priolane.results.results import load
from rings import SOAK, cases
from stuck_store import BUCKET, FAULTS, StuckStore, serving

URL = f"s3://{BUCKET}/results"
# Bounds for a loaded machine; an idle one takes a tenth.
_END_S, _WAIT_S = 20.0, 120.0
_COMMAND = """
import sys
from priolane import command
from priolane.storage import store_requests
store_requests.LIMITS = store_requests.Limits(
    attempts=2, attempt_s={attempt_s}, total_s={total_s}, wait_s=0.1,
    slowest_bytes_per_s={slowest_bytes_per_s},
)
sys.exit(command.main())
"""
PATIENT = {"attempt_s": 500, "total_s": 1000, "slowest_bytes_per_s": 1e9}
IMPATIENT = {"attempt_s": 1.5, "total_s": 3, "slowest_bytes_per_s": 1e9}

pytest.importorskip("s3fs")


@contextmanager
def command(
    store: StuckStore, cache: Path, limits: Mapping[str, float], *arguments: str | Path
) -> Iterator[subprocess.Popen[str]]:
    """A command with this store and these limits of requests."""
    child = subprocess.Popen(
        [sys.executable, "-c", _COMMAND.format(**limits), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | store.environment() | {"XDG_CACHE_HOME": str(cache), "MPLBACKEND": "agg"},
    )
    with child:
        try:
            yield child
        finally:
            child.kill()


def wait_for_requests(store: StuckStore, many: int, child: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + _WAIT_S
    while store.requests < many:
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def finish(child: subprocess.Popen[str], within_s: float) -> tuple[int, str, str, float]:
    """Exit code, output, errors, and the seconds that the end took."""
    begun = time.monotonic()
    out, errors = child.communicate(timeout=within_s)
    return child.returncode, out, errors, time.monotonic() - begun


def run(experiment: Path) -> list[str | Path]:
    return ["run", experiment, "-o", URL, "--jobs", "1", "--seeds", "1"]


# After one request a run begins, after four it has sent its first note.
_RUN_FAULTS = [
    ("hang", 0),
    ("hang", 3),
    *(pytest.param(fault, number, marks=SOAK) for fault in ("hang", "drip") for number in (1, 2, 6, 9)),
]
_SIGNALS = [(signal.SIGINT,), (signal.SIGINT,) * 2, (signal.SIGTERM,)]


@pytest.mark.parametrize(("fault", "working"), _RUN_FAULTS)
@pytest.mark.parametrize("signals", _SIGNALS)
def test_signals_end_a_run_whose_store_does_not_answer(
    tmp_path: Path, fault: str, working: int, signals: tuple[signal.Signals, ...]
) -> None:
    experiment = smoke.write_experiment(tmp_path, measure="1ms")
    with serving(fault, working) as store, command(store, tmp_path / "cache", PATIENT, *run(experiment)) as child:
        wait_for_requests(store, working + 1, child)
        for each in signals:
            child.send_signal(each)
            time.sleep(0.1)
        code, _, errors, took_s = finish(child, _END_S)
    assert code == 130
    complete = list((tmp_path / "cache").rglob("run.json"))
    kept = ": complete runs are kept, the same command continues" if complete else ""
    assert errors.splitlines()[-1] == f"priolane: interrupted{kept}"
    assert "Traceback" not in errors
    sys.stdout.write(f"{fault} after {working}: {len(signals)} signals, {took_s:.2f} s\n")


@pytest.mark.parametrize("words", cases([["compare", URL, URL]], [["report", URL], ["results", URL]]), ids=" ".join)
def test_signals_end_commands_that_read_a_store_that_does_not_answer(tmp_path: Path, words: list[str]) -> None:
    with serving("hang") as store, command(store, tmp_path / "cache", PATIENT, *words) as child:
        wait_for_requests(store, 1, child)
        child.send_signal(signal.SIGINT)
        code, out, errors, _ = finish(child, _END_S)
    assert (code, out, errors) == (130, "", "priolane: interrupted\n")


# After three requests the store is written to only, and its answers have no bytes to drip.
_OTHERS = [fault for fault in FAULTS if fault not in {"hang", "drip"}]
_FAILING = [("hang", 3), ("drip", 0), *(pytest.param(fault, 3, marks=SOAK) for fault in _OTHERS)]


@pytest.mark.parametrize(("fault", "working"), _FAILING)
def test_a_store_that_fails_ends_the_command_within_its_budget(tmp_path: Path, fault: str, working: int) -> None:
    experiment = smoke.write_experiment(tmp_path, measure="1ms")
    with serving(fault, working) as store, command(store, tmp_path / "cache", IMPATIENT, *run(experiment)) as child:
        code, _, errors, _ = finish(child, _WAIT_S)
    last = errors.splitlines()[-1]
    assert code == 1, errors
    assert f"{URL}: " in last
    assert "given up after " in last
    assert " of at most 2 attempts and " in last
    assert " of at most 3 s" in last
    assert "Traceback" not in errors


# The first is a month at the slowest rate that counts as progress; no disk has room for the second.
@pytest.mark.parametrize("stated", [250 << 20, 1 << 62])
def test_a_size_that_a_store_states_gives_it_no_time(tmp_path: Path, stated: int) -> None:
    limits = IMPATIENT | {"slowest_bytes_per_s": 100}
    with serving("drip", 1) as store:
        store.objects = {"results/grid.json": b"x" * 1000}
        store.stated_size = stated
        with command(store, tmp_path / "cache", limits, "results", URL) as child:
            code, _, errors, _ = finish(child, _WAIT_S)
    assert code == 1, errors
    reason = "given up after " if stated < 1 << 60 else "has room for "
    assert errors.startswith(f"priolane: failed: cannot read {URL}: ")
    assert errors.count("\n") == 1
    assert reason in errors


def test_the_same_command_gives_the_results_of_a_local_run_when_the_store_is_back(tmp_path: Path) -> None:
    experiment = smoke.write_experiment(tmp_path, measure="1ms")
    with serving("hang", 6) as store:
        with command(store, tmp_path / "cache", IMPATIENT, *run(experiment)) as child:
            assert finish(child, _WAIT_S)[0] == 1
        store.fault = None
        with command(store, tmp_path / "cache", IMPATIENT, *run(experiment)) as child:
            code, _, errors, _ = finish(child, _WAIT_S)
            assert code == 0, errors
        # Another machine reads what is there.
        with command(store, tmp_path / "elsewhere", IMPATIENT, "results", URL) as child:
            code, out, errors, _ = finish(child, _WAIT_S)
            assert code == 0, errors
        assert out
        assert {name.rpartition("/")[2] for name in store.objects} >= {"run.json", "grid.json", "report.json"}
    with command(
        store, tmp_path / "cache", IMPATIENT, *run(experiment)[:3], tmp_path / "local", *run(experiment)[4:]
    ) as child:
        code, _, errors, _ = finish(child, _WAIT_S)
        assert code == 0, errors
    (mirror,) = (tmp_path / "elsewhere" / "priolane" / "stores" / "s3" / BUCKET).iterdir()
    digests = [
        {run: record["digest"] for run, record in load(place).records.items()} for place in (mirror, tmp_path / "local")
    ]
    assert digests[0] == digests[1]
    assert len(digests[0]) == 2
    assert not list((tmp_path / "elsewhere").rglob(".incoming-*"))
