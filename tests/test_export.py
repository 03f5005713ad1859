"""`priolane export`: the command, the plan that it makes of an experiment, and what the targets write."""

import json
import re
import shlex
from fractions import Fraction
from pathlib import Path

import pytest

import export_plans
from hostile_texts import NAMES
from priolane import _core
from priolane.cli import main
from priolane.export import ports
from priolane.export.deployment import read_headroom
from priolane.export.findings import Findings
from priolane.export.plan import ROUTING_DSCP, Marking
from priolane.export.quantity import Frame, Limit, limit, rate, rate_text
from priolane.export.switching import percents, power_of_two, reduced

ETHERNET = Frame(mtu=1500, payload=1460, stored=1518, wire=1538)
PER_QUEUE = ["--set", 'scheme.nos2.port.ecn.per="queue"']


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    return export_plans.write_experiment(tmp_path)


def command(experiment: Path, target: str, scheme: str, *more: str) -> int:
    out = experiment.parent / "out"
    return main(["export", target, str(experiment), "--scheme", scheme, "-o", str(out), *more])


def test_the_command_writes_files_and_says_what_is_not_in_them(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(experiment, "sonic", "nos2", *PER_QUEUE) == 0
    shown, errors = capsys.readouterr()
    out = experiment.parent / "out"
    assert errors == ""
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*.*")) == [
        ".priolane-files.json",
        "leaf/config_db.json",
        "notes.txt",
        "spine/config_db.json",
    ]
    # 240 and 960 packets of 1518 B.
    room = "not expressed: room of a port (364320 B at 10Gbps, 1457280 B at 40Gbps): SONiC keeps the buffer that it has"
    assert room in shown.splitlines()
    notes = (out / "notes.txt").read_text(encoding="utf-8")
    assert room in notes.splitlines()
    assert set(notes.splitlines()) <= set(shown.splitlines())
    assert re.search(r"^class 0 +40 +1 +strict", shown, re.MULTILINE)


