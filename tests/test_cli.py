import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import factories
from fake_core import FakeCore, FakePlan
from priolane._core import InputError
from priolane.cli import main
from priolane.report.write import write_report
from priolane.results.results import load
from priolane.study import catalogue
from priolane.study.record import read_record


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "x.toml"
    path.write_text("")
    return path


def test_run_prints_claims_and_leaves_page_and_figures(
    core: FakeCore, experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["run", str(experiment), "-o", str(out), "--jobs", "1", "--seeds", "2", "--set", 'a.b="c"', "-v"]) == 0
    shown, errors = capsys.readouterr()
    assert "mice: ES-8 > NOS2 > PIAS" in shown
    assert "undecided;" in shown
    assert "contradicted; direction opposes" in shown
    assert "claims of the paper: 2 reproduced, 1 undecided, 1 contradicted\n" in shown
    assert "our own claims: 1 undecided\n" in shown
    assert "gain.mice.es8 3.20 [3.00, 3.40]" in shown
    assert "warning: the port buffer of the paper is unknown" in shown
    assert "check unfinished: measured flows unfinished" in shown
    assert "\x1b" not in shown
    assert errors == ""
    assert (out / "report.html").is_file()
    assert (out / "figures" / "panel-1.csv").is_file()
    assert {path.suffix for path in (out / "figures").iterdir()} == {".csv", ".svg"}
    assert core.options[0]["sets"] == [["a.b", '"c"']]


