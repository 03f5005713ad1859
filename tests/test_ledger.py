"""Records of figures, and what is generated from those that come with the package."""

import dataclasses
import json
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import factories
from fake_core import FakeCore
from priolane._core import InputError
from priolane.cli import main
from priolane.model import folders
from priolane.results.report import Source, Standing
from priolane.results.results import Results, load
from priolane.study import catalogue
from priolane.study.outcomes import outcome
from priolane.study.record import READINGS, read_record, write_record

sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "study"))
import costs
import ledger
import reading_ledger
import versions_of_findings

COMMAND = "priolane reproduce nos2/fig6 --quick"
FIG6 = "papers/nos2/fig6/record.json"


@pytest.fixture
def directory(results: Results, tmp_path: Path) -> Path:
    write_record(tmp_path / "study", "nos2/fig6", [results], COMMAND)
    return tmp_path / "study"


def test_the_counts_in_the_readme_follow_from_the_records() -> None:
    text = ledger.README.read_text(encoding="utf-8")
    assert text == ledger.readme(text, ledger.shipped()), "make ledger"


def test_the_page_has_the_sum_of_as_many_figures_as_there_are() -> None:
    records = ledger.shipped()
    older = sum(record.is_older for record in records)
    counts = re.search(
        r"for the (\d+) figures of results \d+, and .* for the other (\d+)", costs.PAGE.read_text("utf-8")
    )
    assert counts is not None, "make ledger"
    assert (int(counts[1]), int(counts[2])) == (len(records) - older, older), "make ledger"


def test_a_sum_has_the_packet_hops_of_each_record_and_keeps_the_page(directory: Path) -> None:
    record = read_record("nos2/fig6", directory)
    assert record is not None
    older = dataclasses.replace(record, results=record.results - 1)
    # 70 ns for each of 1e11 packet-hops are 1.94 hours.
    line = costs.sentence([record, older, older], [1e11, 2e11, 3e11])
    assert line == "`check` predicts 1.9 core-hours for the 1 figures of results 6, and 9.7 for the other 2.\n"
    assert costs.sentence([record], [1e11]).endswith("of results 6.\n")
    assert costs.page("before\n\n`check` predicts 7\n\nafter\n", line) == f"before\n\n{line}\nafter\n"
    with pytest.raises(SystemExit, match="has no sentence"):
        costs.page("before\n", line)


def test_packet_hops_follow_seeds_and_keys_of_the_command(directory: Path) -> None:
    record = read_record("nos2/fig6", directory)
    assert record is not None
    assert costs.sets("priolane reproduce a/b --set 'time.measure=\"2s\"' --quick --set a.b=1") == (
        ("time.measure", '"2s"'),
        ("a.b", "1"),
    )
    shipped = {one.figure: one for one in ledger.shipped()}["nos2/fig1"]
    grid = {**shipped.grids[0], "seeds": [*shipped.grids[0]["seeds"], 101]}
    more = dataclasses.replace(shipped, grids=(grid,))
    assert costs.packet_hops(more) > costs.packet_hops(shipped)


def test_findings_of_older_records_say_so_and_no_others() -> None:
    pages = list(versions_of_findings.pages(ledger.shipped()))
    for path, text in pages:
        assert path.read_text(encoding="utf-8") == text, f"{path}: make ledger"
    older = {record.figure for record in ledger.shipped() if record.is_older}
    marked = {path.parent.relative_to(path.parents[2]).as_posix() for path, text in pages[:-1] if "\n*Recorded" in text}
    assert marked == {
        figure for figure in older if (folders.folder(ledger.ROOT / "study", figure) / "finding.md").is_file()
    }


def test_a_finding_gets_the_line_once_and_loses_it(directory: Path) -> None:
    (record,) = ledger.shipped(directory)
    older = dataclasses.replace(record, results=record.results - 1)
    text = "# Title\n\n**Answer.**\n\nMore.\n\nRest.\n"
    marked = versions_of_findings.of_finding(text, older)
    # Newer numbers may follow, where the figure's about.toml has them.
    version = marked.splitlines()[4]
    assert version.startswith(f"*Recorded with [results version {older.results}](../../../../docs/results-versions.md)")
    assert version.endswith(".*")
    assert marked == f"# Title\n\n**Answer.**\n\n{version}\n\nMore.\n\nRest.\n"
    assert versions_of_findings.of_finding(marked, older) == marked
    assert versions_of_findings.of_finding(marked, record) == text


