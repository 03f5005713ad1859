"""Congestion controllers that are Python classes."""

import concurrent.futures
import copy
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

import documents
import priolane
from priolane._core import InputError
from priolane.cli import main
from priolane.execution.grid import run_grid
from priolane.execution.settings import Settings
from priolane.model.class_source import declared
from priolane.model.experiment import Options

EXAMPLE = Path(__file__).parent.parent / "examples" / "notebook-scheme"

# Small enough for losses, recoveries and timeouts in each run.
PORT = {"kind": "fifo", "buffer": {"shared": "40pkt"}}
KEYS: dict[str, Any] = {
    "title": "A class",
    "schemes": ["mine"],
    "time": {"measure": "5ms", "drain": True, "limit": "1s"},
    "topology": {"kind": "single_switch", "hosts": 6, "host_link": {"rate": "10Gbps", "delay": "1us"}},
    "group": [
        {
            "name": "all",
            "hosts": "*",
            "app": "poisson",
            "sizes": "web_search",
            "load": {"of": "host", "counts": "payload", "value": 0.7},
        }
    ],
    "scheme": {"mine": {"base": "newreno", "port": PORT, "transport": {"kind": "python", "class": "mine:Mine"}}},
}
NEWRENO = (EXAMPLE / "newreno.py").read_text(encoding="utf-8")
MINE = NEWRENO.replace("class NewReno", "class Mine")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    return tmp_path


def keys(**transport: Any) -> dict[str, Any]:
    """The experiment with these keys of the transport."""
    changed = copy.deepcopy(KEYS)
    changed["scheme"]["mine"]["transport"] |= transport
    return changed


def experiment_file(folder: Path, text: str = MINE) -> Path:
    """The experiment as a file, with the class in `mine.py`."""
    (folder / "mine.py").write_text(text, encoding="utf-8")
    path = folder / "experiment.toml"
    path.unlink(missing_ok=True)
    return priolane.Experiment(KEYS).save(path)


def records(out: str | Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(Path(out).glob("**/run.json"))]


def digests(out: str | Path) -> dict[tuple[str, int], str]:
    return {(record["scheme"], record["seed"]): record["digest"] for record in records(out)}


# --- Equal to the bit -------------------------------------------------------------------------------------------------


def test_newreno_of_30_lines_is_equal_to_the_bit_on_both_engines_and_in_processes() -> None:
    assert len(NEWRENO.partition("class ")[2].splitlines()) <= 30
    both = keys() | {"schemes": ["rust", "mine"], "seeds": 2}
    both["scheme"]["rust"] = {"base": "newreno", "port": PORT}
    results = []
    for out, settings in {
        "window": Settings(engine="window"),
        "wheel": Settings(engine="wheel"),
        "processes": Settings(jobs=2),
    }.items():
        run_grid(both, out, Options(), settings)
        results.append(digests(out))
        for seed in (1, 2):
            assert results[-1]["rust", seed] == results[-1]["mine", seed], out
    assert results[0] == results[1] == results[2]
    # Each part of the controller was at work.
    counters = [record["counters"] for record in records("window")]
    assert min(counter["timeouts"] for counter in counters) > 0
    assert min(counter["drops"] for counter in counters) > 100


def test_recovery_without_selective_acks_calls_on_recovered() -> None:
    plain = {"base": "newreno", "port": PORT, "transport": {"kind": "newreno", "recovery": "newreno"}}
    both = keys(recovery="newreno") | {"schemes": ["plain", "mine"]}
    both["scheme"]["plain"] = plain
    priolane.run(both, out="with", seeds=[2])
    assert len(set(digests("with").values())) == 1
    # The method is called: a class that stops at the end of a recovery differs.
    text = (
        MINE.partition("    def on_recovered")[0]
        + "    def on_recovered(self, in_flight):\n        self.cwnd = self.mss\n"
    )
    Path("mine.py").write_text(text, encoding="utf-8")
    priolane.run(both, out="other", seeds=[2])
    assert len(set(digests("other").values())) == 2


