"""Exports cover every switch and port of the network, counted here by hand for each kind of topology."""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import export_plans
from priolane import _core
from priolane.cli import main
from priolane.export import coverage
from priolane.export.plan import ExportPlan, Port

LINK = 'host_link = { rate = "10Gbps", delay = "1us" }\n'
FABRIC = 'fabric_link = { rate = "40Gbps", delay = "1us" }\n'
LOCAL = 'local_link = { rate = "25Gbps", delay = "1us" }\nglobal_link = { rate = "100Gbps", delay = "1us" }\n'
FILE = """
# two racks
node,h0,host  # first
node,h1,host
node,h2,host
node,tor,switch # rack 1

node , tor2 , switch
link,h0,tor,10Gbps,1us # a comment
link , h1 , tor , 10Gbps , 1us
link,tor2,h2,10Gbps,1us
link,tor,tor2,25Gbps,1us
link,tor,tor2,100Gbps,1us
"""
# Of each: keys, hosts, switches, ports of all switches, and the ports of one switch of each role.
TOPOLOGIES = {
    # Each of 3 leaves: 4 hosts and 2 links to each of 2 spines. Each spine: 2 links to each of 3 leaves.
    "leaf_spine": (
        f'kind = "leaf_spine"\nleaves = 3\nspines = 2\nhosts_per_leaf = 4\nlinks_per_pair = 2\n{LINK}{FABRIC}',
        (3 * 4, 3 + 2, 3 * (4 + 2 * 2) + 2 * 3 * 2),
        {"leaf": [3, 4 + 4], "spine": [2, 6]},
    ),
    # k = 4: k^3 / 4 = 16 hosts, 5 k^2 / 4 = 20 switches of 4 ports.
    "fat_tree": (
        f'kind = "fat_tree"\nk = 4\n{LINK}{FABRIC}',
        (16, 20, 80),
        {"edge": [8, 4], "aggregation": [8, 4], "core": [4, 4]},
    ),
    # 2 pods of 3 leaves with 5 hosts and 2 aggregation switches; 4 cores, 2 in each of 2 planes.
    "three_tier": (
        (
            'kind = "three_tier"\npods = 2\nleaves_per_pod = 3\naggs_per_pod = 2\ncores = 4\nhosts_per_leaf = 5\n'
            f'{LINK}pod_link = {{ rate = "40Gbps", delay = "1us" }}\n'
            'core_link = { rate = "100Gbps", delay = "1us" }\n'
        ),
        (2 * 3 * 5, 2 * 3 + 2 * 2 + 4, 6 * (5 + 2) + 4 * (3 + 2) + 4 * 2),
        {"leaf": [6, 7], "aggregation": [4, 5], "core": [4, 2]},
    ),
    # Balanced: 9 groups of 4 routers, each with 2 hosts, 3 local and 2 global links.
    "dragonfly": (
        f'kind = "dragonfly"\na = 4\np = 2\nh = 2\n{LINK}{LOCAL}',
        (9 * 4 * 2, 9 * 4, 36 * (2 + 3 + 2)),
        {"router": [36, 7]},
    ),
    # 4 groups: floor(8 / 3) = 2 links for each of 6 pairs, 12 links with 24 ports; 8 of 32 global ports stay free. The
    # 6 links of a group leave from routers 0 to 2, two from each; router 3 has none.
    "dragonfly_with_free_ports": (
        f'kind = "dragonfly"\na = 4\np = 1\nh = 2\ng = 4\n{LINK}{LOCAL}',
        (4 * 4 * 1, 4 * 4, 16 * (1 + 3) + 24),
        {"router-1": [12, 1 + 3 + 2], "router-2": [4, 1 + 3]},
    ),
    "dumbbell": (
        f'kind = "dumbbell"\nleft = 3\nright = 2\n{LINK}bottleneck = {{ rate = "1Gbps", delay = "1us" }}\n',
        (5, 2, 4 + 3),
        {"left": [1, 4], "right": [1, 3]},
    ),
    "single_switch": (f'kind = "single_switch"\nhosts = 6\n{LINK}', (6, 1, 6), {"switch": [1, 6]}),
    "file": ('kind = "file"\npath = "net.csv"\n', (3, 2, 4 + 3), {"tor": [1, 4], "tor2": [1, 3]}),
}
# Lines of a configuration that name one port each.
PORTS: dict[str, Callable[[str], list[str]]] = {
    "tc": lambda text: re.findall(r"^port (\S+) \d+ ", text, re.MULTILINE),
    "eos": lambda text: re.findall(r"^interface (\S+)$", text, re.MULTILINE),
    "nxos": lambda text: re.findall(r"^interface (\S+)$", text, re.MULTILINE),
    "junos": lambda text: re.findall(r"interfaces (\S+) scheduler-map", text),
    "sonic": lambda text: list(json.loads(text)["PORT_QOS_MAP"]),
}


