"""`priolane linux run --machines` with agents that do what none should.

The run ends, nothing is believed unchecked, and no escape sequence reaches the terminal.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from test_linux_machines import marked, wait_until

from linux_experiment import FLOWS, three_senders
from priolane.cli import main

AGENT = Path(__file__).parent / "support" / "hostile_agent.py"
# What the agent on `right` does, and what is said of it.
WRONGS = {
    "hello twice": "machine right: its agent says its release twice",
    "refuses with escapes": "machine right: �[2J�]0;owned� line 1␊line 2 �AAA",
    "ends with escapes": "machine right: �[2J�]0;owned� line 1",
    "line without end": "machine right: its agent said a line of more than ",
    "nested deeply": 'machine right: its agent said "[[[',
    "speaks for another host": "machine right: its agent speaks for host 0, which is not on this machine",
    "ready twice": 'machine right: host 2: it said "ready" twice',
    "floods instead of answers": f'machine right: host 2: it said "{"B" * 100}" while nothing was due',
    "clock that goes backwards": "machine right: the times of its clock cannot be: it read a question at 1844674407370",
    "clock that stands on its head": "machine right: the times of its clock cannot be: it read a question at 0 ns",
    "answers twice": "machine right: its agent answers a question for its time that was not asked",
    "report of another host": "machine right: host 2: its report is of host 0",
    "wrong messages": "machine right: host 2: its report cannot be: 18446744073709551615 wrong messages of ",
    "times": "machine right: host 2: its report cannot be: message 2 was sent at 18446744073709551615 ns",
    "timeouts": "machine right: host 2: its report cannot be: message 2 had 4294967295 timeouts",
    "messages of others": "machine right: host 2: its report cannot be: message 0 is not sent by this host",
    "counts": "machine right: host 2: its report cannot be: marked is 18446744073709551615",
    "no report": "machine right: host 2: its report: ",
}


@pytest.fixture(scope="module")
def release() -> str:
    """The first message of an agent of this version."""
    command = [sys.executable, "-m", "priolane", "linux", "agent"]
    output = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout
    hello: str = json.loads(output.splitlines()[0])["hello"]["release"]
    return hello


@pytest.fixture
def arguments(tmp_path: Path, release: str) -> Callable[[str], list[str]]:
    """The command that runs with an agent on `right` that does this."""
    # Host 2 sends message 2.
    (tmp_path / "flows.csv").write_text(FLOWS)
    experiment = tmp_path / "x.toml"
    experiment.write_text(three_senders('["dctcp"]'))

    def machine(name: str, what: str, port: int, hosts: str) -> str:
        listed = hosts.replace("-", ",")
        command = json.dumps([sys.executable, str(AGENT), what, release, listed])
        place = f'address = "127.0.0.1"\nport = {port}\nhosts = "{hosts}"\n'
        return f'[[machine]]\nname = "{name}"\ncommand = {command}\n{place}'

    def of(what: str) -> list[str]:
        machines = tmp_path / "machines.toml"
        machines.write_text(machine("left", "right", 7077, "0-1") + machine("right", what, 7177, "2-3"))
        return ["linux", "run", str(experiment), "--machines", str(machines), "-o", str(tmp_path / "out")]

    return of


@pytest.mark.parametrize("what", WRONGS)
def test_what_an_agent_says_wrongly_ends_the_run_with_one_plain_line_and_no_page(
    what: str, arguments: Callable[[str], list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(what)) == 1
    shown = capsys.readouterr().err
    last = shown.splitlines()[-1]
    assert last.startswith(f"priolane: failed: {WRONGS[what]}"), shown[-1_000:]
    assert len(last) < 700
    assert not any(ord(character) < 32 and character != "\n" for character in shown.replace("\r", ""))
    assert "\u202e" not in shown
    assert not list(tmp_path.glob("out/**/run.json"))
    assert not list(tmp_path.glob("out/**/*.html"))


def start(command: list[str], mark: str) -> "subprocess.Popen[str]":
    controller = subprocess.Popen(
        [sys.executable, "-m", "priolane", *command],
        env=os.environ | {"PRIOLANE_TEST": mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    # It and two agents.
    wait_until("agents are there", lambda: len(marked(mark)) >= 3 or controller.poll() is not None)
    time.sleep(0.5)
    assert controller.poll() is None
    return controller


def test_ctrl_c_ends_a_run_whose_agent_answers_nothing_and_outlives_its_input(
    arguments: Callable[[str], list[str]],
) -> None:
    mark = f"interrupt{os.getpid()}"
    controller = start(arguments("silent"), mark)
    controller.send_signal(signal.SIGINT)
    _, shown = controller.communicate(timeout=120)
    assert controller.returncode == 130, shown
    assert shown.splitlines()[-1] == "priolane: interrupted", "there is no complete run to keep"
    wait_until("agents end", lambda: not marked(mark))


def test_a_second_ctrl_c_ends_a_run_at_once_and_nothing_is_left(arguments: Callable[[str], list[str]]) -> None:
    mark = f"twice{os.getpid()}"
    controller = start(arguments("silent"), mark)
    controller.send_signal(signal.SIGINT)
    # The agent does not end with its input, and is given 2 s.
    time.sleep(0.5)
    controller.send_signal(signal.SIGINT)
    controller.communicate(timeout=120)
    # A machine that stops for a second may be done with the first before it sees the second.
    assert controller.returncode in (-signal.SIGINT, 130)
    wait_until("agents end", lambda: not marked(mark))