def test_workers_without_files_run_it(folder: Path) -> None:
    path = experiment_file(folder)
    priolane.run(path, out="here")
    context = multiprocessing.get_context("spawn")
    os.chdir("/")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        priolane.run(path, out=folder / "there", on=pool)
    assert digests(folder / "there") == digests(folder / "here") != {}


def test_two_threads_are_one_and_the_user_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = experiment_file(folder)
    assert main(["run", str(path), "-o", "two", "--threads", "2"]) == 0
    assert "mine: a Python class runs on one thread" in capsys.readouterr().err
    assert main(["run", str(path), "-o", "one"]) == 0
    assert digests("one") == digests("two")


def test_packets_of_a_class_are_ecn_capable_if_it_says_so() -> None:
    marking = copy.deepcopy(KEYS)
    marking["scheme"]["mine"]["base"] = "dctcp"
    del marking["scheme"]["mine"]["port"]
    marks: list[int] = []
    for text in (MINE, MINE.replace("class Mine:", "class Mine:\n    ecn = True\n")):
        Path("mine.py").write_text(text, encoding="utf-8")
        priolane.run(marking, out=f"marks{len(marks)}")
        marks.append(records(f"marks{len(marks)}")[0]["counters"]["marks"])
    assert marks[0] == 0
    assert marks[1] > 100


PACED = """
class Mine:
    rate = 1e9

    def __init__(self, flow):
        self.cwnd = 1e9

    def on_ack(self, ack):
        pass

    def on_loss(self, loss):
        pass

    def on_timeout(self, loss):
        pass
"""


def test_a_rate_paces_and_is_a_key_of_the_transport() -> None:
    """A flow of 1,000 packets at a rate takes 999 gaps of MSS / rate, and little more at 10 Gbps."""
    Path("mine.py").write_text(PACED, encoding="utf-8")
    group = {"name": "all", "hosts": "*", "app": "incast", "period": "1s", "fan_in": 1, "size": "1460kB", "receiver": 0}
    for rate, name in ((1e9, "slow"), (2e9, "fast")):
        paced = keys(keys={"rate": rate}, handshake="none") | {"group": [group]}
        priolane.run(paced, out=name)
        gaps = 999 * 1460 * 8 / rate
        assert records(name)[0]["summary"]["all"]["mean_fct_s"] == pytest.approx(gaps, rel=2e-3)


# --- Classes of a session ---------------------------------------------------------------------------------------------

SESSION = """
import math as maths
from math import sqrt
import priolane
from priolane.scheme import Ack, CongestionControl, Flow

SEGMENTS, unused = 10, object()

def cut(window: int) -> int:
    return int(maths.floor(window / sqrt(4)))

class Base:
    def on_timeout(self, loss):
        self.cwnd = self.mss

class Mine(Base, CongestionControl):
    gain = 1

    def __init__(self, flow: Flow) -> None:
        self.mss, self.cwnd = flow.mss, SEGMENTS * flow.mss

    def on_ack(self, ack: Ack) -> None:
        unused = ack.acked
        if ack.may_grow:
            self.cwnd += self.gain * self.mss * unused // self.cwnd

    def on_loss(self, loss):
        self.cwnd = max(cut(self.cwnd), 2 * self.mss)
"""


def test_a_class_of_a_script_is_taken_with_what_it_uses(folder: Path) -> None:
    run = f"""
KEYS = {KEYS!r}
KEYS["scheme"]["mine"]["transport"]["class"] = Mine
KEYS["seeds"] = 2
experiment = priolane.Experiment(KEYS)
experiment.save("saved/experiment.toml")
priolane.run(experiment, out="out", jobs=2)
"""
    (folder / "script.py").write_text(SESSION + run, encoding="utf-8")
    (folder / "saved").mkdir()
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    text = (folder / "out" / "experiment" / "Mine.py").read_text(encoding="utf-8")
    assert text == (folder / "saved" / "Mine.py").read_text(encoding="utf-8")
    assert text.startswith("from math import sqrt\nfrom priolane.scheme import Ack\n")
    assert "unused = object" not in text
    assert "import priolane\n" not in text
    # The file that it makes has the same runs.
    again = priolane.plan(folder / "saved" / "experiment.toml")
    assert {run.id for run in again.runs} == {record["run"] for record in records(folder / "out")}
    # With one for the windows of slow start and avoidance alike, as counted by hand of the same text in a file.
    (folder / "mine.py").write_text(text, encoding="utf-8")
    priolane.run(KEYS, out="file")
    assert digests("file")["mine", 1] == digests(folder / "out")["mine", 1]


