import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import smoke
from priolane import _core
from priolane.cli import main
from priolane.study import catalogue

ROOT = Path(__file__).parent.parent
TEXTS = {".md", ".py", ".rs", ".toml"}


def test_the_python_page_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in smoke.blocks():
        exec(compile(block, str(smoke.DOCUMENT), "exec"), names)  # noqa: S102 - the project's own document
    assert (tmp_path / "runs" / "first" / "report.html").is_file()
    assert len(names["results"].runs) == 4
    assert len(names["table"]) >= 4
    assert names["flows"].slowdown.min() > 0


def test_the_trace_page_shows_what_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "tracing.md").read_text(encoding="utf-8").splitlines()
    at = next(nth for nth, line in enumerate(page) if line.startswith("$ priolane trace "))
    command = page[at].removeprefix("$ priolane ").split()
    command[1] = str(ROOT / command[1])
    monkeypatch.chdir(tmp_path)
    assert main(command) == 0
    # A run's name depends on the version, its digest does not.
    shown, printed = (
        [re.sub("^run [0-9a-f]{16}:", "run:", line) for line in lines[:3]]
        for lines in (page[at + 1 :], capsys.readouterr().out.splitlines())
    )
    assert printed == shown


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [path for name in listed.stdout.splitlines() if (path := ROOT / name).suffix in TEXTS and path.is_file()]


def test_every_metric_is_documented() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    names = [metric["name"] for metric in json.loads(_core.metrics())]
    assert "fct" in names
    assert [name for name in names if not re.search(rf"`{name}(\.\w+)?`", pages)] == []


def test_every_link_to_an_assumption_leads_to_one_and_every_assumption_is_linked() -> None:
    document = ROOT / "docs" / "assumptions.md"
    anchors = re.findall(r'<a id="([^"]+)">', document.read_text(encoding="utf-8"))
    linked: dict[str, list[Path]] = {}
    for path in tracked():
        text = path.read_text(encoding="utf-8")
        names = re.findall(r"assumptions\.md#([a-z0-9-]+)", text)
        if path.suffix == ".toml":
            names += tomllib.loads(text).get("assumptions", [])
        for name in names:
            linked.setdefault(name, []).append(path)
    assert {name: paths for name, paths in linked.items() if name not in anchors} == {}
    assert [anchor for anchor in anchors if anchor not in linked] == []


def test_the_list_of_assumptions_leads_to_each_with_its_title() -> None:
    listed = re.findall(
        r'^- <a id="([^"]+)"></a>\[(.+)\]\((assumptions/\w+\.md)#([^)]+)\)$',
        (ROOT / "docs" / "assumptions.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    pages = {f"assumptions/{path.name}": path for path in (ROOT / "docs" / "assumptions").glob("*.md")}
    there = [
        (anchor, title, page, anchor)
        for page, path in pages.items()
        for anchor, title in re.findall(
            r'^### <a id="([^"]+)"></a>(.+)$', path.read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    assert len(there) > 200
    assert sorted(listed) == sorted(there)


def test_the_engine_knows_the_list_of_assumptions_in_its_order() -> None:
    listed = re.findall(
        r'^- <a id="([^"]+)"></a>\[(.+)\]\(',
        (ROOT / "docs" / "assumptions.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    source = (ROOT / "crates" / "priolane-lab" / "src" / "assumptions" / "list.rs").read_text(encoding="utf-8")
    assert re.findall(r'^    \("([^"]+)", "([^"]+)"\),$', source, re.MULTILINE) == listed


_PAPERS = ("nos2", "paccp", "prioplus", "top", "firapam")
_STATEMENTS = re.compile(r"\*Also possible:\* (.+?) \*Changes:\* (.+)|\*Not measured:\* (.+)")


def assumption_entries() -> dict[str, str]:
    """The title and text of each assumption by its anchor, in one line."""
    pages = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "assumptions").glob("*.md")))
    entries = re.findall(r'^### <a id="([^"]+)"></a>(.*?)(?=^#|\Z)', pages, re.MULTILINE | re.DOTALL)
    return {anchor: " ".join(entry.split()) for anchor, entry in entries}


def taken_by_papers() -> set[str]:
    """Anchors that experiments of papers name, or the schemes in them."""
    taken: set[str] = set()
    for item in catalogue.figures():
        if item.experiment is None or item.paper not in _PAPERS:
            continue
        experiment = tomllib.loads(item.experiment.read_text(encoding="utf-8"))
        taken |= set(experiment.get("assumptions", []))
        for name in experiment["schemes"]:
            scheme = ROOT / "schemes" / f"{name}.toml"
            if scheme.is_file():
                taken |= set(tomllib.loads(scheme.read_text(encoding="utf-8")).get("assumptions", []))
    return taken


def is_of_a_paper(anchor: str, entry: str) -> bool:
    """Whether an assumption is about one of the five papers: by its anchor, or as it names one."""
    return anchor.partition("-")[0] in _PAPERS or re.search(r"\b(NOS2|PACCP|PrioPlus|TOP|Firapam)\b", entry) is not None


def test_an_assumption_of_a_paper_says_what_else_was_possible_and_what_that_changes() -> None:
    entries, taken = assumption_entries(), taken_by_papers()
    of_papers = {anchor: entry for anchor, entry in entries.items() if anchor in taken or is_of_a_paper(anchor, entry)}
    assert len(of_papers) > 150
    assert [anchor for anchor, entry in of_papers.items() if not _STATEMENTS.search(entry)] == []
    for anchor, entry in entries.items():
        labels = re.findall(r"\*(Also possible|Changes|Not measured):\*", entry)
        assert labels in ([], ["Not measured"], ["Also possible", "Changes"]), anchor


def test_figures_that_assumptions_name_exist() -> None:
    known = {item.key for item in catalogue.figures()}
    pages = {path.relative_to(ROOT / "study" / "papers") for path in (ROOT / "study" / "papers").glob("*/*.md")}
    named = {
        name
        for entry in assumption_entries().values()
        for name in re.findall(rf"`((?:{'|'.join((*_PAPERS, 'ours'))})/\w+)`", entry)
    }
    assert len(named) > 20
    assert [name for name in sorted(named) if name not in known and Path(f"{name}.md") not in pages] == []


def test_readings_that_assumptions_name_exist() -> None:
    known = set()
    for item in catalogue.figures():
        if item.experiment is not None:
            known |= set(tomllib.loads(item.experiment.read_text(encoding="utf-8")).get("reading", {}))
    named = {name for entry in assumption_entries().values() for name in re.findall(r"reading `(\w+)`", entry)}
    assert len(named) > 3
    assert named <= known


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_a_page_for_contributors_names_exist(page: str) -> None:
    """Paths are short there: `core/` for crates/priolane-core, and the last parts of others."""
    folders = ["crates", "python", "tools", "tests", "benches", "docs", "packaging", "examples"]
    files = [path.relative_to(ROOT).as_posix() for name in folders for path in (ROOT / name).rglob("*.*")]
    known = {file.replace("crates/priolane-", "", 1) for file in files} | set(files)
    named = re.findall(r"`([\w./-]+/[\w.-]+\.(?:rs|py|toml|md|css|j2))`", (ROOT / page).read_text(encoding="utf-8"))
    # Capital letters stand for a name, as in NAME.toml.
    stated = [name for name in named if not re.search("[A-Z]{3}", name)]
    assert stated
    assert [name for name in stated if name not in known and not any(file.endswith(f"/{name}") for file in known)] == []
