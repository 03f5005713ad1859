"""`advise --switch config_db.json`: a configuration of a switch as the equipment and the ports of today."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import sonic_present
from advise_files import write_fabric
from priolane._core import InputError
from priolane.advice.changes import merged, today
from priolane.advice.fabric import Fabric, read_fabric

TOPOLOGY = """
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
host_link = { rate = "10Gbps", delay = "1us" }
fabric_link = { rate = "40Gbps", delay = "1us" }
"""


def read(tmp_path: Path, stated: str, config: Any = None) -> tuple[Fabric, list[str]]:
    """The fabric of a file with `stated` beside the configuration, and the lines that it tells."""
    switch = tmp_path / "config_db.json"
    lines: list[str] = []
    switch.write_text(json.dumps(sonic_present.written() if config is None else config), encoding="utf-8")
    return read_fabric(write_fabric(tmp_path, TOPOLOGY + stated), switch, tell=lines.append), lines


def test_a_configuration_is_the_equipment_and_today(tmp_path: Path) -> None:
    fabric, lines = read(tmp_path, '[today]\nscheme = "dcqcn"\ndscp = [26]\n')
    # 10,875,072 B of the pool and 4,194,112 B of headroom; 2^20 and 2^21 B of packets of 1518 B, on the line of 1538 B.
    assert fabric.experiment["switch"] == {"buffer": {"dynamic": "15069184B", "alpha": 8}}
    assert (fabric.system, fabric.queues) == ("sonic", 4)
    assert "pfc" in fabric.features
    assert fabric.marking["at"] == {"10Gbps": "1062391B", "40Gbps": "1062391B"}
    assert fabric.marking["full"] == {"10Gbps": "2124782B", "40Gbps": "2124782B"}
    port = merged(today(fabric).candidate.rows)["port"]
    assert (port["kind"], port["pfc"]["xoff"], port["pfc"]["classes"]) == ("fifo", "1/8", [0])
    assert any(line.startswith("not simulated of") and "yellow" in line for line in fabric.assumed)
    assert lines == []


def test_the_fabric_file_goes_first_and_a_contradiction_is_told(tmp_path: Path) -> None:
    stated = '[switch]\nqueues = 2\nbuffer = { dynamic = "9243812B", alpha = 8 }\n'
    fabric, lines = read(tmp_path, stated)
    assert fabric.queues == 2
    assert lines == [f"{tmp_path / 'config_db.json'}: switch.queues is 4, the fabric file's 2 is simulated"]


def test_a_scheme_that_takes_marks_is_refused_where_its_queue_has_none(tmp_path: Path) -> None:
    fabric, _ = read(tmp_path, '[today]\nscheme = "dctcp"\n')
    with pytest.raises(InputError, match="queues of DSCP 0 mark nothing"):
        today(fabric)
    today(read(tmp_path, '[today]\nscheme = "cubic"\n')[0])
    today(read(tmp_path, '[switch]\necn = "auto"\n[today]\nscheme = "dctcp"\n')[0])


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ("[0, 26]", "state today.dscp in that order"),
        ("[64]", r"\[64\] is no list of code points"),
        ("[0, 0]", "is no list of code points"),
        ('"0"', "is no list of code points"),
    ],
)
def test_code_points_that_no_scheme_can_have_are_mistakes(tmp_path: Path, points: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, f"[today]\ndscp = {points}\n")


def test_strict_and_weighted_queues_of_today_are_simulated(tmp_path: Path) -> None:
    stated = '[today]\nscheme = "aequitas"\ndscp = [48, 26, 0]\n[switch]\necn = "auto"\n'
    fabric, _ = read(tmp_path, stated)
    port = merged(today(fabric).candidate.rows)["port"]
    assert (port["kind"], port["queues"], port["strict"], port["weights"]) == ("wfq", 3, 1, [15, 14])


def test_code_points_take_a_configuration(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"key `today.dscp`: it takes `--switch config_db.json`"):
        read_fabric(write_fabric(tmp_path, TOPOLOGY + "[today]\ndscp = [0]\n"), queues=2)


def test_what_the_file_lacks_is_told_with_its_cure(tmp_path: Path) -> None:
    config = copy.deepcopy(sonic_present.written())
    del config["BUFFER_QUEUE"]
    with pytest.raises(InputError, match=r"key `switch.buffer` is missing"):
        read(tmp_path, "", config)
    _, lines = read(tmp_path, '[switch]\nbuffer = { dynamic = "12MB", alpha = 1 }\n', config)
    assert len(lines) == 1
    assert "missing: BUFFER_QUEUE has no profile for queue 1" in lines[0]