def experiment(folder: Path, kind: str) -> Path:
    (folder / "net.csv").write_text(FILE, encoding="utf-8")
    return export_plans.write_experiment(folder, f"[topology]\n{TOPOLOGIES[kind][0]}")


@pytest.mark.parametrize("kind", TOPOLOGIES)
@pytest.mark.parametrize("target", PORTS)
def test_every_port_of_every_switch_has_a_configuration(kind: str, target: str, tmp_path: Path) -> None:
    _, (hosts, switches, ports), roles = TOPOLOGIES[kind]
    scheme = "newreno" if target == "junos" else "dctcp"
    plan = export_plans.make(experiment(tmp_path, kind), scheme)
    assert (plan.network.hosts, plan.network.switches, plan.network.ports) == (hosts, switches, ports)
    result = export_plans.run(target, plan)
    texts = {
        Path(name).parent.name or next(iter(roles)): text
        for name, text in result.files.items()
        if "host.sh" not in name
    }
    named = {role: PORTS[target](text) for role, text in texts.items()}
    assert all(Counter(names).most_common(1)[0][1] == 1 for names in named.values())
    assert {role: [plan_count(plan, role), len(names)] for role, names in named.items()} == roles
    assert sum(count * each for count, each in roles.values()) == ports
    counted = f"covers {switches} switch{'es' if switches > 1 else ''} with {ports} ports in all"
    assert any(line.startswith(counted) for line in result.findings.notes), result.findings.notes


def plan_count(plan: ExportPlan, role: str) -> int:
    return next(switch.count for switch in plan.switches if switch.role == role)


def test_switches_with_different_ports_are_named_in_full(tmp_path: Path) -> None:
    plan = export_plans.make(experiment(tmp_path, "dragonfly_with_free_ports"), "nos2")
    notes = export_plans.run("tc", plan).findings.notes
    assert "router-2: 4 switches with 4 ports each (r0-3, r1-3, r2-3, r3-3)" in notes


def test_rates_are_those_of_the_links(tmp_path: Path) -> None:
    plan = export_plans.make(experiment(tmp_path, "file"), "nos2")
    rates = {switch.role: [port.rate // 10**9 for port in switch.ports] for switch in plan.switches}
    assert rates == {"tor": [10, 10, 25, 100], "tor2": [10, 25, 100]}
    assert plan.network.host_rates == (10 * 10**9,)


@pytest.mark.parametrize("target", ["nft", "sysctl", "hosts", "dcb"])
def test_exports_for_hosts_and_devices_say_how_many_there_are(target: str, tmp_path: Path) -> None:
    plan = export_plans.make(experiment(tmp_path, "leaf_spine"), "pias" if target == "nft" else "dctcp")
    what = "a device, whichever it is loaded into" if target == "dcb" else "12 hosts"
    line = f"covers {what}; the simulated network has 5 switches with 36 ports and 12 hosts"
    assert line in export_plans.run(target, plan).findings.notes


@pytest.mark.parametrize("target", PORTS)
def test_a_missing_port_or_switch_is_an_error_and_nothing_is_written(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = experiment(tmp_path, "leaf_spine")
    scheme = "newreno" if target == "junos" else "dctcp"
    plan = export_plans.make(file, scheme)
    short = replace(plan.switches[0], ports=plan.switches[0].ports[:-1])
    twice = replace(plan.switches[0], ports=(*plan.switches[0].ports, Port(10**10)))
    fewer = replace(plan.switches[0], names=plan.switches[0].names[:-1])
    for wrong in (short, twice, fewer):
        with pytest.raises(_core.RunFailed, match="and should have 5 with 36"):
            export_plans.run(target, replace(plan, switches=(wrong, *plan.switches[1:])))
    # A template that leaves out a port is found in its text.
    monkeypatch.setattr(coverage, "_without_comments", lambda text: re.sub(r"\S*(1/3|t3|p3|0/3)\b", "", text))
    out = tmp_path / "out"
    assert main(["export", target, str(file), "--scheme", scheme, "-o", str(out)]) == 1
    assert "nothing was written" in capsys.readouterr().err
    assert not out.exists()


def test_named_ports_replace_those_of_the_network(tmp_path: Path) -> None:
    plan = export_plans.make(experiment(tmp_path, "leaf_spine"), "dctcp", named="48x25Gbps,8x100Gbps")
    notes = export_plans.run("eos", plan).findings.notes
    assert (
        "covers 1 switch with 56 ports (as they are named); "
        "the simulated network has 5 switches with 36 ports and 12 hosts" in notes
    )
