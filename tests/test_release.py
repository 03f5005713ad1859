"""The release script, and the workflow files, which call the Makefile."""

import datetime
import re
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import release

ROOT = Path(__file__).parent.parent
TODAY = datetime.date(2030, 1, 2)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files of this tree that state the version."""
    for path in {place.path for place in release.PLACES} | {"CHANGELOG.md"}:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def test_a_new_version_is_written_wherever_the_old_one_stood(tree: Path) -> None:
    old = release.current_version(tree)
    changed = release.set_version(tree, "7.8.9", TODAY)
    assert release.current_version(tree) == "7.8.9"
    for path in changed:
        now, before = (root / path for root in (tree, ROOT))
        assert before.read_text(encoding="utf-8").replace(old, "7.8.9") == now.read_text(encoding="utf-8").replace(
            "\n## 7.8.9 (2030-01-02)\n", ""
        )
    assert "## Unreleased\n\n## 7.8.9 (2030-01-02)\n" in (tree / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("version", ["1.2", "v1.2.3", "1.2.3rc1", ""])
def test_what_is_no_version_changes_nothing(tree: Path, version: str) -> None:
    with pytest.raises(release.ReleaseError, match=r"write one such as 0\.2\.0"):
        release.set_version(tree, version, TODAY)
    assert release.current_version(tree) == release.current_version(ROOT)


def test_a_place_that_is_gone_changes_nothing(tree: Path) -> None:
    (tree / "CITATION.cff").write_text("title: none\n", encoding="utf-8")
    with pytest.raises(release.ReleaseError, match=r"CITATION\.cff does not state the version"):
        release.set_version(tree, "7.8.9", TODAY)
    assert release.current_version(tree) == release.current_version(ROOT)


def test_checks_need_a_section_of_the_change_log(tree: Path) -> None:
    with pytest.raises(release.ReleaseError, match=r"CHANGELOG\.md has no section"):
        release.run_checks(tree, 1)


def test_a_check_that_fails_says_where_to_go_on(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release.set_version(tree, "7.8.9", TODAY)
    monkeypatch.setattr(release, "CHECKS", (release.Check("good", "true"), release.Check("bad", "false")))
    with pytest.raises(release.ReleaseError, match="check --from 2"):
        release.run_checks(tree, 1)


def targets() -> set[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    return set(phony.split())


def test_workflows_only_call_the_makefile() -> None:
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert files
    for file in files:
        text = file.read_text(encoding="utf-8")
        of_matrix = {name for names in re.findall(r"target: \[(.*)\]", text) for name in names.split(", ")}
        commands = re.findall(r"^\s*-? *run: *(.*)$", text, re.MULTILINE)
        assert commands
        for command in commands:
            called = of_matrix if command == "make ${{ matrix.target }}" else {command.removeprefix("make ")}
            assert called <= targets(), f"{file.name}: {command}"


def test_checks_call_targets_of_the_makefile() -> None:
    called = {check.command.removeprefix("make ") for check in release.CHECKS if check.command.startswith("make ")}
    assert called <= targets()
