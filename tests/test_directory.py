"""The directories that `-o DIR` may write to: those of priolane and empty ones. Nothing else is touched."""

from pathlib import Path

import pytest

import factories
from fake_core import FakeCore
from priolane.cli import main


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "x.toml"
    path.write_text("")
    return path


def content(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "names",
    [
        ["paper.tex"],
        ["report.html", "figures/panel-1.pdf", "figures/panel-2.pdf"],
        ["grid.json"],
        ["report.json"],
        ["notes/mine.txt"],
    ],
)
def test_a_directory_of_somebody_else_is_refused_and_untouched(
    core: FakeCore, experiment: Path, tmp_path: Path, names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "paper"
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("precious")
    before = content(out)
    assert main(["run", str(experiment), "-o", str(out), "--jobs", "1"]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"priolane: error: {out}: this directory has files that priolane did not write, such as ")
    assert printed.count("\n") == 1
    assert content(out) == before
    assert core.ran == []


def test_what_an_interrupted_grid_leaves_is_priolanes(core: FakeCore, experiment: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / ".tmp-0123456789abcdef-7-0").mkdir(parents=True)
    for name in (".grid.lock", ".lock", ".grid.json.abcd_12x"):
        (out / name).write_text("")
    assert main(["run", str(experiment), "-o", str(out), "--jobs", "1"]) == 0
    assert not (out / ".grid.json.abcd_12x").exists(), "a temporary file of a killed process is removed"
    assert len(core.ran) == 16


def test_whole_runs_make_a_directory_priolanes_without_its_note(
    core: FakeCore, experiment: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = ["run", str(experiment), "-o", str(out), "--jobs", "1"]
    assert main(command) == 0
    (out / "grid.json").unlink()
    assert main(command) == 0
    assert len(core.ran) == 16


def test_only_listed_outputs_are_replaced_or_removed(
    core: FakeCore, experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    core.panels = 2
    out = tmp_path / "out"
    command = ["run", str(experiment), "-o", str(out), "--jobs", "1"]
    assert main(command) == 0
    figures = sorted((out / "figures").iterdir())
    mine = out / "figures" / "panel-99.pdf"
    mine.write_text("precious")
    # The last panel goes: its files are priolane's, the user's are not.
    factories.edit(out / "report.json", lambda report: report | {"panels": report["panels"][:-1]})
    assert main(["report", str(out)]) == 0
    left = sorted((out / "figures").iterdir())
    gone = "panel-2"
    assert {path.name for path in set(figures) - set(left)} == {f"{gone}.csv", f"{gone}.svg"}
    assert mine.read_text() == "precious"
    # A file of the user's where a figure is to go is not replaced.
    new = out / "figures" / f"{gone}.csv"
    new.write_text("precious")
    capsys.readouterr()
    assert main(command) == 2
    assert capsys.readouterr().err == (
        f"priolane: error: {new}: priolane did not write this file; move it away, or choose another directory with -o\n"
    )
    assert new.read_text() == "precious"


def test_a_file_as_directory_is_bad_input(core: FakeCore, experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(experiment), "-o", str(experiment), "--jobs", "1"]) == 2
    assert "this is no directory; choose another one with -o" in capsys.readouterr().err
    assert core.ran == []


@pytest.mark.usefixtures("core")
def test_links_in_the_directory_are_not_followed(experiment: Path, tmp_path: Path) -> None:
    out, victim, elsewhere = tmp_path / "out", tmp_path / "victim", tmp_path / "elsewhere"
    victim.write_text("precious")
    elsewhere.mkdir()
    out.mkdir()
    (out / ".grid.lock").symlink_to(victim)
    command = ["run", str(experiment), "-o", str(out), "--jobs", "1"]
    assert main(command) == 1
    assert victim.read_text() == "precious"
    (out / ".grid.lock").unlink()
    (out / "grid.json").symlink_to(tmp_path / "nowhere")
    assert main(command) == 2
    (out / "grid.json").unlink()
    assert main(command) == 0
    for path in (out / "figures").iterdir():
        path.unlink()
    (out / "figures").rmdir()
    (out / "figures").symlink_to(elsewhere)
    assert main(["report", str(out)]) == 2
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("command", [["run", "x.toml"], ["trace", "x.toml", "--flow", "1"], ["reproduce", "nos2/fig1"]])
def test_an_empty_path_is_not_the_current_directory(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([*command, "-o", ""])
    assert "the path is empty; write . for the current directory" in capsys.readouterr().err