def test_a_class_of_a_notebook_cell_is_taken(folder: Path) -> None:
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell()
    for cell in ("LEAST = 2", MINE.replace("2 * self.mss", "LEAST * self.mss"), "import priolane"):
        assert shell.run_cell(cell).success
    made = shell.user_ns["Mine"]
    made.__module__ = shell.user_module.__name__
    priolane.run(keys(**{"class": made}), out="cell")
    priolane.run(KEYS, out="file")
    assert digests("cell") == digests("file")
    assert (folder / "cell" / "experiment" / "Mine.py").read_text(encoding="utf-8").startswith("LEAST = 2\n")


TABLE = {"a": 1}


class UsesTable:
    def on_ack(self, ack: Any) -> int:
        return TABLE["a"]


def test_a_class_that_uses_what_no_file_can_have_is_refused() -> None:
    with pytest.raises(InputError, match="UsesTable uses TABLE of this session, which is of type dict"):
        priolane.plan(keys(**{"class": UsesTable}))

    class Inner:
        def on_ack(self, ack: Any) -> None: ...

    with pytest.raises(InputError, match="Inner is defined within another"):
        priolane.plan(keys(**{"class": Inner}))


# --- Failures ---------------------------------------------------------------------------------------------------------


def failing(line: str, method: str = "on_ack") -> str:
    """NewReno that does something else first in a method."""
    return re.sub(rf"(    def {method}\(.*\n)", rf"\1        {line}\n", MINE)


