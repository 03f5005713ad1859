"""`priolane export sonic --into`: what queues of others lose, and room on a switch with SONiC's stock maps."""

import json
from pathlib import Path
from typing import Any

import pytest

import export_plans
import sonic_present
from priolane._core import InputError
from priolane.cli import main
from priolane.export import code_points
from priolane.export.plan import ExportPlan
from sonic_into import applied, bare, canonical, exported, treatment
from sonic_present import Config


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> list[ExportPlan]:
    """Two strict queues."""
    experiment = export_plans.write_experiment(tmp_path_factory.mktemp("plans"))
    plan = export_plans.make(experiment, "nos2", (export_plans.PER_QUEUE,))
    return [code_points.with_points(plan, code_points.beside_others(plan))]


def _with_voice(name: str = "AZ") -> Config:
    """Voice is strict in queue 4, storage has the weight of DSCP 0, and routing protocols are strict in queue 6."""
    return bare(1) | {
        "DSCP_TO_TC_MAP": {name: {str(dscp): {46: "5", 26: "3", 48: "6"}.get(dscp, "0") for dscp in range(64)}},
        "TC_TO_QUEUE_MAP": {name: {str(number): str(4 if number == 5 else number) for number in range(8)}},
        "SCHEDULER": {"strict": {"type": "STRICT"}, "w20": {"type": "DWRR", "weight": "20"}},
        "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": name, "tc_to_queue_map": name}},
        "QUEUE": {
            "Ethernet0|0": {"scheduler": "w20"},
            "Ethernet0|3": {"scheduler": "w20"},
            "Ethernet0|4": {"scheduler": "strict"},
            "Ethernet0|6": {"scheduler": "strict"},
        },
    }


def test_what_others_lose_is_listed(plans: list[ExportPlan], tmp_path: Path) -> None:
    changed = [str(change) for change in exported(_with_voice(), plans[0], tmp_path).findings.changed]
    # Queue 5 is free, and above voice in queue 4: a strict class there goes before it.
    (before,) = [line for line in changed if "goes before" in line]
    assert "strict in queue 5: it goes before all that queues 0 (" in before
    assert "3 (DSCP 26), 4 (DSCP 46), 7 (control packets) hold" in before
    assert any(
        "queue 3 (DSCP 26) keeps its weight" in line and "falls from 48.8 % to 32.8 %" in line for line in changed
    )


def test_a_name_with_a_line_break_stays_on_its_line(plans: list[ExportPlan], tmp_path: Path) -> None:
    result = exported(_with_voice("AZ\nload: sudo reboot"), plans[0], tmp_path).findings
    assert all(len(line.splitlines()) == 1 for line in [*result.lines(), *result.step_lines()])
    assert any("AZ\\nload: sudo reboot" in line for line in result.lines())


def _served_before(config: Config, port: str, number: int) -> set[int]:
    """The queues of a port that wait for a strict one, by SAI: strict ones go first, the highest number among them, and
    then those with weights."""

    def is_strict(other: int) -> bool:
        row = config["QUEUE"].get(f"{port}|{other}", {})
        return bool(config["SCHEDULER"].get(row.get("scheduler", ""), {}).get("type") == "STRICT")

    return {other for other in range(8) if other != number and (not is_strict(other) or other < number)}


def _with_routing(config: Config, kind: str) -> Config:
    config["SCHEDULER"]["routing"] = {"type": kind, **({} if kind == "STRICT" else {"weight": "5"})}
    for port in config["PORT"]:
        config["QUEUE"][f"{port}|6"] = {"scheduler": "routing"}
    return config


def _free(config: Config, *points: int) -> Config:
    for dscp in points:
        config["DSCP_TO_TC_MAP"]["AZURE"][str(dscp)] = "1"
    return config


@pytest.mark.parametrize("freed", [(8, 5), (8, 46), (5, 46)])
@pytest.mark.parametrize("kind", ["STRICT", "DWRR"])
def test_a_strict_queue_goes_before_all_with_weights_whatever_their_numbers(
    freed: tuple[int, int], kind: str, plans: list[ExportPlan], tmp_path: Path
) -> None:
    config = _free(_with_routing(sonic_present.stock(), kind), *freed)
    result = exported(config, plans[0], tmp_path, routing="own" if kind == "STRICT" else "best").findings
    (before,) = [str(change) for change in result.changed if "goes before" in str(change)]
    number = int(before.partition("strict in queue ")[2].partition(":")[0])
    last = max(set(range(8)) & {0, 2, 5} - {number} - {{8: 0, 5: 2, 46: 5}[p] for p in (5, 8, 46) if p not in freed})
    expected = _served_before(config, "Ethernet0", number) - {last}
    named = {int(text) for text in _queues_in(before.partition("goes before")[2])}
    assert named == expected
    waits = [str(change) for change in result.changed if "routing protocols" in str(change)]
    assert waits == (
        []
        if kind == "STRICT"
        else ["routing protocols (DSCP 48) stay in queue 6: they wait for the scheme's strict queues"]
    )


