"""Exports for `tc` and `nft` in network namespaces: they load, read back as the plan has them, and work."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import export_plans
import namespaces
from namespaces import Hosts
from priolane.export.deployment import Deployment
from priolane.export.plan import ExportPlan

pytestmark = namespaces.MARKS


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    yield from namespaces.two_hosts()


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "ports.csv").write_text("name,rate\neth0,100Mbps\n", encoding="utf-8")
    return export_plans.write_experiment(tmp_path)


def _plan(experiment: Path, scheme: str, *sets: tuple[str, str]) -> ExportPlan:
    return export_plans.make(experiment, scheme, sets, named=str(experiment.parent / "ports.csv"))


def _load_tc(hosts: Hosts, plan: ExportPlan, name: str = "switch.sh") -> None:
    text = export_plans.run("tc", plan, Deployment(qdisc="htb")).files[name]
    # The second time takes the place of the first.
    for _ in range(2):
        ran = hosts.run("sh", "-s", "eth0", stdin=text)
        assert ran.stderr == ""


def _classes(hosts: Hosts) -> dict[str, tuple[int, int]]:
    """Priority and guarantee in bit/s of each leaf, by its number."""
    shown = hosts.run("tc", "class", "show", "dev", "eth0").stdout
    result = re.findall(r"class htb (\S+) parent 7072:200 leaf \S+ prio (\d+) rate (\d+)(K?M?)bit", shown)
    return {name: (int(prio), int(rate) * {"": 1, "K": 10**3, "M": 10**6}[unit]) for name, prio, rate, unit in result}


def _marks(hosts: Hosts) -> set[tuple[str, str, str]]:
    """Protocol, DSCP and class of each filter that looks at the DSCP."""
    filters: list[dict[str, Any]] = json.loads(hosts.run("tc", "-j", "filter", "show", "dev", "eth0").stdout)
    results = set()
    for each in filters:
        match = each.get("options", {}).get("match")
        if match and int(match["mask"], 16):
            shift = 16 if each["protocol"] == "ip" else 20
            results.add((each["protocol"], str(int(match["value"], 16) >> shift + 2), each["options"]["flowid"]))
    return results


def test_strict_queues_load_and_read_back(hosts: Hosts, experiment: Path) -> None:
    _load_tc(hosts, _plan(experiment, "nos2"))
    # Routing protocols first, then class 0, then class 1; each keeps 8 kbit/s.
    assert _classes(hosts) == {"7072:100": (0, 8_000), "7072:1": (1, 8_000), "7072:2": (2, 8_000)}
    assert _marks(hosts) == {
        (protocol, dscp, name) for protocol in ("ip", "ipv6") for dscp, name in (("48", "7072:100"), ("40", "7072:1"))
    }


def test_weights_load_as_shares_of_the_line(hosts: Hosts, experiment: Path) -> None:
    _load_tc(hosts, _plan(experiment, "aequitas"))
    # 8, 4 and 1 of 13 parts of 100 Mbit/s.
    assert _classes(hosts) == {
        "7072:100": (0, 8_000),
        "7072:1": (1, 61_538_000),
        "7072:2": (1, 30_769_000),
        "7072:3": (1, 7_692_000),
    }


def test_levels_of_a_host_load(hosts: Hosts, experiment: Path) -> None:
    _load_tc(hosts, _plan(experiment, "nos2"), "host.sh")
    assert _classes(hosts) == {f"7072:{number + 1}": (number, 8_000) for number in range(8)}


# What a kernel says that has no such module, of a line that the command has read. What a command does not read, it says
# in other words.
REFUSED = {
    "Specified qdisc kind is unknown",
    "Failed to find specified qdisc",
    "Parent Qdisc doesn't exists",
    "TC classifier not found",
}


def _complaints(text: str) -> set[str]:
    """Every line of standard error but those of a kernel without a module."""
    lines = {re.sub(r"^(Error: |RTNETLINK answers: |.*: )|\.$", "", line) for line in text.splitlines()}
    return {line for line in lines if line not in REFUSED and not line.startswith("We have an error talking")}


def _read_only(hosts: Hosts, text: str) -> str:
    """Runs a script to its end, whatever its lines come to; what it says."""
    assert "\nset -e\n" in text
    return hosts.run("sh", "-s", "eth0", stdin=text.replace("\nset -e\n", "\n"), check=False).stderr


@pytest.mark.parametrize("scheme", ["nos2", "aequitas", "d2tcp", "prioplus_swift"])
def test_ets_red_flower_and_fq_are_read_by_tc(scheme: str, hosts: Hosts, experiment: Path) -> None:
    files = export_plans.run("tc", _plan(experiment, scheme)).files
    assert set(files) == {"switch.sh", "host.sh"}
    for text in files.values():
        assert _complaints(_read_only(hosts, text)) == set()
    broken = files["switch.sh"].replace("ets bands", "ets bandwidths")
    assert _complaints(_read_only(hosts, broken)) != set()


@pytest.mark.parametrize("scheme", ["nos2", "es8", "aequitas"])
def test_marks_load_and_survive_being_listed(scheme: str, hosts: Hosts, experiment: Path) -> None:
    text = export_plans.run("nft", _plan(experiment, scheme)).files["mark.nft"]
    listed: list[str] = []
    for item in (text, text, None):
        ran = hosts.run("nft", "-f", "-", stdin=item or f"flush ruleset\n{listed[-1]}")
        assert ran.stderr == ""
        listed.append(hosts.run("nft", "list", "ruleset").stdout)
    assert listed[0] == listed[1] == listed[2]


def test_marks_read_back_as_the_plan_has_them(hosts: Hosts, experiment: Path) -> None:
    plan = _plan(experiment, "es8")
    hosts.run("nft", "-f", "-", stdin=export_plans.run("nft", plan).files["mark.nft"])
    table = json.loads(hosts.run("nft", "-j", "-n", "list", "ruleset").stdout)["nftables"]
    rules = [each["rule"] for each in table if "rule" in each]
    points = {
        rule["chain"]: expression["mangle"]["value"]
        for rule in rules
        for expression in rule["expr"]
        if rule["chain"].startswith("class") and expression["mangle"]["key"]["payload"]["protocol"] == "ip"
    }
    assert points == {f"class{number}": queue.dscp for number, queue in enumerate(plan.queues)}
    ladder = plan.host.demotion
    assert ladder is not None
    (ranges,) = [
        expression["vmap"]["data"]["set"]
        for rule in rules
        for expression in rule["expr"]
        if "vmap" in expression and expression["vmap"]["key"]["ct"]["dir"] == "original"
    ]
    firsts = [low["range"][0] for low, _ in ranges]
    # Payload bytes times 1500 / 1460, rounded up, and a packet of 1500 B.
    assert firsts == [0, *(-(-bytes_ * 1500 // 1460) + 1500 for bytes_ in ladder.thresholds)]


RECEIVER = """
import socket
s = socket.create_server(("10.79.0.2", 5000))
print("ready", flush=True)
connection, _ = s.accept()
while connection.recv(1 << 16):
    pass
