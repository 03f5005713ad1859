"""Readings of a paper: which one is run, and how their claims stand side by side."""

from pathlib import Path

import pytest

from priolane import InputError
from priolane.cli import main
from priolane.model.experiment import Options, plan
from priolane.results.results import load
from priolane.study import catalogue
from priolane.study.readings import by_reading

FILE = """
title = "Two readings"
schemes = ["dctcp"]
seeds = 2
time = { warmup = "0ms", measure = "1ms", drain = true }
topology = { kind = "single_switch", hosts = 4, host_link = { rate = "10Gbps", delay = "1us" } }

[[group]]
name = "all"
hosts = "*"
app = "permutation"
size = "10kB"

[reading.short]
evidence = "The text."
decides = "the completion time"

[reading.long]
evidence = "The plot."
decides = "the completion time"
set = { "group.all.size" = "1MB" }

[[claim]]
section = "Fig. 1"
says = "flows take less than 0.1 ms"
bound = { of = "fct.all.dctcp", below = 1e-4 }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(FILE)
    return path


def test_a_reading_has_runs_of_its_own(file: Path) -> None:
    leading, stated, other = (plan(file, Options(reading=name)) for name in (None, "short", "long"))
    assert [(reading.name, reading.leads) for reading in leading.readings] == [("short", True), ("long", False)]
    assert [run.id for run in stated.runs] == [run.id for run in leading.runs]
    assert not {run.id for run in other.runs} & {run.id for run in leading.runs}
    with pytest.raises(InputError, match="one of short, long"):
        plan(file, Options(reading="medium"))


def test_the_page_of_the_leading_reading_shows_the_claims_under_each(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    item = catalogue.PaperFigure(paper="own", id="two", name="Two", about="readings", experiment=file)
    monkeypatch.setattr(catalogue, "find", lambda _: [item])
    out = tmp_path / "out"
    assert main(["reproduce", "own/two", "--reading", "all", "-o", str(out)]) == 0
    readings = by_reading(load(out))
    assert readings is not None
    assert [reading.name for reading in readings.readings] == ["short", "long"]
    ((short, long),) = readings.claims
    assert short is not None
    assert long is not None
    assert (short.verdict.value, long.verdict.value) == ("reproduced", "contradicted")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<summary>Claims under each reading of the paper</summary>" in page
    assert "The plot." in page
    # Each grid can be opened and reported by itself; that of another reading has no such table.
    assert load(out / "readings" / "long").options.reading == "long"
    assert by_reading(load(out / "readings" / "long")) is None
    # The second time everything is there.
    capsys.readouterr()
    assert main(["reproduce", "own/two", "--reading", "all", "-o", str(out)]) == 0
    assert by_reading(load(out)) == readings
