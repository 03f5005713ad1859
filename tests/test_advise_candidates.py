"""The candidates of `priolane advise`: each can be run, and is made for the flows, the goals and the queues."""

import csv
import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from advise_files import EVERYTHING, FABRIC, write_fabric, write_flows, write_recorded
from priolane import _core
from priolane.advice import feasible
from priolane.advice.candidate import Candidate
from priolane.advice.candidates import candidates, references, simplest
from priolane.advice.fabric import Fabric, read_fabric
from priolane.advice.feasible import shipped
from priolane.advice.flow_list import FlowList, read_flows
from priolane.advice.training import Training
from priolane.advice.trials import Experiment
from priolane.advice.windows import Windows
from priolane.model.experiment import plan

STANDS_FOR = {"nos2": "nos2", "pias": "pias", "es8": "sent8_es"}
"""The candidate whose thresholds are solved: the one that is the scheme with its levels."""
SCHEMES = [entry["name"] for entry in json.loads(_core.catalogue())["schemes"]]


def _training(folder: Path, flows: FlowList) -> Training:
    path = folder / "training.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["start_ns", "src", "dst", "bytes"])
        columns = [flows.columns[name].astype(int).tolist() for name in ("start_ns", "src", "dst", "bytes")]
        writer.writerows(zip(*columns, strict=True))
    return Training(path, np.sort(flows.sizes), 0.5)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Fabric, FlowList, Training]:
    """Recorded flows with deadlines on 25G and 100G, and switches and hosts that have everything."""
    folder = tmp_path_factory.mktemp("recorded")
    text = FABRIC.replace("12MB", "64MB").replace("queues = 3", "queues = 16") + EVERYTHING
    draw = random.Random(1)  # noqa: S311 - flows, not secrets
    rows = [
        (nth * 1000, nth % 48, (nth + 7) % 48, round(draw.paretovariate(0.8) * 1500), nth * 1000 + 10**9)
        for nth in range(400)
    ]
    flows = read_flows(write_flows(folder, rows, "start_ns,src,dst,bytes,deadline_ns"))
    flows.write(folder / "flows")
    return read_fabric(write_fabric(folder, text)), flows, _training(folder, flows)


def _planned(path: Path, fabric: Fabric, flows: FlowList, choice: dict[str, Candidate]) -> set[str]:
    experiment = Experiment(path, path.stem, fabric, flows, Windows.over(flows, 5), simplest(fabric), choice)
    experiment.write()
    return {run.scheme for run in plan(path).runs}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_shipped_scheme_is_refused_for_want_of_a_number(
    recorded: tuple[Fabric, FlowList, Training], scheme: str
) -> None:
    fabric, flows, training = recorded
    rows = shipped()[scheme]
    queues = int(rows["port"].get("queues", 1))
    made = candidates(fabric, [feasible.Feasibility(scheme, (), queues, queues)], training)
    own = [
        candidate for candidate in made if candidate.name == STANDS_FOR.get(scheme) or candidate.rows["base"] == scheme
    ]
    assert own
    named = {candidate.name: candidate for candidate in own}
    planned = _planned(training.flows.parent / f"{scheme}.toml", fabric, flows, named)
    assert planned == {simplest(fabric).name, *named}


