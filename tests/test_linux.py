"""`priolane linux`: what it refuses and prints anywhere, and runs where this machine has network namespaces."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import priolane
from linux_experiment import FLOWS, three_senders
from priolane import _core
from priolane.cli import main

# One at a time: a test compares the namespaces of the machine before and after.
pytestmark = pytest.mark.xdist_group("namespaces")
EXPERIMENT = three_senders('["dctcp", "newreno", "pfabric"]') + '[metrics]\nbaseline = "dctcp"\n'


# Two endless flows to one host: the first pays for four times the weight of the second, and is aborted half way.
# With marks: where packets are dropped, a timeout decides who has the line.
ENDLESS = """
title = "Two without an end"
schemes = ["paccp_dctcp"]
seeds = 2
rates_every = "500us"
time = { warmup = "1ms", measure = "24ms" }
control = [{ at = "10ms", group = "paid", abort = true }]
[topology]
kind = "single_switch"
hosts = 3
host_link = { rate = "10Gbps", delay = "1us" }
[[group]]
name = "paid"
hosts = "0"
app = "long_lived"
pairs = { rule = "to_one", host = 2 }
size = "endless"
w = 4
[[group]]
name = "free"
hosts = "1"
app = "long_lived"
pairs = { rule = "to_one", host = 2 }
size = "endless"
[metrics.classes]
paid = { group = "paid" }
free = { group = "free" }
[[claim]]
section = "ours"
says = "who pays has more"
source = "ours"
order = ["rate.paid.paccp_dctcp", "rate.free.paccp_dctcp"]
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "flows.csv").write_text(FLOWS)
    path = tmp_path / "x.toml"
    path.write_text(EXPERIMENT)
    return path


def namespaces() -> set[str]:
    ran = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False)
    return {line.split()[0] for line in ran.stdout.splitlines() if line.startswith("prl-run")}


def need_testbeds() -> None:
    """Skips with the reason where this machine has no testbeds with marks by all queues of a port."""
    for capability in json.loads(_core.linux_machine())["capabilities"]:
        if capability["missing"] is not None and "sch_red" not in capability["name"]:
            pytest.skip(f"{capability['name']}: {capability['missing']}")


def test_a_scheme_whose_ports_no_qdisc_is_is_refused_with_the_reason_by_switches_of_the_kernel(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["linux", "run", str(experiment), "--switch", "kernel", "-o", str(out)]) == 2
    shown = capsys.readouterr().err
    sorting = "ports that sort packets by the remaining bytes of a flow: no qdisc does. Use --switch user"
    assert f"x.toml: scheme.pfabric.port: {sorting}" in shown
    assert not out.exists()


