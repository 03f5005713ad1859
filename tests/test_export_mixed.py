"""Strict queues before weighted ones in the files of every target."""

import json
import re
from pathlib import Path

import pytest

import export_plans
from priolane import _core
from priolane.export import configured
from priolane.export.deployment import Deployment
from priolane.export.plan import ExportPlan

# Three classes of Aequitas: the first strict, the others 4:1.
MIXED = (("scheme.%s.port.strict", "1"), ("scheme.%s.port.weights", "[4, 1]"))


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    return export_plans.write_experiment(tmp_path)


def mixed(experiment: Path, *sets: tuple[str, str]) -> ExportPlan:
    return export_plans.make(experiment, "aequitas", (export_plans.PER_QUEUE, *MIXED, *sets))


def test_a_plan_has_its_strict_queues_before_weighted_ones(experiment: Path) -> None:
    plan = mixed(experiment)
    assert [queue.weight for queue in plan.queues] == [None, 4, 1]
    assert (plan.scheduler, plan.unread) == ("weighted", ())


def test_sonic_has_both_kinds_and_they_come_back(experiment: Path, tmp_path: Path) -> None:
    plan = mixed(experiment)
    files = export_plans.run("sonic", plan, Deployment(memory=3_000_000)).files
    config = json.loads(files["leaf/config_db.json"])
    assert config["SCHEDULER"] == {
        "priolane.q2": {"type": "STRICT"},
        "priolane.q1": {"type": "DWRR", "weight": "4"},
        "priolane.q0": {"type": "DWRR", "weight": "1"},
        "priolane.q7": {"type": "STRICT"},
    }
    path = tmp_path / "config_db.json"
    config["PORT"] = {port: {"speed": "10000"} for port in config["PORT_QOS_MAP"]}
    path.write_text(json.dumps(config), encoding="utf-8")
    result = configured.read(path, tuple(queue.dscp for queue in plan.scheme_queues))
    assert result.port == {"kind": "wfq", "queues": 3, "strict": 1, "weights": [4, 1]}
    assert result.places == (0, 1, 2)


def test_tc_has_strict_bands_and_quanta(experiment: Path) -> None:
    text = export_plans.run("tc", mixed(experiment)).files["leaf/switch.sh"]
    # The band of routing protocols and class 0 are strict; 4:1 packets of 1514 B share the rest.
    assert "ets bands 4 strict 2 quanta 6056 1514 priomap 3 3 3" in text
    text = export_plans.run("tc", mixed(experiment), Deployment(qdisc="htb")).files["leaf/switch.sh"]
    classes = re.findall(r"classid 7072:([123]) htb rate (\S+) ceil \S+ prio (\d) .* quantum (\d+)", text)
    # Weighted classes have no guarantee of their share, which HTB would serve before the strict class.
    assert classes == [("1", "8000bit", "1", "1514"), ("2", "8000bit", "2", "6056"), ("3", "8000bit", "2", "1514")]


def test_eos_nxos_and_dcb_have_shares_behind_strict_queues(experiment: Path) -> None:
    plan = mixed(experiment)
    eos = export_plans.run("eos", plan).files["leaf/eos.cfg"]
    queues = re.findall(r"uc-tx-queue (\d)\n      (.*)\n(?:      (bandwidth.*)\n)?", eos)[:3]
    assert queues == [
        ("2", "priority strict", ""),
        ("1", "no priority", "bandwidth percent 80"),
        ("0", "no priority", "bandwidth percent 20"),
    ]
    nxos = export_plans.run("nxos", plan).files["leaf/nxos.cfg"]
    assert re.findall(r"class type queuing (\S+)\n    (.*)", nxos)[:4] == [
        ("c-out-8q-q7", "priority level 1"),
        ("c-out-8q-q6", "priority level 2"),
        ("c-out-8q-q5", "bandwidth remaining percent 80"),
        ("c-out-8q-q-default", "bandwidth remaining percent 20"),
    ]
    dcb = export_plans.run("dcb", plan).files["dcb.sh"]
    assert "tc-tsa all:strict 1:ets 0:ets tc-bw all:0 1:80 0:20\n" in dcb


def test_junos_has_one_strict_level_above_the_weighted_ones(experiment: Path) -> None:
    with pytest.raises(_core.InputError, match="3 strict levels, that of routing protocols counted"):
        export_plans.run("junos", mixed(experiment))
    port = '{ kind = "wfq", queues = 3, strict = 1, weights = [4, 1], buffer = { shared = "240pkt" } }'
    of = (("scheme.%s.port", port), ("scheme.%s.map", '{ class = "queue" }'))
    plan = export_plans.make(experiment, "newreno", of, routing="best")
    text = export_plans.run("junos", plan).files["leaf/junos.set"]
    assert text.count("priority strict-high") == 1
    assert "schedulers PRIOLANE-2 priority strict-high" in text
    assert "schedulers PRIOLANE-1 transmit-rate percent 80\n" in text
