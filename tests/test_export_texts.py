"""The texts of targets other than SONiC: numbers worked out by hand, code points counted."""

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import export_plans
from priolane import _core
from priolane._core import InputError
from priolane.export.deployment import Deployment
from priolane.export.plan import ROUTING_DSCP
from priolane.export.targets import TARGETS, write


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    return export_plans.write_experiment(tmp_path)


def test_eos_maps_every_code_point_that_is_not_the_systems_once(experiment: Path) -> None:
    plan = export_plans.make(experiment, "nos2", (export_plans.PER_QUEUE,))
    text = export_plans.run("eos", plan).files["leaf/eos.cfg"]
    mapped = re.findall(r"^qos map dscp (\d+) to traffic-class (\d)$", text, re.MULTILINE)
    assert sorted(int(dscp) for dscp, _ in mapped) == list(range(48))
    assert [dscp for dscp, level in mapped if level == "1"] == ["40"]
    assert text.count("minimum-threshold 98670 bytes maximum-threshold 98670 bytes") == 2
    assert text.count("minimum-threshold 394680 bytes") == 2
    assert "interface Ethernet4\n   service-profile PRIOLANE-40Gbps\n" in text


def test_nxos_has_strict_queues_highest_and_adjacent_and_kilobytes(experiment: Path) -> None:
    plan = export_plans.make(experiment, "nos2", (export_plans.PER_QUEUE,))
    exported_files = export_plans.run("nxos", plan)
    text = exported_files.files["leaf/nxos.cfg"]
    levels = re.findall(r"class type queuing (\S+)\n    (.*)", text)
    first = levels[: len(levels) // 2]
    assert first[:3] == [
        ("c-out-8q-q7", "priority level 1"),
        ("c-out-8q-q6", "priority level 2"),
        ("c-out-8q-q-default", "bandwidth remaining percent 100"),
    ]
    assert Counter(name for name, _ in first).most_common(1)[0][1] == 1
    # 98,670 B are 99 kbytes, 0.33 % more.
    assert "random-detect minimum-threshold 99 kbytes maximum-threshold 99 kbytes" in text
    assert "ECN threshold 98670 B is 99 kbytes: off by +0.33 %" in [str(c) for c in exported_files.findings.changed]


def test_junos_has_one_strict_queue_and_every_code_point_once(experiment: Path) -> None:
    plan = export_plans.make(experiment, "prioplus_swift", routing="best")
    text = export_plans.run("junos", plan).files["leaf/junos.set"]
    codes = re.findall(r"forwarding-class (\S+) loss-priority low code-points ([01]{6})", text)
    assert sorted(int(code, 2) for _, code in codes) == list(range(64))
    assert {int(code, 2) for name, code in codes if name == "PRIOLANE-1"} == {40, *ROUTING_DSCP}
    assert text.count("priority strict-high") == 1
    # alpha 1/4 is two steps below 7.
    assert text.count("buffer-dynamic-threshold 5\n") == 2


def test_tc_shares_a_port_by_exact_quanta_and_marks_by_the_port(experiment: Path) -> None:
    text = export_plans.run("tc", export_plans.make(experiment, "aequitas")).files["leaf/switch.sh"]
    # 8:4:1 packets of 1514 B below the strict band of routing protocols.
    assert "ets bands 4 strict 1 quanta 12112 6056 1514 priomap 3 3 3" in text
    assert text.index('root handle 7072: red limit "$(($4 * 4))"') < text.index("parent 7072:1 handle 2: ets")
    assert "ip_tos 0xa0/0xfc classid 2:2" in text
    # 65 packets of 1514 B; 512 KiB on the wire are 341 packets: 524288 x 1514 / 1538 = 516,107 B.
    assert "port swp1 10000000000 98410 516107 65\n" in text


def test_tc_by_htb_says_what_it_lacks(experiment: Path) -> None:
    plan = export_plans.make(experiment, "nos2")
    result = export_plans.run("tc", plan, Deployment(qdisc="htb")).findings
    assert "ECN: htb marks nothing (--qdisc ets does)" in result.not_expressed
    with pytest.raises(_core.InputError, match="8 queues and one for routing protocols need 9, a port has 8"):
        export_plans.run("tc", export_plans.make(experiment, "pias"), Deployment(qdisc="htb"))


def test_nft_demotes_by_ip_bytes_the_packet_included(experiment: Path) -> None:
    sets = (
        ("scheme.%s.assign.thresholds", '["1460kB"]'),
        ("scheme.%s.host.thresholds", '["1.46kB", "1.46kB"]'),
        ("scheme.%s.host.levels", "3"),
    )
    text = export_plans.run("nft", export_plans.make(experiment, "nos2", sets)).files["mark.nft"]
    # 1,460,000 B are 1,000 packets of 1500 B; the next one, counted, makes 1,501,500.
    assert "ct original bytes vmap { 0-1501499 : goto class0, 1501500-18446744073709551615 : goto class1 }" in text
    # The second of three levels holds no byte, and is left out.
    assert "ct reply bytes map { 0-2999 : 7072:1, 3000-18446744073709551615 : 7072:3 }" in text
    assert re.findall(r"chain class(\d) {\n    ip dscp set (\d+)", text) == [("0", "40"), ("1", "0")]


def test_nft_leaves_marks_of_applications_and_clears_others(experiment: Path) -> None:
    exported_files = export_plans.run("nft", export_plans.make(experiment, "aequitas"))
    assert "ip dscp { 40, 32, 48-63 } return" in exported_files.files["mark.nft"]
    assert exported_files.findings.not_expressed == ["admission by `aequitas`: it takes a library of applications"]


def test_sysctl_sets_every_key_of_the_transport_or_lists_it(experiment: Path) -> None:
    plan = export_plans.make(
        experiment, "dctcp", (("scheme.%s.transport.min_rto", '"1500us"'), ("scheme.%s.transport.g", "0.1"))
    )
    exported_files = export_plans.run("sysctl", plan)
    values = dict(line.split(" = ") for line in exported_files.files["sysctl.conf"].splitlines() if line[0] != "#")
    # Nothing that the Internet would feel: congestion control, timeouts and ECN are those of routes.
    assert set(values) == {"net.ipv4.tcp_rto_max_ms", "net.ipv4.tcp_sack"}
    routes = exported_files.files["routes.sh"]
    metrics = re.findall(r'^METRICS="(.*)"$', routes, re.MULTILINE)[0].split()
    assert metrics[:2] == ["congctl", "dctcp"]
    of = dict(zip(metrics[::2], metrics[1::2], strict=True))
    assert of == {"congctl": "dctcp", "rto_min": "2ms", "initcwnd": "10", "reordering": "3", "quickack": "1"}
    assert routes.endswith("\nprefix 10.0.0.0/8\nprefix fd00::/8\n")
    assert "min_rto 1500us: 2 ms: routes have whole milliseconds" in [str(c) for c in exported_files.findings.changed]
    # log2(10) = 3.3: g = 1/8 is the next power of two.
    assert "options tcp_dctcp dctcp_alpha_on_init=0 dctcp_shift_g=3\n" in exported_files.files["modprobe.conf"]
    assert "g 0.1: 1/8: Linux has powers of two" in [str(change) for change in exported_files.findings.changed]
    assert any(line.startswith("initial_rto 10ms") for line in exported_files.findings.not_expressed)


def test_dctcp_is_not_for_the_internet(experiment: Path) -> None:
    with pytest.raises(_core.InputError, match=r"are for the datacenter, not for the Internet: name its addresses"):
        export_plans.run("sysctl", export_plans.make(experiment, "dctcp"), Deployment())


def test_bytes_of_a_connection_that_lasts_are_warned_of(experiment: Path) -> None:
    plan = export_plans.make(experiment, "nos2")
    lasting = [str(change) for change in export_plans.run("nft", plan).findings.changed]
    assert any("is demoted for ever" in line and "--idle 1s lets it begin anew" in line for line in lasting)
    idle = [str(change) for change in export_plans.run("nft", plan, Deployment(idle=5)).findings.changed]
    assert any("begins anew after 5 s without a packet" in line for line in idle)
    # Applications mark aequitas's classes: no bytes are counted.
    marked = [
        str(change) for change in export_plans.run("nft", export_plans.make(experiment, "aequitas")).findings.changed
    ]
    assert not any("for ever" in line for line in marked)


TARGETS_WITH = {
    "sonic": "dctcp",
    "eos": "dctcp",
    "nxos": "dctcp",
    "junos": "swift",
    "tc": "dctcp",
    "nft": "pias",
    "dcb": "dctcp",
    "sysctl": "dctcp",
    "hosts": "dctcp",
}


def test_every_target_says_how_to_load_to_verify_and_to_go_back(experiment: Path, tmp_path: Path) -> None:
    assert TARGETS_WITH.keys() == TARGETS.keys()
    for target, scheme in TARGETS_WITH.items():
        out = tmp_path / target
        write(out, export_plans.run(target, export_plans.make(experiment, scheme)))
        lines = (out / "notes.txt").read_text(encoding="utf-8").splitlines()
        steps = [line.partition(": ")[0] for line in lines if line.startswith(("load: ", "verify: ", "roll back: "))]
        assert list(dict.fromkeys(steps)) == ["load", "verify", "roll back"], target


def test_each_target_has_a_directory_of_its_own(experiment: Path, tmp_path: Path) -> None:
    out = tmp_path / "one"
    names: set[str] = set()
    for target, scheme in TARGETS_WITH.items():
        made = export_plans.run(target, export_plans.make(experiment, scheme))
        own = {Path(name).name for name in made.files}
        # The names of a target are its own, and all that it writes.
        assert own <= TARGETS[target].names
        assert not own & names
        names |= own
    write(out, export_plans.run("nft", export_plans.make(experiment, "pias")))
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(InputError, match=r"this directory has the export for nft, whose notes\.txt this one would"):
        write(out, export_plans.run("tc", export_plans.make(experiment, "dctcp")))
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    # Another scheme for the same target takes the place of the first, and leaves none of its files behind.
    queues = tmp_path / "queues"
    write(queues, export_plans.run("tc", export_plans.make(experiment, "nos2")))
    assert any(queues.glob("host.sh"))
    write(queues, export_plans.run("tc", export_plans.make(experiment, "homa")))
    assert not any(queues.glob("host.sh"))


def test_what_counts_bytes_is_put_back_as_it_was(experiment: Path) -> None:
    steps = export_plans.run("nft", export_plans.make(experiment, "pias")).findings.steps
    key = "net.netfilter.nf_conntrack_acct"
    assert steps["load"][:2] == [f"test -e before.conf || sysctl {key} > before.conf", f"sysctl -w {key}=1"]
    assert steps["roll back"] == ["nft delete table inet priolane", "sysctl -p before.conf"]
    # Marks of applications count nothing.
    result = export_plans.run("nft", export_plans.make(experiment, "aequitas"))
    assert not any(key in line for lines in result.findings.steps.values() for line in lines)
    assert any("voice, storage and management" in note for note in result.findings.notes)


@pytest.mark.parametrize(
    ("scheme", "overwritten"),
    [("pias", "every DSCP below 48 of"), ("aequitas", "every DSCP below 48 that the scheme lacks")],
)
def test_a_note_says_which_code_points_of_others_are_overwritten(
    experiment: Path, scheme: str, overwritten: str
) -> None:
    result = export_plans.run("nft", export_plans.make(experiment, scheme))
    (note,) = [note for note in result.findings.notes if "voice, storage and management" in note]
    assert note.startswith(overwritten)
    # Classes of applications return before the last one is written; bytes sent go before any code point of theirs.
    rules = result.files["mark.nft"]
    keeps = [line.strip() for line in rules.splitlines() if line.strip().startswith("ip dscp {")]
    assert (len(keeps) == 1 and keeps[0].endswith("48-63 } return")) == (scheme == "aequitas"), keeps
    assert ("ip dscp >= 48 return" in rules) == (scheme == "pias")


# Stands in for tc: the device has several transmit queues, and the kernel's own queueing discipline for them.
MQ = """#!/bin/sh
echo "$*" >> "$LOG"
[ "$2 $5" != "show root" ] || echo "qdisc mq 0: root"
"""


def _run_host_script(folder: Path, experiment: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    text = export_plans.run("tc", export_plans.make(experiment, "nos2")).files["host.sh"]
    (folder / "host.sh").write_text(text, encoding="utf-8")
    (folder / "tc").write_text(MQ, encoding="utf-8")
    (folder / "tc").chmod(0o755)
    path = {"PATH": f"{folder}:/usr/bin:/bin", "LOG": str(folder / "log")}
    return subprocess.run(
        ["sh", str(folder / "host.sh"), *words], env=path, capture_output=True, text=True, check=False
    )


def test_the_script_of_a_host_says_that_a_device_is_missing(experiment: Path, tmp_path: Path) -> None:
    ran = _run_host_script(tmp_path, experiment)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("the device is missing: sh host.sh DEVICE, such as eth0")
    assert not (tmp_path / "log").exists()


def test_the_queues_of_a_device_with_several_are_replaced_with_a_word(experiment: Path, tmp_path: Path) -> None:
    ran = _run_host_script(tmp_path, experiment, "eth0")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("eth0: in place of mq, the kernel's own")
    assert "qdisc add dev eth0 root handle 7072: ets" in (tmp_path / "log").read_text(encoding="utf-8")


def test_sysctl_writes_options_of_cubic_where_they_are_not_those_of_linux(experiment: Path) -> None:
    usual = export_plans.run("sysctl", export_plans.make(experiment, "cubic"))
    assert "congctl cubic" in usual.files["routes.sh"]
    # 0.4 is 41 * 10 / 1024, and 0.7 is 717 / 1024.
    assert "modprobe.conf" not in usual.files
    keys = {"beta": "0.5", "c": "0.8", "fast_convergence": "false", "hystart": "false"}
    own = tuple((f"scheme.%s.transport.{key}", value) for key, value in keys.items())
    text = export_plans.run("sysctl", export_plans.make(experiment, "cubic", own)).files["modprobe.conf"]
    assert "options tcp_cubic beta=512 bic_scale=82 fast_convergence=0 hystart=0\n" in text


def test_dcb_names_every_code_point_that_is_not_the_default(experiment: Path) -> None:
    text = export_plans.run("dcb", export_plans.make(experiment, "timely")).files["dcb.sh"]
    assert " 0:0 40:1 48:7 49:7 " in text
    assert " 63:7\n" in text
    assert "prio-pfc all:off 1:on\n" in text
    shares = export_plans.run("dcb", export_plans.make(experiment, "aequitas")).files["dcb.sh"]
    assert "tc-tsa all:strict 2:ets 1:ets 0:ets tc-bw all:0 2:61 1:31 0:8\n" in shares


def test_the_plan_for_hosts_has_the_channels_that_the_command_channels_prints(experiment: Path) -> None:
    files = export_plans.run("hosts", export_plans.make(experiment, "prioplus_swift")).files
    plan = json.loads(files["hosts.json"])
    # 3.2 us + 0.8 us wide: class 0 has the eighth channel, 32 us, and its limit is 1.6 + 0.8 us above that.
    assert plan["channels"][0] == {
        "class": 0,
        "target": "32us",
        "limit": "34.4us",
        "target_ps": 32_000_000,
        "limit_ps": 34_400_000,
    }
    assert plan["channels"][7]["target_ps"] == 4_000_000
    request = {"priorities": 8, "rate": "100Gbps", "base_rtt": "12us", "flows": 150, "step": "150B", "noise": "host"}
    rest = {"scale": 1.0, "packet": "1086B", "beta": 0.8, "max_mdf": 0.5, "room": {"part": 0.9985}}
    answer = json.loads(_core.channels(json.dumps(request | rest)))
    width = answer["width_ps"]
    sets = (
        ("scheme.%s.transport.fluctuation", f'"{answer["fluctuation_ps"]}ps"'),
        ("scheme.%s.transport.noise", f'"{answer["noise_ps"]}ps"'),
    )
    wider = json.loads(
        export_plans.run("hosts", export_plans.make(experiment, "prioplus_swift", sets)).files["hosts.json"]
    )
    assert width == 4_040_000
    assert [(row["target_ps"], row["limit_ps"]) for row in wider["channels"]] == [
        (row["target_ps"], row["limit_ps"]) for row in answer["channels"]
    ]
    assert "| 0 | 32us | 34.4us |" in files["hosts.md"]


def test_the_plan_for_hosts_has_thresholds_and_timeouts(experiment: Path) -> None:
    plan = json.loads(export_plans.run("hosts", export_plans.make(experiment, "nos2")).files["hosts.json"])
    assert [row["dscp"] for row in plan["demotion"]] == [40, 0]
    assert plan["demotion"][0]["from_bytes"] == 0
    assert len(plan["own_levels"]) == 8
    assert plan["timeouts_us"] == {"min_rto": 10_000.0, "initial_rto": 10_000.0, "max_rto": 4_000_000.0}
