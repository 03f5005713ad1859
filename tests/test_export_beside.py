"""Exports for Linux beside what others have, in network namespaces: it stays, and the way back leads back."""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from ipaddress import ip_network
from pathlib import Path

import pytest

import export_plans
import namespaces
from namespaces import Hosts
from priolane.export.deployment import Deployment
from priolane.export.match import Match, read_match
from priolane.export.plan import ExportPlan

pytestmark = namespaces.MARKS


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    yield from namespaces.two_hosts()


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "ports.csv").write_text("name,rate\neth0,100Mbps\n", encoding="utf-8")
    return export_plans.write_experiment(tmp_path)


def plan_of(experiment: Path, scheme: str, *sets: tuple[str, str]) -> ExportPlan:
    return export_plans.make(experiment, scheme, sets, named=str(experiment.parent / "ports.csv"))


def root_of(hosts: Hosts) -> str:
    return hosts.run("tc", "qdisc", "show", "dev", "eth0", "root").stdout


def script(hosts: Hosts, text: str, action: str = "load") -> "subprocess.CompletedProcess[str]":
    return hosts.run("env", f"PRIOLANE={action}", "sh", "-s", "eth0", stdin=text, check=False)


@pytest.mark.parametrize("name", ["switch.sh", "host.sh"])
def test_the_queues_of_others_are_refused_or_named_and_ours_go_again(
    name: str,
    hosts: Hosts,
    experiment: Path,
) -> None:
    text = export_plans.run("tc", plan_of(experiment, "nos2"), Deployment(qdisc="htb")).files[name]
    before = root_of(hosts)
    hosts.run(
        *[
            "tc",
            "qdisc",
            "add",
            "dev",
            "eth0",
            "root",
            "handle",
            "5:",
            "tbf",
            "rate",
            "1mbit",
            "burst",
            "5kb",
            "limit",
            "10kb",
        ]
    )
    others = root_of(hosts)
    refused = script(hosts, text)
    assert refused.returncode == 1
    assert "eth0 has a queueing discipline of others: qdisc tbf 5: root" in refused.stderr
    assert root_of(hosts) == others
    assert script(hosts, text, "back").stdout == "eth0: there is nothing of this script\n"
    assert root_of(hosts) == others
    replaced = script(hosts, text, "replace")
    assert (replaced.returncode, replaced.stderr) == (0, "")
    assert replaced.stdout.startswith("eth0: in place of qdisc tbf 5: root")
    assert "qdisc htb 7072: root" in root_of(hosts)
    assert script(hosts, text).returncode == 0
    assert script(hosts, text, "back").returncode == 0
    assert root_of(hosts) == before
    assert script(hosts, text, "never").returncode == 2


# Sends bytes over TCP or a datagram, each from a socket whose code point is set first.
SENDER = """
import socket, sys, time
port, dscp, *sizes = map(int, sys.argv[1:])
s = socket.socket()
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, dscp << 2)
s.connect(("10.79.0.2", port))
for number, size in enumerate(sizes):
    if number:
        time.sleep(3)
    s.sendall(b"x" * size)
    s.recv(1)
s.close()
"""
# Answers a byte for each size that has arrived in full.
RECEIVER = """
import socket, sys
port, *sizes = map(int, sys.argv[1:])
s = socket.create_server(("10.79.0.2", port))
print("ready", flush=True)
connection, _ = s.accept()
for size in sizes:
    left = size
    while left:
        left -= len(connection.recv(min(left, 1 << 16)))
    connection.sendall(b"x")
connection.recv(1)
"""
COUNTERS = """
table inet count {
  counter dscp0 { }
  counter dscp10 { }
  counter dscp40 { }
  chain input {
    type filter hook prerouting priority -400;
    tcp flags syn return
    ip length <= 80 return
    ip dscp 0 counter name dscp0
    ip dscp 10 counter name dscp10
    ip dscp 40 counter name dscp40
  }
}
"""