def test_the_commands_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parent.parent
    page = (root / "docs" / "export.md").read_text(encoding="utf-8")
    (tmp_path / "experiments").symlink_to(root / "experiments")
    (tmp_path / "ports.csv").write_text("name,rate\nEthernet0,25Gbps\nEthernet48,100Gbps\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = "".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL))
    commands = [shlex.split(line)[1:] for line in blocks.splitlines() if line.startswith("priolane export ")]
    assert len(commands) == 7
    assert [main(command) for command in commands] == [0] * 7


def test_json_has_plan_files_and_lists(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(experiment, "eos", "prioplus_swift", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert list(answer["files"]) == ["leaf/eos.cfg", "spine/eos.cfg"]
    assert answer["plan"]["buffer"] == {
        "sharing": "dynamic",
        "limit": None,
        "at": {},
        "memory": 2_640_000,
        "alpha": "1/4",
    }
    assert [queue["classes"] for queue in answer["plan"]["queues"]] == [[15], list(range(8))]
    assert answer["not_expressed"] == ["a buffer of 2640000 B: EOS shares the memory that the switch has"]
    assert answer["changed"] == []


def test_a_refusal_is_exit_2_a_line_for_each_reason_and_no_file(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(experiment, "junos", "nos2") == 2
    shown, errors = capsys.readouterr()
    assert shown == ""
    assert [line.removeprefix("priolane: error: ")[:15] for line in errors.splitlines()] == ["nos2 for junos:"] * 2
    assert not (experiment.parent / "out").exists()


def test_strict_refuses_whatever_is_listed(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # SONiC has PrioPlus's two strict queues and its buffer as they are; NX-OS has no buffer to set.
    assert command(experiment, "sonic", "prioplus_swift", "--strict") == 0
    capsys.readouterr()
    assert command(experiment, "nxos", "prioplus_swift", "--strict") == 2
    errors = capsys.readouterr().err
    assert "prioplus_swift for nxos: not expressed: a buffer of 2640000 B with alpha 1/4" in errors
    assert command(experiment, "sonic", "d2tcp", "--strict") == 2
    assert "changed: one threshold marks" in capsys.readouterr().err


def test_a_sweep_has_to_be_narrowed_to_a_point(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with experiment.open("a", encoding="utf-8") as file:
        file.write('\n[sweep]\n"group.all.load.value" = [0.4, 0.8]\n')
    assert command(experiment, "sonic", "swift") == 2
    assert "add --set group.all.load.value=VALUE" in capsys.readouterr().err
    assert command(experiment, "sonic", "swift", "--set", "group.all.load.value=0.8") == 0


def test_solved_thresholds_are_those_of_the_load_that_is_set(experiment: Path) -> None:
    low, high = (
        export_plans.make(experiment, "nos2", (("group.all.load.value", load),)).host.demotion
        for load in ("0.3", "0.9")
    )
    assert low is not None
    assert high is not None
    assert low.solver == "opt2"
    assert low.thresholds != high.thresholds


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--ports", "48"], "'48' is not COUNTxRATE"),
        (["--ports", "4x10"], '"10" has no unit'),
        (["--ports", "2000x10Gbps"], "'2000x10Gbps' is not COUNTxRATE"),
        (["--ports", "0x10Gbps"], "'0x10Gbps' is not COUNTxRATE"),
        (["--ports", "1000x10Gbps,1000x40Gbps"], "2000 ports"),
        (["--ports", "none.csv"], "none.csv: the file cannot be read: No such file"),
        (["--memory", "much"], '"much" is not a number of bytes'),
        (["--headroom", "none.ini"], "none.ini: the file cannot be read: No such file"),
    ],
)
def test_a_wrong_option_is_one_message(
    more: list[str], says: str, experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(experiment, "sonic", "swift", *more) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert says in errors


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("port,speed\na,10Gbps\n", "the first line has to be name,rate"),
        ("name,rate\na,10Gbps\na,10Gbps\n", "a is there twice"),
        ("name,rate\na|b,10Gbps\n", "'a|b' is not the name of a port"),
        ("name,rate\n$(reboot),10Gbps\n", "is not the name of a port"),
        ("name,rate\na,fast\n", 'line 2: "fast" is not a rate'),
        ("name,rate\n", "0 ports"),
    ],
)
def test_a_wrong_list_of_ports_is_one_message(
    text: str, says: str, experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = experiment.parent / "ports.csv"
    listed.write_text(text, encoding="utf-8")
    assert command(experiment, "sonic", "swift", "--ports", str(listed)) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert says in errors


PORTS = (
    "Ethernet1/1",
    "Ethernet0",
    "swp1s0",
    "eth0.100",
    "et-0/0/0:1",
    "enp3s0f0np0",
    "Port_Channel7",
    "1",
    "xe-0/0/47",
)


def test_names_of_ports_of_real_switches_are_names(experiment: Path) -> None:
    listed = experiment.parent / "ports.csv"
    listed.write_text("name,rate\n" + "".join(f"{name},10Gbps\n" for name in PORTS), encoding="utf-8")
    assert [port.name for port in ports.named(str(listed))[0].ports] == list(PORTS)
    assert command(experiment, "eos", "dctcp", "--ports", str(listed)) == 0


@pytest.mark.parametrize(
    "name",
    [
        *(name for name in NAMES if name.strip() not in (*PORTS, "a/b", "a:b", "indented")),
        *("#x", "*", "?", "swp[1]", "~root", "!x", "-batch", "a)b", "a..b", "/a", ":a", "_a", "a" * 65, "A" * 100_000),
    ],
)
def test_a_text_that_something_could_obey_is_no_port(
    name: str, experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = experiment.parent / "ports.csv"
    quoted = name.replace('"', '""')
    listed.write_text(f'name,rate\n"{quoted}",25Gbps\nswp2,25Gbps\n', encoding="utf-8", newline="")
    assert command(experiment, "tc", "dctcp", "--ports", str(listed)) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert len(errors) < 1_000
    assert not (experiment.parent / "out").exists()


@pytest.mark.parametrize("name", ["Ethernet1/1", "et-0:1", "sixteen_bytes_16"])
def test_a_port_for_linux_has_a_name_of_linux(name: str, experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = experiment.parent / "ports.csv"
    listed.write_text(f"name,rate\n{name},25Gbps\nfifteen_bytes15,25Gbps\n", encoding="utf-8")
    assert command(experiment, "tc", "dctcp", "--ports", str(listed)) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert f"the port {name}: Linux has names of at most 15 bytes" in errors


def test_ports_of_the_user_take_the_place_of_those_of_the_topology(experiment: Path) -> None:
    listed = experiment.parent / "ports.csv"
    listed.write_text("name,rate\nEthernet48,100Gbps\nEthernet52,25Gbps\n", encoding="utf-8")
    plan = export_plans.make(experiment, "dctcp", named=str(listed))
    exported_files = export_plans.run("sonic", plan)
    config = json.loads(exported_files.files["config_db.json"])
    # 25G is not stated: 65 packets at 10G in proportion, 162.5 and so 163, are 247,434 B. 100G is: 650 packets.
    assert config["QUEUE"]["Ethernet52|0"]["wred_profile"] == "PRIOLANE_247434"
    assert config["QUEUE"]["Ethernet48|0"]["wred_profile"] == "PRIOLANE_986700"
    changed = [str(change) for change in exported_files.findings.changed]
    assert "ECN threshold at 25Gbps: 163 packets, in proportion to 65 packets at 10Gbps, not simulated" in changed
    assert not any("100Gbps" in line for line in changed)


LINK = '{ rate = "40Gbps", delay = "1us" }'
TOPOLOGIES = {
    "leaf_spine": (
        f"leaves = 4\nspines = 3\nhosts_per_leaf = 5\nlinks_per_pair = 2\nfabric_link = {LINK}",
        [("leaf", 4, 5, 6), ("spine", 3, 0, 8)],
    ),
    "fat_tree": (f"k = 4\nfabric_link = {LINK}", [("edge", 8, 2, 2), ("aggregation", 8, 0, 4), ("core", 4, 0, 4)]),
    "three_tier": (
        "\n".join(
            [
                *("pods = 2", "leaves_per_pod = 3", "aggs_per_pod = 2", "cores = 4", "hosts_per_leaf = 4"),
                *(f"pod_link = {LINK}", f"core_link = {LINK}"),
            ]
        ),
        [("leaf", 6, 4, 2), ("aggregation", 4, 0, 5), ("core", 4, 0, 2)],
    ),
    "dragonfly": (f"a = 3\np = 2\nh = 1\nlocal_link = {LINK}\nglobal_link = {LINK}", [("router", 12, 2, 3)]),
    "dumbbell": (f"left = 3\nright = 2\nbottleneck = {LINK}", [("left", 1, 3, 1), ("right", 1, 2, 1)]),
    "single_switch": ("hosts = 6", [("switch", 1, 6, 0)]),
}


@pytest.mark.parametrize("kind", TOPOLOGIES)
def test_ports_of_a_topology_are_those_to_hosts_then_the_others(kind: str, tmp_path: Path) -> None:
    keys, expected = TOPOLOGIES[kind]
    table = f'[topology]\nkind = "{kind}"\nhost_link = {{ rate = "10Gbps", delay = "1us" }}\n{keys}\n'
    plan = export_plans.make(export_plans.write_experiment(tmp_path, table), "dctcp")
    results = [
        (
            switch.role,
            switch.count,
            *(sum(port.rate == rate(text) for port in switch.ports) for text in ("10Gbps", "40Gbps")),
        )
        for switch in plan.switches
    ]
    assert results == expected
    assert all(list(switch.ports) == sorted(switch.ports, key=lambda port: port.rate) for switch in plan.switches)


def test_ports_of_a_topology_file_are_its_links(tmp_path: Path) -> None:
    links = tmp_path / "net.csv"
    links.write_text(
        "node,h0,host\nnode,h1,host\nnode,s0,switch\nnode,s1,switch\n"
        "link,s0,s1,40Gbps,1us\nlink,h0,s0,10Gbps,1us\nlink,h1,s1,10Gbps,1us\n",
        encoding="utf-8",
    )
    path = export_plans.write_experiment(tmp_path, '[topology]\nkind = "file"\npath = "net.csv"\n')
    plan = export_plans.make(path, "dctcp")
    assert [(switch.role, [rate_text(port.rate) for port in switch.ports]) for switch in plan.switches] == [
        ("s0", ["10Gbps", "40Gbps"]),
        ("s1", ["10Gbps", "40Gbps"]),
    ]
    assert plan.host.rates == (10**10,)
    assert sorted(export_plans.run("eos", plan).files) == ["s0/eos.cfg", "s1/eos.cfg"]


@pytest.mark.parametrize("scheme", export_plans.SCHEMES)
def test_no_class_has_a_code_point_of_routing_protocols(scheme: str, experiment: Path) -> None:
    plan = export_plans.make(experiment, scheme)
    points = [queue.dscp for queue in plan.queues]
    assert not set(points) & set(ROUTING_DSCP)
    assert len(set(points)) == len(points)
    assert points == sorted(points, reverse=True)
    assert points[-1] == 0
    # The best has the highest number, and all have neighbouring ones.
    assert [queue.level for queue in plan.queues] == list(range(len(plan.queues)))[::-1]
    assert plan.queue_count == len(plan.queues) + 1


def test_thresholds_of_other_rates_are_in_proportion_rounded_up() -> None:
    marking = Marking(per_queue=True, at={10**10: Limit(packets=65), 10**11: Limit(packets=650)})
    assert marking.threshold(10**10).proportion_to is None
    # 65 x 2.5 = 162.5; 650 x 4 = 2600; below the slowest 65 / 10 = 6.5.
    for text, packets in (("25Gbps", 163), ("400Gbps", 2_600), ("1Gbps", 7)):
        assert marking.threshold(rate(text)).limit == Limit(packets=packets)


def test_bytes_on_the_wire_become_bytes_in_a_buffer() -> None:
    # 384,500 B are 250 packets of 1538 B on the wire: 250 x 1518 in a switch, 250 x 1514 in Linux.
    room = limit("384500B")
    assert room is not None
    assert room.stored(ETHERNET) == 379_500
    assert room.linux(ETHERNET) == 378_500
    assert limit("unbounded") is None


def test_per_cents_add_up_and_say_what_they_are_off() -> None:
    result = Findings()
    # 8:4:1 are 61.54, 30.77 and 7.69 per cent; 8 in place of 7.69 is +4.0 %.
    assert percents([8, 4, 1], result, "X") == [61, 31, 8]
    assert [str(change) for change in result.changed] == [
        "weights 8:4:1 are 61:31:8 per cent in X: a share is off by up to 4.0 %"
    ]
    exact = Findings()
    assert percents([3, 1], exact, "X") == [75, 25]
    assert exact.changed == []


@pytest.mark.parametrize(
    ("weights", "written", "off"),
    [
        ([200, 100, 50], [4, 2, 1], None),
        ([1000, 10], [100, 1], None),
        # 1 of 451 is 0.222 per cent, and 1 of 151 is 0.662: 2.99 times as much.
        ([300, 150, 1], [100, 50, 1], 198.7),
        # 101:100 are 50.25 and 49.75 per cent, and so are 100:99.
        ([101, 100], [100, 99], 0.0),
    ],
)
def test_weights_above_the_most_are_in_lowest_terms_or_relative_to_the_largest(
    weights: list[int], written: list[int], off: float | None
) -> None:
    result = Findings()
    assert reduced(weights, 100, result, "X") == written
    listed = [str(change) for change in result.changed]
    if off is None:
        assert listed == []
    else:
        assert len(listed) == 1
        assert f"a share is off by up to {off} %" in listed[0]
        # The same ratios from another way: shares of both lists.
        parts = [[weight / sum(each) for weight in each] for each in (weights, written)]
        worst = max(abs(new / old - 1) for old, new in zip(*parts, strict=True))
        assert abs(100 * worst - off) < 0.05


@pytest.mark.parametrize(("value", "exponent"), [("1", 0), ("1/4", -2), ("8", 3), ("3/10", -2), ("9/25", -1), ("3", 2)])
def test_the_power_of_two_is_the_nearest_in_ratio(value: str, exponent: int) -> None:
    # sqrt(1/8) = 0.3536 lies between 3/10 and 9/25; sqrt(8) = 2.83 below 3.
    assert power_of_two(Fraction(value), Findings(), "alpha") == exponent


def test_rows_of_a_platform_are_read_by_cable(tmp_path: Path) -> None:
    table = tmp_path / "pg.ini"
    table.write_text(
        "# speed cable size xon xoff threshold\n10000 5m 1 2 3 0\n10000 40m 4 5 6 0\n40000 40m 7 8 9 0 10\n",
        encoding="utf-8",
    )
    assert {speed: row.xon_offset for speed, row in read_headroom(table, "40m").items()} == {10_000: None, 40_000: 10}
    with pytest.raises(_core.InputError, match="no row for --cable 300m; it has 40m, 5m"):
        read_headroom(table, "300m")
    table.write_text("10000 5m 1 2\n", encoding="utf-8")
    with pytest.raises(_core.InputError, match="line 1 is not a row"):
        read_headroom(table, "5m")


def test_names_of_ports_follow_one_rule() -> None:
    (switch,) = ports.named("2x10Gbps,1x40Gbps")
    assert ports.by_name(switch, "Ethernet{0}") == [
        ("Ethernet0", 10**10),
        ("Ethernet1", 10**10),
        ("Ethernet2", 4 * 10**10),
    ]
    assert ports.by_name(switch, "Ethernet1/{1}")[2][0] == "Ethernet1/3"