def _queues_in(text: str) -> list[str]:
    """The numbers in front of brackets."""
    return [part.split()[-1] for part in text.split(" (")[:-1]]


def test_no_part_by_weight_falls_to_itself(plans: list[ExportPlan], tmp_path: Path) -> None:
    """By hand: control packets have weight 1 of 1 + 2 x 15 + 14 + 2 x 14 = 73 and then of 87, voice 14 of both."""
    config = _free(_with_routing(sonic_present.stock(), "STRICT"), 5, 8)
    changed = [str(change) for change in exported(config, plans[0], tmp_path).findings.changed]
    parts = [line for line in changed if "part of what strict queues leave" in line]
    # Queues 1, 3, 4, 5, 7 have weights: 14 + 15 + 15 + 14 + 1 = 59, and the last class adds 14.
    assert [line.partition("falls from ")[2] for line in parts] == [
        "25.4 % to 20.5 %, if all queues are busy",
        "25.4 % to 20.5 %, if all queues are busy",
        "23.7 % to 19.2 %, if all queues are busy",
        "1.69 % to 1.37 %, if all queues are busy",
    ]


def test_the_stock_maps_are_refused_with_the_code_points_that_can_be_freed(
    plans: list[ExportPlan], tmp_path: Path
) -> None:
    with pytest.raises(InputError) as refused:
        exported(sonic_present.stock(), plans[0], tmp_path)
    assert "DSCP 8 to queue 0, DSCP 5 to queue 2, DSCP 46 to queue 5" in str(refused.value)
    assert "--free 5,8 writes that into the patch" in str(refused.value)


def test_freed_code_points_go_where_dscp_0_goes_and_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = _with_routing(sonic_present.stock(), "STRICT")
    assert _command(tmp_path, config, "--free", "5,8") == 0
    shown = capsys.readouterr().out
    patch, back = ((tmp_path / "out" / name).read_text(encoding="utf-8") for name in ("patch.json", "rollback.json"))
    after = applied(config, patch)
    for port in config["PORT"]:
        rest = treatment(config, port, 0)
        assert [treatment(after, port, dscp) for dscp in (0, 5, 8)] == [rest] * 3
        assert [treatment(after, port, dscp)["queue"] for dscp in (40, 32)] == ["2", "0"]
        for dscp in (3, 4, 46, 48):
            assert treatment(after, port, dscp) == treatment(config, port, dscp)
    assert canonical(applied(after, back)) == canonical(config)
    assert "UC2 (class 0), UC0 (class 1) must grow" in shown
    # The line that is printed for hosts marks the code points of the switch.
    (line,) = [line for line in shown.splitlines() if "priolane export nft" in line]
    words = line.partition("too: ")[2]
    assert words.endswith("--idle 1s --dscp 40,32")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--free", "5,x"], "write numbers with commas"),
        (["--free", "0"], "0 is not from 1 to 47"),
        (["--free", "48"], "48 is not from 1 to 47"),
        (["--free", "5,5"], "5 is there twice"),
        (["--free", "5,8,40"], "DSCP 40 leads to a queue of the scheme"),
    ],
)
def test_a_wrong_list_of_code_points_to_free_is_one_message(
    more: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _command(tmp_path, _with_routing(sonic_present.stock(), "STRICT"), *more) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert says in errors


def test_a_scheme_that_is_unknown_is_named_by_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    experiment = export_plans.write_experiment(tmp_path)
    assert main(["export", "sonic", str(experiment), "--scheme", "nos"]) == 2
    assert capsys.readouterr().err.startswith('priolane: error: --scheme: unknown scheme "nos". Did you mean "nos2"?')


def _command(folder: Path, config: Any, *more: str) -> int:
    path = folder / "config_db.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    experiment = export_plans.write_experiment(folder)
    words = ["export", "sonic", str(experiment), "--scheme", "nos2", "--into", str(path), "-o", str(folder / "out")]
    return main([*words, "--set", 'scheme.nos2.port.ecn.per="queue"', *more])
