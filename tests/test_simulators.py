"""Comparisons with simulators of a checkout, against programs that speak their formats."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from priolane._core import RunFailed
from priolane.cli import main
from priolane.simulators import checkout, machine_load, ns3
from priolane.simulators.htsim import Htsim
from priolane.simulators.uet import Uet
from priolane.simulators.yaps import Yaps

# Time for each flow, so that all flows take longer than the first alone.
_WORK = """
import sys, time
def work(flows):
    end = time.process_time() + 0.1 * flows
    while time.process_time() < end:
        pass
"""

# Reads the configuration and the trace; every flow takes as long as its packets on the line, two packets are lost.
_YAPS = (
    _WORK
    + """
keys = dict(line.split(": ") for line in open(sys.argv[2]).read().splitlines())
assert sys.argv[1] == "1" and keys["queue_size"] == "36864" and keys["load_balancing"] == "1"
rows = [line.split() for line in open(keys["flow_trace"])]
assert len(rows) == int(keys["num_flow"])
for id, start, _, _, packets, _, _, src, dst in rows:
    print(f"Flow {id} {start} {1460 * int(packets)} {src} {dst}")
work(len(rows))
for id, start, _, _, packets, _, _, src, dst in rows:
    start, packets = 1e6 * float(start), int(packets)
    fct = 1.2 * packets + 5
    counts = f"{packets + 2}/{packets}//{packets} 2/0/2 0.0000 "
    print(f"{id} {1460 * packets} {src} {dst} {start:.4f} {start + fct:.4f} {fct:.4f} {fct:.4f} 1.0000 {counts}")
"""
)

# Reads the connection matrix; every flow ends 2 ms after its start.
_HTSIM = (
    _WORK
    + """
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
assert options["-nodes"] == "128" and options["-mtu"] == "9000" and int(options["-end"]) > 14_400
head, count, *rows = open(options["-tm"]).read().splitlines()
assert head == "Nodes 128" and count == f"Connections {len(rows)}"
work(len(rows))
packets = 0
for row in rows:
    ends, _, id, _, start, _, size = row.split()
    packets += int(size) // 9000
    end = float(start) / 1e6 + 2000
    print(f"Flow ndp_{ends.replace('->', '_')} flow_id {id} finished at {end:g} total bytes {size}")
print(f"New: {packets} Rtx: 5 Bounced: 0")
"""
)

# Every flow takes its packets on the line and 14 us. A packet is sent again, and an ACK is for 16 kB.
_UET = (
    _WORK
    + """
options = dict(zip(sys.argv[1:9:2], sys.argv[2:9:2]))
assert options["-nodes"] == "128" and int(options["-end"]) > 6_500 and "-sender_cc_only" in sys.argv
head, count, *rows = open(options["-tm"]).read().splitlines()
assert head == "Nodes 128" and count == f"Connections {len(rows)}"
work(len(rows))
packets = 0
for row in rows:
    ends, _, id, _, start, _, size = row.split()
    assert start == "0"
    packets += int(size) // 4086
    end = 0.332 * int(size) / 4086 + 14
    flow = f"Uec_{ends.replace('->', '_')} flowId {id} uecSrc 0"
    print(f"Flow {flow} finished at {end:g} total messages 1 total packets 9")
