"""SONiC: what config_db.json says, its way to the YANG models and back, and 25 wrong ones that the checker rejects."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import export_plans
import sonic_yang
from priolane._core import InputError
from priolane.export.deployment import Deployment
from priolane.export.sonic_check import TABLES, Device, check

Config = dict[str, dict[str, dict[str, str]]]

LOSSLESS = ("scheme.d2tcp.port.pfc", '{ classes = [0], xoff = "1/4", headroom = "charged" }')
SITE = Deployment(memory=3_000_000, cable="40m", headroom=export_plans.HEADROOM)


def config_of(path: Path, scheme: str, *sets: tuple[str, str], deployment: Deployment = SITE) -> Config:
    """The config_db.json of the leaf: Ethernet0 and 1 to hosts (10G), 2 and 3 to spines (40G)."""
    plan = export_plans.make(path, scheme, sets)
    config: Config = json.loads(export_plans.run("sonic", plan, deployment).files["leaf/config_db.json"])
    return config


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    return export_plans.write_experiment(tmp_path)


def test_classes_go_to_queues_the_best_highest_and_routing_protocols_above(experiment: Path) -> None:
    config = config_of(experiment, "nos2", export_plans.PER_QUEUE)
    dscp = config["DSCP_TO_TC_MAP"]["PRIOLANE"]
    assert len(dscp) == 64
    # Class 0 is DSCP 40 and queue 1; class 1 is everything else and queue 0; CS6, CS7 and what is near are queue 7.
    assert {point: level for point, level in dscp.items() if level != "0"} == {"40": "1"} | {
        str(point): "7" for point in range(48, 64)
    }
    assert config["TC_TO_QUEUE_MAP"]["PRIOLANE"] == {"0": "0", "1": "1", "7": "7"}
    assert {name: row["type"] for name, row in config["SCHEDULER"].items()} == {
        "priolane.q0": "STRICT",
        "priolane.q1": "STRICT",
        "priolane.q7": "STRICT",
    }
    assert list(config["PORT_QOS_MAP"]) == ["Ethernet0", "Ethernet1", "Ethernet2", "Ethernet3"]


def test_thresholds_are_bytes_as_a_switch_stores_packets(experiment: Path) -> None:
    config = config_of(experiment, "nos2", export_plans.PER_QUEUE)
    # 65 packets of 1518 B at 10G, 260 at 40G: 98,670 B and 394,680 B.
    assert config["QUEUE"]["Ethernet0|1"]["wred_profile"] == "PRIOLANE_98670"
    assert config["QUEUE"]["Ethernet3|0"]["wred_profile"] == "PRIOLANE_394680"
    assert "wred_profile" not in config["QUEUE"]["Ethernet0|7"]
    profile = config["WRED_PROFILE"]["PRIOLANE_98670"]
    assert profile["ecn"] == "ecn_all"
    for colour in ("green", "yellow", "red"):
        assert profile[f"wred_{colour}_enable"] == "true"
        assert profile[f"{colour}_min_threshold"] == profile[f"{colour}_max_threshold"] == "98670"


def test_weights_are_those_of_the_scheme(experiment: Path) -> None:
    config = config_of(experiment, "aequitas", export_plans.PER_QUEUE)
    weights = {name: row.get("weight") for name, row in config["SCHEDULER"].items()}
    assert weights == {"priolane.q2": "8", "priolane.q1": "4", "priolane.q0": "1", "priolane.q7": None}


def test_weights_above_100_with_exact_ones_in_the_same_ratios_are_written_as_those(experiment: Path) -> None:
    plan = export_plans.make(
        experiment, "aequitas", (export_plans.PER_QUEUE, ("scheme.%s.port.weights", "[200, 100, 50]"))
    )
    result = export_plans.run("sonic", plan, SITE)
    config: Config = json.loads(result.files["leaf/config_db.json"])
    weights = {name: row.get("weight") for name, row in config["SCHEDULER"].items()}
    assert weights == {"priolane.q2": "4", "priolane.q1": "2", "priolane.q0": "1", "priolane.q7": None}
    assert not [change for change in result.findings.changed if "weights" in str(change)]


def test_a_dynamic_buffer_is_pools_and_a_power_of_two(experiment: Path) -> None:
    config = config_of(experiment, "prioplus_swift")
    assert config["BUFFER_POOL"]["egress_lossy_pool"] == {"type": "egress", "mode": "dynamic", "size": "2640000"}
    # alpha = 1/4 = 2^-2
    assert config["BUFFER_PROFILE"]["egress_lossy_profile"]["dynamic_th"] == "-2"
    assert config["BUFFER_QUEUE"]["Ethernet2|7"] == {"profile": "egress_lossy_profile"}


def test_an_alpha_that_is_no_power_of_two_is_rounded_aloud(experiment: Path) -> None:
    plan = export_plans.make(experiment, "swift", (("scheme.%s.port.buffer.alpha", "0.3"),))
    result = export_plans.run("sonic", plan).findings
    # 0.3 lies between 1/4 and 1/2; 1/4 is 0.25 / 0.3 - 1 = -16.7 % off, 1/2 would be +66.7 %.
    assert [str(change) for change in result.changed] == [
        "alpha 3/10 is 1/4: switches have powers of two: off by -16.7 %"
    ]


def test_lossless_classes_have_headroom_and_other_traffic_a_queue_of_its_own(experiment: Path) -> None:
    config = config_of(experiment, "d2tcp", LOSSLESS)
    assert config["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == "1"
    assert config["TC_TO_PRIORITY_GROUP_MAP"]["PRIOLANE"] == {"0": "0", "1": "1", "7": "0"}
    assert config["MAP_PFC_PRIORITY_TO_QUEUE"]["PRIOLANE"] == {"1": "1"}
    assert config["BUFFER_PROFILE"]["pg_lossless_40000_40m_profile"] == {
        "pool": "ingress_lossless_pool",
        "size": "55000",
        "xon": "19000",
        "xoff": "36000",
        "dynamic_th": "-2",
        "xon_offset": "2000",
    }
    # Two ports of 31,000 B and two of 36,000 B are taken out of 2.64 MB.
    pool = config["BUFFER_POOL"]["ingress_lossless_pool"]
    assert (pool["xoff"], pool["size"]) == ("134000", "2506000")
    assert config["BUFFER_PG"]["Ethernet3|1"] == {"profile": "pg_lossless_40000_40m_profile"}
    assert config["DSCP_TO_TC_MAP"]["PRIOLANE"]["0"] == "0"
    assert config["DSCP_TO_TC_MAP"]["PRIOLANE"]["40"] == "1"


def test_pause_thresholds_in_bytes_are_static(experiment: Path) -> None:
    sets = ("scheme.d2tcp.port.pfc", '{ classes = [0], xoff = "100kB", headroom = "charged" }')
    profile = config_of(experiment, "d2tcp", sets)["BUFFER_PROFILE"]["pg_lossless_10000_40m_profile"]
    assert profile["static_th"] == "100000"
    assert "dynamic_th" not in profile


def test_pools_are_compared_with_the_memory_of_the_switch(experiment: Path) -> None:
    plan = export_plans.make(experiment, "swift")
    with pytest.raises(InputError, match=r"ingress pools have 2640000 B, the switch 1000000 B"):
        export_plans.run("sonic", plan, Deployment(memory=1_000_000))


@pytest.mark.parametrize(
    ("scheme", "sets"),
    [
        ("nos2", [export_plans.PER_QUEUE]),
        ("aequitas", [export_plans.PER_QUEUE]),
        ("prioplus_swift", []),
        ("timely", []),
        ("d2tcp", [LOSSLESS]),
    ],
)
def test_configurations_survive_the_way_to_the_yang_models_and_back(
    scheme: str, sets: list[tuple[str, str]], experiment: Path, tmp_path: Path
) -> None:
    config = config_of(experiment, scheme, *sets, deployment=Deployment(cable="40m", headroom=export_plans.HEADROOM))
    assert sonic_yang.from_yang(json.loads(json.dumps(sonic_yang.to_yang(config)))) == config
    assert check(config, Device(config["PORT_QOS_MAP"])) == []
    if sonic_yang.unavailable() is None:
        assert sonic_yang.yanglint(with_ports(config), tmp_path) == ""


def with_ports(config: Config) -> Config:
    """The same beside ports, whose lanes are of no switch."""
    ports = {
        name: {"alias": f"a{number}", "lanes": str(number + 1), "speed": "40000", "index": str(number + 1)}
        for number, name in enumerate(config["PORT_QOS_MAP"])
    }
    return config | {"PORT": ports}


@pytest.fixture
def right(experiment: Path) -> Config:
    """A configuration with marks, buffers and lossless classes; the traffic class 1 is lossless."""
    return config_of(experiment, "d2tcp", LOSSLESS)


MARKS = "PRIOLANE_98670"
Change = Callable[[Config], Any]


def put(table: str, row: str, **fields: str | None) -> Change:
    """Sets fields of a row, which is made if it is not there; `None` takes a field away."""

    def change(config: Config) -> None:
        of = config[table].setdefault(row, {})
        of |= {key: text for key, text in fields.items() if text is not None}
        for key in [key for key, text in fields.items() if text is None]:
            del of[key]

    return change


def rename(table: str, old: str, new: str) -> Change:
    def change(config: Config) -> None:
        config[table][new] = config[table].pop(old)

    return change


def at(table: str, **pairs: str) -> Change:
    """Sets entries of a map; a leading `n` of the key is left out."""
    return lambda config: config[table]["PRIOLANE"].update({key.removeprefix("n"): to for key, to in pairs.items()})


WRONG: dict[str, tuple[Change, str]] = {
    "green_min above green_max": (put("WRED_PROFILE", MARKS, green_min_threshold="98671"), "is above green_max"),
    "drop probability 101": (put("WRED_PROFILE", MARKS, red_drop_probability="101"), "from 0 to 100"),
    "ecn_on": (put("WRED_PROFILE", MARKS, ecn="ecn_on"), "one of ecn_none"),
    "threshold above 2^31": (
        put("WRED_PROFILE", MARKS, green_min_threshold="3000000000", green_max_threshold="3000000000"),
        "orchagent cannot read it",
    ),
    "no wred_*_enable": (
        put("WRED_PROFILE", MARKS, wred_green_enable=None, wred_yellow_enable=None, wred_red_enable=None),
        "wred_green_enable or its threshold is missing",
    ),
    "weight 0": (put("SCHEDULER", "priolane.q0", type="DWRR", weight="0"), "from 1 to 100"),
    "weight 101": (put("SCHEDULER", "priolane.q0", type="DWRR", weight="101"), "from 1 to 100"),
    "a priority of a scheduler": (put("SCHEDULER", "priolane.q0", priority="3"), "is no field that SONiC takes"),
    "STRICT with a weight": (put("SCHEDULER", "priolane.q0", weight="3"), "a strict queue has no weight"),
    "pir without cir": (put("SCHEDULER", "priolane.q0", pir="1000000"), "pir takes a cir"),
    "dynamic_th 8": (put("BUFFER_PROFILE", "egress_lossy_profile", dynamic_th="8"), "from -8 to 7"),
    "dynamic_th and static_th": (
        put("BUFFER_PROFILE", "egress_lossy_profile", static_th="1000"),
        "one of dynamic_th and static_th",
    ),
    "a port that is not there": (rename("QUEUE", "Ethernet0|0", "Ethernet999|0"), "no port 'Ethernet999'"),
    "queue 12": (rename("QUEUE", "Ethernet0|0", "Ethernet0|12"), "'12' is no queue"),
    "queue abc": (rename("QUEUE", "Ethernet0|0", "Ethernet0|abc"), "'abc' is no queue"),
    "a wred profile that is not there": (
        put("QUEUE", "Ethernet0|0", wred_profile="NOPE"),
        "which WRED_PROFILE does not have",
    ),
    "DSCP 64": (at("DSCP_TO_TC_MAP", n64="0"), "from 0 to 63"),
    "traffic class 16": (at("DSCP_TO_TC_MAP", n40="16"), "from 0 to 15"),
    "a traffic class without a queue": (at("DSCP_TO_TC_MAP", n40="9"), "traffic class 9 has no queue"),
    "pfc_enable 3,8": (put("PORT_QOS_MAP", "Ethernet0", pfc_enable="3,8"), "numbers from 0 to 7"),
    "PFC on a lossy priority group": (put("PORT_QOS_MAP", "Ethernet0", pfc_enable="0"), "priority group 0 is lossy"),
    "two ports in a key": (rename("QUEUE", "Ethernet0|0", "Ethernet0,Ethernet1|0"), "one key for each port"),
    "a pool that is not there": (put("BUFFER_PROFILE", "egress_lossy_profile", pool="x"), "BUFFER_POOL does not have"),
    "pools above the memory": (put("BUFFER_POOL", "ingress_lossless_pool", size="3000000"), "the switch 3000000 B"),
    "xon above xoff": (put("BUFFER_PROFILE", "pg_lossless_10000_40m_profile", xon="31001"), "xon is above xoff"),
}


def test_there_are_25_wrong_ones_and_the_right_one_passes(right: Config) -> None:
    assert len(WRONG) == 25
    assert check(right, Device(right["PORT_QOS_MAP"], memory=3_000_000)) == []


@pytest.mark.parametrize("name", WRONG)
def test_wrong_configurations_are_rejected(name: str, right: Config) -> None:
    change, says = WRONG[name]
    wrong = copy.deepcopy(right)
    change(wrong)
    assert wrong != right
    faults = check(wrong, Device(right["PORT_QOS_MAP"], memory=3_000_000))
    assert faults
    assert any(says in fault for fault in faults), faults


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (put("BUFFER_POOL", "new", type="egress", mode="static"), "size has to be there"),
        (put("SCHEDULER", "priolane.q0", type=None), "type has to be there"),
        (put("WRED_PROFILE", MARKS, green_max_threshold=None), "one of its two thresholds"),
        (put("BUFFER_POOL", "egress_lossy_pool", size="4000000"), "egress_lossy_pool: it has 4000000 B"),
        (at("TC_TO_QUEUE_MAP", n1="9"), "there is no queue 9"),
        (lambda config: config.update(NO_TABLE={}), "NO_TABLE: no such table"),
        (rename("BUFFER_PG", "Ethernet0|0", "Ethernet0|3-1"), "'3-1' is no group"),
    ],
)
def test_so_are_some_more(change: Change, says: str, right: Config) -> None:
    change(right)
    assert any(says in fault for fault in check(right, Device(_ports(right), 3_000_000)))


def _ports(config: Config) -> set[str]:
    return {key.split("|")[0] for key in config["QUEUE"]}


def test_headroom_that_the_platform_states_is_not_judged(right: Config) -> None:
    put("BUFFER_PROFILE", "pg_lossless_10000_40m_profile", xon="40000")(right)
    assert check(right, Device(_ports(right), headroom={(40_000, 31_000)})) == []


def test_every_table_names_its_model() -> None:
    assert all(table.model.startswith("sonic-") for table in TABLES.values())