"""
# Prints the data packets and their bytes that the kernel has sent, `tcpi_data_segs_out` and `tcpi_bytes_sent` of
# `struct tcp_info`: on a busy machine a timer sends some again.
SENDER = """
import socket, struct
s = socket.create_connection(("10.79.0.2", 5000))
s.sendall(b"x" * 400_000)
s.shutdown(socket.SHUT_WR)
s.recv(1)
info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 216)
print(*struct.unpack_from("=I", info, 156), *struct.unpack_from("=Q", info, 200))
"""
COUNTERS = """
table inet count {
  counter best { }
  counter rest { }
  chain input {
    type filter hook prerouting priority -400;
    tcp dport 5000 ip length > 80 ip dscp 40 counter name best
    tcp dport 5000 ip length > 80 ip dscp 0 counter name rest
  }
}
"""


def test_a_flow_is_demoted_at_its_threshold(hosts: Hosts, experiment: Path) -> None:
    plan = _plan(experiment, "nos2", ("scheme.%s.assign.thresholds", '["146kB"]'))
    # Packets without TCP options have 1460 B of payload, so that the threshold is met to the packet.
    hosts.run("sysctl", "-qw", "net.ipv4.tcp_timestamps=0", "net.netfilter.nf_conntrack_acct=1")
    hosts.run("nft", "-f", "-", stdin=export_plans.run("nft", plan).files["mark.nft"])
    hosts.at_second("nft", "-f", "-", stdin=COUNTERS)
    receiver = subprocess.Popen(
        ["ip", "netns", "exec", hosts.second, "python3", "-c", RECEIVER], stdout=subprocess.PIPE, text=True
    )
    try:
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "ready\n"
        packets, payload = map(int, hosts.run("python3", "-c", SENDER).stdout.split())
        assert receiver.wait(timeout=60) == 0
    finally:
        receiver.kill()
        receiver.wait()
        if receiver.stdout is not None:
            receiver.stdout.close()
    table = json.loads(hosts.at_second("nft", "-j", "list", "counters").stdout)["nftables"]
    bytes_ = {each["counter"]["name"]: each["counter"]["bytes"] for each in table if "counter" in each}
    # 146,000 B are the payload of 100 packets of 1500 B. The SYN and the ACK that conntrack counts too are less than
    # the packet that the thresholds have on top.
    assert bytes_["best"] == 100 * 1500
    assert payload >= 400_000
    assert bytes_["best"] + bytes_["rest"] == payload + packets * 40
