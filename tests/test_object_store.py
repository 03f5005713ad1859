"""Results in an object store: what goes there and when, what comes back, and what happens when it fails."""

import json
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import factories
import priolane
import smoke
from fake_core import FakeCore
from priolane.cli import main
from priolane.execution.grid import Watcher, run_grid
from priolane.execution.output import open_output
from priolane.execution.settings import Settings
from priolane.execution.worker import JobResult
from priolane.model.experiment import Options
from priolane.storage import object_store, store_requests
from priolane.storage.object_store import ObjectStore, display_name
from priolane.storage.store_requests import Limits
from priolane.study import catalogue

URL = "failing://bucket/results"
ROOT = "/bucket/results"


class Failing(MemoryFileSystem):  # type: ignore[misc] # fsspec has no types
    """Objects in memory. A put fails as often as `failures` says for its name, and always if that is negative."""

    protocol = "failing"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    failures: ClassVar[Counter[str]] = Counter()
    puts: ClassVar[list[str]] = []
    unreadable: ClassVar[bool] = False
    answers: ClassVar[threading.Event] = threading.Event()

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        path = path.removeprefix("failing://").strip("/")
        return f"/{path}"

    def put_file(self, lpath: str, rpath: str, **kwargs: Any) -> None:
        name = Path(rpath).name
        if self.failures[name]:
            self.failures[name] -= 1
            raise OSError(f"not now: {name}")
        super().put_file(lpath, rpath, **kwargs)
        self.puts.append(rpath.removeprefix(f"{ROOT}/"))
        self.answers.wait(10)

    def find(self, path: str, **kwargs: Any) -> Any:
        if self.unreadable:
            raise ConnectionError("no route to host")
        return super().find(path, **kwargs)


fsspec.register_implementation("failing", Failing)


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty store, a cache of the test's own, and no waiting."""
    monkeypatch.setattr(Failing, "store", {})
    monkeypatch.setattr(Failing, "pseudo_dirs", [""])
    monkeypatch.setattr(Failing, "failures", Counter())
    monkeypatch.setattr(Failing, "puts", [])
    monkeypatch.setattr(Failing, "unreadable", False)
    Failing.answers.set()
    monkeypatch.setattr(store_requests, "LIMITS", Limits(attempts=3, wait_s=0.0))
    machine(tmp_path, monkeypatch, "here")
    Failing.clear_instance_cache()
    yield
    Failing.clear_instance_cache()


