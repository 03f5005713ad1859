"""`priolane advise` as a whole, on flows of which theory says what is best: the answer and what it leaves."""

import json
import math
import re
from pathlib import Path

import pytest

import advise_world
import priolane
from advise_world import answer, arguments, asked
from priolane import cli
from priolane.advice.answer import Kind
from priolane.execution.session import run
from priolane.report.templates import figure_script

# Its fixtures are made once, by one worker.
pytestmark = pytest.mark.xdist_group("advise_run")

GOALS = ("p99.small < 100us", "goodput.bulk > 50%")
BUDGET = "8e6hops"


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with flows, fabric and the answer."""
    folder = tmp_path_factory.mktemp("advise")
    advise_world.write(folder, 1, 900, kernel_module=False, queues=2)
    assert cli.main(arguments(folder, "--budget", BUDGET, "--today", "dctcp", *asked(*GOALS))) == 0
    return folder


def test_the_scheme_that_theory_says_is_best_is_advised(answered: Path) -> None:
    result = answer(answered)
    assert (result["kind"], result["advice"], result["chosen"]) == ("change", "size2_class", "size2_class")
    now, advised = result["ranking"][:2]
    # Today's scheme is first and misses the first goal; the advice follows.
    assert (now["scheme"], now["changes"], now["goals"][GOALS[0]]) == ("today", [], "missed")
    assert (advised["scheme"], advised["thresholds_bytes"]) == ("size2_class", [20_000])
    assert advised["changes"] == ["dscp", "switch_queue"]
    assert set(advised["goals"].values()) == {"met"}
    # Without losses, NewReno and CUBIC do the same: one stands for both.
    assert {result["ended"][name]["why"] for name in ("newreno", "cubic")} == {"excluded", "same"}
    spent = result["packet_hops"]
    assert spent["race"] < spent["grid"]
    stages = [hops for name, hops in spent.items() if name not in ("budget", "grid")]
    assert sum(stages) <= spent["budget"]
    assert 1 <= result["agreeing_seeds"] <= result["seeds"]


def test_the_headline_has_today_and_then_with_their_numbers(answered: Path) -> None:
    result = answer(answered)
    now, advised = (entry["metrics"]["fct_p99.small"] for entry in result["ranking"][:2])
    assert result["headline"].startswith("Two strict queues; flows go by size, up to 20.0 kB: p99 of small flows ")
    before = f"{1e6 * now['mean']:.0f} us [{1e6 * now['low']:.0f}, {1e6 * now['high']:.0f}]"
    assert f"p99 of small flows {before} -> {1e6 * advised['mean']:.1f} us [" in result["headline"]
    # The factor has an interval of its own, as both are read on the same windows.
    factor = re.search(r"\((\S+) \[(\S+), (\S+)\] times better", result["headline"])
    assert factor is not None
    times, low, high = map(float, factor.groups())
    assert times == pytest.approx(now["mean"] / advised["mean"], rel=0.01)
    assert low < times < high
    assert times * times == pytest.approx(low * high, rel=0.02)
    assert result["headline"].endswith("; needs DSCP at hosts and queues at switches")


def test_no_candidate_is_better_than_each_flow_alone(answered: Path) -> None:
    result = answer(answered)
    for entry in result["ranking"]:
        assert entry["metrics"]["fct_p99.small"]["mean"] >= result["alone"]["fct_p99.small"]
        assert entry["metrics"]["goodput.bulk"]["mean"] <= result["alone"]["goodput.bulk"]


def test_sensitivity_has_every_disturbance_of_this_network(answered: Path) -> None:
    by_name = {finding["disturbance"]: finding for finding in answer(answered)["sensitivity"]}
    assert next(iter(by_name)) == "20 % more load"
    assert any("bursts" in name for name in by_name)
    assert not any("failed" in name for name in by_name), "one switch has no link to lose"
    for name in ("today", "size2_class"):
        tail = [by_name[load]["goals"][name][GOALS[0]]["value"] for load in ("20 % more load", "20 % less load")]
        assert tail[0] > tail[1]


def test_the_experiment_file_makes_the_numbers_again(answered: Path, tmp_path: Path) -> None:
    result = answer(answered)
    results = run(answered / "out" / "experiment.toml", tmp_path / "again")
    for entry in result["ranking"]:
        own = [
            math.log(results.records[planned.id]["summary"]["small"]["p99_fct_s"])
            for planned in results.runs
            if planned.scheme == entry["scheme"]
        ]
        assert len(own) == 1
        geometric = math.exp(sum(own) / len(own))
        assert geometric == pytest.approx(entry["metrics"]["fct_p99.small"]["mean"])
    assert {claim.text for claim in results.report.claims} == set(GOALS)
    assert results.report.drawn[0].kind == "scatter"


def test_the_same_command_runs_nothing_again_and_answers_the_same(
    answered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (answered / "out" / "advice.json").read_text(encoding="utf-8")
    runs = {path: path.stat().st_mtime_ns for path in (answered / "out").glob("runs/**/run.json")}
    assert len(runs) > 10
    assert cli.main(arguments(answered, "--budget", BUDGET, "--today", "dctcp", "--explain", *asked(*GOALS))) == 0
    assert (answered / "out" / "advice.json").read_text(encoding="utf-8") == before
    assert {path: path.stat().st_mtime_ns for path in (answered / "out").glob("runs/**/run.json")} == runs
    shown = capsys.readouterr().out
    assert shown.startswith("Two strict queues; flows go by size, up to 20.0 kB: ")
    assert "class of a packet by size of its flow: 20000B" in shown
    assert re.search("(newreno|cubic): after 5 windows worse than ", shown)
    assert "hpcc: no switch here writes telemetry" in shown
    assert "assumed: connections are open when flows start" in shown
    assert f"next   priolane export sonic {answered}/out/experiment.toml --scheme size2_class" in shown


def test_the_page_compares_with_today_before_it_configures_and_folds_the_rest(answered: Path) -> None:
    page = (answered / "out" / "advice.html").read_text(encoding="utf-8")
    # Under which disturbances goals hold follows the answer, before how it was found.
    disturbed = re.search(r"</blockquote>\s*<p class=\"lead\">Goals are [^<]+ with [^<]*20 % more load", page)
    assert disturbed is not None
    assert disturbed.end() < page.index(" windows of the whole list")
    assert "A goal relative to the best is judged by its ratio, so an interval may cross the bound." in page
    places = [
        page.index(f"{before}{heading}")
        for before, heading in [
            ("<h2>", "Today against the others"),
            ("<h2>", "What to configure"),
            ("<summary>", "If things are not as recorded"),
            ("<summary>", "Assumed, as it was not stated"),
            ("<summary>", "Ended in the race"),
            ("<summary>", "Cannot be deployed here"),
        ]
    ]
    assert places == sorted(places)
    assert page.count("<details>") == page.count("</details>") == 5


def test_the_page_is_whole_and_has_the_script_of_figures_only(answered: Path) -> None:
    page = (answered / "out" / "advice.html").read_text(encoding="utf-8")
    assert page.count("<script") == page.count("<script>") == 1
    assert f"; script-src 'sha256-{figure_script()[1]}'; img-src" in page
    assert "default-src 'none'; style-src 'sha256-" in page
    assert '<svg class="fig"' in page
    for text in ("Two strict queues; flows go by size", "today: dctcp", "20 % more load", "hpcc"):
        assert text in page


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--budget", "1000hops"], "at least --budget"),
        (["--budget", "20runs"], "an answer takes packet-hops"),
        (["--goal", "p99.medium < 1ms"], "there is no class 'medium'; one of small, bulk, all"),
        (["--goal", "p99.small"], "this is no goal"),
        (
            ["--budget", BUDGET, "--without", "sent9"],
            "--without sent9: there is no such candidate here; one of cubic, dctcp, ",
        ),
        (["--steps", "dcsp"], "--steps: there is no step 'dcsp'; one of dscp, "),
        (["--steps", "dscp,dscp"], "--steps: dscp is there twice; name each step once"),
        (["--today", "cubicle"], "there is no scheme 'cubicle'"),
        (["--least-gain", "2"], "--least-gain"),
    ],
)
def test_a_wrong_question_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    advise_world.write(tmp_path, 1, 900, kernel_module=False, queues=2)
    try:
        code = cli.main(arguments(tmp_path, *more, *([] if "--goal" in more else asked(GOALS[0]))))
    except SystemExit as stopped:
        code = int(str(stopped.code))
    assert code == 2
    assert message in capsys.readouterr().err


def test_a_mistake_of_the_topology_is_one_of_the_fabric_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, fabric = advise_world.write(tmp_path, 1, 900)
    fabric.write_text(fabric.read_text(encoding="utf-8").replace('rate = "10Gbps"', 'rate = "ten"'), encoding="utf-8")
    assert cli.main(arguments(tmp_path, *asked(GOALS[0]))) == 2
    shown = capsys.readouterr().err
    assert f"error: {fabric}: topology.host_link.rate: " in shown


def test_a_mistake_of_today_is_one_of_the_fabric_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, fabric = advise_world.write(tmp_path, 1, 900)
    stated = fabric.read_text(encoding="utf-8") + '[today]\nscheme = "dctcp"\ntransport = { init_window = "many" }\n'
    fabric.write_text(stated, encoding="utf-8")
    assert cli.main(arguments(tmp_path, *asked(GOALS[0]))) == 2
    assert f"error: {fabric}: today.transport.init_window: " in capsys.readouterr().err


def test_a_directory_of_others_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    advise_world.write(tmp_path, 1, 900)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("all of it", encoding="utf-8")
    assert cli.main(arguments(tmp_path)) == 2
    assert "has files, and no answer of priolane" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.txt"]


def test_the_function_answers_as_the_command_does(answered: Path) -> None:
    files = answered / "flows.csv", answered / "fabric.toml"
    before = answer(answered)
    advice = priolane.advise(*files, goals=GOALS, today="dctcp", out=answered / "out", budget=BUDGET)
    assert isinstance(advice, priolane.Advice)
    assert advice.kind is Kind.CHANGE
    assert advice.advised is not None
    assert advice.advised.name == before["advice"]
    assert advice.headline == before["headline"]
    assert json.loads((answered / "out" / "advice.json").read_text(encoding="utf-8")) == before
