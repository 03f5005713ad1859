"""`priolane export sonic --into`: what others have stays, the way back leads back, and what SONiC takes it takes."""

import copy
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import export_plans
import sonic_present
import sonic_yang
from priolane._core import InputError
from priolane.cli import main
from priolane.export import code_points
from priolane.export.plan import ExportPlan
from priolane.export.sonic_check import TABLES, Device, check
from sonic_into import applied, bare, canonical, exported, treatment
from sonic_present import Config

# Schemes and what is set in them: two strict queues with marks, three queues by weight, one queue, one that differs
# from the first in nothing but its code points, and a strict queue before two by weight.
CASES: tuple[tuple[str, tuple[tuple[str, str], ...], tuple[int, ...] | None], ...] = (
    ("nos2", (export_plans.PER_QUEUE,), None),
    ("aequitas", (export_plans.PER_QUEUE,), None),
    ("dctcp", (), None),
    ("nos2", (export_plans.PER_QUEUE,), (11, 9)),
    (
        "aequitas",
        (export_plans.PER_QUEUE, ("scheme.%s.port.strict", "1"), ("scheme.%s.port.weights", "[4, 1]")),
        None,
    ),
)
ROUNDS = 300


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> list[ExportPlan]:
    experiment = export_plans.write_experiment(tmp_path_factory.mktemp("plans"))
    results = []
    for scheme, sets, points in CASES:
        plan = export_plans.make(experiment, scheme, sets)
        results.append(code_points.with_points(plan, points or code_points.beside_others(plan)))
    return results


def served(config: Config, port: str, dscp: int) -> str:
    return str((treatment(config, port, dscp)["scheduler"] or {"type": "WRR"})["type"])


def has_maps(config: Config, port: str) -> bool:
    rows = config.get("PORT_QOS_MAP", {})
    return "dscp_to_tc_map" in rows.get(port, {}) or "global" in rows


@pytest.mark.parametrize("make", [sonic_present.written, lambda: sonic_present.drawn(2)])
def test_a_configuration_that_a_test_changes_leaves_the_next_one_as_it_was(make: Callable[[], Config]) -> None:
    first = make()
    kept = canonical(first)
    for rows in first.values():
        for row in rows.values():
            row["changed"] = "by a test"
    assert canonical(make()) == kept


@pytest.mark.parametrize("case", range(len(CASES)))
def test_random_configurations_keep_what_others_have_and_the_way_back_leads_back(
    case: int, plans: list[ExportPlan], tmp_path: Path
) -> None:
    plan = plans[case]
    own = [queue.dscp for queue in plan.scheme_queues]
    outcomes: Counter[str] = Counter()
    for seed in range(ROUNDS):
        config = sonic_present.drawn(seed)
        before = copy.deepcopy(config)
        try:
            files = exported(config, plan, tmp_path).files
        except InputError as error:
            outcomes[_reason(str(error))] += 1
            continue
        outcomes["written"] += 1
        after = applied(config, files["patch.json"])
        assert config == before
        assert canonical(applied(after, files["rollback.json"])) == canonical(config), seed
        _assert_kept(config, after, own)
        _assert_served(config, after, plan)
        tables = {name: rows for name, rows in after.items() if name in TABLES}
        assert check(tables, Device(config["PORT"])) == [], seed
        if seed < 40 and sonic_yang.unavailable() is None:
            judged = {name: rows for name, rows in after.items() if name in TABLES or name == "PORT"}
            assert sonic_yang.yanglint(judged, tmp_path) == "", seed
    assert set(outcomes) <= {"written", "queues", "code points", "routing", "rest"}, outcomes
    assert outcomes["written"] >= ROUNDS // 6, outcomes
    assert len(outcomes) >= 2, outcomes


def _reason(text: str) -> str:
    reasons = {
        "free queues": "queues",
        "code points are in use": "code points",
        "are in queue": "routing",
        "DSCP 0 is in queue": "rest",
    }
    return next((name for words, name in reasons.items() if words in text), text)


def _assert_kept(before: Config, after: Config, own: list[int]) -> None:
    """Every row of others is as it was, and every code point of others is treated so."""
    assert {name: after.get(name) for name in sonic_present.OTHERS} == sonic_present.OTHERS
    for table in ("PORT", "SCHEDULER", "WRED_PROFILE", "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", *_MAPS):
        rows = before.get(table, {})
        assert {name: after.get(table, {}).get(name) for name in rows} == rows, table
    for port in before["PORT"]:
        for dscp in range(64):
            if dscp in own or (dscp >= 48 and not has_maps(before, port)):
                continue
            assert treatment(after, port, dscp) == treatment(before, port, dscp), (port, dscp)