def test_the_page_by_reading_has_every_recorded_claim_under_each_reading() -> None:
    records = ledger.shipped(file=READINGS)
    page = reading_ledger.tables(records, ledger.shipped())
    for record in records:
        section = page.partition(f'## <a id="{record.figure.replace("/", "-")}"></a>')[2].partition("\n## ")[0]
        lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
        assert len(lines) == len(record.grids[0]["claims"]), record.figure
        for line, claims in zip(lines, zip(*(grid["claims"] for grid in record.grids), strict=True), strict=True):
            shown = re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |"))[2:-2]
            assert [cell.partition(":")[0] for cell in shown] == [claim["verdict"] for claim in claims], line


def test_records_by_reading_are_of_the_readings_and_claims_that_there_are() -> None:
    items = {item.key: item.experiment for item in catalogue.figures()}
    records = ledger.shipped(file=READINGS)
    assert records, "no record by reading"
    for record in records:
        experiment = items[record.figure]
        assert experiment is not None
        stated = tomllib.loads(experiment.read_text(encoding="utf-8"))
        again = f"record the readings of {record.figure} again"
        # A reading that was stated later has no grid until the figure runs again.
        assert {grid["reading"] for grid in record.grids} <= set(stated["reading"]), again
        claims = {(claim["section"], claim["says"]) for claim in stated["claim"]}
        assert {(claim["section"], claim["says"]) for grid in record.grids for claim in grid["claims"]} <= claims, again


def test_records_are_of_figures_that_there_are_and_of_the_claims_that_they_have() -> None:
    items = {item.key: item for item in catalogue.figures() if item.experiment is not None}
    kept = sorted(folders.STUDY.glob("**/record.json"))
    assert len(kept) > 60
    for path in kept:
        figure = f"{path.parent.parent.name}/{path.parent.name}"
        record = read_record(figure)
        assert record is not None
        assert record.figure == figure
        experiment = items[figure].experiment
        assert experiment is not None
        claims = tomllib.loads(experiment.read_text(encoding="utf-8")).get("claim", [])
        stated = [(claim["section"], claim["says"]) for claim in claims]
        assert [(claim["section"], claim["says"]) for claim in record.claims] == stated, f"record {figure} again"


def test_a_record_has_what_was_found(directory: Path) -> None:
    record = read_record("nos2/fig6", directory)
    assert record is not None
    assert (record.command, record.size) == (COMMAND, "quick, 2 seeds")
    of_paper = Counter({Standing.REPRODUCED: 2, Standing.UNDECIDED: 1, Standing.CONTRADICTED: 1})
    assert record.standings() == {Source.PAPER: of_paper, Source.OURS: Counter({Standing.UNDECIDED: 1})}
    first = record.claims[0]
    assert (first["test"], first["asked"]) == ({"kind": "equal", "within": 0.1}, "equal within 10 %")
    assert first["measured"][0]["mean"] == 1.12
    assert first["compared"][0]["verdict"] == "reproduced"


def test_a_record_is_the_same_each_time_wherever_it_is_made(directory: Path, tmp_path: Path) -> None:
    elsewhere = load(factories.make_results(tmp_path / "elsewhere"))
    again = write_record(tmp_path / "again", "nos2/fig6", [elsewhere], COMMAND)
    text = again.read_text(encoding="utf-8")
    assert text == (directory / FIG6).read_text(encoding="utf-8")
    assert str(tmp_path) not in text