print(f"New: {packets} Rtx: 1 RTS: 0 Bounced: 0 ACKs: {packets // 4} NACKs: 1 Pulls: 0 sleek_pkts: 0")
"""
)


def built(directory: Path, simulator: checkout.Simulator, text: str) -> Path:
    program = directory / simulator.program
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
    program.chmod(0o755)
    return directory


@pytest.mark.parametrize(
    ("simulator", "text"),
    [
        pytest.param(Yaps(), _YAPS, id="yaps", marks=pytest.mark.soak),
        pytest.param(Htsim(), _HTSIM, id="htsim"),
        pytest.param(Uet(), _UET, id="uet-htsim", marks=pytest.mark.soak),
    ],
)
def test_both_run_the_same_flows_and_are_told_side_by_side(
    simulator: checkout.Simulator, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = simulator.name
    place = str(built(tmp_path, simulator, text))
    bench = ["bench", "--against", name, "--checkout", place, "--flows", "3", "--repeat"]
    assert main([*bench, "2", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["simulator"], answer["flows"], len(answer["pairs"])) == (name, 3, 2)
    for pair in answer["pairs"]:
        # Nothing is lost here, so that both count all data with its ACKs; htsim a pull for each packet besides, which
        # may ride on the ACK here. uet-htsim has an ACK for four packets, priolane for each.
        share = pair["priolane"]["packet_hops"] / pair[name]["packet_hops"]
        least, most = {"yaps": (0.98, 1.02), "htsim": (2 / 3, 1), "uet-htsim": (1.59, 1.61)}[name]
        assert least < share < most
        assert pair[name]["cpu_s"] == pytest.approx(0.2, abs=0.15)
        assert pair["priolane"]["command_s"] > pair["priolane"]["cpu_s"] > 0
        assert pair[name]["command_s"] == pytest.approx(pair[name]["cpu_s"] + answer["start_s"])
    assert answer["publishable"] is (answer["others_load"] <= 0.5)
    assert answer["ratio"]["min"] <= answer["ratio"]["median"] <= answer["ratio"]["max"]
    for size_class in answer["classes"]:
        ours, theirs = size_class["mean_s"]
        assert ours == pytest.approx(theirs, rel=0.5)

    assert main([*bench, "1"]) == 0
    shown = capsys.readouterr().out
    assert f"{name} / priolane, CPU of whole commands" in shown
    assert "Other programs used" in shown
    assert f"This favours {name}: its time is its event loop" in shown


def test_yaps_gets_the_flows_of_the_validation_with_their_spines(tmp_path: Path) -> None:
    yaps = Yaps()
    flows = yaps.flow_list()
    assert (len(flows), flows[0]) == (1000, checkout.Flow(2349, 16, 66, 7300))
    # (16 + 66 + 0) mod 4, as in the shipped list.
    shipped = (checkout.VALIDATION / "yaps_pfabric_1.csv").read_text("utf-8").splitlines()
    experiment = checkout.write_experiment(yaps, flows, tmp_path)
    assert (tmp_path / "flows.csv").read_text("utf-8").splitlines() == shipped
    assert "[[claim]]" not in experiment.read_text("utf-8")
    prepared = yaps.prepare(Path("simulator"), flows[:2], tmp_path)
    assert (tmp_path / "flows.txt").read_text("utf-8").splitlines()[0] == "0 0.000002349 0 0 5 0 0 16 66"
    assert prepared.command[1] == "1"


def test_hops_are_packets_times_links() -> None:
    flows = [checkout.Flow(0, 0, 1, 1460), checkout.Flow(0, 0, 140, 2920)]
    text = (
        "0 1460 0 1 0.0 3.3 3.2640 3.2640 1.0000 1/1//1 0/0/0 0.0 \n"
        "1 2920 0 140 0.0 9.9 9.9000 5.8800 1.6837 3/2//2 1/0/1 0.0 \n"
    )
    side = Yaps().read(text, flows)
    # 1 data packet and 1 ACK over 2 links, 3 and 2 over 4.
    assert side.packet_hops == 4 + 20
    assert side.fct_s == pytest.approx((3.264e-6, 9.9e-6))
    near, far = checkout.Flow(0, 0, 1, 9000), checkout.Flow(1000, 0, 127, 9000)
    text = "Flow ndp_0_1 flow_id 1 finished at 5.46048 total bytes 9000\n"
    text += "Flow ndp_0_127 flow_id 2 finished at 17.381 total bytes 9000\nDone\nNew: 2 Rtx: 0 Bounced: 0\n"
    side = Htsim().read(text, [near, far])
    # Data, ACK and pull over 2 and 6 links.
    assert side.packet_hops == 24
    assert side.fct_s == pytest.approx((5.46048e-6, 16.381e-6))


def test_a_flow_without_an_end_is_a_failed_run() -> None:
    flows = [checkout.Flow(0, 0, 1, 1460), checkout.Flow(0, 0, 140, 2920)]
    with pytest.raises(RunFailed, match="1 of 2 flows, the first of them flow 1"):
        Yaps().read("0 1460 0 1 0.0 3.3 3.2640 3.2640 1.0000 1/1//1 0/0/0 0.0 \n", flows)
    with pytest.raises(RunFailed, match="2 of 2 flows"):
        Htsim().read("New: 2 Rtx: 0 Bounced: 0\n", flows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "yaps"], "--against yaps needs its checkout, built: --checkout PATH"),
        (["--against", "htsim", "--checkout", "nowhere"], "there is no program sim/datacenter/htsim_ndp"),
        (["--against", "ns3", "--checkout", "nowhere"], "--checkout is for --against yaps or htsim"),
        (["--checkout", "nowhere"], "--checkout is for --against yaps or htsim"),
    ],
)
def test_what_is_missing_is_named(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_more_flows_than_the_list_has_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(built(tmp_path, Htsim(), _HTSIM))
    assert main(["bench", "--against", "htsim", "--checkout", place, "--flows", "129"]) == 2
    assert "the list for htsim has 128 flows" in capsys.readouterr().err


def test_a_program_that_fails_is_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(built(tmp_path, Yaps(), "import sys\nsys.exit('out of order')\n"))
    assert main(["bench", "--against", "yaps", "--checkout", place, "--flows", "2"]) == 1
    assert "ended with 1: out of order" in capsys.readouterr().err


def test_ratio_of_commands_is_pair_by_pair() -> None:
    side = ns3.SimulatorRun(100, 1.0, (1,), (1.0,))
    pairs = tuple(checkout.Pair(side, side, (1.0, theirs)) for theirs in (3.0, 5.0, 2.0))
    assert checkout.SideBySide("yaps", pairs, 0.0).command_ratios == (2.0, 3.0, 5.0)


def test_time_of_a_command_is_its_own_cpu_time(tmp_path: Path) -> None:
    text, cpu_s = checkout.timed((sys.executable, "-c", f"{_WORK}\nwork(3); print(7)"), tmp_path)
    assert text == "7\n"
    assert 0.3 <= cpu_s < 1.0


def test_the_load_of_others_is_what_processors_did_beyond_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat = tmp_path / "stat"
    ticks = os.sysconf("SC_CLK_TCK")

    def show(busy_s: float) -> None:
        tenth = round(busy_s * ticks / 10)
        # user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice
        fields = [4 * tenth, tenth, 2 * tenth, 10**6, 10**5, tenth, tenth, tenth, 7 * tenth, 0]
        stat.write_text(f"cpu  {' '.join(map(str, fields))}\ncpu0 1 2 3\n", encoding="ascii")

    monkeypatch.setattr(machine_load, "_STAT", stat)
    now = {"clock": 100.0, "own": 3.0}
    monkeypatch.setattr(time, "monotonic", lambda: now["clock"])
    monkeypatch.setattr(os, "times", lambda: (now["own"] - 2, 0.5, 1, 0.5, 0.0))
    show(50.0)
    meter = machine_load.LoadMeter.start()
    # In 20 s, processors worked 30 s, 24 of them for this process and its children.
    now |= {"clock": 120.0, "own": 27.0}
    show(80.0)
    others = meter.others()
    assert others == pytest.approx(0.3)
    assert machine_load.is_publishable(others)
    show(84.1)
    others = meter.others()
    assert others == pytest.approx(0.505)
    assert not machine_load.is_publishable(others)
    assert "do not publish" in machine_load.verdict(others)


def test_an_unknown_load_publishes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_load, "_STAT", tmp_path / "none")
    others = machine_load.LoadMeter.start().others()
    assert others is None
    assert not machine_load.is_publishable(others)
    assert "not known" in machine_load.verdict(others)
