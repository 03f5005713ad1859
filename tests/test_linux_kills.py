"""SIGKILL at random moments of `linux run`, `linux up` and `doctor`: nothing is left after `linux down`.

A table of what was there right after each kill, and what is left, goes to standard output (`pytest -s`).
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_linux import need_testbeds
from test_linux_machines import marked, wait_until

from linux_experiment import FLOWS, three_senders
from priolane import _core
from priolane.hosts import linux

# One at a time: other tests compare the namespaces of the machine before and after.
pytestmark = pytest.mark.xdist_group("namespaces")

TESTBEDS = Path("/run/priolane-linux")
NAMESPACES = Path("/run/netns")
# What steps of a testbed set, in namespaces of their own.
SYSCTLS = ("net.ipv4.ip_forward", "net.ipv4.conf.all.rp_filter", "net.ipv4.conf.default.rp_filter")
# The latest moment of a kill, in times that `linux up` takes on this machine; each third one is before the first.
LATEST, EARLY = 3.5, 0.8


@dataclass(frozen=True)
class Left:
    """The state of a command that was killed."""

    namespaces: frozenset[str]
    processes: int
    testbeds: frozenset[str]
    files: frozenset[str]

    def __str__(self) -> str:
        counts = (len(self.namespaces), self.processes, len(self.testbeds), len(self.files))
        return "  ".join(f"{count:>10}" for count in counts)


def names(directory: Path) -> set[str]:
    return {entry.name for entry in directory.iterdir()} if directory.exists() else set()


def left(name: str, pids: Sequence[int], mark: str, before: set[str]) -> Left:
    """The remains of the testbed of this name, of the processes with this mark, and of probes of `pids`."""
    probes = tuple(f"prl-probe-{pid}-" for pid in pids)
    files = {each for each in names(Path(tempfile.gettempdir())) - before if each.startswith(("prl", "priolane"))}
    return Left(
        namespaces=frozenset(each for each in names(NAMESPACES) if each.startswith((f"prl-{name}-", *probes))),
        processes=len(marked(mark)),
        testbeds=frozenset(each for each in names(TESTBEDS) if each == name),
        files=frozenset(files),
    )


def settings() -> str:
    """The settings and links of this machine, outside of namespaces."""
    values = subprocess.run(["sysctl", *SYSCTLS], capture_output=True, text=True, check=False).stdout
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    return values + "".join(sorted(line.split(": ")[1] for line in links.splitlines()))


def kill(leader: "subprocess.Popen[bytes]", who: str, mark: str, choose: random.Random) -> None:
    """Kills the command, its process group, or one of its processes."""
    try:
        match who:
            case "command":
                leader.kill()
            case "group":
                os.killpg(leader.pid, signal.SIGKILL)
            case _:
                os.kill(choose.choice(marked(mark) or [leader.pid]), signal.SIGKILL)
    except ProcessLookupError:
        pass


def take_down(name: str) -> None:
    """Takes the testbed down as soon as nobody holds it."""

    def is_down() -> bool:
        try:
            _core.linux_down(name)
        except _core.InputError:
            return True
        except _core.RunFailed:
            # A guard is at it.
            return False
        return True

    wait_until(f"testbed {name} is taken down", is_down)


def commands(directory: Path, name: str, out: str) -> dict[str, list[str]]:
    experiment = str(directory / "x.toml")
    run = ["linux", "run", experiment, "-o", str(directory / out)]
    up = ["linux", "up", experiment, "--name", name]
    return {
        "run": run,
        "up": up,
        "run, user": [*run, "--switch", "user"],
        "doctor": ["doctor"],
        "up, user": [*up, "--switch", "user"],
    }


def time_of_up(directory: Path) -> float:
    """The seconds that `linux up` takes: a busy machine takes several times as long as an idle one."""
    name = f"k{os.getpid() % 100_000}-whole"
    begun = time.monotonic()
    up = [sys.executable, "-m", "priolane", *commands(directory, name, "")["up"]]
    subprocess.run(up, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took = time.monotonic() - begun
    take_down(name)
    return took


def kill_at_random(directory: Path, rounds: int, seed: int) -> int:
    """Kills the stated number of commands, and returns how many of them had made a testbed."""
    (directory / "flows.csv").write_text(FLOWS)
    (directory / "x.toml").write_text(three_senders('["dctcp"]'))
    choose = random.Random(seed)  # noqa: S311
    before_files, before_settings = names(Path(tempfile.gettempdir())), settings()
    whole_s, had_testbeds = time_of_up(directory), 0
    heads = ("namespaces", "processes", "testbeds", "files")
    columns = "  ".join(f"{head:>10}" for head in heads)
    sys.stdout.write(f"\n{'command':<10} {'killed':<8} {'at':>5}   at once: {columns}   after down: {columns}\n")
    for number in range(rounds):
        mark, own = f"kill{os.getpid()}.{number}", f"k{os.getpid() % 100_000}-{number}"
        what, words = list(commands(directory, own, f"out{number}").items())[number % 5]
        who = ("command", "group", "process")[number % 3]
        moment = whole_s * choose.uniform(0.04, EARLY if number % 3 == 1 else LATEST)
        leader = subprocess.Popen(
            [sys.executable, "-m", "priolane", *words],
            env=os.environ | {"PRIOLANE_TEST": mark},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        name = own if what.startswith("up") else f"run{leader.pid}"
        time.sleep(moment)
        pids = [leader.pid, *marked(mark)]
        kill(leader, who, mark, choose)
        at_once = left(name, pids, mark, before_files)
        had_testbeds += bool(at_once.testbeds)
        # A command of which one process was killed ends by itself, or has what it wanted.
        leader.wait(timeout=180)
        take_down(name)
        wait_until(f"processes of {what} end", lambda mark=mark: not marked(mark))  # type: ignore[misc]
        after = left(name, pids, mark, before_files)
        sys.stdout.write(f"{what:<10} {who:<8} {moment:5.2f}            {at_once}               {after}\n")
        assert after == Left(frozenset(), 0, frozenset(), frozenset()), (what, who, moment, after)
    assert settings() == before_settings
    assert not [line for line in linux.leftovers() if f"prl-probe-{os.getpid()}" in line]
    return had_testbeds


def test_nothing_is_left_of_commands_that_are_killed_at_random_moments(tmp_path: Path) -> None:
    need_testbeds()
    kill_at_random(tmp_path, 4, seed=1)


@pytest.mark.soak
def test_nothing_is_left_of_twenty_commands_that_are_killed_at_random_moments(tmp_path: Path) -> None:
    need_testbeds()
    assert kill_at_random(tmp_path, 20, seed=2) >= 3


def test_what_probes_of_earlier_versions_left_is_shown_and_removed() -> None:
    need_testbeds()
    ended = subprocess.Popen(["true"])
    ended.wait()
    gone, alive = f"prl-probe-{ended.pid}-0", f"prl-probe-{os.getpid()}-0"
    program = Path(tempfile.gettempdir()) / f"{gone}.o"
    for name in (gone, alive):
        subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        program.write_bytes(b"program")
        assert {f"network namespace {gone}", f"file {program}"} <= set(linux.leftovers())
        assert not any(alive in line for line in linux.leftovers())
        _core.linux_machine()
        assert alive in names(NAMESPACES)
        assert gone not in names(NAMESPACES)
        assert not program.exists()
    finally:
        program.unlink(missing_ok=True)
        for name in (gone, alive):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
