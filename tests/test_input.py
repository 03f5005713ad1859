"""Input of any kind through the command: names, signals, locales. Every process has a timeout: nothing may hang."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import priolane
from priolane.cli import main

_PATIENCE_S = 120
_NAME = os.fsdecode(b"e\xff\xfe")

_EXPERIMENT = """title = "Two racks"
schemes = ["newreno"]
time = { warmup = "1ms", measure = "2ms" }
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
host_link = { rate = "10Gbps", delay = "1us" }
fabric_link = { rate = "40Gbps", delay = "1us" }
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.5 }
"""


def _write(path: Path, text: str = _EXPERIMENT) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "BAD.toml"],
        ["run", "GOOD", "-o", "BAD"],
        ["check", "BAD.toml"],
        ["check", "GOOD", "--set", "title=BAD"],
        ["reproduce", "nos2/fig6", "--quick", "-o", "BAD"],
        ["report", "BAD"],
        ["compare", "BAD", "out"],
        ["compare", "out", "BAD"],
        ["import", "auto", "BAD", "-o", "x.csv"],
        ["import", "auto", "GOOD", "-o", "BAD"],
        ["import", "hpcc", "GOOD", "-o", "x.csv", "--topology", "BAD"],
        ["import", "auto", "GOOD", "-o", "x.csv", "--sizes", "BAD"],
        ["trace", "BAD.toml", "--flow", "0"],
        ["trace", "GOOD", "--flow", "0", "-o", "BAD"],
        ["thresholds", "--flows", "BAD", "--levels", "2", "--load", "0.5"],
        ["thresholds", "--sizes", "BAD", "--levels", "2", "--load", "0.5"],
        ["channels", "--priorities", "2", "--noise", "BAD"],
        ["plan", "requirement", "BAD.toml"],
        ["plan", "thresholds", "BAD.toml", "s"],
        ["price", "BAD.toml"],
        ["analyze", "BAD.toml"],
    ],
)
def test_a_name_that_is_not_utf8_is_one_line_and_nothing_is_run(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = _write(tmp_path / "x.toml")
    monkeypatch.chdir(tmp_path)
    spelled = [word.replace("BAD", _NAME).replace("GOOD", good) for word in arguments]
    assert main(spelled) == 2
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "not UTF-8" in shown
    assert [path.name for path in tmp_path.iterdir()] == ["x.toml"]


def test_the_module_refuses_such_names_too(tmp_path: Path) -> None:
    bad = tmp_path / f"{_NAME}.toml"
    bad.write_text(_EXPERIMENT, encoding="utf-8")
    for refused in (priolane.plan, priolane.check):
        with pytest.raises(priolane.InputError, match="not UTF-8"):
            refused(bad)


@pytest.mark.parametrize("seed", ["-5", "0", "1000001", "9" * 23, "x"])
def test_a_seed_of_a_trace_has_bounds(seed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["trace", _write(tmp_path / "x.toml"), "--flow", "0", "--seed", seed])
    assert left.value.code == 2
    assert "not a number from 1 to 1000000" in capsys.readouterr().err


def test_all_mistakes_of_a_file_have_a_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = _EXPERIMENT.replace("leaves", "leafs").replace("poisson", "possion").replace("title", "seed = 2\ntitle")
    assert main(["check", _write(tmp_path / "x.toml", text)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("x.toml:")[1].split(":")[0] for line in lines] == ["1", "7", "15"]


def _command(*arguments: str, **changed: str) -> "subprocess.Popen[str]":
    script = "import sys; from priolane.cli import main; print('ready', flush=True); sys.exit(main(sys.argv[1:]))"
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, **changed},
    )


def _end(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    """Exit code, output and errors; kills what does not end."""
    try:
        out, errors = process.communicate(timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail("the command did not end")
    return process.returncode, out, errors


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["check", "run"])
def test_a_signal_ends_a_long_plan(command: str, sent: signal.Signals, tmp_path: Path) -> None:
    # Ten thousand points of twenty groups each: half a minute.
    head, group = _EXPERIMENT.split("[[group]]")
    others = "".join("[[group]]" + group.replace('"all"', f'"g{n}"') for n in range(20))
    loads = ", ".join(f"{0.2 + n * 1e-5:.5f}" for n in range(10_000))
    text = f'{head}[[group]]{group}{others}[sweep]\n"group.all.load.value" = [{loads}]\n'
    out = ["-o", str(tmp_path / "out")] if command == "run" else []
    process = _command(command, _write(tmp_path / "x.toml", text), *out)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    assert process.poll() is None, "the plan was not long"
    process.send_signal(sent)
    begun = time.monotonic()
    code, _, errors = _end(process)
    assert code == 130
    assert "interrupted" in errors
    assert "Traceback" not in errors
    # It takes some hundred milliseconds; ten seconds are for a loaded machine.
    assert time.monotonic() - begun < 10


def test_a_fifo_is_refused_at_once(tmp_path: Path) -> None:
    fifo = str(tmp_path / "fifo")
    os.mkfifo(fifo)
    device = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(device)
        for special in (fifo, device):
            for arguments in (
                ["check", special],
                ["run", special, "-o", str(tmp_path / "out")],
                ["analyze", special],
                ["import", "auto", special, "-o", str(tmp_path / "x.csv")],
                ["thresholds", "--flows", special, "--levels", "2", "--load", "0.5"],
            ):
                code, _, errors = _end(_command(*arguments))
                assert code == 2, errors
                assert errors.count("\n") == 1
                assert "not a regular file" in errors


@pytest.mark.parametrize("what", ["schemes", "workloads"])
def test_a_list_prints_in_an_ascii_locale(what: str) -> None:
    process = _command("list", what, LC_ALL="POSIX", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    code, out, errors = _end(process)
    assert (code, errors) == (0, "")
    assert out.count("\n") > 5
