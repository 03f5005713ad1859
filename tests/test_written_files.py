"""`export`, `trace` and `import` replace only what they wrote, and leave nothing of what could not be written."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import export_plans
from priolane._core import InputError
from priolane.cli import main
from priolane.storage.drafts import draft_folder
from priolane.storage.written_files import NOTE, write_files, writing

SAMPLES = Path(__file__).parent.parent / "crates" / "priolane-workload" / "tests" / "import_samples"
EXPERIMENT = """
title = "Two senders, one receiver"
schemes = ["dctcp"]
time = { flows = 2 }
[topology]
kind = "single_switch"
hosts = 3
host_link = { rate = "10Gbps", delay = "1us" }
[[group]]
name = "list"
hosts = "*"
app = "flows"
list = "flows.csv"
"""


def export(folder: Path) -> list[str]:
    experiment = export_plans.write_experiment(folder)
    return ["export", "tc", str(experiment), "--scheme", "pias", "-o", str(folder / "new" / "out")]


def trace(folder: Path) -> list[str]:
    (folder / "flows.csv").write_text("start_ns,src,dst,bytes\n0,0,2,43800\n0,1,2,43800\n", encoding="utf-8")
    (folder / "x.toml").write_text(EXPERIMENT, encoding="utf-8")
    out = folder / "new" / "out"
    return ["trace", str(folder / "x.toml"), "--flow", "0", "-o", str(out), "--page", str(out / "page.html")]


def imported(folder: Path) -> list[str]:
    out = folder / "new" / "out" / "flows.csv"
    sizes = folder / "new" / "out" / "sizes.csv"
    return ["import", "coflow", str(SAMPLES / "coflow.txt"), "-o", str(out), "--sizes", str(sizes)]


def sizes(folder: Path) -> list[str]:
    (folder / "table.txt").write_text("1000 0.5\n20000 1\n", encoding="utf-8")
    return ["import", "sizes", str(folder / "table.txt"), "-o", str(folder / "new" / "out" / "sizes.csv")]


def job(folder: Path) -> list[str]:
    text = "num_ranks 2\nrank 0 {\na: send 1000b to 1\n}\nrank 1 {\na: recv 1000b from 0\n}\n"
    (folder / "job.goal").write_text(text, encoding="utf-8")
    return ["import", "goal", str(folder / "job.goal"), "-o", str(folder / "new" / "out" / "job.csv")]


# The files of each command that a user could have, too.
COMMANDS: dict[Callable[[Path], list[str]], list[str]] = {
    export: ["leaf/switch.sh", "spine/switch.sh", "host.sh", "notes.txt"],
    trace: ["trace-0.parquet", "trace-0-state.parquet", "trace-0.pcap", "trace-network.parquet", "page.html"],
    imported: ["flows.csv", "flows.hosts.csv", "flows.report.json", "sizes.csv"],
    sizes: ["sizes.csv", "sizes.report.json"],
    job: ["job.csv", "job.report.json"],
}
CASES = [
    pytest.param(command, name, id=f"{command.__name__}-{name}") for command in COMMANDS for name in COMMANDS[command]
]


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("command", "name"), CASES)
def test_a_file_of_the_user_is_refused_and_nothing_is_changed(
    command: Callable[[Path], list[str]], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = command(tmp_path)
    path = tmp_path / "new" / "out" / name
    path.parent.mkdir(parents=True)
    path.write_text("precious", encoding="utf-8")
    before = content(tmp_path)
    assert main(words) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert str(path) in errors
    assert content(tmp_path) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_command_replaces_its_own_files_and_no_others(
    command: Callable[[Path], list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, out = command(tmp_path), tmp_path / "new" / "out"
    assert main(words) == 0
    first = content(out)
    assert set(COMMANDS[command]) <= first.keys()
    (out / "mine.txt").write_text("precious", encoding="utf-8")
    assert main(words) == 0
    assert content(out) == {**first, "mine.txt": b"precious"}
    # A configuration that was changed by hand is not priolane's any more.
    changed = out / COMMANDS[command][0]
    changed.write_text("changed", encoding="utf-8")
    capsys.readouterr()
    assert main(words) == 2
    assert "changed since" in capsys.readouterr().err
    assert changed.read_text(encoding="utf-8") == "changed"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_link_in_the_place_of_a_file_is_not_followed(command: Callable[[Path], list[str]], tmp_path: Path) -> None:
    words, out = command(tmp_path), tmp_path / "new" / "out"
    victim = tmp_path / "victim"
    victim.write_text("precious", encoding="utf-8")
    path = out / COMMANDS[command][0]
    path.parent.mkdir(parents=True)
    path.symlink_to(victim)
    assert main(words) == 2
    assert victim.read_text(encoding="utf-8") == "precious"
    assert path.is_symlink()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("largest", [0, 300])
def test_a_full_disk_leaves_no_file_and_no_directory(
    command: Callable[[Path], list[str]], largest: int, tmp_path: Path
) -> None:
    words = command(tmp_path)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    # `-B`: Python would write truncated bytecode, which later tests read, where no file can grow.
    process = subprocess.run(
        [sys.executable, "-B", "-m", "priolane", *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=limit,
    )
    assert process.returncode == 1, process.stderr
    assert process.stderr.count("\n") == 1
    assert "runs are kept" not in process.stderr
    assert not (tmp_path / "new").exists()


def test_a_full_disk_leaves_the_files_of_before(tmp_path: Path) -> None:
    words, out = export(tmp_path), tmp_path / "new" / "out"
    assert main(words) == 0
    before = content(out)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

    more = ["--set", 'scheme.pias.paper="another"']
    done = subprocess.run(
        [sys.executable, "-B", "-m", "priolane", *words, *more], check=False, capture_output=True, preexec_fn=limit
    )
    assert done.returncode == 1
    assert content(out) == before
    assert sorted(path.name for path in out.iterdir()) == [NOTE, "host.sh", "leaf", "notes.txt", "spine"]


def test_switches_that_are_no_more_lose_their_files_unless_these_were_changed(tmp_path: Path) -> None:
    write_files(tmp_path, {"leaf/switch.sh": "1", "spine/switch.sh": "2", "host.sh": "3"})
    (tmp_path / "spine" / "switch.sh").write_text("changed", encoding="utf-8")
    write_files(tmp_path, {"switch.sh": "4"}, stale=["leaf/switch.sh", "spine/switch.sh"])
    assert not (tmp_path / "leaf" / "switch.sh").exists()
    assert (tmp_path / "spine" / "switch.sh").read_text(encoding="utf-8") == "changed"
    assert (tmp_path / "host.sh").read_text(encoding="utf-8") == "3"


def test_a_process_that_is_killed_while_it_replaces_leaves_only_files_that_it_may_replace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"a": "1", "b": "1"})
    replace = Path.replace
    calls = iter(range(100))

    def killed(path: Path, target: Path) -> Path:
        # Moves of the two drafts and of the note come first, then that of the first file.
        if next(calls) == 4:
            os._exit(9)
        return replace(path, target)

    child = os.fork()
    if child == 0:
        monkeypatch.setattr(Path, "replace", killed)
        write_files(tmp_path, {"a": "2", "b": "2"})
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert {(tmp_path / name).read_text(encoding="utf-8") for name in "ab"} == {"1", "2"}
    write_files(tmp_path, {"a": "3", "b": "3"})
    assert {(tmp_path / name).read_text(encoding="utf-8") for name in "ab"} == {"3"}


@pytest.mark.parametrize("moves", range(5))
def test_a_process_that_is_killed_at_any_move_leaves_no_drafts_behind_the_next(tmp_path: Path, moves: int) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from priolane.storage.written_files import write_files\n"
        "replace, left = Path.replace, iter(range(int(sys.argv[1])))\n"
        "def killed(path, to):\n"
        "    if next(left, None) is None: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return replace(path, to)\n"
        "Path.replace = killed\n"
        "write_files(Path(sys.argv[2]), {'a': '2', 'b': '2'})\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(moves), str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert any(name.suffix == ".drafts" for name in tmp_path.iterdir())
    write_files(tmp_path, {"a": "3", "b": "3"})
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", NOTE}


def test_folders_of_others_and_of_living_processes_stay(tmp_path: Path) -> None:
    (tmp_path / ".priolane-mine.drafts").mkdir()
    (tmp_path / ".priolane-mine.drafts" / "letter").write_text("of the user", encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "0").write_text("of the user", encoding="utf-8")
    (tmp_path / ".priolane-link.drafts").symlink_to(tmp_path / "elsewhere")
    (tmp_path / ".priolane-file.drafts").write_text("of the user", encoding="utf-8")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with draft_folder(tmp_path) as other:
        (other / "0").write_text("a draft", encoding="utf-8")
        write_files(tmp_path, {"a": "1"})
        assert (other / "0").read_text(encoding="utf-8") == "a draft"
    assert not other.exists()
    assert {path: path.read_bytes() for path in before} == before
    assert (tmp_path / ".priolane-link.drafts").is_symlink()


def test_a_note_that_is_none_makes_no_file_priolanes(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("precious", encoding="utf-8")
    for note in ("", "[]", '{"a": 1}', '{"a": null}', "\0", '{"a": ["00"]}'):
        (tmp_path / NOTE).write_text(note, encoding="utf-8")
        with pytest.raises(InputError, match="priolane did not write this file"):
            write_files(tmp_path, {"a": "1"})
        with pytest.raises(InputError, match="priolane did not write this file"), writing(tmp_path, ["a"]):
            pytest.fail("the context has begun")
    (tmp_path / NOTE).unlink()
    os.mkfifo(tmp_path / NOTE)
    with pytest.raises(InputError):
        write_files(tmp_path, {"a": "1"})
    assert (tmp_path / "a").read_text(encoding="utf-8") == "precious"


def test_a_switch_with_the_name_of_a_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["node,h0,host", "node,h1,host", "node,notes.txt,switch", "node,s,switch"]
    lines += ["link,h0,notes.txt,10Gbps,1us", "link,h1,s,10Gbps,1us", "link,s,notes.txt,10Gbps,1us"]
    (tmp_path / "net.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    experiment = export_plans.write_experiment(tmp_path, '[topology]\nkind = "file"\npath = "net.csv"\n')
    out = tmp_path / "out"
    assert main(["export", "eos", str(experiment), "--scheme", "dctcp", "-o", str(out)]) == 2
    assert "a switch has the name of the file notes.txt" in capsys.readouterr().err
    assert not out.exists()


def test_a_file_below_another_file_or_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / "leaf").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="this is no directory"):
        write_files(tmp_path / "out", {"leaf/switch.sh": "1"})
    assert list((tmp_path / "elsewhere").iterdir()) == []
    shutil.rmtree(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="this is no directory"):
        write_files(tmp_path / "out" / "leaf", {"a": "1"})


OUTSIDE = ["../../kept/switch.sh", "FOLDER/kept/switch.sh", "leaf/../../../kept/switch.sh", "link/switch.sh"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_note_of_somebody_else_removes_nothing_outside_of_its_directory(tmp_path: Path, name: str) -> None:
    kept, out = tmp_path / "kept" / "switch.sh", tmp_path / "new" / "out"
    for folder in (kept.parent, out / "leaf"):
        folder.mkdir(parents=True)
    kept.write_text("mine", encoding="utf-8")
    (out / "link").symlink_to(kept.parent)
    (out / NOTE).write_text(json.dumps({name.replace("FOLDER", str(tmp_path)): ["*"]}), encoding="utf-8")
    assert main(export(tmp_path)) == 0
    assert kept.read_text(encoding="utf-8") == "mine"


DAMAGED = {
    "nested": '{"switch.sh": ' + "[" * 100_000,
    "surrogate": '{"\\ud800": ["*"]}',
    "null": '{"a\\u0000/switch.sh": ["*"]}',
    "long": json.dumps({"a" * 5000 + "/switch.sh": ["*"]}),
    "digits": '{"switch.sh": ' + "9" * 5000 + "}",
    "NaN": '{"switch.sh": NaN}',
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_a_note_that_no_command_wrote_is_no_note(tmp_path: Path, text: str) -> None:
    out = tmp_path / "new" / "out"
    out.mkdir(parents=True)
    (out / NOTE).write_text(text, encoding="utf-8")
    assert main(export(tmp_path)) == 0