def test_a_dry_run_prints_the_commands_and_makes_nothing(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = namespaces()
    arguments = ["linux", "up", str(experiment), "--scheme", "dctcp", "--scale", "200", "--name", "dry", "--dry-run"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "ip netns add prl-dry-h0"
    assert "ip -n prl-dry-s0 route add 10.77.0.4/32 dev p3" in lines
    # 10 Gbit/s by 200.
    rate = "htb rate 50000000bit ceil 50000000bit"
    assert any(line.startswith("tc -n prl-dry-s0 class add dev p3") and rate in line for line in lines)
    assert "tc -n prl-dry-s0 qdisc add dev p3 parent 1:10 handle 10: pfifo limit 240" in lines
    assert namespaces() == before


def test_a_dry_run_prints_the_processes_of_switches_in_user_space(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dry = ["linux", "up", str(experiment), "--name", "dry", "--dry-run"]
    assert main([*dry, "--scheme", "pfabric"]) == 0
    pfabric = capsys.readouterr().out.splitlines()
    start = "-m priolane.hosts.linux_process switch /run/priolane-linux/dry 0 &"
    assert pfabric[-1].startswith("ip netns exec prl-dry-s0 ")
    assert pfabric[-1].endswith(start)
    assert not any(line.startswith("tc ") for line in pfabric)
    # Where the kernel can be the ports it is, unless one says otherwise.
    assert main([*dry, "--scheme", "dctcp"]) == 0
    assert "tc -n prl-dry-s0 " in capsys.readouterr().out
    assert main([*dry, "--scheme", "dctcp", "--switch", "user"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(start)


def test_a_scale_at_which_lines_are_too_fast_is_refused(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["linux", "run", str(experiment), "--scheme", "dctcp", "--scale", "2"]) == 2
    assert "at scale 2 lines have 5000000000 to 5000000000 bit/s" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["-x", "--help", "-", ".x", "..", "a/b", "$(id)", "a b", "\x1b[2J", ""])
def test_a_name_that_could_be_an_option_a_directory_or_a_command_is_refused(
    name: str, experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for dry in ([], ["--dry-run"]):
        assert main(["linux", "up", str(experiment), "--scheme", "dctcp", f"--name={name}", *dry]) == 2
        shown = capsys.readouterr().err
        assert "is not a valid name of a testbed; use 1 to 16 of a-z, 0-9 and -, and no - at the beginning" in shown
        assert "\x1b" not in shown


def test_a_testbed_that_is_not_there_cannot_be_removed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["linux", "down", "nobody"]) == 2
    assert "there is no testbed nobody" in capsys.readouterr().err


def test_a_measured_run_has_the_flows_and_tables_of_the_simulated_one(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need_testbeds()
    real, simulated = tmp_path / "real", tmp_path / "simulated"
    before = namespaces()
    schemes = ["--scheme", "dctcp", "--scheme", "newreno"]
    assert main(["linux", "run", str(experiment), *schemes, "-o", str(real)]) == 0
    shown = capsys.readouterr()
    assert "scale 100: rates are divided" in shown.err
    assert namespaces() == before
    text = experiment.read_text().replace(', "pfabric"', "")
    experiment.write_text(text)
    priolane.run(experiment, simulated)
    measured, expected = priolane.load(real), priolane.load(simulated)
    assert [run.id for run in measured.runs] == [run.id for run in expected.runs]
    assert (real / "report.html").is_file()
    for run in measured.runs:
        tables = [pq.read_table(where / run.id / "flows.parquet").to_pydict() for where in (real, simulated)]
        for column in ("flow", "src", "dst", "bytes", "start_ps", "bare_fct_ps", "class_first", "class_last"):
            assert tables[0][column] == tables[1][column], column
        # All arrive, and none of more than a packet sooner than its bytes take at 10 Gbit/s.
        fct = tables[0]["fct_ps"]
        assert None not in fct, fct
        assert all(took > 1_460_000 * 8 * 100 for took in fct[:2]), fct
        record = json.loads((real / run.id / "run.json").read_text())
        assert record["measured"] == {"on": "linux", "scale": 100}
        assert record["counters"]["completed"] == 4
    # Neither takes the place of the other, and what was measured is not measured again.
    assert main(["run", str(experiment), "-o", str(real)]) == 2
    assert "measured on linux at scale 100" in capsys.readouterr().err
    assert main(["linux", "run", str(experiment), "-o", str(simulated)]) == 2
    assert "results that were simulated" in capsys.readouterr().err
    digest = measured.report.digest
    assert main(["linux", "run", str(experiment), "-o", str(real)]) == 0
    assert priolane.load(real).report.digest == digest
    assert main(["results", str(real)]) == 0


def test_ports_that_no_qdisc_is_are_measured_with_a_switch_in_user_space(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need_testbeds()
    before = namespaces()
    assert main(["linux", "run", str(experiment), "--scheme", "pfabric", "-o", str(tmp_path / "real")]) == 0
    assert "priolane: pfabric: switches in user space: ports that sort packets" in capsys.readouterr().err
    assert namespaces() == before
    [run] = priolane.load(tmp_path / "real").runs
    record = json.loads((tmp_path / "real" / run.id / "run.json").read_text())
    assert record["counters"]["completed"] == 4
    fct = pq.read_table(tmp_path / "real" / run.id / "flows.parquet").to_pydict()["fct_ps"]
    # 14.6 kB alone take 12.3 us at 10 Gbit/s. A busy machine may be late, and never early.
    assert fct[2] > 12_000_000, fct
    # Another choice of switches gives other results.
    again = ["linux", "run", str(experiment), "--scheme", "pfabric", "--switch", "user", "-o", str(tmp_path / "real")]
    assert main(again) == 2
    assert "has results that were measured on linux at scale 100; choose another directory" in capsys.readouterr().err


def test_endless_flows_have_rates_over_time_until_they_are_aborted_and_claims_are_judged_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need_testbeds()
    path, out = tmp_path / "endless.toml", tmp_path / "out"
    path.write_text(ENDLESS)
    # How far both are apart depends on what else the machine does.
    assert main(["linux", "agree", str(path), "-o", str(out), "--scale", "200", "--json"]) in (0, 1)
    shown = capsys.readouterr()
    assert "endless flows: here messages with more bytes than their lines carry" in shown.err
    read = json.loads(shown.out)
    (claim,) = read["claims"]
    assert (claim["section"], claim["says"]) == ("ours", "who pays has more")
    values = {side: [value["mean"] for value in claim[side]["values"]] for side in ("simulated", "measured")}
    assert values["simulated"][0] > values["simulated"][1] > 0
    # Who has more on real hosts depends on the machine, too.
    assert all(rate > 0 for rate in values["measured"])
    assert {row["quantity"] for row in read["quantities"]} >= {"mean rate of endless flows (Gbit/s)"}
    measured = priolane.load(out / "measured")
    for run in measured.runs:
        rates = json.loads((out / "measured" / run.id / "run.json").read_text())["rates"]
        paid, free = (rates["classes"][name]["rates"] for name in ("paid", "free"))
        # A bin of 500 us takes 0.1 s here; an abort may be 2.5 s late.
        assert (len(paid), paid[45:]) == (50, [None] * 5)
        before, after = (sum(rate or 0 for rate in bins) for bins in (paid[:20], free[20:]))
        assert min(before, after) > 0, (paid, free)


def test_names_of_shipped_figures_are_taken_and_others_refused(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["linux", "up", "paccp/fig5", "--dry-run", "--scale", "10"]
    assert main(arguments) == 0
    # 1 Gbit/s by 10.
    assert "htb rate 100000000bit ceil 100000000bit" in capsys.readouterr().out
    assert main(["linux", "up", "paccp/fig55", "--dry-run"]) == 2
    assert "`paccp/fig55`: paccp has no fig55" in capsys.readouterr().err
    assert main(["linux", "run", "paccp"]) == 2
    assert "paccp: there is no such file, and no figure has this name" in capsys.readouterr().err


def test_a_testbed_stays_until_it_is_taken_down(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need_testbeds()
    name = "pytest"
    assert main(["linux", "up", str(experiment), "--scheme", "dctcp", "--name", name]) == 0
    assert capsys.readouterr().out.endswith(": priolane linux down pytest\n")
    try:
        assert main(["linux", "status"]) == 0
        assert "pytest: 5 of 5 namespaces are there\n" in capsys.readouterr().out
    finally:
        assert main(["linux", "down", name]) == 0
    assert main(["linux", "status"]) == 0
    assert "pytest:" not in capsys.readouterr().out


def test_ctrl_c_ends_up_and_what_was_made_is_removed(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need_testbeds()
    name = f"c{os.getpid()}"
    command = [sys.executable, "-m", "priolane", "linux", "up", str(experiment), "--scheme", "dctcp", "--name", name]
    maker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    made = Path("/run/netns") / f"prl-{name}-h1"
    while not made.exists() and maker.poll() is None:
        time.sleep(0.001)
    maker.send_signal(signal.SIGINT)
    shown = maker.communicate(timeout=120)
    try:
        # A machine that stops for a second may be done before it sees the signal.
        assert maker.returncode in (130, 0), shown
        if maker.returncode == 130:
            assert not list(Path("/run/netns").glob(f"prl-{name}-*")), shown
            assert main(["linux", "down", name]) == 2
    finally:
        main(["linux", "down", name])
        capsys.readouterr()
