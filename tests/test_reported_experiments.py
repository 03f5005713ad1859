"""Questions of public reports about simulations as small experiments, each with the answer that it must get.

A ring of pauses, paths that share one hash, marks above the buffer, timeouts in an incast, a receiver with more than
its link, losses under every scheme, a lossless incast, slow and long paths under delay targets, unfinished flows in
claims, a run too short for its load, and a title with marks of HTML and TeX.
"""

import json
import re
from pathlib import Path

import pytest

import priolane
from priolane import _core
from priolane.cli import main
from priolane.results.results import Results

STAR = 'topology = { kind = "single_switch", hosts = %d, host_link = { rate = "10Gbps", delay = "1us" } }\n'
LISTED = '[[group]]\nname = "g"\nhosts = "*"\napp = "flows"\nlist = "list.csv"\n'


def leaf_spine(link: str, leaves: int, hosts: int) -> str:
    return (
        f'topology = {{ kind = "leaf_spine", leaves = {leaves}, spines = 2, hosts_per_leaf = {hosts}, '
        f"host_link = {link}, fabric_link = {link} }}\n"
    )


def head(schemes: str, time: str, seeds: int = 1) -> str:
    return f'title = "t"\nschemes = [{schemes}]\nseeds = {seeds}\ntime = {time}\n'


def write(folder: Path, text: str, flows: list[tuple[int, int, int, int]] | None = None) -> Path:
    """An experiment, and its list of flows: start in nanoseconds, source, destination, bytes."""
    if flows is not None:
        rows = "".join(f"{start},{src},{dst},{size}\n" for start, src, dst, size in flows)
        (folder / "list.csv").write_text(f"start_ns,src,dst,bytes\n{rows}")
    (folder / "x.toml").write_text(text)
    return folder / "x.toml"


def ran(folder: Path, text: str, flows: list[tuple[int, int, int, int]] | None = None) -> Results:
    return priolane.run(write(folder, text, flows), folder / "out")


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings are cut to two lines."""
    monkeypatch.setenv("COLUMNS", "100")


def checked(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of `check`, and what it says, without breaks of lines."""
    capsys.readouterr()
    code = main(["check", str(path)])
    return code, re.sub(r"\s+", " ", "".join(capsys.readouterr()))


RING = "".join(f"node,s{k},switch\n" for k in range(4)) + "".join(f"node,h{k},host\n" for k in range(4))
RING += "".join(f"link,h{k},s{k},10Gbps,1us\n" for k in range(4))
RING += "".join(f"link,s{k},s{(k + 1) % 4},10Gbps,1us\n" for k in range(4))


def test_pauses_in_a_ring_name_their_links_and_a_watchdog_ends_them(tmp_path: Path) -> None:
    (tmp_path / "ring.csv").write_text(RING)
    # Two flows from each host to the one opposite.
    flows = [(10 * k, k, (k + 2) % 4, 5_000_000) for k in (0, 0, 1, 1, 2, 2, 3, 3)]
    topology = 'topology = { kind = "file", path = "ring.csv" }\n'

    def run(name: str, watchdog: str) -> Results:
        (tmp_path / name).mkdir()
        (tmp_path / name / "ring.csv").write_text(RING)
        pfc = f'classes = [0], xoff = "20kB", headroom = "free", headroom_least = "37.5kB"{watchdog}'
        port = f'port = {{ kind = "fifo", buffer = {{ dynamic = "500kB", alpha = 8 }}, pfc = {{ {pfc} }} }}\n'
        transport = 'transport = { init_window = "1000pkt", handshake = "none" }\n'
        text = head('"lossless"', '{ flows = 8, limit = "200ms" }', 2) + topology + LISTED
        return ran(tmp_path / name, f'{text}[scheme.lossless]\nbase = "newreno"\n{transport}{port}', flows)

    for record in run("stuck", "").records.values():
        assert record["summary"]["all"]["unfinished"] == 8
        (warning,) = (text for text in record["warnings"] if text.startswith("deadlock"))
        assert set(re.findall(r"s\d->s\d", warning)) == {"s0->s1", "s1->s2", "s2->s3", "s3->s0"}
    watchdog = ', watchdog = { after = "1ms", action = "drop", restore = "1ms" }'
    for record in run("watched", watchdog).records.values():
        assert record["summary"]["all"]["unfinished"] == 0
        assert any(text.startswith("watchdogs of paused classes acted") for text in record["warnings"])