def test_an_exception_ends_the_run_with_flow_time_and_traceback(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = experiment_file(folder, failing("ack.now > 0.0005 and 1 / 0"))
    assert main(["run", str(path), "-o", "out"]) == 2
    message = capsys.readouterr().err
    match = re.search(r"mine\.py: Mine\.on_ack failed in flow (\d+) at (0\.\d+) s of simulated time:", message)
    assert match, message
    assert 0.0005 < float(match[2]) < 0.0006
    assert 'File "mine.py", line' in message
    assert "ack.now > 0.0005 and 1 / 0" in message
    assert message.rstrip().endswith("ZeroDivisionError: division by zero")
    assert message.count("priolane: error:") == 1
    assert "class_source" not in message
    assert records("out") == []
    # The process goes on, and so does another class in it.
    assert main(["run", str(experiment_file(folder)), "-o", "out"]) == 0


def test_an_exception_in_a_process_is_the_same_message(folder: Path) -> None:
    path = experiment_file(folder, failing("raise KeyError(loss.next)", "on_loss"))
    with pytest.raises(InputError, match=r"Mine\.on_loss failed in flow \d+ at .*\n.*\n(.*\n)+KeyError: \d+"):
        priolane.run(path, out="out", jobs=2, seeds=2)


def test_the_last_event_of_a_run_counts(folder: Path) -> None:
    """The run ends before the engine reports progress again."""
    group = {"name": "all", "hosts": "*", "app": "incast", "period": "1s", "fan_in": 1, "size": "1kB", "receiver": 0}
    (folder / "mine.py").write_text(failing("raise ValueError('at the end')"), encoding="utf-8")
    with pytest.raises(InputError, match=r"Mine\.on_ack failed in flow 0 at [^\n]*:\n(.*\n)+ValueError: at the end"):
        priolane.run(KEYS | {"group": [group]}, out="out")
    assert records("out") == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("self.cwnd = -3; return", "cwnd is -3, which is not a number of bytes from 0"),
        ("self.cwnd = float('nan'); return", "cwnd is nan, which is not a number of bytes from 0"),
        ("self.cwnd = '10pkt'; return", "cwnd is '10pkt', which is not"),
        ("self.cwnd = None; return", "cwnd is None, which is not"),
        ("del self.cwnd; return", "AttributeError: 'Mine' object has no attribute 'cwnd'"),
        ("exit()", "SystemExit"),
        ("self.on_ack(ack)", "RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_a_mistake_in_a_call_is_one_message(line: str, message: str, folder: Path) -> None:
    (folder / "mine.py").write_text(failing(line), encoding="utf-8")
    with pytest.raises(InputError) as error:
        priolane.run(KEYS, out="out")
    assert str(error.value).startswith("mine.py: Mine.on_ack failed in flow ")
    assert message in str(error.value)
    assert records("out") == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("flow.first_window", "-1", "Mine.__init__ failed in flow 0 at .*: cwnd is -1, which is not"),
        ("self.cwnd, self.ssthresh", "self.window, self.ssthresh", "(?s)__init__ failed .*has no attribute 'cwnd'"),
        ("self, flow)", "self)", "(?s)__init__ failed in flow 0 .*TypeError: .*takes 1 positional argument but 2 were"),
        ("self, ack)", "self)", "(?s)on_ack failed in .*TypeError: .*takes 1 positional argument but 2 were given"),
        ("flow.mss", "'x'", "(?s)on_ack failed in .*TypeError: "),
        ("class Mine:", "raise OSError('no')\nclass Mine:", r"(?s)mine\.py fails when it is run:.*OSError: no"),
        ("on_recovered", "x", None),
    ],
)
def test_a_mistake_of_the_class_shows_when_it_runs(old: str, new: str, message: str | None, folder: Path) -> None:
    (folder / "mine.py").write_text(MINE.replace(old, new), encoding="utf-8")
    if message is None:
        priolane.run(KEYS, out="out")
        return
    priolane.plan(KEYS)
    with pytest.raises(InputError, match=message):
        priolane.run(KEYS, out="out")
    assert records("out") == []


