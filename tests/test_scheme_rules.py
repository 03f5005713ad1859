"""Rules that assign priorities, and admission policies, that are Python classes."""

import copy
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import priolane
from priolane._core import InputError
from priolane.cli import main
from priolane.execution.grid import run_grid
from priolane.execution.settings import Settings
from priolane.model.experiment import Options

EXAMPLE = Path(__file__).parent.parent / "examples" / "notebook-scheme"
RULE = """\
class BySize:
    first, second = 10_000, 200_000

    def priority(self, flow, u):
        return 0 if flow.size <= self.first else 1 if flow.size <= self.second else 2
"""
RANDOM = {"kind": "random_fraction", "fractions": [0.4, 0.4, 0.2]}
PORT = {
    "kind": "strict",
    "queues": 3,
    "buffer": {"shared": "100pkt"},
    "ecn": {"per": "port", "at": {"10Gbps": "30pkt"}},
}
KEYS: dict[str, Any] = {
    "title": "Rules",
    "schemes": ["rust", "python"],
    "seeds": 2,
    "time": {"measure": "6ms", "drain": True, "limit": "1s"},
    "topology": {"kind": "single_switch", "hosts": 6, "host_link": {"rate": "10Gbps", "delay": "1us"}},
    "group": [
        {
            "name": "all",
            "hosts": "*",
            "app": "poisson",
            "sizes": {"csv": "web_search", "interpolation": "linear", "scale_to_mean": "60kB"},
            "load": {"of": "host", "counts": "payload", "value": 0.8},
            "deadline": [{"share": 0.7, "within": "200us"}, {"share": 0.3}],
        }
    ],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path in EXAMPLE.glob("*.py"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    write(RULE)
    return tmp_path


def write(text: str) -> None:
    Path("mine.py").write_text(text, encoding="utf-8")


def rule(**keys: Any) -> dict[str, Any]:
    return {"kind": "python", "class": "mine:BySize", "levels": 3} | keys


def pair(rust: dict[str, Any], python: dict[str, Any]) -> dict[str, Any]:
    """An experiment of two schemes that differ in these rows."""
    changed = copy.deepcopy(KEYS)
    base = {"base": "dctcp", "port": PORT}
    changed["scheme"] = {"rust": base | rust, "python": base | python}
    return changed


def records(out: str | Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(Path(out).glob("**/run.json"))]


def digests(out: str | Path) -> dict[tuple[str, int], str]:
    return {(record["scheme"], record["seed"]): record["digest"] for record in records(out)}


def flows(out: str | Path, scheme: str, seed: int) -> Any:
    for path in sorted(Path(out).glob("**/run.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if (record["scheme"], record["seed"]) == (scheme, seed):
            return pq.read_table(path.parent / "flows.parquet")
    raise AssertionError(f"no run of {scheme}")


SETTINGS = {
    "window": Settings(engine="window"),
    "wheel": Settings(engine="wheel"),
    "processes": Settings(jobs=2),
}


# --- Rules ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", SETTINGS)
def test_a_rule_by_size_is_equal_to_the_bit(how: str) -> None:
    both = pair({"assign": {"kind": "size", "thresholds": ["10kB", "200kB"]}}, {"assign": rule()})
    run_grid(both, "out", Options(), SETTINGS[how])
    result = digests("out")
    assert all(result["rust", seed] == result["python", seed] for seed in (1, 2))
    assert {flow["class_first"] for flow in flows("out", "python", 1).to_pylist()} == {0, 1, 2}


def test_the_random_number_of_a_flow_is_that_of_rules_in_rust() -> None:
    write("class BySize:\n    def priority(self, flow, u):\n        return (u >= 0.4) + (u >= 0.8)\n")
    both = pair({"assign": RANDOM}, {"assign": rule()})
    priolane.run(both, out="out")
    result = digests("out")
    assert all(result["rust", seed] == result["python", seed] for seed in (1, 2))


def test_keys_are_attributes_of_a_rule_and_parts_of_the_id() -> None:
    both = pair({"assign": rule()}, {"assign": rule(keys={"first": 500_000, "second": 5_000_000})})
    priolane.run(both, out="out")
    result = digests("out")
    assert result["rust", 1] != result["python", 1]
    ids = {record["run"] for record in records("out")}
    write(RULE + "# another text\n")
    priolane.run(both, out="again")
    assert ids.isdisjoint(record["run"] for record in records("again"))


class ByDeadline:
    def priority(self, flow, u):  # type: ignore[no-untyped-def]
        return 2 if flow.deadline_ps is None else 0


def test_a_rule_of_a_session_is_taken() -> None:
    both = pair(
        {"assign": {"kind": "deadline", "thresholds": ["1s"]}}, {"assign": rule(levels=3, **{"class": ByDeadline})}
    )
    priolane.run(both, out="out", seeds=[1])
    request = flows("out", "python", 1).to_pylist()
    assert {(flow["deadline_ps"] is None, flow["class_asked"]) for flow in request} == {(True, 2), (False, 0)}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("3", "it returned 3, which is not a priority from 0 to 2"),
        ("-1", "it returned -1, which is not a priority from 0 to 2"),
        ("True", "it returned True, which is not a priority"),
        ("1.0", "it returned 1.0, which is not a priority"),
        ("None", "it returned None, which is not a priority"),
        ("flow.length", "AttributeError: 'priolane.scheme.Request' object has no attribute 'length'"),
        ("__import__('random').random()", "it imports modules by `__import__`"),
    ],
)
def test_a_mistake_of_a_rule_is_one_message(answer: str, message: str) -> None:
    write(f"class BySize:\n    def priority(self, flow, u):\n        return {answer}\n")
    with pytest.raises(InputError) as raised:
        priolane.run(pair({"assign": RANDOM}, {"assign": rule()}), out="out")
    assert message in str(raised.value)
    assert "mine.py" in str(raised.value)
    assert "\N{REPLACEMENT CHARACTER}" not in str(raised.value)
    assert all(record["scheme"] == "rust" for record in records("out"))


@pytest.mark.parametrize(
    "text",
    [
        "import random\nclass BySize:\n    def priority(self, flow, u):\n        return random.randrange(3)\n",
        "import time\nclass BySize:\n    def priority(self, flow, u):\n        return time.perf_counter_ns() % 3\n",
    ],
)
def test_a_rule_that_answers_otherwise_when_asked_again_is_refused(text: str) -> None:
    write(text)
    with pytest.raises(InputError, match=r"asked again, .*compute from its arguments alone"):
        priolane.run(pair({"assign": RANDOM}, {"assign": rule()}), out="out")


def test_a_rule_may_count_the_flows_before() -> None:
    body = "    def priority(self, flow, u):\n        BySize.n += 1\n        return BySize.n % 3\n"
    write(f"class BySize:\n    n = -1\n{body}")
    both = pair({"assign": rule()}, {"assign": rule()})
    priolane.run(both, out="out")
    # Schemes and seeds do not see each other's counts.
    result = digests("out")
    assert result["rust", 1] == result["python", 1]
    request = flows("out", "python", 2).sort_by("flow").to_pylist()
    assert [flow["class_asked"] for flow in request[:4]] == [0, 1, 2, 0]


def test_a_rule_needs_no_deadlines() -> None:
    both = pair({"assign": {"kind": "size", "thresholds": ["10kB", "200kB"]}}, {"assign": rule()})
    del both["group"][0]["deadline"]
    priolane.run(both, out="out", seeds=[1])
    result = digests("out")
    assert result["rust", 1] == result["python", 1]


def test_checks_and_plans_run_nothing_of_a_rule(folder: Path) -> None:
    write(f"import pathlib\npathlib.Path('ran').touch()\n{RULE}")
    both = pair({"assign": RANDOM}, {"assign": rule()})
    priolane.check(both)
    priolane.plan(both)
    path = priolane.Experiment(both).save(folder / "x.toml")
    assert main(["check", str(path)]) == 0
    assert not (folder / "ran").exists()
    priolane.run(both, out="out", seeds=[1])
    assert (folder / "ran").exists()


def test_an_interrupt_in_a_rule_is_one() -> None:
    write("class BySize:\n    def priority(self, flow, u):\n        raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        run_grid(pair({"assign": RANDOM}, {"assign": rule()}), "out", Options(schemes=("python",)), Settings())


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"class": "mine:Other"}, "mine.py has no class 'Other'"),
        ({"class": "absent:BySize"}, "absent.py"),
        ({"class": "newreno:NewReno"}, "NewReno in newreno.py has no method priority"),
        ({"levels": 17}, "levels"),
        ({"keys": {"firstt": 1}}, "Did you mean `first`?"),
    ],
)
def test_a_mistake_in_the_keys_is_found_without_running_the_text(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as raised:
        priolane.check(pair({"assign": RANDOM}, {"assign": rule(**keys)}))
    assert message in str(raised.value)


# --- Admission --------------------------------------------------------------------------------------------------------


def admission(kind: str, python: str, **keys: Any) -> dict[str, Any]:
    """Flows ask for priorities at random; a policy in Rust and one in Python admit them."""
    rust = {"kind": kind, "levels": 3} | {key: keys.pop(key) for key in ("targets", "mi", "remap") if key in keys}
    shared = {"mi": rust["mi"]} if "mi" in rust else {}
    own = {"kind": "python", "levels": 3, "class": python} | shared | keys
    return pair({"assign": RANDOM, "admit": rust}, {"assign": RANDOM, "admit": own})


@pytest.mark.parametrize("how", SETTINGS)
def test_aequitas_is_equal_to_the_bit(how: str) -> None:
    both = admission("aequitas", "aequitas:Aequitas", targets=["15us", "25us"])
    run_grid(both, "out", Options(), SETTINGS[how])
    for seed in (1, 2):
        assert flows("out", "rust", seed) == flows("out", "python", seed)
    moved = [flow for flow in flows("out", "python", 1).to_pylist() if flow["class_given"] != flow["class_asked"]]
    assert len(moved) > 20


@pytest.mark.parametrize("how", SETTINGS)
def test_pase_moves_running_flows_as_its_twin_does(how: str) -> None:
    both = admission("pase", "pase:Pase", mi="20us", remap="per_mi")
    run_grid(both, "out", Options(), SETTINGS[how])
    for seed in (1, 2):
        assert flows("out", "rust", seed) == flows("out", "python", seed)
    assert sum(flow["moves"] > 0 for flow in flows("out", "python", 1).to_pylist()) > 20


@pytest.mark.parametrize(
    ("line", "method", "message"),
    [
        ("return 3", "open", "Aequitas.open failed in flow 0 at 0.0"),
        ("return None", "open", "it returned None, which is not a priority from 0 to 2"),
        ("raise ValueError('no')", "on_completed", "ValueError: no"),
        ("report.now_ps = 1", "on_completed", "AttributeError"),
    ],
)
def test_an_exception_of_a_policy_ends_the_run(line: str, method: str, message: str) -> None:
    text = (EXAMPLE / "aequitas.py").read_text(encoding="utf-8")
    head, _, tail = text.partition(f"    def {method}(")
    signature, _, body = tail.partition("\n")
    Path("aequitas.py").write_text(f"{head}    def {method}({signature}\n        {line}\n{body}", encoding="utf-8")
    both = admission("aequitas", "aequitas:Aequitas", targets=["15us", "25us"])
    with pytest.raises(InputError) as raised:
        priolane.run(both, out="out", seeds=[1])
    assert message in str(raised.value)
    assert f"aequitas.py: Aequitas.{method} failed in flow" in str(raised.value)
    assert all(record["scheme"] == "rust" for record in records("out"))


def test_a_policy_with_state_of_all_hosts_is_refused() -> None:
    text = (EXAMPLE / "aequitas.py").read_text(encoding="utf-8")
    changes = {
        "class Aequitas:\n": "class Aequitas:\n    opened = []\n",
        "        wanted_level = min(": "        self.opened.append(flow.id)\n        wanted_level = min(",
        "granted = wanted_level\n": "granted = (wanted_level + len(self.opened)) % 3\n",
    }
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    Path("aequitas.py").write_text(text, encoding="utf-8")
    both = admission("aequitas", "aequitas:Aequitas", targets=["15us", "25us"])
    # Flows of several hosts open within a window of the engine that runs host after host.
    both["group"][0]["sizes"] |= {"scale_to_mean": "3kB"}
    with pytest.raises(InputError, match="aequitas:Aequitas gives two outcomes on the two engines"):
        priolane.run(both, out="out")
    assert all(record["scheme"] == "rust" for record in records("out"))


def test_a_policy_without_a_method_is_refused_before_the_run() -> None:
    with pytest.raises(InputError, match=r"BySize in mine.py has no method open.*def open\(self, flow, u\)"):
        priolane.check(admission("aequitas", "mine:BySize", targets=["15us", "25us"]))


def test_a_controller_a_rule_and_a_policy_are_one_scheme() -> None:
    both = admission("aequitas", "aequitas:Aequitas", targets=["15us", "25us"])
    text = "class BySize:\n    def priority(self, flow, u):\n        return (u >= 0.4) + (u >= 0.8)\n"
    write(text)
    for scheme in ("rust", "python"):
        both["scheme"][scheme] |= {"base": "newreno", "port": PORT}
    both["scheme"]["python"]["assign"] = rule()
    both["scheme"]["python"]["transport"] = {"kind": "python", "class": "newreno:NewReno"}
    priolane.run(both, out="out", seeds=[1])
    assert flows("out", "rust", 1) == flows("out", "python", 1)