_MAPS = ("DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE")


def _assert_served(before: Config, after: Config, plan: ExportPlan) -> None:
    """The scheme's queues are its alone, in order, marked at their thresholds, and below routing protocols."""
    own = [queue.dscp for queue in plan.scheme_queues]
    for port, row in before["PORT"].items():
        results = [treatment(after, port, dscp) for dscp in own]
        numbers = [int(each["queue"]) for each in results]
        assert numbers == sorted(set(numbers), reverse=True)
        others = {treatment(after, port, dscp)["queue"] for dscp in range(64) if dscp not in own}
        assert not others & {str(number) for number in numbers}
        assert 7 not in numbers
        rest = treatment(before, port, 0)
        assert {each["group"] for each in results} == {rest["group"]}
        if rest["buffer"]:
            assert [each["buffer"] for each in results] == [rest["buffer"]] * len(results)
        assert plan.marking is not None
        threshold = str(plan.marking.threshold(int(row["speed"]) * 10**6).limit.stored(plan.frame))
        assert {each["marks"]["green_min_threshold"] for each in results} == {threshold}
        kinds = [each["scheduler"]["type"] for each in results]
        if plan.scheduler == "weighted":
            weights = [None if queue.weight is None else str(queue.weight) for queue in plan.scheme_queues]
            assert [each["scheduler"].get("weight") for each in results] == weights
            assert kinds == ["DWRR" if weight else "STRICT" for weight in weights]
            if plan.strict_queues:
                assert int(treatment(after, port, 48)["queue"]) > numbers[0]
            continue
        # All but the last are strict, below routing protocols; the last shares with DSCP 0.
        assert kinds[:-1] == ["STRICT"] * (len(kinds) - 1)
        expected = rest["scheduler"] or {"type": "DWRR", "weight": "1"}
        assert results[-1]["scheduler"] == expected
        if len(own) > 1:
            assert served(after, port, 48) == "STRICT"
            assert int(treatment(after, port, 48)["queue"]) > numbers[0]


def test_the_difference_of_a_configuration_that_is_written_down(plans: list[ExportPlan], tmp_path: Path) -> None:
    """By hand: free are 0, 2, 4 and 5; class 0 gets 5, class 1 gets 4. Maps lead there and to group 0 already."""
    files = exported(sonic_present.written(), plans[0], tmp_path)
    paths = {each["path"]: each for each in json.loads(files.files["patch.json"])}
    assert sorted(path for path in paths if "Ethernet4" not in path) == [
        "/BUFFER_QUEUE/Ethernet0|4",
        "/BUFFER_QUEUE/Ethernet0|5",
        "/DSCP_TO_TC_MAP/PRIOLANE_1",
        "/PORT_QOS_MAP/Ethernet0/dscp_to_tc_map",
        "/QUEUE/Ethernet0|4/scheduler",
        "/QUEUE/Ethernet0|4/wred_profile",
        "/QUEUE/Ethernet0|5/scheduler",
        "/QUEUE/Ethernet0|5/wred_profile",
        "/SCHEDULER/priolane.dwrr.14",
        "/SCHEDULER/priolane.strict",
        "/WRED_PROFILE/PRIOLANE_394680",
        "/WRED_PROFILE/PRIOLANE_98670",
    ]
    assert paths["/DSCP_TO_TC_MAP/PRIOLANE_1"]["value"]["40"] == "5"
    assert paths["/DSCP_TO_TC_MAP/PRIOLANE_1"]["value"]["26"] == "3"
    assert paths["/BUFFER_QUEUE/Ethernet0|5"]["value"] == {"profile": "egress_lossy_profile"}
    assert paths["/QUEUE/Ethernet0|5/scheduler"]["value"] == "priolane.strict"
    assert paths["/QUEUE/Ethernet4|4/wred_profile"]["value"] == "PRIOLANE_394680"
    notes = "\n".join(files.findings.notes)
    assert "sets: class 0 is DSCP 40, traffic class 5, queue 5" in notes
    assert "the last one too: priolane export nft FILE.toml --idle 1s --dscp 40,32" in notes
    assert "3: DSCP 26; 6: DSCP 48; 7: control packets" in notes
    assert "roll back: sudo config apply-patch rollback.json, or sudo config rollback before-priolane" in (
        files.findings.step_lines()
    )