def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """From now on the command is on another machine, which has another cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "x.toml"
    path.write_text("")
    return path


def names() -> set[str]:
    return {name.removeprefix(f"{ROOT}/") for name in Failing.store}


def run(experiment: Path, *more: str) -> int:
    return main(["run", str(experiment), "-o", URL, "--jobs", "1", *more])


@pytest.mark.usefixtures("core")
def test_what_a_directory_would_have_is_in_the_store(experiment: Path, tmp_path: Path) -> None:
    assert run(experiment) == 0
    assert main(["run", str(experiment), "-o", str(tmp_path / "out"), "--jobs", "1"]) == 0
    paths = [path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert names() == {path.as_posix() for path in paths if not path.name.startswith(".")}
    for path in paths:
        if path.parent.name != "out" and path.suffix in (".parquet", ".csv"):
            assert Failing.store[f"{ROOT}/{path.as_posix()}"].getvalue() == (tmp_path / "out" / path).read_bytes()
    assert "x.toml -o failing://bucket/results" in Failing.store[f"{ROOT}/report.html"].getvalue().decode()


def test_a_run_is_there_when_its_record_is_and_the_note_comes_first_and_last(core: FakeCore, experiment: Path) -> None:
    assert run(experiment) == 0
    assert Failing.puts[0] == "grid.json"
    assert set(Failing.puts[-2:]) == {"grid.json", "report.json"}
    for run_id in core.ran:
        of_run = [name for name in Failing.puts if name.startswith(run_id)]
        assert len(of_run) == 3
        assert of_run[-1] == f"{run_id}/run.json"
    runs = [nth for nth, name in enumerate(Failing.puts) if name.endswith("run.json")]
    assert max(runs) < Failing.puts.index("report.html")


def test_another_machine_continues(
    core: FakeCore, experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopping(Watcher):
        def finished(self, run: priolane.PlannedRun, done: JobResult) -> None:
            if len(core.ran) == 5:
                raise RuntimeError("the machine is gone")

    with pytest.raises(RuntimeError):
        run_grid(experiment, URL, Options(), Settings(), Stopping())
    whole = {name for name in names() if name.endswith("run.json")}
    assert len(whole) == 5
    machine(tmp_path, monkeypatch, "there")
    assert run(experiment) == 0
    assert len(core.ran) == len(set(core.ran)) == 16
    results = priolane.load(URL)
    assert results.missing() == []
    results.verify()
    assert str(results.directory).startswith(str(tmp_path / "there"))


@pytest.mark.usefixtures("core")
def test_nothing_is_sent_twice(experiment: Path) -> None:
    assert run(experiment) == 0
    Failing.puts.clear()
    assert run(experiment) == 0
    assert [name for name in Failing.puts if "/" in name and not name.startswith("figures/")] == []


@pytest.mark.usefixtures("core")
def test_a_run_under_way_at_the_end_is_not_sent_again(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wait = ObjectStore._wait

    def answer_and_wait(store: ObjectStore) -> None:
        Failing.answers.set()
        wait(store)

    monkeypatch.setattr(ObjectStore, "_wait", answer_and_wait)
    upload = ObjectStore.upload

    def after_the_note(store: ObjectStore, path: Path) -> None:
        upload(store, path)
        if path.name == "grid.json":
            Failing.answers.clear()

    monkeypatch.setattr(ObjectStore, "upload", after_the_note)
    assert run(experiment) == 0
    of_runs = [name for name in Failing.puts if "/" in name and not name.startswith("figures/")]
    assert len(of_runs) == len(set(of_runs)) == 48


def test_a_run_that_is_damaged_in_the_store_is_made_again_and_replaced(
    core: FakeCore,
    experiment: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(experiment) == 0
    first_run, second_run = core.ran[:2]
    for name in (f"{first_run}/flows.parquet", f"{second_run}/run.json"):
        Failing().pipe_file(f"{ROOT}/{name}", b"{}")
    machine(tmp_path, monkeypatch, "there")
    assert run(experiment) == 0
    errors = capsys.readouterr().err
    assert f"{URL}/{first_run}: damaged" in errors
    assert f"{URL}/{second_run}: damaged" in errors
    assert sorted(core.ran[16:]) == sorted([first_run, second_run])
    machine(tmp_path, monkeypatch, "elsewhere")
    priolane.load(URL).verify()


@pytest.mark.usefixtures("core")
def test_results_of_a_store_with_a_damaged_run_are_those_of_the_others_and_an_error(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(experiment) == 0
    damaged = sorted(name.partition("/")[0] for name in names() if name.endswith("/run.json"))[0]
    Failing().pipe_file(f"{ROOT}/{damaged}/flows.parquet", b"{}")
    machine(tmp_path, monkeypatch, "there")
    for words in (["results", URL], ["compare", URL, URL]):
        capsys.readouterr()
        assert main(words) == 1
        out, err = capsys.readouterr()
        assert out
        assert err.splitlines()[-1].startswith(f"priolane: failed: {URL}/{damaged}: damaged (")
    assert [run.id for run in priolane.load(URL).missing()] == [damaged]


@pytest.mark.usefixtures("core")
def test_what_fails_a_few_times_is_tried_again(experiment: Path) -> None:
    Failing.failures.update({"run.json": 2, "report.html": 1, "grid.json": 2})
    assert run(experiment) == 0
    assert priolane.load(URL).missing() == []
    assert "report.html" in names()


def test_what_stays_out_is_told_with_the_mirror_and_sent_by_the_same_command(
    core: FakeCore, experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Failing.failures["run.json"] = -1
    assert run(experiment) == 1
    errors = capsys.readouterr().err
    mirror = ObjectStore(URL).directory
    assert errors == (
        f"priolane: failed: cannot write {URL}: not now: run.json; given up after 3 of at most 3 attempts and 0 of at "
        f"most 120 s; what is missing there is in {mirror}, and the same command takes it there; complete runs are "
        "kept\n"
    )
    assert len(core.ran) == 16, "runs go on while the store is away"
    assert priolane.load(mirror).missing() == []
    assert not [name for name in names() if name.endswith("run.json")]
    Failing.failures.clear()
    assert run(experiment) == 0
    assert len(core.ran) == 16
    assert len([name for name in names() if name.endswith("run.json")]) == 16


def test_a_store_that_cannot_be_written_ends_the_command_before_any_run(
    core: FakeCore, experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Failing.failures["grid.json"] = -1
    assert run(experiment) == 1
    assert f"cannot write {URL}: not now" in capsys.readouterr().err
    assert core.ran == []


def test_a_store_that_cannot_be_read_is_one_line(
    core: FakeCore, experiment: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Failing, "unreadable", True)
    assert run(experiment) == 1
    assert main(["report", URL]) == 1
    budget = "given up after 3 of at most 3 attempts and 0 of at most 220 s"
    assert capsys.readouterr().err == f"priolane: failed: cannot read {URL}: no route to host; {budget}\n" * 2
    assert core.ran == []


def test_ctrl_c_sends_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "_AT_ONCE", 1)
    begun, go_on = threading.Event(), threading.Event()

    def slow(files: Failing, path: str, target: str) -> None:
        begun.set()
        assert go_on.wait(30)
        MemoryFileSystem.put_file(files, path, target)

    monkeypatch.setattr(Failing, "put_file", slow)

    def interrupted() -> None:
        with open_output(URL, Settings()) as (directory, settings):
            factories.make_results(directory)
            for run in sorted(directory.glob("0*")):
                settings.on_saved(run)
            assert begun.wait(30)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    go_on.set()
    deadline = time.monotonic() + 30
    while not names():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    # The file that was on its way arrives. Without its record it is no run, and the same command sends all of it.
    assert names() == {f"{'0' * 16}/flows.parquet"}


@pytest.mark.usefixtures("core")
def test_load_report_and_compare_take_a_url(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(experiment, "--pdf") == 0
    assert "figures/panel-1.pdf" in names()
    machine(tmp_path, monkeypatch, "there")
    assert len(priolane.load(URL).to_pandas()) == 32
    # What is no more goes from the store, and from mirrors that have it still.
    assert main(["report", URL]) == 0
    assert "figures/panel-1.pdf" not in names()
    machine(tmp_path, monkeypatch, "here")
    capsys.readouterr()
    assert main(["compare", URL, str(priolane.load(URL).directory)]) == 0
    assert "identical" in capsys.readouterr().out
    assert not (ObjectStore(URL).directory / "figures" / "panel-1.pdf").exists()
    assert main(["report", URL]) == 0


def test_what_another_machine_has_finished_is_not_in_the_way(
    core: FakeCore, experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core.failing = {core.runs()[-1]["id"]}
    assert run(experiment) == 1
    core.failing = set()
    machine(tmp_path, monkeypatch, "there")
    assert run(experiment) == 0
    machine(tmp_path, monkeypatch, "here")
    assert run(experiment) == 0
    assert len(core.ran) == 16


@pytest.mark.usefixtures("core")
def test_many_figures_go_to_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    collected = [item for item in catalogue.figures() if item.key in ("nos2/fig1", "nos2/fig6")]
    monkeypatch.setattr(catalogue, "figures", lambda: iter(collected))
    assert main(["reproduce", "nos2", "--jobs", "1", "-o", URL]) == 0
    assert {"nos2.html", "nos2-fig1/report.html", "nos2-fig6/grid.json"} <= names()
    assert len([name for name in names() if name.endswith("/run.json")]) == 32
    page = Failing.store[f"{ROOT}/nos2.html"].getvalue().decode()
    assert f"priolane reproduce nos2 -o {URL}" in page
    # A figure has a URL of its own, and is in the same mirror.
    results = priolane.load(f"{URL}/nos2-fig6")
    assert results.directory == ObjectStore(URL).directory / "nos2-fig6"
    assert display_name(results.directory) == f"{URL}/nos2-fig6"


@pytest.mark.usefixtures("core")
def test_names_that_no_directory_has_are_left_where_they_are(experiment: Path, tmp_path: Path) -> None:
    assert run(experiment) == 0
    note = Failing.store[f"{ROOT}/grid.json"]
    for name in (f"{ROOT}/../../../../../escaped/grid.json", f"{ROOT}//grid.json", f"{ROOT}/x/./grid.json"):
        Failing.store[name] = note
    priolane.load(URL)
    assert not list(tmp_path.rglob("escaped"))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nothing://bucket/x", "Protocol not known: nothing"),
        ("failing:///x", "write it as in s3://bucket/path"),
        ("failing://bucket/../x", "write it as in s3://bucket/path"),
    ],
)
def test_a_url_that_cannot_be_opened_is_bad_input(
    core: FakeCore, experiment: Path, capsys: pytest.CaptureFixture[str], url: str, message: str
) -> None:
    assert main(["run", str(experiment), "-o", url]) == 2
    assert message in capsys.readouterr().err
    assert core.ran == []


@pytest.mark.usefixtures("core")
def test_without_fsspec_the_message_says_what_to_install(
    experiment: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    assert run(experiment) == 2
    assert "pip install 'priolane[store]'" in capsys.readouterr().err


def test_other_outputs_are_no_urls(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["trace", "x.toml", "--flow", "1", "-o", URL])
    assert ended.value.code == 2
    assert "takes a path of this machine" in capsys.readouterr().err


@pytest.mark.parametrize("url", [URL, "s3://b/a b/ä", "s3://b/a%20b", "memory://x"])
def test_a_mirror_tells_its_url(url: str) -> None:
    store = ObjectStore(url.replace("s3://", "memory://"))
    assert display_name(store.directory) == url.replace("s3://", "memory://")
    assert display_name(Path("runs/x")) == "runs/x"


def test_nothing_is_in_a_place_without_results() -> None:
    with pytest.raises(priolane.InputError, match="no results here"):
        priolane.load("memory://nothing/here")


def test_real_runs_come_back_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = smoke.write_experiment(tmp_path, measure="1ms")
    here = priolane.run(experiment, URL, jobs=2)
    digests = {run_id: record["digest"] for run_id, record in here.records.items()}
    machine(tmp_path, monkeypatch, "there")
    there = priolane.load(URL)
    there.verify()
    assert {run_id: record["digest"] for run_id, record in there.records.items()} == digests
    assert there.flows().num_rows == here.flows().num_rows > 0
    assert json.loads(Failing.store[f"{ROOT}/grid.json"].getvalue())["title"] == here.title
    assert re.fullmatch(r"<Results .*>", repr(there))