def test_tenants_deadlines_and_coflows_have_queues_of_their_own(tmp_path: Path) -> None:
    fabric = read_fabric(write_fabric(tmp_path, FABRIC + "[host]\nsizes_known = true\n"))
    flows = read_flows(write_recorded(tmp_path))
    training = _training(tmp_path, flows)
    schemes = [scheme for scheme in feasible.feasible(fabric, flows) if scheme]
    plain = {candidate.name for candidate in candidates(fabric, schemes, training)}
    # Of five tenants the goals name the third, then the first; three queues are free.
    known = replace(
        training,
        coflows=np.array([1e3, 2e3, 2e3, 3e3]),
        tenants=(2, 0, 1, 3, 4),
        groups=("a", "b", "c", "d", "e"),
        has_deadlines=True,
    )
    made = {candidate.name: candidate for candidate in candidates(fabric, schemes, known)}
    by_bytes = {"tenants3_opt", "tenants3_class"}
    new = {"deadlines", "tenants3", "tenants3_wfq1", "tenants3_wfq4", "coflow2", "coflow2_es", *by_bytes}
    # The same on NewReno, which runs today.
    assert made.keys() - plain == new | {f"newreno_{name}" for name in new if "wfq" not in name}
    assert made["tenants3"].rows["assign"] == {"kind": "group", "classes": [1, 2, 0, 2, 2]}
    assert made["tenants3_wfq4"].rows["port"]["weights"] == [16, 4, 1]
    # A flow begins in the queue of its tenant, and leaves it for the next where small flows end: classes 0 to 3.
    ladder = made["tenants3_class"].rows
    assert ladder["assign"] == {
        "kind": "bytes_sent",
        "levels": 2,
        "thresholds": ["100000B"],
        "first": {"c": 0, "a": 1, "b": 2, "d": 2, "e": 2},
    }
    assert ladder["map"] == {"class": [0, 1, 2, 2]}
    assert made["tenants3_opt"].rows["assign"]["thresholds"] == made["sent2_opt"].rows["assign"]["thresholds"]
    # Half of the coflows have at most 2 kB, and half of the 8 kB are sent by those of at most 2 kB.
    assert made["coflow2_es"].thresholds == made["coflow2"].thresholds == (2000,)
    # The list has no deadlines.
    able = {name: made[name] for name in new - {"deadlines", *by_bytes}}
    flows.write(tmp_path / "flows")
    assert _planned(tmp_path / "all.toml", fabric, flows, able) == {"dctcp", *able}


def test_ladders_need_queues_and_dscp_and_sizes_only_where_they_are_known(tmp_path: Path) -> None:
    flows = read_flows(write_recorded(tmp_path))
    training = _training(tmp_path, flows)

    def names(text: str) -> set[str]:
        fabric = read_fabric(write_fabric(tmp_path, text))
        schemes = [scheme for scheme in feasible.feasible(fabric, flows) if scheme]
        return {candidate.name for candidate in candidates(fabric, schemes, training)}

    able = names(FABRIC)
    assert {"sent2_class", "sent3_class", "sent2_opt", "sent2_opt_mlfq", "sent2_wfq4", "nos2"} <= able
    assert not any(name.startswith("size") for name in able)
    assert {"size2_class", "size3_class"} <= names(FABRIC + "[host]\nsizes_known = true\n")
    for without in (FABRIC + "[host]\ndscp = false\n", FABRIC.replace("queues = 3", "queues = 1")):
        assert names(without) == {"newreno", "cubic", "dctcp", "dctcp_k0_5", "dctcp_k2", "dctcp_iw3", "dctcp_iw40"}
    # Hosts that may not choose a congestion control run NewReno, whose packets are not marked.
    assert names(FABRIC + "[host]\ncongestion_control = false\ndscp = false\n") == {
        "cubic",
        "newreno",
        "newreno_iw3",
        "newreno_iw40",
    }


def test_ladders_are_cut_where_classes_of_goals_begin(tmp_path: Path) -> None:
    fabric = read_fabric(write_fabric(tmp_path, FABRIC + "[host]\nsizes_known = true\n"))
    flows = read_flows(write_recorded(tmp_path))
    made = {
        candidate.name: candidate
        for candidate in candidates(
            fabric, [scheme for scheme in feasible.feasible(fabric, flows) if scheme], _training(tmp_path, flows)
        )
    }
    # Small flows are below 100 kB, bulk flows above 1 MB, and three queues are free.
    assert made["size2_class"].thresholds == (100_000,)
    assert made["size3_class"].thresholds == made["sent3_class"].thresholds == (100_000, 1_000_000)
    assert made["sent3_class"].rows["port"] == {"kind": "strict", "queues": 3}


def test_sizes_part_bytes_evenly_and_thresholds_part_flows() -> None:
    training = Training(Path("none"), np.asarray([1.0, 1, 2, 4, 8, 16]), 0.5)
    # 32 bytes: flows up to 8 bytes have sent 16 of them.
    assert training.equal_bytes(2) == (8,)
    # What is not below the largest flow, or is there twice, parts nothing.
    assert training.cut([4, 4, 16, 40, 0]) == (4,)


def test_references_are_schemes_that_cannot_be_deployed(tmp_path: Path) -> None:
    fabric = read_fabric(write_fabric(tmp_path, FABRIC + EVERYTHING))
    schemes = feasible.feasible(fabric, read_flows(write_recorded(tmp_path)))
    assert [reference.name for reference in references(schemes)] == ["srpt_ranked"]
    assert not {scheme.scheme for scheme in schemes if scheme} & {"srpt_ranked"}
