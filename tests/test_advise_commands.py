"""The commands that an answer ends with: each is an export that works, and together they are all that it takes."""

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sonic_present
from advise_files import FABRIC, write_fabric, write_flows, write_recorded
from priolane import cli
from priolane._core import InputError
from priolane.advice.candidate import Candidate, strict
from priolane.advice.candidates import simplest
from priolane.advice.changes import today
from priolane.advice.commands import ExportCommand, commands
from priolane.advice.fabric import read_fabric
from priolane.advice.flow_list import GROUP, read_flows
from priolane.advice.trials import FLOWS, Experiment
from priolane.advice.windows import Windows

SENT = {"kind": "bytes_sent", "levels": 2, "thresholds": ["20kB"]}
LADDER = {"assign": SENT, "port": strict(2)}
DCTCP = '[today]\nscheme = "dctcp"\n'


def _commands(
    folder: Path,
    rows: dict[str, Any],
    text: str = FABRIC,
    switch: Path | None = None,
    groups: tuple[str, ...] = (GROUP,),
) -> tuple[ExportCommand, ...]:
    fabric = read_fabric(write_fabric(folder, text + DCTCP), queues=8)
    flows = read_flows(write_recorded(folder))
    flows = replace(flows, groups=groups, group_of=np.arange(len(flows)) % len(groups))
    flows.write(folder / FLOWS)
    queues = int(rows.get("port", {}).get("queues", 1))
    advised = Candidate("chosen", "", "", {"base": "dctcp", "host": {"kind": "round_robin"}, **rows}, queues)
    experiment = Experiment(
        folder / "experiment.toml", "E", fabric, flows, Windows.over(flows, 6), simplest(fabric), {"chosen": advised}
    )
    experiment.write()
    return commands(experiment, today(fabric), advised, switch)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (LADDER, ["sonic", "nft --idle 1s"]),
        ({**LADDER, "host": {**SENT, "kind": "mlfq"}}, ["sonic", "nft --idle 1s", "tc"]),
        ({"assign": {"kind": "size", "thresholds": ["20kB"]}, "port": strict(2)}, ["sonic", "nft", "hosts"]),
        ({"transport": {"min_rto": "1ms"}}, ["sysctl --prefix 10.0.0.0/8,fd00::/8"]),
        ({"transport": {"init_window": "40pkt"}}, ["sysctl --prefix 10.0.0.0/8,fd00::/8"]),
        ({"base": "swift"}, ["hosts"]),
    ],
)
def test_every_step_has_its_export_and_each_command_works(
    tmp_path: Path, rows: dict[str, Any], expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    result = _commands(tmp_path, rows)
    assert [command.target for command in result] == [target.split(" ")[0] for target in expected]
    for export, words in zip(result, expected, strict=True):
        assert export.command is not None
        typed = shlex.split(export.command)
        assert typed[:3] == ["priolane", "export", export.target]
        assert set(words.split(" ")) <= set(typed)
        assert cli.main(typed[1:]) == 0
        assert (tmp_path / f"export-{export.target}" / "notes.txt").exists()
    capsys.readouterr()


def test_each_tenant_has_marks_of_its_own_where_it_begins_in_a_class_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {"assign": {**SENT, "first": {"web": 0, "batch": 1}}, "port": strict(3)}
    made = _commands(tmp_path, rows, groups=("web", "batch"))
    assert [export.target for export in made] == ["sonic", "nft", "nft"]
    for export, group in zip(made[1:], ("web", "batch"), strict=True):
        assert export.command is not None
        assert f"of `{group}` alone" in export.says
        assert cli.main(shlex.split(export.command)[1:]) == 0
        text = (tmp_path / f"export-nft-{group}" / "mark.nft").read_text(encoding="utf-8")
        assert f"table inet priolane_{group}" in text
    capsys.readouterr()


def test_beside_a_present_configuration_only_what_differs_is_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    present = tmp_path / "config_db.json"
    present.write_text(json.dumps(sonic_present.written()), encoding="utf-8")
    sonic = FABRIC.replace("queues = 3", 'queues = 3\nsystem = "sonic"')
    (first, hosts, *_) = _commands(tmp_path, LADDER, sonic, present)
    assert first.command is not None
    assert hosts.command is not None
    assert "--idle 1s --dscp 40,32 " in hosts.command
    typed = shlex.split(first.command)
    assert typed[typed.index("--into") + 1] == str(present)
    assert cli.main(typed[1:]) == 0
    assert (tmp_path / "export-sonic" / "patch.json").exists()
    capsys.readouterr()
    # All code points are in use: the reason takes the place of the command.
    full = sonic_present.written()
    full["DSCP_TO_TC_MAP"]["AZURE"] |= {str(8 * number): str(number) for number in range(8)}
    present.write_text(json.dumps(full), encoding="utf-8")
    (first, *_) = _commands(tmp_path, LADDER, sonic, present)
    assert first.command is None
    assert "code points are in use" in first.says


def test_the_systems_that_take_the_queues_are_named(tmp_path: Path) -> None:
    (first, *_) = _commands(tmp_path, LADDER)
    assert first.says.endswith("; eos, nxos, dcb, tc can have it, too")
    # Eight queues and one for routing protocols are more than any switch has, but not more than Linux.
    ladder = {**SENT, "levels": 8, "thresholds": [f"{nth}0kB" for nth in range(1, 8)]}
    (eight, *_) = _commands(tmp_path, {"assign": ladder, "port": strict(8)})
    assert eight.target == "tc"


def test_what_a_system_refuses_has_its_reason_in_place_of_a_command(tmp_path: Path) -> None:
    (first, *_) = _commands(tmp_path, LADDER, FABRIC.replace("queues = 3", 'queues = 3\nsystem = "junos"'))
    assert (first.target, first.command) == ("junos", None)
    assert "Junos has one above all the rest" in first.says


def test_a_log_is_sent_to_import_by_its_name(tmp_path: Path) -> None:
    head = "#separator \\x09\n#fields\tts\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tduration\torig_bytes"
    log = tmp_path / "conn.log"
    log.write_text(f"{head}\tresp_bytes\n1.0\t10.0.0.1\t1\t10.0.0.2\t2\ttcp\t0.1\t1000\t2000\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"format zeek: priolane import zeek {log} -o flows\.csv, then give flows"):
        read_flows(log)
    capture = tmp_path / "a.pcap"
    capture.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    with pytest.raises(InputError, match=r"the file is a packet capture\. Run `zeek -C -r FILE`"):
        read_flows(capture)
    # The import wrote nothing beside the files.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pcap", "conn.log"]
    other = write_flows(tmp_path, [(1, 2)], "begin,end")
    with pytest.raises(InputError, match="`priolane import auto` says of it: "):
        read_flows(other)