@pytest.mark.parametrize(
    ("text", "transport", "key", "message"),
    [
        (
            MINE.replace("on_loss", "on_los"),
            {},
            "class",
            "Mine in mine.py has no method on_loss. Use def on_loss(self, loss)",
        ),
        (MINE.replace("class Mine", "class Other"), {}, "class", "mine.py has no class 'Mine'. It has Other"),
        (MINE + "  x", {}, "class", "mine.py, line 33: "),
        ("from . import x\n" + MINE, {}, "class", "line 1: it imports ."),
        (MINE.replace("Mine:", "Mine:\n    ecn = 1 > 0"), {}, "class", "Mine.ecn is not stated as True or False"),
        ("\0", {}, "class", "mine.py: source code string cannot contain null bytes"),
        (MINE, {"class": "mine"}, "class", '"mine" does not name a class. Use the file without `.py`, a colon'),
        (MINE, {"class": "../mine:Mine"}, "class", '"../mine:Mine" does not name a class'),
        (MINE, {"class": "other:Mine"}, "class", '"other.py"'),
        (MINE, {"class": 3}, "class", "the value is a whole number"),
        (MINE, {"keys": {"bets": 1}}, "keys", "Mine has no attribute 'bets'"),
        (MINE.replace("Mine:", "Mine:\n    beta = 1"), {"keys": {"bets": 1}}, "keys", "Did you mean `beta`?"),
        (
            MINE.replace("Mine:", "Mine:\n    beta = 1"),
            {"keys": {"beta": "x"}},
            "keys",
            "beta is 'x', and 1 in the class",
        ),
        (MINE, {"keys": {"beta": [1]}}, "keys.beta", "the value is a list"),
        (MINE, {"keys": 3}, "keys", "the value is a whole number"),
    ],
)
def test_a_mistake_in_the_text_is_found_without_running_it(
    text: str, transport: dict[str, Any], key: str, message: str, folder: Path
) -> None:
    (folder / "mine.py").write_text(f"{text}\nraise SystemExit\n" if "\0" not in text else text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        priolane.check(keys(**transport))
    assert message in str(error.value)
    (mistake,) = error.value.mistakes
    assert mistake.key == f"scheme.mine.transport.{key}"


def test_a_class_that_imports_a_package_is_refused(folder: Path) -> None:
    (folder / "mine.py").write_text("import numpy\n" + MINE, encoding="utf-8")
    with pytest.raises(InputError, match="line 1: it imports numpy, whose code is not a part of the run's id"):
        priolane.check(KEYS)


def test_a_window_without_end_is_refused(folder: Path) -> None:
    (folder / "mine.py").write_text(failing("self.cwnd = float('inf'); return"), encoding="utf-8")
    with pytest.raises(InputError, match="cwnd is inf, which is not a number of bytes from 0"):
        priolane.run(KEYS, out="out")


def test_texts_that_are_cut_or_changed_never_raise() -> None:
    for place in range(0, len(MINE), 7):
        for text in (MINE[:place], MINE[place:], MINE[:place] + "(" + MINE[place:], MINE[:place] + "\0"):
            result = declared("mine.py", "Mine", text, {"cwnd": 1})
            assert result.what


def test_planning_and_reading_results_run_nothing_of_the_text(folder: Path) -> None:
    priolane.run(KEYS, out="out")
    (folder / "mine.py").write_text(f"import pathlib\npathlib.Path('ran').touch()\n{MINE}", encoding="utf-8")
    priolane.check(KEYS)
    priolane.plan(KEYS)
    priolane.load("out").judge()
    assert not (folder / "ran").exists()
    priolane.run(KEYS, out="again")
    assert (folder / "ran").exists()


# --- Determinism ------------------------------------------------------------------------------------------------------

SHARED = MINE.replace("class Mine:", "class Mine:\n    calls = 0\n")


@pytest.mark.parametrize(
    "text",
    [
        SHARED.replace(
            "    def on_ack(self, ack):\n",
            "    def on_ack(self, ack):\n        Mine.calls += 1\n        self.cwnd += Mine.calls % 3\n",
        ),
        "import random\n" + failing("self.cwnd += random.randrange(100)"),
        "import random\nrandom.seed(1)\n" + failing("self.cwnd += random.randrange(100)"),
        "import time\n" + failing("self.cwnd += time.perf_counter_ns() % 100"),
    ],
    ids=["shared", "random", "seeded", "clock"],
)
def test_a_class_that_computes_from_more_than_its_flow_is_refused(text: str, folder: Path) -> None:
    (folder / "mine.py").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="mine:Mine gives two outcomes on the two engines"):
        priolane.run(KEYS, out="out")
    assert records("out") == []


# The first flow of a run decides for all: alike on both engines where one flow starts first.
FIRST = (
    MINE.replace("class Mine:", "class Mine:\n    base = None")
    .replace(
        "        self.mss, self.cwnd", "        Mine.base = Mine.base or flow.base_rtt\n        self.mss, self.cwnd", 1
    )
    .replace("    def on_ack(self, ack):\n", "    def on_ack(self, ack):\n        self.cwnd += 1e6 * Mine.base\n", 1)
)


def test_a_run_does_not_depend_on_the_runs_before_it(folder: Path) -> None:
    (folder / "mine.py").write_text(FIRST, encoding="utf-8")
    results = []
    for out, delays in (("up", ["1us", "9us"]), ("down", ["9us", "1us"])):
        priolane.run(KEYS | {"sweep": {"topology.host_link.delay": delays}}, out=out)
        results.append({record["run"]: record["digest"] for record in records(out)})
    assert results[0] == results[1]
    assert len(set(results[0].values())) == 2


