"""Grids of many small runs: their results in packs, which are read, continued and damaged as directories are."""

import io
import os
import pickle
import resource
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import smoke
from priolane._core import InputError
from priolane.cli import main
from priolane.execution.grid import MANY_RUNS
from priolane.results.results import Results, load

SEEDS = MANY_RUNS // 2
PACK = "runs-0.tar"


def run(experiment: Path, out: Path, *options: str) -> int:
    return main(["run", str(experiment), "-o", str(out), "--seeds", str(SEEDS), *options])


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return smoke.write_experiment(tmp_path_factory.mktemp("packs"))


@pytest.fixture(scope="module")
def packed(experiment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("packed") / "out"
    assert run(experiment, out, "--jobs", "1") == 0
    return out


def copy(packed: Path, out: Path) -> Results:
    """The note and the pack, as a run that was killed before its report left them."""
    out.mkdir()
    for name in ("grid.json", PACK):
        (out / name).write_bytes((packed / name).read_bytes())
    return load(out)


def flip(path: Path, place: int) -> None:
    """Changes a bit of the byte at a place of a file."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def tables(results: Results) -> list[object]:
    return [results.to_arrow(name).to_pydict() for name in ("summary", "flows", "ports")]


def test_a_grid_of_many_small_runs_leaves_one_file_of_runs(packed: Path) -> None:
    names = {path.name for path in packed.iterdir()} - {"figures"}
    assert names == {".grid.lock", ".lock", "grid.json", "report.html", "report.json", PACK}
    assert len(load(packed).records) == MANY_RUNS


def test_processes_leave_what_one_process_leaves(experiment: Path, packed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(experiment, out, "--jobs", "2") == 0
    assert [path.name for path in out.glob("*.tar")] == [PACK]
    assert not list(out.glob("*/run.json"))
    assert tables(load(out)) == tables(load(packed))
    assert main(["compare", str(out), str(packed)]) == 0


def test_an_unpacked_directory_reads_as_the_pack(packed: Path, tmp_path: Path) -> None:
    results = copy(packed, tmp_path / "out")
    with tarfile.open(results.directory / PACK) as pack:
        pack.extractall(results.directory, filter="data")
    (results.directory / PACK).unlink()
    plain = load(results.directory)
    assert tables(plain) == tables(load(packed))
    assert plain.judge() == load(packed).report
    assert main(["compare", str(results.directory), str(packed)]) == 0


def test_a_few_runs_have_directories(experiment: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["run", str(experiment), "-o", str(out), "--seeds", "2"]) == 0
    assert len(list(out.glob("*/run.json"))) == 4
    assert not list(out.glob("*.tar"))


def test_verified_runs_have_directories(experiment: Path, tmp_path: Path) -> None:
    assert run(experiment, tmp_path / "out", "--verify") == 0
    assert len(list((tmp_path / "out").glob("*/run.json"))) == MANY_RUNS


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_only_runs_that_a_killed_writer_did_not_finish_are_run(
    experiment: Path, packed: Path, tmp_path: Path, jobs: str
) -> None:
    results = copy(packed, tmp_path / "out")
    pack = results.directory / PACK
    os.truncate(pack, pack.stat().st_size // 2)
    there = {run.id for run in results.runs} - {run.id for run in load(results.directory).missing()}
    assert MANY_RUNS // 4 < len(there) < MANY_RUNS
    before = pack.read_bytes()
    assert run(experiment, results.directory, "--jobs", jobs) == 0
    assert pack.read_bytes() == before
    with tarfile.open(results.directory / "runs-1.tar") as second:
        again = {name.partition("/")[0] for name in second.getnames()}
    assert again == {run.id for run in results.runs} - there
    assert tables(load(results.directory)) == tables(load(packed))


def test_a_damaged_table_is_named_with_its_pack(
    packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = copy(packed, tmp_path / "out")
    pack, first = results.directory / PACK, results.runs[0].id
    file = results.place(first).file("flows.parquet")
    flip(pack, file.offset + file.length // 2)
    with pytest.raises(InputError, match=rf"{PACK}/{first}/flows\.parquet: damaged"):
        load(results.directory).flows()
    assert [run.id for run in load(results.directory).without_damaged(with_tables=True).missing()] == [first]
    assert main(["report", str(results.directory)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_damaged_record_is_run_again(experiment: Path, packed: Path, tmp_path: Path) -> None:
    results = copy(packed, tmp_path / "out")
    pack, first = results.directory / PACK, results.runs[0].id
    file = results.place(first).file("run.json")
    flip(pack, file.offset + file.length // 2)
    with pytest.raises(InputError, match=rf"{PACK}/{first}/run\.json: damaged"):
        load(results.directory).records  # noqa: B018 - it reads them
    assert run(experiment, results.directory, "--jobs", "1") == 0
    assert tables(load(results.directory)) == tables(load(packed))


def test_a_full_disk_leaves_whole_runs_in_the_pack(experiment: Path, packed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    largest = (packed / PACK).stat().st_size // 3
    done = subprocess.run(
        [sys.executable, "-B", "-m", "priolane.cli", "run", experiment, "-o", out, f"--seeds={SEEDS}", "--jobs=1"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest)),
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert f"cannot write {out / PACK}: File too large" in last
    assert last.endswith("fix this and run the command again; complete runs are kept")
    with tarfile.open(out / PACK) as pack:
        whole = [name for name in pack.getnames() if name.endswith("/run.json")]
    assert MANY_RUNS // 5 < len(whole) < MANY_RUNS // 2
    assert len(load(out).records) == len(whole)
    assert run(experiment, out, "--jobs", "1") == 0
    assert tables(load(out)) == tables(load(packed))


def test_a_pack_alone_makes_a_directory_priolanes(experiment: Path, packed: Path, tmp_path: Path) -> None:
    results = copy(packed, tmp_path / "out")
    (results.directory / "grid.json").unlink()
    (results.directory / "notes.txt").write_text("mine")
    assert run(experiment, results.directory, "--jobs", "1") == 0
    assert [path.name for path in results.directory.glob("*.tar")] == [PACK]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / PACK).write_text("no pack")
    (tmp_path / "other" / "notes.txt").write_text("mine")
    assert run(experiment, tmp_path / "other", "--jobs", "1") == 2


def test_a_damaged_header_is_told_and_its_run_repeated(
    experiment: Path, packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = copy(packed, tmp_path / "out")
    pack = results.directory / PACK
    flip(pack, results.place(results.runs[1].id).file("run.json").offset - 500)
    for command, code in (("results", 1), ("report", 2)):
        assert main([command, str(results.directory)]) == code
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert f"{pack}: damaged: no run begins at byte" in err
    assert len(load(results.directory).missing()) == 1
    assert run(experiment, results.directory, "--jobs", "1") == 0
    assert tables(load(results.directory)) == tables(load(packed))


def test_one_command_repairs_a_run_whatever_numbers_packs_have(experiment: Path, packed: Path, tmp_path: Path) -> None:
    results = copy(packed, tmp_path / "out")
    file = results.place(results.runs[3].id).file("flows.parquet")
    (results.directory / PACK).rename(results.directory / "runs-7.tar")
    flip(results.directory / "runs-7.tar", file.offset + file.length // 2)
    assert run(experiment, results.directory, "--jobs", "1") == 0
    assert sorted(path.name for path in results.directory.glob("*.tar")) == ["runs-7.tar", "runs-8.tar"]
    assert tables(load(results.directory)) == tables(load(packed))


def test_results_see_what_is_written_after_they_were_opened(experiment: Path, packed: Path, tmp_path: Path) -> None:
    results = copy(packed, tmp_path / "out")
    os.truncate(results.directory / PACK, 200_000)
    opened = load(results.directory)
    assert opened.missing()
    assert run(experiment, results.directory, "--jobs", "1") == 0
    assert opened.missing() == []
    assert tables(opened) == tables(load(packed))


def test_results_are_pickled_after_a_page_was_made(packed: Path, tmp_path: Path) -> None:
    results = copy(packed, tmp_path / "out")
    results.judge()
    assert results._repr_html_()
    again = pickle.loads(pickle.dumps(results))  # noqa: S301 - made here
    assert tables(again) == tables(results)


def test_packs_are_read_from_a_store(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    shutil.copytree(packed, tmp_path / "store" / "grid")
    url = "file://store/grid"
    assert main(["results", url]) == 0
    assert f"{MANY_RUNS} of {MANY_RUNS} runs" in " ".join(capsys.readouterr().out.split())
    assert tables(load(url)) == tables(load(packed))


def test_a_record_without_end_is_refused_unread(packed: Path, tmp_path: Path) -> None:
    results = copy(packed, tmp_path / "out")
    pack, first = results.directory / PACK, results.runs[0].id
    entry = tarfile.TarInfo(f"{first}/run.json")
    entry.size = 300 << 20
    with (results.directory / "runs-1.tar").open("wb") as second:
        second.write(entry.tobuf(tarfile.USTAR_FORMAT))
        # Zeros that take no room on the disk.
        second.truncate(second.tell() + entry.size)
    assert pack.exists()
    with pytest.raises(InputError, match=rf"runs-1\.tar/{first}/run\.json: damaged: the file is larger than"):
        load(results.directory).records  # noqa: B018 - it reads them


def test_a_directory_with_a_pack_of_somebody_else_is_refused(experiment: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with tarfile.open(out / PACK, "w") as pack:
        entry = tarfile.TarInfo(f"{7:016x}/run.json")
        entry.size = 2
        pack.addfile(entry, io.BytesIO(b"{}"))
    (out / "notes.txt").write_text("mine")
    assert run(experiment, out, "--jobs", "1") == 2