@pytest.mark.usefixtures("core")
def test_run_ends_with_the_table_of_results_and_can_print_json_alone(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", str(experiment), "-o", str(tmp_path / "out"), "--jobs", "1"]
    assert main([*command, "-v"]) == 0
    shown = capsys.readouterr().out
    # After the claims, before the warnings.
    order = [shown.index(text) for text in ("our own claims", "all: all flows; 1,000 flows a run", "warning:", "page ")]
    assert order == sorted(order)
    assert "load.value  scheme" in shown
    assert main([*command, "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert read["digest"] == "5b" * 32
    assert [claim["verdict"] for claim in read["claims"]][:2] == ["reproduced", "undecided"]
    assert {row["scheme"] for row in read["results"]["rows"]} == set(factories.SCHEMES)
    assert Path(read["page"]).is_file()


def test_warnings_of_the_plan_are_printed_before_the_first_run(
    core: FakeCore,
    experiment: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    as_json = FakePlan.to_json

    def warned(plan: FakePlan) -> str:
        answer: dict[str, Any] = json.loads(as_json(plan))
        return json.dumps(answer | {"warnings": [f"dctcp: port.ecn: {number}" for number in range(12)]})

    monkeypatch.setattr(FakePlan, "to_json", warned)
    core.failing = {core.runs()[0]["id"]}
    command = ["run", str(experiment), "-o", str(tmp_path / "out"), "--jobs", "1"]
    assert main(command) == 1
    errors = capsys.readouterr().err
    assert errors.count("warning: dctcp") == 2
    assert "warning: 10 more, which `priolane check` lists\n" in errors
    assert main([*command, "-v"]) == 1
    errors = capsys.readouterr().err
    assert errors.index("warning: dctcp: port.ecn: 0\n") < errors.index("bytes are not conserved")
    assert errors.count("warning: dctcp") == 10
    assert "warning: 2 more, which `priolane check` lists\n" in errors


def test_without_a_command_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown, errors = capsys.readouterr()
    assert shown.startswith("usage: priolane")
    assert "reproduce" in shown
    assert errors == ""


@pytest.mark.usefixtures("core")
def test_a_list_can_be_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "schemes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"name": "nos2", "paper": "NOS2"}]
    assert main(["list", "transports", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_bad_input_is_one_line_exit_2_and_no_file(
    core: FakeCore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(tmp_path / "none.toml"), "-o", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
    assert core.ran == []


def test_a_failed_run_is_exit_1(
    core: FakeCore, experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    core.failing = {core.runs()[0]["id"]}
    assert main(["run", str(experiment), "-o", str(tmp_path / "out"), "--jobs", "1"]) == 1
    assert "bytes are not conserved" in capsys.readouterr().err


def test_an_interrupt_is_exit_130(
    core: FakeCore, experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_path: Path) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(core, "from_path", interrupt)
    assert main(["run", str(experiment), "-o", str(tmp_path / "out")]) == 130
    assert core.ran == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["trace", "x.toml"],
        ["trace", "x.toml", "--flow", "-1"],
        ["trace", "x.toml", "--flow", "1", "--point", "load"],
        ["thresholds"],
        ["thresholds", "--sizes", "web_search", "--levels", "8"],
        ["thresholds", "--levels", "8", "--load", "0.8"],
        ["thresholds", "--sizes", "a", "--flows", "b", "--levels", "8", "--load", "0.8"],
        ["thresholds", "--sizes", "a", "--levels", "17", "--load", "0.8"],
        ["thresholds", "--sizes", "a", "--levels", "8", "--load", "80"],
        ["thresholds", "--sizes", "a", "--levels", "8", "--load", "nan"],
        ["thresholds", "--sizes", "a", "--levels", "8", "--load", "0.8", "--solver", "best"],
        ["run"],
        ["run", "x.toml", "--jobs", "0"],
        ["run", "x.toml", "--seeds", "many"],
        ["run", "x.toml", "--seeds", "0"],
        ["run", "x.toml", "--seed-list", "7,,9"],
        ["run", "x.toml", "--seed-list", "7,8,7"],
        ["run", "x.toml", "--seed-list", "0"],
        ["run", "x.toml", "--seed-list", "7", "--seeds", "3"],
        ["run", "x.toml", "--set", "no-value"],
        ["run", "x.toml", "--quick", "--full"],
        ["list", "everything"],
    ],
)
def test_wrong_arguments_are_one_line_and_exit_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert printed.startswith("priolane")
    assert printed.endswith(" --help lists the options\n")


def test_report_needs_the_directory_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = factories.make_results(tmp_path / "grid", panels=1)
    assert main(["report", str(directory)]) == 0
    assert str(directory / "report.html") in capsys.readouterr().out


def test_png_and_pdf_are_asked_for_and_go_when_they_are_not(tmp_path: Path) -> None:
    directory = factories.make_results(tmp_path / "grid", panels=1)
    assert main(["report", str(directory), "--png", "--pdf"]) == 0
    names = {path.name for path in (directory / "figures").iterdir()}
    assert names == {"panel-1.png", "panel-1.pdf", "figure.png", "panel-1.csv", "panel-1.svg", "results.csv"}
    page = (directory / "report.html").read_text(encoding="utf-8")
    assert '<a href="figures/panel-1.png">PNG</a>' in page
    assert main(["report", str(directory), "--pdf"]) == 0
    assert {path.name for path in (directory / "figures").iterdir()} == {name for name in names if "png" not in name}
    assert main(["report", str(directory)]) == 0
    assert {path.suffix for path in (directory / "figures").iterdir()} == {".csv", ".svg"}


def test_without_matplotlib_pages_are_written_and_png_is_refused_before_anything_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = factories.make_results(tmp_path / "grid", panels=1)
    # A module that is `None` is one that cannot be imported.
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in [name for name in sys.modules if name.startswith("priolane.plots.")]:
        monkeypatch.delitem(sys.modules, name)
    assert main(["report", str(directory)]) == 0
    assert '<svg class="fig"' in (directory / "report.html").read_text(encoding="utf-8")
    capsys.readouterr()
    for option in ("--png", "--pdf"):
        with pytest.raises(SystemExit) as stopped:
            main(["report", str(tmp_path / "nowhere"), option])
        assert stopped.value.code == 2
        assert "pip install 'priolane[plots]'" in capsys.readouterr().err
    with pytest.raises(InputError, match="drawn by matplotlib, which is not installed"):
        write_report(load(directory), pdf=True)


def test_report_of_an_empty_directory_is_exit_2(tmp_path: Path) -> None:
    assert main(["report", str(tmp_path)]) == 2


def test_check_prints_numbers_and_warnings(
    core: FakeCore, experiment: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert main(["check", str(experiment), "-v"]) == 0
    assert capsys.readouterr().out.splitlines()[-11:] == [
        "runs: 16",
        "packet_hops: 1.50e+08",
        "seconds: 90.0 of one core, all runs",
        "bytes: 20000000 of memory, the run with most",
        "ns_per_hop: 600 measured here",
        # 90 s of four cores, and 39.7 pieces of 0.05 s: start and four workers, what draws, a page without panels.
        "command_seconds: 24.5 of `priolane run` on all cores, figures and start included",
        "load offered on the wire, part of what links carry: mean of a tier (its busiest link), first seed",
        "  group.all.load.value = 0.5, over 2.00 ms: hosts, sending 0.500 (0.750)",
        "  group.all.load.value = 0.8, over 2.00 ms: hosts, sending 0.800 (1.20)",
        "threads: 1 a run: 16 runs keep 4 cores busy, and threads of one run wait for each other",
        "warning: small",
    ]
    assert core.ran == []
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    assert main(["check", str(experiment), "-v"]) == 0
    assert "--threads 4 would use all 64 cores" in capsys.readouterr().out


def test_check_warns_of_runs_that_the_machine_has_no_memory_for(
    core: FakeCore, experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    core.check_bytes = 10**15
    assert main(["check", str(experiment), "-v"]) == 0
    assert "warning: a run is predicted to take 1.00e+06 GB of memory, this machine has" in capsys.readouterr().out


def test_another_experiment_is_not_run_over_results(
    core: FakeCore, experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results"
    assert main(["run", str(experiment), "-o", str(out), "--jobs", "1"]) == 0
    factories.edit(out / "grid.json", lambda note: note | {"title": "of before"})
    ran = len(core.ran)
    assert main(["run", str(experiment), "-o", str(out), "--jobs", "1"]) == 2
    assert f'{out} has the results of "of before"' in capsys.readouterr().err
    assert len(core.ran) == ran


def test_a_broken_note_of_a_grid_is_replaced(core: FakeCore, experiment: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    command = ["run", str(experiment), "-o", str(out), "--jobs", "1"]
    assert main(command) == 0
    ran = list(core.ran)
    (out / "grid.json").write_text("{", encoding="utf-8")
    assert main(["report", str(out)]) == 2
    assert main(command) == 0
    assert main(["report", str(out)]) == 0
    assert core.ran == ran, "whole runs are kept"


def test_a_file_is_no_directory_of_results(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(experiment)]) == 2
    assert "no results here" in capsys.readouterr().err


def test_list_and_bench_print_tables(
    core: FakeCore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "priolane.cli.bench.measure",
        lambda names: {"limit": {"ns_per_hop": 20.0}, "scenarios": [{"name": n, "ns_per_hop": 61.0} for n in names]},
    )
    assert main(["list", "schemes"]) == 0
    assert main(["list", "transports"]) == 0
    assert main(["bench"]) == 0
    shown = capsys.readouterr().out
    assert "nos2" in shown
    assert "no transports yet" in shown
    assert "limit ns_per_hop: 20.0" in shown
    assert core.ran == []


def test_the_list_of_figures_is_true(core: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--list"]) == 0
    # A long cell goes on in the next line.
    lines = [line for line in capsys.readouterr().out.splitlines()[1:] if not line.startswith(" ")]
    everything = list(catalogue.figures())
    assert len(lines) == len(everything)
    for line, item in zip(lines, everything, strict=True):
        assert line.startswith(item.key)
        assert ("nothing to measure" in line) == (item.experiment is None)
        if item.experiment is None:
            assert line.rstrip().endswith("-")
        else:
            assert re.search(
                r" 2 claims: (none recorded|(ours: )?\d+ \w+.*) +16 runs, 1\.5e\+08 packet-hops, 1\.5 min of one core",
                line,
            )
    assert core.ran == []


def test_the_list_can_be_that_of_one_figure(core: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "nos2/fig6", "--list"]) == 0
    figure, _, claims = capsys.readouterr().out.partition("\n\n")
    assert [line.split()[0] for line in figure.splitlines()[1:]] == ["nos2/fig6"]
    assert claims.startswith("claim of nos2/fig6")
    assert core.ran == []


def test_the_list_of_one_figure_says_why_claims_are_contradicted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "nos2/fig1", "--list"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    record = read_record("nos2/fig1")
    assert record is not None
    for claim in record.claims:
        assert claim["says"] in shown
    assert "impossible as printed" in shown
    assert "three flows on one link end at nine (tests/test_proofs.py)" in shown


def test_figures_of_a_paper_look_into_each_others_directories(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("nos2-fig7", "nos2-fig6", "top-fig4"):
        Path("runs", name).mkdir(parents=True)
    assert main(["reproduce", "nos2/fig6", "--jobs", "1"]) == 0
    assert core.others == [str(Path("runs", "nos2-fig7"))]


@pytest.mark.parametrize("name", ["nos2/", "somebody", "nos2/fig99", "nobody/fig1", "nos2/fig3"])
def test_what_cannot_be_reproduced_is_bad_input(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", name]) == 2
    assert capsys.readouterr().err.startswith(f"priolane: error: `{name}`")


THRESHOLDS = ["thresholds", "--sizes", "web_search_pkt1460", "--levels", "2", "--load", "0.8"]


def test_thresholds_prints_costs_exact_bytes_fits_and_reasons(
    core: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(THRESHOLDS) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("web_search_pkt1460 (linear, mean 1.666MB, largest 29.2MB), load 0.8")
    rows = {line.split()[0]: line.split()[1:] for line in lines[2:] if line}
    assert rows["opt2"] == ["bytes:", "1946180"]
    assert any(line.split() == ["opt", "opt", "2", "2.4234", "1.0000", "2.2666", "1.0000", "1.946MB"] for line in lines)
    assert any(line.startswith("closed_form fit: p1 = 0.914") and "0.4" in line for line in lines)
    assert any(line.startswith("published does not apply: ") and "8 levels, not 2" in line for line in lines)
    assert any(line.startswith("nos2 host bytes: 8760, 23360, ") for line in lines)
    by_name = {"sizes": "web_search_pkt1460", "levels": 2, "load": 0.8, "solver": "all"}
    assert core.options == [by_name]


def test_thresholds_as_json_are_the_answer_itself(core: FakeCore, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*THRESHOLDS, "--solver", "opt", "--interpolation", "step", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(core.thresholds('{"sizes": "again"}'))
    assert core.options[0]["solver"] == "opt"
    assert core.options[0]["interpolation"] == "step"


def test_thresholds_of_unreadable_sizes_are_one_line_and_exit_2(
    core: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["thresholds", "--sizes", "nobody.csv", "--levels", "8", "--load", "0.8"]) == 2
    shown, errors = capsys.readouterr()
    assert shown == ""
    assert errors.count("\n") == 1
    assert len(core.options) == 1


def test_a_seed_in_place_of_a_number_of_seeds_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["run", "x.toml", "--seeds", "90001"])
    assert stopped.value.code == 2
    assert "90001 seeds are asked for" in (printed := capsys.readouterr().err)
    assert "--seed-list 90001" in printed


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_list_of_seeds_reaches_the_plan(core: FakeCore, experiment: Path, tmp_path: Path, command: str) -> None:
    out = ["-o", str(tmp_path / "out"), "--jobs", "1"] if command == "run" else []
    assert main([command, str(experiment), "--seed-list", "7,9,8", *out]) == 0
    assert core.options[0]["seeds"] == [7, 9, 8]