def test_each_value_of_keys_is_verified(folder: Path) -> None:
    text = SHARED.replace("class Mine:", "class Mine:\n    share = 0").replace(
        "    def on_ack(self, ack):\n",
        "    def on_ack(self, ack):\n        Mine.calls += 1\n        self.cwnd += self.share * (Mine.calls % 3)\n",
    )
    (folder / "mine.py").write_text(text, encoding="utf-8")
    priolane.run(keys(keys={"share": 0}), out="alone")
    with pytest.raises(InputError, match="gives two outcomes"):
        priolane.run(keys(keys={"share": 1}), out="shared")


@pytest.mark.parametrize("text", ["import sys\nsys.exit(0)\n", "raise GeneratorExit\n", "import sys\nsys.exit(3)\n"])
def test_a_text_that_ends_the_program_is_an_error(text: str, folder: Path) -> None:
    (folder / "mine.py").write_text(text + MINE, encoding="utf-8")
    with pytest.raises(InputError, match=r"mine\.py fails when it is run"):
        priolane.run(KEYS, out="out")


@pytest.mark.parametrize("text", ["import importlib\n", "__import__('numpy')\n", "from importlib import util\n"])
def test_imports_by_other_ways_are_refused(text: str, folder: Path) -> None:
    (folder / "mine.py").write_text(text + MINE, encoding="utf-8")
    with pytest.raises(InputError, match="not a part of the run's id"):
        priolane.check(KEYS)


@pytest.mark.parametrize(
    "text", ["exec('import numpy')\n", "eval('__im' + 'port__')('numpy')\n", "exec('from . import x')\n"]
)
def test_imports_that_only_running_shows_are_refused(text: str, folder: Path) -> None:
    (folder / "mine.py").write_text(text + MINE, encoding="utf-8")
    with pytest.raises(InputError, match="is not a part of the run's id: a class imports the standard library"):
        priolane.run(KEYS, out="out")


def test_a_class_prints_beside_the_results(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "mine.py").write_text("print('loaded')\n" + MINE, encoding="utf-8")
    priolane.run(KEYS, out="out")
    shown = capfd.readouterr()
    assert "loaded" in shown.err
    assert "loaded" not in shown.out


class Changed:
    """A class of this session that tests change."""

    step = 1.0

    def __init__(self, flow: Any) -> None:
        self.cwnd = flow.first_window

    def on_ack(self, ack: Any, least: float = 1.0) -> None:
        self.cwnd += self.step * least

    def on_loss(self, loss: Any) -> None:
        pass

    def on_timeout(self, loss: Any) -> None:
        pass


def _other(self: Any, ack: Any) -> None:  # noqa: ARG001 - it takes the place of a method
    self.cwnd += 2