def _with_class(config: Config, dscp: int, traffic_class: str) -> Config:
    config["DSCP_TO_TC_MAP"]["AZURE"][str(dscp)] = traffic_class
    return config


def test_a_code_point_of_others_is_refused_with_one_message_that_names_free_ones(
    plans: list[ExportPlan], tmp_path: Path
) -> None:
    with pytest.raises(InputError) as refused:
        exported(_with_class(sonic_present.written(), 40, "3"), plans[0], tmp_path)
    assert str(refused.value) == (
        "nos2 for sonic: code points are in use (DSCP 40: Ethernet0 has it in traffic class 3), where DSCP 0 is in "
        "another: --dscp 24,32, here and for hosts"
    )


def test_too_few_free_queues_are_refused_and_what_has_them_is_named(plans: list[ExportPlan], tmp_path: Path) -> None:
    config = sonic_present.written()
    for dscp, traffic_class in ((1, "0"), (2, "2"), (3, "4")):
        _with_class(config, dscp, traffic_class)
    with pytest.raises(InputError) as refused:
        exported(config, plans[0], tmp_path)
    assert str(refused.value) == (
        "nos2 for sonic: it takes 2 free queues below that of routing protocols, and 5 of 8 is; in use: 0 (DSCP 1), "
        "1 (DSCP 0, 4-25, 27-31, 33-39, 41-47, 49-63), 2 (DSCP 2), 3 (DSCP 26), 4 (DSCP 3), 6 (DSCP 48), 7 (control "
        "packets). These code points alone lead to a queue: DSCP 1 to queue 0, DSCP 2 to queue 2, DSCP 3 "
        "to queue 4. If nobody sends some (`show queue counters` of their queues stay), they can go where DSCP 0 goes: "
        "--free 1 writes that into the patch, too"
    )


def test_routing_protocols_are_not_put_below_strict_queues_unless_told(plans: list[ExportPlan], tmp_path: Path) -> None:
    config = sonic_present.written()
    config["QUEUE"]["Ethernet4|6"] = {"scheduler": "scheduler.0"}
    with pytest.raises(InputError, match="routing protocols \\(DSCP 48\\) are in queue 6, which is served by weight"):
        exported(config, plans[0], tmp_path)
    allowed = exported(config, plans[0], tmp_path, routing="best")
    assert any("wait for" in change.error for change in allowed.findings.changed)


def test_other_traffic_is_not_starved_by_the_last_class(plans: list[ExportPlan], tmp_path: Path) -> None:
    config = sonic_present.written()
    config["QUEUE"]["Ethernet0|1"] = {"scheduler": "scheduler.s"}
    with pytest.raises(InputError, match="DSCP 0 is in queue 1, which is strict"):
        exported(config, plans[0], tmp_path)


def test_a_class_whose_code_point_the_switch_rewrites_is_not_free(plans: list[ExportPlan], tmp_path: Path) -> None:
    config = sonic_present.written(tc_to_dscp_map="TUNNEL")
    config["TC_TO_DSCP_MAP"] = {"TUNNEL": {"5": "2"}}
    paths = {each["path"]: each for each in json.loads(exported(config, plans[0], tmp_path).files["patch.json"])}
    # Queue 5 is that of a class in use: 4 and 2 are taken in its place.
    assert paths["/DSCP_TO_TC_MAP/PRIOLANE_1"]["value"]["40"] == "4"