def transfer(hosts: Hosts, port: int, dscp: int, *sizes: int, within: Sequence[str] = ()) -> dict[int, int]:
    """The IP bytes of data packets that arrive by code point, while so many payload bytes are sent, 3 s between.

    `within` is a command that runs the sender.
    """
    hosts.at_second("nft", "-f", "-", stdin=f"table inet count {{ }}\ndelete table inet count\n{COUNTERS}")
    words = list(map(str, sizes))
    receiver = subprocess.Popen(
        ["ip", "netns", "exec", hosts.second, "python3", "-c", RECEIVER, str(port), *words],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "ready\n"
        hosts.run(*within, "python3", "-c", SENDER, str(port), str(dscp), *words)
        assert receiver.wait(timeout=60) == 0
    finally:
        receiver.kill()
        receiver.wait()
        if receiver.stdout is not None:
            receiver.stdout.close()
    table = json.loads(hosts.at_second("nft", "-j", "list", "counters").stdout)["nftables"]
    by_name = {each["counter"]["name"]: each["counter"]["bytes"] for each in table if "counter" in each}
    return {int(name.removeprefix("dscp")): bytes_ for name, bytes_ in by_name.items()}


def load_marks(hosts: Hosts, plan: ExportPlan, deployment: Deployment) -> None:
    text = export_plans.run("nft", plan, deployment).files["mark.nft"]
    for _ in range(2):
        assert hosts.run("nft", "-f", "-", stdin=text).stderr == ""


MATCHES = {
    "port": Match(ports=((5000, 5009), (6379, 6379))),
    "address": Match(addresses=(ip_network("10.79.0.2/32"), ip_network("fd00::/8"))),
    "address of others": Match(addresses=(ip_network("10.80.0.0/16"), ip_network("192.168.0.0/16"))),
    "IPv6 alone": Match(addresses=(ip_network("fd00::/8"),)),
    "both": Match(ports=((5000, 5000),), addresses=(ip_network("10.79.0.0/16"),)),
    "all": None,
}
# Whether flows to 10.79.0.2 are marked, to port 5000 and to port 5100.
MARKED = {
    "port": (True, False),
    "address": (True, True),
    "address of others": (False, False),
    "IPv6 alone": (False, False),
    "both": (True, False),
    "all": (True, True),
}


@pytest.mark.parametrize("name", MATCHES)
def test_flows_that_are_not_named_keep_their_code_points(
    name: str,
    hosts: Hosts,
    experiment: Path,
) -> None:
    # Every class but the first begins after 146 kB: 20 kB stay in the first, DSCP 40.
    plan = plan_of(experiment, "nos2", ("scheme.%s.assign.thresholds", '["146kB"]'))
    others = "table inet others {\n chain c {\n type filter hook output priority mangle; policy accept;\n }\n}\n"
    hosts.run("nft", "-f", "-", stdin=others)
    before = hosts.run("nft", "list", "ruleset").stdout
    load_marks(hosts, plan, Deployment(match=MATCHES[name]))
    for port, marked in zip((5000, 5100), MARKED[name], strict=True):
        arrived = transfer(hosts, port, 10, 20_000)
        assert arrived[40 if marked else 10] >= 20_000
        assert arrived[10 if marked else 40] == 0
    hosts.run("nft", "delete", "table", "inet", "priolane")
    assert hosts.run("nft", "list", "ruleset").stdout == before


MOUNT = "mount -t cgroup2 none /sys/fs/cgroup"
CGROUP = f"priolane-{os.getpid()}/a@1.service"


@pytest.fixture
def cgroup() -> Iterator[str]:
    """A cgroup, and a mount of the hierarchy where nft looks for it; the cgroup is removed."""
    path = f"/sys/fs/cgroup/{CGROUP}"
    made = namespaces.run("unshare", "--mount", "sh", "-c", f"{MOUNT} && mkdir -p {path}", check=False)
    if made.returncode:
        pytest.skip(f"no cgroup of version 2: {made.stderr.strip()}")
    yield CGROUP
    namespaces.run("unshare", "--mount", "sh", "-c", f"{MOUNT} && rmdir {path} {Path(path).parent}")


def test_flows_of_other_cgroups_keep_their_code_points(
    hosts: Hosts,
    experiment: Path,
    cgroup: str,
) -> None:
    deployment = Deployment(match=read_match([f"cgroup={cgroup}"]))
    text = export_plans.run("nft", plan_of(experiment, "nos2"), deployment).files["mark.nft"]
    mounted = ("unshare", "--mount", "sh", "-c")
    assert hosts.run(*mounted, f"{MOUNT} && nft -f -", stdin=text).stderr == ""
    joined = f'{MOUNT} && echo $$ > /sys/fs/cgroup/{cgroup}/cgroup.procs && exec "$@"'
    arrived = transfer(hosts, 5000, 10, 20_000, within=(*mounted, joined, "sh"))
    assert (arrived[40] >= 20_000, arrived[10]) == (True, 0)
    arrived = transfer(hosts, 5000, 10, 20_000)
    assert (arrived[40], arrived[10] >= 20_000) == (0, True)


def test_marks_of_other_tables_that_run_before_are_seen(
    hosts: Hosts,
    experiment: Path,
) -> None:
    load_marks(hosts, plan_of(experiment, "aequitas"), Deployment(match=read_match(["port=5000"])))
    chain = "type filter hook output priority mangle; policy accept;\ntcp dport 5000 ip dscp set 40"
    hosts.run("nft", "-f", "-", stdin=f"table inet others {{\nchain c {{\n{chain}\n}}\n}}\n")
    # 40 is a class of the scheme, which an earlier chain sets after ours was loaded; 10 is none, and is cleared.
    assert transfer(hosts, 5000, 10, 20_000)[40] >= 20_000
    hosts.run("nft", "delete", "table", "inet", "others")
    assert transfer(hosts, 5000, 10, 20_000)[0] >= 20_000
    assert transfer(hosts, 5100, 10, 20_000)[10] >= 20_000


@pytest.mark.parametrize("idle", [None, 1])
def test_a_connection_begins_anew_after_it_was_idle_only_if_that_is_asked_for(
    idle: int | None,
    hosts: Hosts,
    experiment: Path,
) -> None:
    plan = plan_of(experiment, "nos2", ("scheme.%s.assign.thresholds", '["146kB"]'))
    hosts.run("sysctl", "-qw", "net.ipv4.tcp_timestamps=0", "net.netfilter.nf_conntrack_acct=1")
    load_marks(hosts, plan, Deployment(match=Match(ports=((5000, 5000),)), idle=idle))
    arrived = transfer(hosts, 5000, 0, 400_000, 73_000)
    # 100 packets of 1500 B before the threshold, and the 50 of the second request if it counts from zero.
    # On a busy machine TCP probes for losses: a packet or two arrive twice.
    packets = (arrived[40] - (0 if idle is None else 50 * 1_500)) / 1_500
    assert 100 <= packets <= 105


def routes(hosts: Hosts) -> str:
    return "".join(hosts.run("ip", *family, "route", "show").stdout for family in (["-4"], ["-6"]))


def route_script(experiment: Path, *prefixes: str) -> str:
    plan = plan_of(experiment, "newreno", ("scheme.%s.transport.init_window", '"20pkt"'))
    return export_plans.run("sysctl", plan, Deployment(prefixes=tuple(map(ip_network, prefixes)))).files["routes.sh"]


def test_routes_of_the_datacenter_get_the_congestion_control_and_the_internet_does_not(
    hosts: Hosts,
    experiment: Path,
) -> None:
    hosts.run("ip", "route", "add", "default", "via", "10.79.0.2")
    hosts.run("ip", "route", "add", "10.99.0.0/16", "via", "10.79.0.2", "metric", "7")
    before = routes(hosts)
    text = route_script(experiment, "10.0.0.0/8")
    for _ in range(2):
        loaded = script(hosts, text)
        assert (loaded.returncode, loaded.stderr) == (0, "")
    lines = {line.split()[0]: line for line in routes(hosts).splitlines()}
    # The prefix has a route of its own now, which goes where its packets went.
    assert lines["10.0.0.0/8"].startswith("10.0.0.0/8 via 10.79.0.2 dev eth0 proto 112")
    for name in ("10.0.0.0/8", "10.79.0.0/24", "10.99.0.0/16"):
        assert "congctl reno" in lines[name]
        assert "initcwnd 20" in lines[name]
    assert "congctl" not in lines["default"]
    assert script(hosts, text, "back").stderr == ""
    assert routes(hosts) == before
    assert script(hosts, text, "never").returncode == 2


def test_a_route_with_metrics_of_others_is_refused(
    hosts: Hosts,
    experiment: Path,
) -> None:
    hosts.run("ip", "route", "add", "10.99.0.0/16", "via", "10.79.0.2", "initcwnd", "30")
    before = routes(hosts)
    loaded = script(hosts, route_script(experiment, "10.99.0.0/16"))
    assert loaded.returncode == 1
    assert "the route 10.99.0.0/16 has metrics of others: via 10.79.0.2 dev eth0" in loaded.stderr
    assert routes(hosts) == before
    missing = script(hosts, route_script(experiment, "fd77::/16"))
    assert (missing.returncode, missing.stderr) == (1, "there is no route to fd77::/16\n")
    assert routes(hosts) == before


def test_ipv6_routes_go_there_and_back(
    hosts: Hosts,
    experiment: Path,
) -> None:
    hosts.run("ip", "addr", "add", "fd79::1/64", "dev", "eth0")
    hosts.run("ip", "-6", "route", "add", "fd00::/8", "via", "fd79::2")
    before = routes(hosts)
    text = route_script(experiment, "fd00::/8")
    loaded = script(hosts, text)
    assert (loaded.returncode, loaded.stderr) == (0, "")
    lines = [line for line in routes(hosts).splitlines() if line.startswith("fd")]
    assert len(lines) == 2
    assert all("congctl reno" in line for line in lines)
    assert script(hosts, text, "back").stderr == ""
    assert routes(hosts) == before
