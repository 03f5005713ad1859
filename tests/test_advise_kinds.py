"""Every kind of answer of `priolane advise`, and what the user's preferences change of it."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import advise_world
import priolane
from advise_files import write_flows
from advise_world import arguments, asked
from priolane import cli

# Runs of one fixture are shared by its tests, in one worker.
pytestmark = pytest.mark.xdist_group("advise_kinds")

BUDGET = ("--budget", "8e6hops")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with flows and a fabric, whose runs the questions share."""
    made = tmp_path_factory.mktemp("kinds")
    advise_world.write(made, 1, 900, kernel_module=False, queues=2)
    return made


def _answer(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert cli.main(arguments(folder, *BUDGET, "--json", *words)) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_nothing_is_to_be_changed_where_today_surely_meets_the_goals(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = _answer(folder, capsys, *asked("p99.small < 20ms"))
    assert (answer["kind"], answer["advice"]) == ("change nothing", "today")
    assert answer["headline"].startswith(
        "Change nothing: newreno, which runs now, meets all goals (p99 of small flows "
    )
    # Nothing else is compared: others may be better, but nothing is asked beyond the goals.
    assert [entry["scheme"] for entry in answer["ranking"]] == [answer["chosen"]] == ["today"]
    assert answer["packet_hops"]["race"] == 0


def test_the_cheapest_change_leads_unless_a_dearer_one_gains_enough(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = asked("p99.small < 500us")
    answer = _answer(folder, capsys, *goal)
    # Queues and DSCP are cheaper than another congestion control.
    assert (answer["kind"], answer["ranking"][1]["changes"]) == ("change", ["dscp", "switch_queue"])
    order = ("--steps", "switch_marking,congestion_control")
    other = _answer(folder, capsys, *order, *goal)
    assert (other["kind"], other["advice"]) == ("change", "dctcp")
    assert other["ranking"][1]["changes"] == ["switch_marking", "congestion_control"]
    dearer = _answer(folder, capsys, *order, "--least-gain", "0.3", *goal)
    assert dearer["kind"] == "change"
    tails = {entry["scheme"]: entry["metrics"]["fct_p99.small"]["mean"] for entry in dearer["ranking"]}
    assert tails[dearer["advice"]] < 0.7 * tails["dctcp"]
    # No candidate gains 99 %.
    assert _answer(folder, capsys, *order, "--least-gain", "0.99", *goal)["advice"] == "dctcp"


def test_what_runs_today_decides_what_is_a_change(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = _answer(folder, capsys, "--today", "dctcp", *asked("p99.small < 700us"))
    assert answer["kind"] == "change nothing"
    assert answer["headline"].startswith("Change nothing: dctcp, which runs now, meets all goals")
    assert not any("[today]" in line for line in answer["assumed"])


def test_what_is_not_wanted_is_not_tried(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    goal = asked("p99.small < 100us")
    answer = _answer(folder, capsys, "--today", "dctcp", "--without", "size2_class", *goal)
    assert (answer["kind"], answer["advice"]) == ("change", "sent2_class")
    assert "size2_class" not in {entry["scheme"] for entry in answer["ranking"]} | answer["ended"].keys()
    # A scheme is left out with all candidates that it is the base of.
    bare = _answer(folder, capsys, "--without", "dctcp", "--without", "cubic", *goal)
    judged = [entry for entry in bare["ranking"] if entry["scheme"] != "today"]
    assert judged
    assert all(entry["rows"]["base"] == "newreno" for entry in judged)


def test_steps_are_told_in_the_users_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--steps", "switch_queue,dscp", *asked("p99.small < 100us")]
    answer = _answer(folder, capsys, *words)
    assert answer["ranking"][1]["changes"] == ["switch_queue", "dscp"]


def test_the_first_seed_is_the_users(tmp_path: Path) -> None:
    files = advise_world.write(tmp_path, 1, 900, kernel_module=False, queues=2)
    advice = priolane.advise(*files, goals=["p99.small < 20ms"], budget="8e6hops", seed=5, out=tmp_path / "out")
    assert "seeds = [5]" in advice.experiment.read_text(encoding="utf-8")
    assert "seeds = [5, 6, 7]" in (tmp_path / "out" / "seeds.toml").read_text(encoding="utf-8")


def test_links_prove_a_goal_impossible_before_any_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    advise_world.write(tmp_path, 1, 900, kernel_module=False, queues=2)
    answer = _answer(tmp_path, capsys, *asked("p99.small < 1us"))
    assert (answer["kind"], answer["advice"]) == ("impossible", None)
    # 899 small flows, the smallest of which takes 4 us.
    assert answer["impossible"]["p99.small < 1us"].startswith(
        "of 899 flows of small, at least 899 (100 %) end after 1.00"
    )
    assert answer["headline"].startswith("No scheme meets p99.small < 1us: of 899 flows of small")
    assert not (tmp_path / "out" / "runs").exists()
    assert "ranking" not in answer


def test_flows_alone_prove_a_goal_impossible(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Small flows have 11.7 kB in the mean: 9.3 us on the links of hosts, where they hardly meet. Headers, the last
    # packet's second link and 2 us of delay are what runs add.
    answer = _answer(folder, capsys, *asked("mean.small < 12us"))
    assert answer["kind"] == "impossible"
    assert answer["impossible"]["mean.small < 12us"].endswith("with each flow alone in the network")


def test_none_of_those_tried_has_the_nearest_and_what_would_help(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = _answer(folder, capsys, "--today", "dctcp", *asked("p99.small < 22us"))
    assert (answer["kind"], answer["advice"]) == ("none of those tried", None)
    assert f" candidates meets all goals; the nearest is {answer['chosen']} (" in answer["headline"]
    assert all("missed" in entry["goals"].values() for entry in answer["ranking"])
    missing = {tuple(remedy["missing"]): remedy for remedy in answer["remedies"]}
    assert ("switch.queues",) in missing or ("host.user_stack",) in missing
    for remedy in missing.values():
        assert remedy["metrics"]["fct_p99.small"]["mean"] is not None
    # The nearest to the goals is first.
    misses = [remedy["metrics"]["fct_p99.small"]["mean"] for remedy in answer["remedies"]]
    assert misses == sorted(misses)


def test_an_interval_on_both_sides_of_the_bound_cannot_tell(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = _answer(folder, capsys, *asked("p99.small < 38us"))
    assert (answer["kind"], answer["advice"]) == ("this list cannot tell", None)
    assert answer["headline"].startswith("This list cannot tell whether p99.small < 38us is met; the nearest is ")
    nearest = next(entry for entry in answer["ranking"] if entry["scheme"] == answer["chosen"])
    tail = nearest["metrics"]["fct_p99.small"]
    assert tail["low"] < 38e-6 < tail["high"]
    assert "not surely" in nearest["goals"]["p99.small < 38us"]


@pytest.mark.parametrize(
    ("words", "reason", "cure"),
    [
        (["--sampling", "1000", *asked("p99.small < 1ms")], "1 packet in 1000 of", "without sampling"),
        (asked("p999.small < 1ms"), "p999.small rests on 899 flows of", "Use a list of 55.9 ms at least"),
        (asked("p99.small < 1ms", "cct.all < 1s"), None, None),
    ],
)
def test_what_the_list_lacks_is_said_before_any_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], reason: str | None, cure: str | None
) -> None:
    advise_world.write(tmp_path, 1, 900, kernel_module=False, queues=2)
    if reason is None or cure is None:
        assert cli.main(arguments(tmp_path, *words)) == 2
        assert "names no coflows" in capsys.readouterr().err
        return
    answer = _answer(tmp_path, capsys, *words)
    assert answer["kind"] == "this list cannot tell"
    assert reason in answer["insufficient"]["reason"]
    assert cure in answer["insufficient"]["cure"]
    assert not (tmp_path / "out" / "runs").exists()
    page = (tmp_path / "out" / "advice.html").read_text(encoding="utf-8")
    assert reason in page


def test_a_list_that_is_too_short_for_what_today_takes_is_told_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Bulk flows that come last of two queues take some milliseconds, of which six windows are to have twice.
    words = ("--budget", "3e7hops", "--today", "nos2", *asked("p99.small < 100us", "p95.bulk < 1s"))
    answer = _answer(folder, capsys, *words)
    assert answer["kind"] == "this list cannot tell"
    assert "flows of goals take up to" in answer["insufficient"]["reason"]
    assert answer["insufficient"]["cure"].startswith("Use a list of ")
    assert "ranking" not in answer


def test_a_column_that_is_not_used_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, _ = advise_world.write(tmp_path, 1, 900, kernel_module=False, queues=2)
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([f"{head},class", *(f"{row},1" for row in rows)]) + "\n", encoding="utf-8")
    answer = _answer(tmp_path, capsys, *asked("p99.small < 1us"))
    assert any(
        "flows.csv: column `class`: the classes that flows ask for are not used" in sentence
        for sentence in answer["assumed"]
    )


def _jobs(folder: Path, header: str, count: int) -> None:
    """Writes jobs of four flows each, in which flows are a coflow or wait for each other."""
    draw = random.Random(5)  # noqa: S311 - flows, not secrets
    rows: list[tuple[object, ...]] = []
    for job in range(count):
        at = draw.randrange(40_000_000)
        for part in range(4):
            src, dst = draw.sample(range(12), 2)
            after = len(rows) - 1 if part else ""
            rows.append((at, src, dst, draw.choice((5_000, 20_000, 100_000)), job if "coflow" in header else after))
    write_flows(folder, rows, header)


@pytest.mark.parametrize(
    ("header", "goal"),
    [("start_ns,src,dst,bytes,coflow", "cct.all < 500%"), ("start_ns,src,dst,bytes,after", "p95.all < 500%")],
)
def test_lists_of_coflows_and_of_flows_that_wait_run_whole(tmp_path: Path, header: str, goal: str) -> None:
    _, fabric = advise_world.write(tmp_path, 1, 10, kernel_module=False, queues=2)
    _jobs(tmp_path, header, 200)
    advice = priolane.advise(
        tmp_path / "flows.csv", fabric, goals=[goal], budget="2e7hops", out=tmp_path / "out", jobs=1
    )
    # The goal is relative to the best, so that all are compared.
    judging = advice.judging
    assert judging is not None
    assert {round_.windows for round_ in judging.race.rounds} == {judging.windows}
    for stage in ("race", "judged"):
        results = priolane.load(tmp_path / "out" / "runs" / stage)
        assert {record["counters"]["completed"] for record in results.records.values()} == {800}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("deadline_missed.small,5%", "deadline_miss_rate.small: no flow of "),
        ("cct.all,1ms", "cct.all: "),
        ("p99.medium,1ms", "fct_p99.medium: there is no class 'medium'; one of small, bulk, all"),
        ("p99.small,120%", "line 2: '120%' is relative; write the measured value with its unit"),
    ],
)
def test_a_measured_value_that_the_list_cannot_have_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], row: str, message: str
) -> None:
    advise_world.write(tmp_path, 1, 900, kernel_module=False, queues=2)
    measured = tmp_path / "measured.csv"
    measured.write_text(f"metric,value\n{row}\n", encoding="utf-8")
    assert cli.main(arguments(tmp_path, "--check", str(measured), *asked("p99.small < 1ms"))) == 2
    shown = capsys.readouterr().err
    assert f"{measured}: " in shown
    assert message in shown


def test_measured_values_are_compared_with_the_simulation_of_today(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = folder / "measured.csv"
    measured.write_text("metric,value\np50.bulk,1s\nmean.small,1ns\n", encoding="utf-8")
    answer = _answer(folder, capsys, "--check", str(measured), *asked("p99.small < 20ms"))
    assert [
        (measurement["metric"], measurement["value"], measurement["agrees"]) for measurement in answer["measured"]
    ] == [
        ("fct_p50.bulk", 1.0, False),
        ("fct.small", 1e-9, False),
    ]
    assert all(1e-6 < measurement["predicted"] < 1 for measurement in answer["measured"])
    assert answer["uncertain"][0] == "2 of 2 measured values are not what is predicted for today"
    # Half of the flows take less than the predicted median, by definition.
    median = next(
        measurement["predicted"] for measurement in answer["measured"] if measurement["metric"] == "fct_p50.bulk"
    )
    measured.write_text(f"metric,value\np50.bulk,{median}s\n", encoding="utf-8")
    agreeing = _answer(folder, capsys, "--check", str(measured), *asked("p99.small < 20ms"))
    assert [measurement["agrees"] for measurement in agreeing["measured"]] == [True]
    assert not any("measured values" in line for line in agreeing["uncertain"])