@pytest.mark.parametrize(("name", "value"), [("step", 2.0), ("on_ack", _other), ("more", 1)])
def test_a_class_that_was_changed_after_its_definition_is_refused(
    name: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    priolane.Experiment(keys(**{"class": Changed}))
    monkeypatch.setattr(Changed, name, value, raising=False)
    with pytest.raises(InputError, match=rf"Changed\.{name} is not what the text of the class says"):
        priolane.Experiment(keys(**{"class": Changed}))


def test_a_method_that_is_a_generator_is_refused(folder: Path) -> None:
    (folder / "mine.py").write_text(
        MINE.replace("    def on_loss(self, loss):\n", "    def on_loss(self, loss):\n        yield\n")
    )
    with pytest.raises(InputError, match="a call runs none of it"):
        priolane.run(KEYS, out="out")


def test_the_first_run_of_a_class_is_verified_and_later_ones_are_not(folder: Path) -> None:
    counting = "import sys\nran = vars(sys).setdefault('opened_here', [])\n" + MINE.replace(
        "self.mss, self.cwnd", "ran.append(1)\n        self.mss, self.cwnd", 1
    )
    (folder / "mine.py").write_text(counting, encoding="utf-8")
    priolane.run(KEYS, out="out", seeds=3)
    opened = {record["seed"]: record["counters"]["flows"] for record in records("out")}
    # Two engines for the first seed.
    assert len(vars(sys).pop("opened_here")) == 2 * opened[1] + opened[2] + opened[3]


def test_random_numbers_of_the_flow_are_the_same_in_each_process(folder: Path) -> None:
    text = MINE.replace("self.mss, self.cwnd", "self.random = flow.random\n        self.mss, self.cwnd", 1)
    text = text.replace("self.credit += acked", "self.credit += acked + self.random.randrange(99)")
    path = experiment_file(folder, text)
    priolane.run(path, out="serial", seeds=[2, 3])
    priolane.run(path, out="processes", seeds=[2, 3], jobs=2)
    assert digests("serial") == digests("processes")
    priolane.run(experiment_file(folder), out="without", seeds=[2, 3])
    assert not set(digests("serial").values()) & set(digests("without").values())
    assert len(set(digests("serial").values())) == 2


def test_the_text_of_the_file_is_in_the_run_id(folder: Path) -> None:
    ids = set()
    for text in (MINE, MINE + "# A remark.\n", MINE.replace("// 2", "// 3")):
        ids |= {run.id for run in priolane.plan(experiment_file(folder, text)).runs}
    assert len(ids) == 3
    with_key = priolane.plan(keys(min_rto="5ms")).runs[0].id
    assert with_key not in ids


# --- Ctrl-C and types -------------------------------------------------------------------------------------------------


def test_ctrl_c_stops_a_run(folder: Path) -> None:
    long = KEYS | {"time": {"measure": "20s"}}
    (folder / "mine.py").write_text(
        "import pathlib\n" + failing("ack.now > 0.003 and pathlib.Path('far').touch()"), encoding="utf-8"
    )
    path = priolane.Experiment(long).save(folder / "long.toml")
    command = [sys.executable, "-m", "priolane", "run", str(path), "-o", "out"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder) as running:
        until = time.monotonic() + 120
        while not (folder / "far").exists() and time.monotonic() < until:
            time.sleep(0.05)
        sent = time.monotonic()
        running.send_signal(signal.SIGINT)
        _, message = running.communicate(timeout=60)
    assert running.returncode == 130, message
    assert "interrupted" in message
    assert "Mine" not in message
    assert time.monotonic() - sent < 30
    assert records("out") == []


def test_type_checkers_know_the_contract(folder: Path) -> None:
    right = """
    from priolane.scheme import Ack, CongestionControl, Flow, Loss

    class Mine(CongestionControl):
        ecn = True

        def __init__(self, flow: Flow) -> None:
            self.mss, self.cwnd = flow.mss, flow.first_window
            self.draw: float = flow.random.random()

        def on_ack(self, ack: Ack) -> None:
            if ack.rtt is not None and ack.rtt > 2 * ack.srtt:
                self.cwnd += self.mss

        def on_loss(self, loss: Loss) -> None:
            self.cwnd = max(loss.in_flight // 2, self.mss)

        def on_timeout(self, loss: Loss) -> None:
            self.cwnd = self.mss
    """
    wrong = right.replace("ack: Ack", "ack: int").replace("loss.in_flight", "loss.inflight") + "\n    ack: Ack\n"
    outcomes = []
    for text in (right, wrong):
        script = folder / "typed.py"
        script.write_text(textwrap.dedent(text), encoding="utf-8")
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=cache", str(script)]
        outcomes.append(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False))
    assert outcomes[0].returncode == 0, outcomes[0].stdout
    assert "incompatible with supertype" in outcomes[1].stdout
    assert '"Loss" has no attribute "inflight"' in outcomes[1].stdout