def test_every_core_switch_of_a_fat_tree_carries_its_share(tmp_path: Path) -> None:
    link = '{ rate = "10Gbps", delay = "1us" }'
    topology = f'topology = {{ kind = "fat_tree", k = 4, host_link = {link}, fabric_link = {link} }}\n'
    # 480 flows of one packet between pods: 120 for each of four core switches, if tiers hash alike 240 for two of them.
    flows = [(1000 * n, n % 16, (n + 4 + n // 16 % 8) % 16, 1000) for n in range(480)]
    flows = [flow for flow in flows if flow[1] // 4 != flow[2] // 4]
    text = head('"newreno"', f"{{ flows = {len(flows)} }}") + 'host = { handshake = "none" }\n' + topology + LISTED
    ports = ran(tmp_path, text, flows).ports().to_pylist()
    into: dict[str, int] = {}
    names = {port["port"].split("->")[0] for port in ports}
    hosts = {name for name in names if name.startswith("h")}
    edges = {port["port"].split("->")[1] for port in ports if port["port"].split("->")[0] in hosts}
    middle = {port["port"].split("->")[1] for port in ports if port["port"].split("->")[0] in edges} - hosts
    for port in ports:
        source, target = port["port"].split("->")
        if source in middle and target not in edges:
            into[target] = into.get(target, 0) + port["bytes"]
    # Data of 1078 B on the line; ACKs of 84 B go back over paths of their own.
    assert len(into) == 4
    share = sum(into.values()) / 4
    assert all(0.6 * share < carried < 1.4 * share for carried in into.values()), into


def test_a_threshold_above_the_buffer_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    switch = '[switch]\nbuffer = {{ shared = "{}pkt" }}\n'
    text = head('"dctcp"', "{ flows = 3 }") + STAR % 4
    flows = [(0, k, 0, 100_000) for k in (1, 2, 3)]
    code, shown = checked(write(tmp_path, text + switch.format(50) + LISTED, flows), capsys)
    assert code == 0
    assert "at 10Gbps they mark above 65pkt and hold 50pkt" in shown
    code, shown = checked(write(tmp_path, text + switch.format(200) + LISTED, flows), capsys)
    assert code == 0
    assert "never mark" not in shown


def test_timeouts_of_an_incast_show_in_its_flows(tmp_path: Path) -> None:
    # 40 windows of 10 packets meet room for 44 of them: 67 kB.
    text = head('"dctcp"', "{ flows = 40 }") + STAR % 41
    text += '[switch]\nbuffer = { dynamic = "200kB", alpha = "1/2" }\n'
    text += '[host]\nmin_rto = "40ms"\ninitial_rto = "40ms"\nhandshake = "none"\n' + LISTED
    flows = ran(tmp_path, text, [(0, k, 0, 50_000) for k in range(1, 41)]).flows().to_pylist()
    late = [flow["fct_ps"] > 40 * 10**9 for flow in flows]
    assert late == [flow["timeouts"] > 0 for flow in flows]
    assert sum(late) > 10


def test_a_receiver_with_more_than_its_link_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = head('"dctcp"', '{ measure = "100ms", drain = true }') + STAR % 8
    text += '[[group]]\nname = "senders"\nhosts = "0-5"\nto = "sink"\napp = "poisson"\nsizes = "imc10"\n'
    text += 'load = { of = "host", counts = "wire", value = %s }\n[[group]]\nname = "sink"\nhosts = "7"\napp = "none"\n'
    # Six senders at 0.4: 2.4 of the link of host 7; at 0.15 they fit.
    code, shown = checked(write(tmp_path, text % "0.4"), capsys)
    assert code == 0
    found = re.search(r"group senders: host 7 is offered ([\d.]+) of what its link carries on the wire", shown)
    assert found is not None
    assert float(found[1]) == pytest.approx(2.4, rel=1e-3)
    code, shown = checked(write(tmp_path, text % "0.15"), capsys)
    assert code == 0
    assert "host 7 is offered" not in shown


def test_every_scheme_gets_all_flows_through_losses(tmp_path: Path) -> None:
    # srpt_ranked is for lossless links, as its file says: its timeout is 1000 s.
    schemes = [scheme["name"] for scheme in json.loads(_core.catalogue())["schemes"] if scheme["name"] != "srpt_ranked"]
    assert len(schemes) > 20
    topology = leaf_spine('{ rate = "10Gbps", delay = "1us", loss = 0.002 }', 2, 4)
    # Deadlines, which some schemes need, are those of 30 kB at 1 Gbit/s.
    flows = [(20_000 * n, n % 8, (n + 1 + n % 6) % 8) for n in range(24)]
    rows = "".join(f"{start},{src},{dst},30000,{start + 240_000}\n" for start, src, dst in flows)
    (tmp_path / "list.csv").write_text(f"start_ns,src,dst,bytes,deadline_ns\n{rows}")
    names = ", ".join(f'"{name}"' for name in schemes)
    results = ran(tmp_path, head(names, '{ flows = 24, limit = "5s" }') + topology + LISTED)
    assert {record["scheme"]: record["summary"]["all"]["unfinished"] for record in results.records.values()} == (
        dict.fromkeys(schemes, 0)
    )
    # 0.2 % of some 24 x 21 packets, each over two to four links, for each scheme.
    assert sum(port["lost"] for port in results.ports().to_pylist()) > len(schemes)


def test_a_lossless_incast_pauses_and_drops_nothing(tmp_path: Path) -> None:
    pfc = '{ classes = [0], xoff = "1/8", headroom = "charged", headroom_round_trips = 1.5 }'
    port = f'port = {{ kind = "fifo", pfc = {pfc} }}\n'
    text = head('"timely", "hpcc", "lossless"', '{ flows = 400, limit = "5s" }')
    text += leaf_spine('{ rate = "10Gbps", delay = "1us" }', 4, 8)
    text += '[switch]\nbuffer = { dynamic = "2MB", alpha = 1 }\n' + LISTED + '[scheme.lossless]\nbase = "newreno"\n'
    text += f'transport = {{ init_window = "100pkt", handshake = "none" }}\n{port}'
    # 400 flows of 8 packets, 4.9 MB on the line, to host 0.
    results = ran(tmp_path, text, [(0, 1 + k % 31, 0, 11_680) for k in range(400)])
    ports = results.ports().to_pylist()
    assert sum(port["dropped"] for port in ports) == 0
    for scheme in ("timely", "hpcc", "lossless"):
        assert sum(port["paused_ps"] for port in ports if port["scheme"] == scheme) > 0, scheme
    # The last byte of 400 x 8 packets comes after 400 x 8 x 1538 B at 10 Gbit/s.
    ends = [flow["fct_ps"] for flow in results.flows("lossless").to_pylist()]
    assert max(ends) > 400 * 8 * 1_230_400 * 0.99


def test_delay_targets_below_the_empty_path_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dumbbell = 'topology = {{ kind = "dumbbell", left = 1, right = 1, host_link = {{ rate = "{}", delay = "{}" }}, '
    dumbbell += 'bottleneck = {{ rate = "{}", delay = "{}" }} }}\n'
    flows = [(0, 0, 1, 400_000)]
    # 2 x 200 us + 600 us one way.
    long = head('"swift", "timely"', "{ flows = 1 }") + dumbbell.format("10Gbps", "200us", "10Gbps", "600us") + LISTED
    code, shown = checked(write(tmp_path, long, flows), capsys)
    assert code == 2
    assert "scheme.swift.transport.target: the delay target is at most" in shown
    assert "the delay is 2ms" in shown
    assert "scheme.timely.transport.t_high: t_high is 500us" in shown
    assert "a round trip takes 2ms" in shown
    slow = dumbbell.format("10Mbps", "20ms", "300kbps", "20ms") + '[switch]\nbuffer = { shared = "20pkt" }\n' + LISTED
    code, shown = checked(write(tmp_path, head('"swift"', "{ flows = 1 }") + slow, flows), capsys)
    assert code == 2
    assert "scheme.swift.transport.target" in shown
    # NewReno takes the path: 400 kB are 274 packets of 1538 B or less at 300 kbit/s, 11.2 s.
    results = ran(tmp_path, head('"newreno"', "{ flows = 1 }") + slow, flows)
    (flow,) = results.flows().to_pylist()
    assert 11.1e12 < flow["fct_ps"] < 1.1 * 11.3e12


def test_claims_over_unfinished_flows_have_no_value(tmp_path: Path) -> None:
    text = head('"hpcc", "dctcp"', '{ warmup = "0us", measure = "2ms", drain = false }', 3) + STAR % 33
    text += '[switch]\nbuffer = { dynamic = "400kB", alpha = "1/2" }\n'
    text += '[host]\nmin_rto = "200ms"\ninitial_rto = "200ms"\nhandshake = "none"\n'
    text += '[[group]]\nname = "g"\nhosts = "*"\napp = "incast"\nperiod = "500us"\nfan_in = 32\nsize = "14kB"\n'
    text += '[[claim]]\nsection = "s"\nsays = "DCTCP is faster"\norder = ["fct.all.hpcc", "fct.all.dctcp"]\n'
    results = ran(tmp_path, text)
    assert any(record["summary"]["all"]["unfinished"] > 0 for record in results.records.values())
    (claim,) = results.report.claims
    assert claim.verdict == "incomplete"


def test_a_run_too_short_for_its_load_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = head('"dctcp"', '{ measure = "10ms", drain = true }', 2) + STAR % 16
    text += '[[group]]\nname = "g"\nhosts = "*"\napp = "poisson"\nsizes = "data_mining"\n'
    text += 'load = { of = "host", counts = "payload", value = 0.7 }\n'
    code, shown = checked(write(tmp_path, text), capsys)
    assert code == 0
    found = re.search(r"a steady state wants a warm-up of ([\d.]+) s or more", shown)
    assert found is not None
    assert float(found[1]) > 1


def test_titles_are_shown_as_they_are_written(tmp_path: Path) -> None:
    title = "Gain $\\\\beta_{y$ & 40 % of _some_ <i>flows</i> 漢字"
    text = head('"newreno"', "{ flows = 1 }").replace('"t"', f'"{title}"') + STAR % 2 + LISTED
    ran(tmp_path, text, [(0, 0, 1, 1000)])
    assert main(["report", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    shown = "Gain $\\beta_{y$ &amp; 40 % of _some_ &lt;i&gt;flows&lt;/i&gt; 漢字"
    assert shown in page
    assert "<i>flows</i>" not in page
