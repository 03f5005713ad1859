"""The case studies of the docs: each by its command, on a small size, to a configuration that can be loaded."""

import re
from pathlib import Path

import pytest

from priolane import cli
from priolane.results import load

ROOT = Path(__file__).parent.parent
STUDIES = ROOT / "examples" / "case-studies"
PAGES = ROOT / "docs" / "case-studies"


def _command(page: str, start: str) -> str:
    """The command of a page that begins with some words, its lines joined."""
    text = (PAGES / page).read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).replace("\\\n", " ")
    return next(" ".join(line.split()) for line in blocks.splitlines() if line.startswith(start))


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
