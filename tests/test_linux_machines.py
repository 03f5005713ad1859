"""`priolane linux run --machines`: agents on this machine, by commands, ssh and in the namespaces of a testbed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import priolane
from linux_experiment import FLOWS, three_senders
from priolane import _core
from priolane.cli import main
from priolane.hosts import agreement

# One at a time, since they measure time.
pytestmark = pytest.mark.xdist_group("namespaces")
EXPERIMENT = three_senders('["dctcp"]')
AGENT = (sys.executable, "-m", "priolane", "linux", "agent")
# Its clock is 5 s ahead.
AHEAD = (sys.executable, "-m", "priolane.hosts.linux_process", "agent", "5000000000")


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "flows.csv").write_text(FLOWS)
    path = tmp_path / "x.toml"
    path.write_text(EXPERIMENT)
    return path


def machine(name: str, reach: str, address: str, hosts: str) -> str:
    return f'[[machine]]\nname = "{name}"\n{reach}\naddress = "{address}"\nhosts = "{hosts}"\n\n'


def by_command(agent: Sequence[str] = AGENT) -> str:
    return f"command = {json.dumps(agent)}"


def record(out: Path) -> dict[str, object]:
    [run] = priolane.load(out).runs
    read: dict[str, object] = json.loads((out / run.id / "run.json").read_text())
    return read


def columns(out: Path) -> dict[str, list[object]]:
    [run] = priolane.load(out).runs
    table: dict[str, list[object]] = pq.read_table(out / run.id / "flows.parquet").to_pydict()
    return table


def test_a_run_on_two_machines_has_the_tables_of_the_simulated_one_and_states_its_clocks(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = machine("left", by_command(), "127.0.21.1", "0-1")
    right = machine("right", by_command(AHEAD), "127.0.21.2", "2-3")
    machines = tmp_path / "machines.toml"
    machines.write_text(left + right)
    real, simulated = tmp_path / "real", tmp_path / "simulated"
    arguments = ["linux", "run", str(experiment), "--machines", str(machines), "-o", str(real)]
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert "priolane: dctcp: switches are those between the machines" in shown.err
    assert "clocks, ahead of the controller's: left " in shown.out + shown.err
    priolane.run(experiment, simulated)
    measured, expected = columns(real), columns(simulated)
    assert list(measured) == list(expected)
    for column in ("flow", "src", "dst", "bytes", "start_ps", "bare_fct_ps"):
        assert measured[column] == expected[column], column
    # What switches between machines drop is not known, and so is not compared.
    rows = agreement.compare(priolane.load(simulated), priolane.load(real))
    assert "flows that complete" in {row.quantity for row in rows}
    assert "packets dropped" not in {row.quantity for row in rows}
    read = record(real)
    how = read["measured"]
    assert isinstance(how, dict)
    assert (how["on"], how["scale"]) == ("machines", 100)
    assert [(machine["name"], machine["hosts"]) for machine in how["machines"]] == [("left", [0, 1]), ("right", [2, 3])]
    # 10 ms, as a busy machine may stop between two readings of clocks.
    for own_machine, shift in zip(how["machines"], (0, 5_000_000_000), strict=True):
        for offset in (own_machine["clock_offset_ns"], own_machine["clock_offset_after_ns"]):
            assert abs(offset - shift) <= own_machine["clock_uncertainty_ns"] + 10_000_000, own_machine
    # 1.46 MB at 10 Gbit/s take 1.17 ms at least; 5 s are 50 ms here, which is beyond the limit.
    uncertainty_ps = sum(machine["clock_uncertainty_ns"] for machine in how["machines"]) * 1000 / 100
    for took in measured["fct_ps"]:
        assert isinstance(took, int)
        assert took < 45_000_000_000
    assert all(took + uncertainty_ps > 1_168_000_000 for took in measured["fct_ps"][:2])
    # Results of other machines do not take their place; the same are not measured again.
    digest = priolane.load(real).report.digest
    assert main(arguments) == 0
    assert priolane.load(real).report.digest == digest
    capsys.readouterr()
    machines.write_text(machines.read_text().replace('"right"', '"other"'))
    assert main(arguments) == 2
    other = "has results that were measured on machines at scale 100 (left, right); choose another directory"
    assert other in capsys.readouterr().err


def test_all_mistakes_of_a_file_of_machines_are_told_and_nothing_is_written(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machines = tmp_path / "m.toml"
    out = tmp_path / "out"
    arguments = ["linux", "run", str(experiment), "--machines", str(machines), "-o", str(out)]
    machines.write_text(machine("left", 'ssh = "-F"', "224.0.0.1", "0-9"))
    assert main(arguments) == 2
    places = [line.split(": ")[:2] for line in capsys.readouterr().err.splitlines()]
    # The first line begins with the name of the program.
    assert [place[-1] for place in places][1:] == ["machine[0].address", "machine[0].hosts"]
    machines.write_text(machine("left", by_command(), "127.0.0.1", "0-2"))
    assert main(arguments) == 2
    assert "m.toml: machine: no machine has host 3. Use each host of the experiment once." in capsys.readouterr().err
    assert main([*arguments, "--switch", "user"]) == 2
    assert "--switch: with --machines, switches are those between the machines" in capsys.readouterr().err
    assert main([*arguments[:4], str(tmp_path / "none.toml"), "-o", str(out)]) == 2
    assert "none.toml" in capsys.readouterr().err
    assert not out.exists()


def test_a_machine_without_priolane_is_named_with_what_its_shell_says(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machines = tmp_path / "m.toml"
    missing = 'command = ["sh", "-c", "exec /nonexistent/priolane linux agent"]'
    machines.write_text(
        machine("left", by_command(), "127.0.22.1", "0-1") + machine("right", missing, "127.0.22.2", "2-3")
    )
    assert main(["linux", "run", str(experiment), "--machines", str(machines), "-o", str(tmp_path / "out")]) == 1
    shown = capsys.readouterr().err
    assert "machine right: " in shown
    assert "/nonexistent/priolane: not found" in shown


def marked(mark: str) -> list[int]:
    """The processes that carry this mark in their environment."""
    results = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"PRIOLANE_TEST={mark}".encode() in words:
                results.append(int(entry.name))
    return results


def wait_until(what: str, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_nothing_is_left_of_a_run_whose_controller_is_killed(experiment: Path, tmp_path: Path) -> None:
    # It would take 20 s.
    experiment.write_text(EXPERIMENT.replace('"20ms"', '"200ms"'))
    (tmp_path / "flows.csv").write_text("start_ns,src,dst,bytes\n0,0,3,250000000\n0,1,2,250000000\n0,2,0,1\n0,3,0,1\n")
    machines = tmp_path / "m.toml"
    machines.write_text(
        machine("left", by_command(), "127.0.23.1", "0-1") + machine("right", by_command(), "127.0.23.2", "2-3")
    )
    mark = f"python{os.getpid()}"
    command = [sys.executable, "-m", "priolane", "linux", "run", str(experiment), "--machines", str(machines)]
    controller = subprocess.Popen(
        [*command, "-o", str(tmp_path / "out")],
        env=os.environ | {"PRIOLANE_TEST": mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    # It, two agents and four hosts.
    wait_until("hosts are there", lambda: len(marked(mark)) >= 7)
    assert controller.poll() is None
    controller.send_signal(signal.SIGKILL)
    controller.wait()
    wait_until("all have ended", lambda: not marked(mark))


def need_testbeds() -> None:
    """Skips with the reason where this machine has no testbeds with marks by all queues of a port."""
    for capability in json.loads(_core.linux_machine())["capabilities"]:
        if capability["missing"] is not None and "sch_red" not in capability["name"]:
            pytest.skip(f"{capability['name']}: {capability['missing']}")


@pytest.fixture
def testbed(experiment: Path) -> Iterator[str]:
    need_testbeds()
    name = f"m{os.getpid()}"
    assert main(["linux", "up", str(experiment), "--name", name]) == 0
    yield name
    assert main(["linux", "down", name]) == 0


def test_machines_are_measured_with_the_network_between_them(experiment: Path, tmp_path: Path, testbed: str) -> None:
    # Four machines at a switch that nobody knows to be one of a testbed.
    machines = tmp_path / "m.toml"
    inside = [["ip", "netns", "exec", f"prl-{testbed}-h{host}", *AGENT] for host in range(4)]
    machines.write_text(
        "".join(
            machine(f"m{host}", f"command = {json.dumps(argv)}", f"10.77.0.{host + 1}", str(host))
            for host, argv in enumerate(inside)
        )
    )
    out = tmp_path / "out"
    assert main(["linux", "run", str(experiment), "--machines", str(machines), "-o", str(out)]) == 0
    read = record(out)
    counters = read["counters"]
    assert isinstance(counters, dict)
    assert (counters["completed"], counters["drops"]) == (4, None)
    # Two flows of 1.46 MB meet at the switch, which marks them: the marks reach hosts, the counts of the switch do not.
    assert counters["marks"] > 0
    took = columns(out)["fct_ps"]
    uncertainty_ps = max(machine["clock_uncertainty_ns"] for machine in read["measured"]["machines"]) * 2 * 1000 / 100  # type: ignore[index]
    # Both share 10 Gbit/s.
    assert max(took[:2]) + uncertainty_ps > 2_300_000_000  # type: ignore[type-var]


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An SSH server on this machine, and an `ssh` that knows it as the host it gives."""
    server, client = shutil.which("sshd") or "/usr/sbin/sshd", shutil.which("ssh")
    if client is None or not Path(server).exists() or os.geteuid() != 0:
        pytest.skip("ssh: there is no sshd (apt-get install openssh-server), or this user may not run one")
    keys = tmp_path / "keys"
    keys.mkdir(mode=0o700)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(keys / name)], check=True)
    port = 22_000 + os.getpid() % 10_000
    (keys / "sshd").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {keys}/host\nPidFile none\nUsePAM no\nStrictModes no\n"
        f"AuthorizedKeysFile {keys}/user.pub\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n"
    )
    (keys / "ssh").write_text(
        f"Host there\nHostName 127.0.0.1\nPort {port}\nUser root\nIdentityFile {keys}/user\nIdentitiesOnly yes\n"
        f"UserKnownHostsFile {keys}/known\n"
    )
    kind, key = (keys / "host.pub").read_text().split()[:2]
    (keys / "known").write_text(f"[127.0.0.1]:{port} {kind} {key}\n")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "ssh").write_text(f'#!/bin/sh\nexec {client} -F {keys}/ssh "$@"\n')
    (tools / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    Path("/run/sshd").mkdir(exist_ok=True)
    daemon = subprocess.Popen([server, "-D", "-e", "-f", str(keys / "sshd")], stderr=subprocess.DEVNULL)
    ask = ["ssh", "-o", "BatchMode=yes", "there", "true"]
    wait_until("sshd answers", lambda: subprocess.run(ask, capture_output=True, check=False).returncode == 0)
    yield "there"
    daemon.terminate()
    daemon.wait()


def test_agents_are_started_by_ssh(experiment: Path, tmp_path: Path, ssh: str) -> None:
    program = tmp_path / "bin" / "priolane-there"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={":".join(sys.path)} exec {sys.executable} -m priolane "$@"\n')
    program.chmod(0o755)
    reach = f'ssh = "{ssh}"\npriolane = "{program}"'
    machines = tmp_path / "m.toml"
    machines.write_text(machine("left", reach, "127.0.24.1", "0-1") + machine("right", reach, "127.0.24.2", "2-3"))
    out = tmp_path / "out"
    assert main(["linux", "run", str(experiment), "--machines", str(machines), "-o", str(out)]) == 0
    counters = record(out)["counters"]
    assert isinstance(counters, dict)
    assert counters["completed"] == 4
