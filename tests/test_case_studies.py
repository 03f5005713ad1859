"""The case studies of the docs: each by its command, on a small size, to a configuration that can be loaded."""

import re
from pathlib import Path

import pytest

from priolane import cli
from priolane.results import load

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


def _command(page: str, start: str) -> str:
    """The command of a page that begins with some words, its lines joined."""
    text = (PAGES / page).read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).replace("\\\n", " ")
    return next(" ".join(line.split()) for line in blocks.splitlines() if line.startswith(start))


def test_the_hadoop_study_runs_on_a_trace_of_its_form_and_is_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hadoop.toml").write_text((STUDIES / "hadoop.toml").read_text(encoding="utf-8"))
    _trace(tmp_path / "FB2010-1Hr-150-0.txt", 40)
    monkeypatch.chdir(tmp_path)
    assert _command("hadoop.md", "priolane run") == "priolane run examples/case-studies/hadoop.toml"
    small = ["--set", "group.jobs.coflows=40", "--seeds", "1", "--jobs", "1", "-o", "out"]
    assert cli.main(["run", "hadoop.toml", *small]) == 0
    records = load(tmp_path / "out").records.values()
    assert {record["scheme"] for record in records} == {"one_queue", "sent_10kb", "sent_100kb", "by_coflow_size"}
    assert all(record["coflows"]["all"]["coflows"] == 40 for record in records)
    assert "--scheme by_coflow_size" in _command("hadoop.md", "priolane export")
    assert cli.main(["export", "sonic", "hadoop.toml", "--scheme", "by_coflow_size", "-o", "load"]) == 0
    assert any((tmp_path / "load").iterdir())


@pytest.mark.parametrize(
    ("page", "name", "scheme", "metrics"),
    [
        (
            "four-tenants.md",
            "four-tenants",
            "by_both",
            ["fct_p99.web_small", "goodput.web_large", "fct_p99.storage", "cct.training"],
        ),
        (
            "deadlines.md",
            "deadlines",
            "two_classes",
            ["deadline_miss_rate.answers", "fct_p99.answers", "goodput.bulk"],
        ),
    ],
)
def test_a_study_runs_to_its_table_and_is_exported(
    tmp_path: Path, page: str, name: str, scheme: str, metrics: list[str]
) -> None:
    file = STUDIES / f"{name}.toml"
    assert str(file.relative_to(ROOT)) in _command(page, "priolane run")
    small = ["--set", 'time.measure="4ms"', "--seeds", "2", "--jobs", "1", "-o", str(tmp_path / "out")]
    assert cli.main(["run", str(file), *small]) == 0
    table = load(tmp_path / "out").report.tables[0]
    values = {(series.scheme, mark.x): mark for series in table.series for mark in series.marks}
    assert values
    assert [metric for metric in metrics if metric in (tmp_path / "out" / "report.json").read_text()] == metrics
    assert f"--scheme {scheme}" in _command(page, "priolane export")
    assert cli.main(["export", "sonic", str(file), "--scheme", scheme, "-o", str(tmp_path / "load")]) == 0
    assert any((tmp_path / "load").iterdir())