def test_readings_that_disagree_on_a_claim_are_told_apart(directory: Path) -> None:
    path = directory / FIG6
    record = json.loads(path.read_text(encoding="utf-8"))
    leading = record["grids"][0]
    claims = [dict(claim) for claim in leading["claims"]]
    assert [claim["verdict"] for claim in claims[:2]] == ["reproduced", "undecided"]
    claims[0]["verdict"], claims[1]["verdict"] = "contradicted", "reproduced"
    record["grids"] = [leading | {"reading": "marked"}, leading | {"reading": "pull", "claims": claims}]
    path.write_text(json.dumps(record), encoding="utf-8")
    by_reading = ledger.shipped(directory)
    at_full_size = dataclasses.replace(by_reading[0], grids=(leading | {"claims": claims},))
    page = reading_ledger.tables(by_reading, [at_full_size])
    assert "| [nos2/fig6](#nos2-fig6) | 2 | 5 | 2 | 2 | 1 | 1 |" in page
    words = [line.split(" | ")[-2:] for line in page.splitlines() if line.startswith("| ") and "equal" in line]
    assert words[:1] == [["differ", "contradicted |"]]
    with pytest.raises(SystemExit, match="other claims than the ledger"):
        reading_ledger.tables(
            by_reading, [dataclasses.replace(at_full_size, grids=(leading | {"claims": claims[1:]},))]
        )
    record["grids"][1]["claims"] = claims[1:]
    path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(SystemExit, match="different claims"):
        reading_ledger.tables(ledger.shipped(directory), [at_full_size])


def test_counts_change_with_a_record(directory: Path) -> None:
    def of_papers() -> str:
        table = ledger.counts(ledger.shipped(directory))
        return next(line for line in table.splitlines() if line.startswith("| NOS2 "))

    assert of_papers().endswith("| 2 | 1 | 1 | 0 | 0 | 0 |")
    path = directory / FIG6
    record = json.loads(path.read_text(encoding="utf-8"))
    first = record["grids"][0]["claims"][0]
    first["verdict"] = "contradicted"
    path.write_text(json.dumps(record), encoding="utf-8")
    assert of_papers().endswith("| 1 | 1 | 2 | 0 | 0 | 0 |")
    # A number that a parameter was fitted to is none that was reproduced or contradicted.
    first["fitted"] = "the deadlines"
    path.write_text(json.dumps(record), encoding="utf-8")
    assert of_papers().endswith("| 1 | 1 | 1 | 0 | 1 | 0 |")


@pytest.mark.parametrize("text", ["", "[]", '{"figure": "nos2/fig6"}', '{"grids": 3}'])
def test_a_damaged_record_is_one_line(directory: Path, text: str) -> None:
    (directory / FIG6).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="record nos2/fig6 again"):
        read_record("nos2/fig6", directory)


@pytest.mark.usefixtures("core")
def test_the_command_writes_a_record_without_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "nos2/fig6", "--quick", "--jobs", "1", "-o", "out", "--record", "kept"]) == 0
    assert f"record kept/{FIG6}" in capsys.readouterr().out
    record = read_record("nos2/fig6", Path("kept"))
    assert record is not None
    assert record.command == COMMAND


def test_the_list_has_the_counts_of_the_record(
    core: FakeCore, directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("priolane.cli.reproduce.read_record", lambda figure: read_record(figure, directory))
    assert main(["reproduce", "nos2/all", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    # The double's file has two claims, the record five.
    shown = " ".join(" ".join(lines).split())
    assert (
        "2 claims: 2 reproduced, 1 undecided, 1 contradicted; ours: 1 undecided of then 5 claims (quick, 2 seeds)"
        in shown
    )
    assert "2 claims: none recorded" in shown
    assert core.ran == []


def test_the_list_as_json_has_the_outcome_of_each_claim(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "nos2/fig1", "--list", "--json"]) == 0
    (figure,) = json.loads(capsys.readouterr().out)
    record = read_record("nos2/fig1")
    assert record is not None
    assert (figure["reproduce"], figure["recorded"]["size"]) == ("nos2/fig1", record.size)
    stated = [(claim["section"], claim["says"], claim["verdict"], claim["outcome"]) for claim in figure["claims"]]
    assert stated == [
        (claim["section"], claim["says"], claim["verdict"], outcome(claim).value) for claim in record.claims
    ]


def test_json_without_a_list_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "nos2/fig6", "--json"]) == 2
    assert "--json belongs to --list" in capsys.readouterr().err