def test_the_page_leads_from_a_class_to_a_figure(folder: Path) -> None:
    """docs/notebook-scheme.md: its cells, as a script."""
    page = Path(__file__).parent.parent / "docs" / "notebook-scheme.md"
    cells = [block.text for block in documents.blocks(page) if block.language == "python"]
    assert len(cells) == 3
    assert len(cells[0].splitlines()) <= 26
    shown = "\nassert not results.missing()\nprint(results._repr_html_())\n"
    (folder / "cells.py").write_text("\n".join(cells[:2]) + shown, encoding="utf-8")
    done = subprocess.run([sys.executable, "cells.py"], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "data:image/svg+xml;base64," in done.stdout
    assert (folder / "runs" / "gentle" / "experiment" / "Gentle.py").is_file()
    # The sweep reaches the class: three targets have three results.
    gentle = {record["digest"] for record in records(folder / "runs" / "gentle") if record["scheme"] == "gentle"}
    assert len(gentle) == 9
    # The rule and its scheme, beside flows with and without deadlines.
    (folder / "urgent.py").write_text(cells[2], encoding="utf-8")
    scheme = next(block.text for block in documents.blocks(page) if "urgent:UrgentFirst" in block.text)
    urgent = KEYS | {"schemes": ["urgent"]} | tomllib.loads(scheme)
    urgent["group"] = [KEYS["group"][0] | {"deadline": [{"share": 0.5, "within": "500us"}, {"share": 0.5}]}]
    priolane.run(urgent, out=folder / "urgent")
    assert len(records(folder / "urgent")) == 1


def test_the_example_runs_and_its_classes_need_at_most_30_and_40_lines() -> None:
    for name, most in (("newreno", 30), ("vegas", 40)):
        text = (EXAMPLE / f"{name}.py").read_text(encoding="utf-8")
        assert len(text.partition("class ")[2].splitlines()) <= most
    assert (
        main(["run", str(EXAMPLE / "experiment.toml"), "-o", "out", "--seeds", "1", "--set", 'time.measure="1ms"']) == 0
    )
    assert len(digests("out")) == 3
    assert digests("out")["newreno", 1] == digests("out")["newreno_class", 1] != digests("out")["vegas_class", 1]


# --- Ranks ------------------------------------------------------------------------------------------------------------

RANKED = {"kind": "ranked", "buffer": {"shared": "40pkt"}}


def test_a_rank_of_bytes_left_is_equal_to_the_bit(folder: Path) -> None:
    """The rank of `pifo_swift` and of all window transports in Rust."""
    text = MINE.replace("        self.mss,", "        self.size = flow.size\n        self.mss,", 1)
    text += "\n    def rank(self, offset, una):\n        return self.size - offset\n"
    (folder / "mine.py").write_text(text, encoding="utf-8")
    both = keys() | {"schemes": ["rust", "mine"], "seeds": 2}
    both["scheme"]["rust"] = {"base": "newreno", "port": RANKED}
    both["scheme"]["mine"]["port"] = RANKED
    for engine in ("window", "wheel"):
        run_grid(both, engine, Options(), Settings(engine=engine))
        result = digests(engine)
        assert all(result["rust", seed] == result["mine", seed] for seed in (1, 2))
    (folder / "mine.py").write_text(text.replace("self.size - offset", "offset"), encoding="utf-8")
    run_grid(both, "other", Options(), Settings())
    assert digests("other")["mine", 1] != result["mine", 1]


def test_a_base_class_gives_no_rank(folder: Path) -> None:
    text = MINE.replace(
        "class Mine:", "from priolane.scheme import CongestionControl\n\nclass Mine(CongestionControl):"
    )
    (folder / "mine.py").write_text(text, encoding="utf-8")
    both = keys() | {"schemes": ["rust", "mine"]}
    both["scheme"]["rust"] = {"base": "newreno", "port": RANKED}
    both["scheme"]["mine"]["port"] = RANKED
    priolane.run(both, out="out")
    assert len(set(digests("out").values())) == 1


def test_a_rank_that_is_no_whole_number_is_one_message(folder: Path) -> None:
    (folder / "mine.py").write_text(MINE + "\n    def rank(self, offset, una):\n        return -1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"Mine.rank failed in flow \d+ .*it returned -1, which is not a whole number"):
        priolane.run(KEYS, out="out")