WRONG: dict[str, tuple[Any, str]] = {
    "no ports": ({"QUEUE": {}}, "there is no table PORT"),
    "a list": ([], "there is no table PORT"),
    "a port that is none": ({"PORT": {"a b": {"speed": "1000"}}}, "PORT|a b: this is not the name of a port"),
    "a speed that is none": ({"PORT": {"Ethernet0": {"speed": "fast"}}}, "`speed` is not a whole number"),
    "no speed": ({"PORT": {"Ethernet0": {}}}, "`speed` is not a whole number"),
    "a table that is none": (sonic_present.written() | {"QUEUE": []}, "QUEUE: this is not a table"),
    "a row that is none": (sonic_present.written() | {"QUEUE": {"Ethernet0|1": 3}}, "this is not a row of texts"),
    "a text that is no number": (
        sonic_present.written() | {"DSCP_TO_TC_MAP": {"AZURE": {"1": "x"}}},
        "DSCP_TO_TC_MAP|AZURE: 'x' is not a number",
    ),
    "a map that is missing": (sonic_present.written(dscp_to_tc_map="X"), "'X', which DSCP_TO_TC_MAP does not have"),
    "priorities that are none": (sonic_present.written(pfc_enable="3;4"), "numbers from 0 to 7, such as 3,4"),
    "a scheduler that is missing": (
        sonic_present.written() | {"QUEUE": {"Ethernet0|1": {"scheduler": "X"}}},
        "'X', which SCHEDULER does not have",
    ),
    "several ports in a key": (
        sonic_present.written() | {"QUEUE": {"Ethernet0,Ethernet4|1": {}}},
        "one key for each port",
    ),
    "a port that is missing": (
        sonic_present.written() | {"PORT_QOS_MAP": {"Ethernet0,Ethernet4": {}}},
        "PORT does not have this port",
    ),
    "a chassis": (sonic_present.written() | {"QUEUE": {"a|b|Ethernet0|1": {}}}, "of a chassis"),
    "an earlier export": (
        sonic_present.written() | {"SCHEDULER": {**sonic_present.SCHEDULERS, "priolane.strict": {"type": "STRICT"}}},
        "SCHEDULER|priolane.strict: this is of an earlier export; apply its rollback.json first",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_configuration_is_a_line_for_each_mistake_and_nothing_is_written(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, says = WRONG[name]
    assert _command(tmp_path, json.dumps(config)) == 2
    lines = capsys.readouterr().err.splitlines()
    # The two ports have the same mistake.
    assert len(lines) == (2 if "PORT_QOS_MAP|Ethernet4" in lines[-1] else 1), lines
    assert all(says in line for line in lines)
    assert not (tmp_path / "out").exists()


def _command(folder: Path, config: str, *more: str) -> int:
    path = folder / "config_db.json"
    path.write_text(config, encoding="utf-8")
    experiment = export_plans.write_experiment(folder)
    words = ["export", "sonic", str(experiment), "--scheme", "nos2", "--into", str(path), "-o", str(folder / "out")]
    return main([*words, "--set", 'scheme.nos2.port.ecn.per="queue"', *more])


def test_the_command_writes_the_difference_the_way_back_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _command(tmp_path, json.dumps(sonic_present.written()), "--dscp", "41,33") == 0
    shown = capsys.readouterr().out
    written = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir()}
    assert set(written) == {".priolane-files.json", "notes.txt", "patch.json", "rollback.json"}
    assert "load: sudo config apply-patch patch.json\n" in shown
    for step in ("load", "verify", "roll back"):
        assert f"\n{step}: " in written["notes.txt"]
    assert "keeps: queues of others" in written["notes.txt"]
    after = applied(sonic_present.written(), written["patch.json"])
    assert treatment(after, "Ethernet0", 41)["queue"] == "5"
    # What is loaded is an earlier export: it is not put on top of itself.
    assert _command(tmp_path, json.dumps(after)) == 2
    assert "of an earlier export" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--dscp", "41"], "1 stated; nos2 takes 2, one for each"),
        (["--dscp", "41,41"], "41 is there twice"),
        (["--dscp", "41,48"], "48 is not from 0 to 47"),
        (["--dscp", "a"], "write numbers with commas"),
        (["--dscp", "0,8"], "only the last queue may have it"),
        (["--dscp", "8,0"], "DSCP 0 is other traffic's"),
        (["--ports", "4x10Gbps"], "leave --ports out"),
    ],
)
def test_a_wrong_option_beside_into_is_one_message(
    more: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _command(tmp_path, json.dumps(sonic_present.written()), *more) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert says in errors


def test_a_switch_without_qos_gets_maps_and_queues(plans: list[ExportPlan], tmp_path: Path) -> None:
    result = exported(bare(), plans[0], tmp_path)
    after = applied(bare(), result.files["patch.json"])
    own = [queue.dscp for queue in plans[0].scheme_queues]
    for port in bare()["PORT"]:
        assert served(after, port, own[0]) == "STRICT"
        assert treatment(after, port, own[0])["queue"] != treatment(after, port, 0)["queue"]
    assert result.findings.coverage.ports == 3
    assert canonical(applied(after, result.files["rollback.json"])) == canonical(bare())
