"""The case studies of the docs: each by its command, on a small size, to a configuration that can be loaded."""

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from priolane import cli
from priolane.results.results import load

ROOT = Path(__file__).parent.parent
STUDIES = ROOT / "examples" / "case-studies"
PAGES = ROOT / "docs" / "case-studies"


def _trace(path: Path, coflows: int) -> None:
    """A trace of the form of coflow-benchmark: of every four coflows three are small and one is large."""
    lines = [f"150 {coflows}"]
    for nth in range(coflows):
        mappers = [(7 * nth + step) % 150 for step in (0, 30, 60)]
        reducers = [(11 * nth + step) % 150 for step in (15, 45)]
        megabytes = 3 if nth % 4 else 900
        sinks = " ".join(f"{port}:{megabytes}.0" for port in reducers)
        lines.append(f"{nth} {1000 * nth} {len(mappers)} {' '.join(map(str, mappers))} {len(reducers)} {sinks}")
    path.write_text("\n".join(lines) + "\n")


def _command(page: str, start: str) -> list[str]:
    """The command of a page that begins with some words, in words."""
    text = (PAGES / page).read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).replace("\\\n", " ")
    return shlex.split(next(line for line in blocks.splitlines() if line.startswith(start)))


@pytest.fixture
def studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the studies, in the place that commands name, with a tenth of the traffic."""
    folder = tmp_path / "examples" / "case-studies"
    folder.mkdir(parents=True)
    for file in STUDIES.iterdir():
        text = file.read_text(encoding="utf-8") if file.suffix in {".toml", ".csv"} else ""
        text = text.replace('measure = "120ms"', 'measure = "8ms"').replace('measure = "200ms"', 'measure = "16ms"')
        text = text.replace("coflows = 150", "coflows = 120")
        text = re.sub(r'measure" = "[23]0ms"', 'measure" = "4ms"', text)
        (folder / file.name).write_text(text)
    _trace(folder / "FB2010-1Hr-150-0.txt", 120)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _advised(page: str, budget: str | None) -> dict[str, Any]:
    """The answer of a page's command, within another budget where one is given."""
    words = _command(page, "priolane advise")[1:]
    if budget is not None:
        words[words.index("--budget") + 1] = budget
    assert cli.main([*words, "--jobs", "1", "-o", "out"]) == 0
    answer: dict[str, Any] = json.loads(Path("out/advice.json").read_text(encoding="utf-8"))
    return answer


# A page's command takes up to half an hour with one job.
WHOLE = (pytest.mark.soak, pytest.mark.timeout(3600))
# By page: another budget than the command's, and candidates that are in the race.
STUDY = [
    ("hadoop.md", "4e7hops", {"coflow2_at_100000", "dctcp"}),
    pytest.param("four-tenants.md", None, {"tenants4", "tenants4_wfq1", "tenants4_opt"}, marks=WHOLE),
    pytest.param("deadlines.md", None, {"deadlines", "tenants2"}, marks=WHOLE),
]


@pytest.mark.parametrize(("page", "budget", "raced"), STUDY)
def test_a_study_is_one_command_that_ends_in_a_configuration(
    studies: Path, page: str, budget: str | None, raced: set[str]
) -> None:
    answer = _advised(page, budget)
    race = tomllib.loads(Path("out/race.toml").read_text(encoding="utf-8"))
    assert raced <= set(race["schemes"])
    goals = [word for word in _command(page, "priolane advise") if "<" in word or ">" in word]
    assert answer["goals"] == goals
    # The effect with its interval, and what would change the answer.
    best = answer["ranking"][0]
    measured = [value for value in best["metrics"].values() if value["mean"] is not None]
    assert measured
    assert all(value["low"] <= value["mean"] <= value["high"] for value in measured)
    assert len(answer["sensitivity"]) > 4
    advised = _command(page, "priolane advise")
    # `advise` cannot tell of the recorded list, so its page exports a scheme of the comparison.
    own = advised[2] if page == "hadoop.md" else f"{advised[advised.index('-o') + 1]}/experiment.toml"
    assert _command(page, "priolane export sonic")[3] == own
    for target in ("sonic", "hosts"):
        exported = ["export", target, "out/experiment.toml", "--scheme", answer["advice"], "-o", f"load-{target}"]
        assert cli.main(exported) == 0
        assert any((studies / f"load-{target}").iterdir())


@pytest.mark.parametrize(
    ("name", "schemes"),
    [
        ("hadoop", {"one_queue", "sent_10kb", "sent_100kb", "by_coflow_size"}),
        ("four-tenants", {"one_queue", "by_tenant", "by_share", "by_both", "by_bytes"}),
        ("deadlines", {"one_queue", "d2tcp", "two_classes", "two_classes_d2tcp", "by_bytes_sent", "advised"}),
    ],
)
@pytest.mark.usefixtures("studies")
def test_the_comparison_of_a_study_runs_to_its_table(name: str, schemes: set[str]) -> None:
    words = _command(f"{name}.md", "priolane run")[1:]
    assert words[1] == f"examples/case-studies/{name}.toml"
    assert cli.main([*words, "--seeds", "1", "--jobs", "1", "-o", "out"]) == 0
    results = load("out")
    assert {record["scheme"] for record in results.records.values()} == schemes
    table = results.report.tables[0]
    assert {series.scheme for series in table.series} == schemes
