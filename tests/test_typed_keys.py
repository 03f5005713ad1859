"""The types of an experiment's keys are those of the declarations, and type checkers judge by them as `check` does."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

import typed_keys
from priolane import _core

ROOT = Path(__file__).parent.parent
SHIPPED = sorted([*(ROOT / "experiments").rglob("*.toml"), *(ROOT / "study").rglob("figure.toml")])
KEYS: dict[str, Any] = {
    "title": "x",
    "schemes": ["dctcp"],
    "time": {"measure": "1ms"},
    "topology": {"kind": "single_switch", "hosts": 4, "host_link": {"rate": "10Gbps", "delay": "1us"}},
    "group": [{"name": "all", "hosts": "*", "app": "poisson", "active": {"from": "0ns"}}],
    "scheme": {"mine": {"base": "dctcp", "port": {"queues": 2}}},
}


def test_the_module_is_the_one_that_the_declarations_make() -> None:
    assert typed_keys.PLACE.read_text(encoding="utf-8") == typed_keys.module_text()


def test_every_key_is_there() -> None:
    text = typed_keys.module_text()

    def names(schema: object) -> set[str]:
        if isinstance(schema, list):
            return {name for each in schema for name in names(each)}
        if not isinstance(schema, dict):
            return set()
        properties = schema.get("properties")
        own = set(properties) if isinstance(properties, dict) else set()
        return own | {name for each in schema.values() for name in names(each)}

    keys = names(json.loads(_core.schema("experiment")))
    assert len(keys) > 300
    assert [key for key in sorted(keys) if f"    {key}: " not in text and f'        "{key}": ' not in text] == []


def judged(folder: Path, experiments: list[dict[str, Any]]) -> list[str]:
    """The mistakes that mypy finds in experiments, each with the number of its line from 0."""
    lines = [f"_{nth}: Keys = {keys!r}" for nth, keys in enumerate(experiments)]
    file = folder / "experiments.py"
    file.write_text("\n".join(["from priolane.keys import Keys", *lines, ""]), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", "--no-error-summary"]
    environment = {"MYPYPATH": str(ROOT / "python"), "PATH": ""}
    process = subprocess.run(
        [*command, f"--cache-dir={folder / 'cache'}", str(file)],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
    )
    assert process.returncode in {0, 1}, process.stderr
    return [line.partition("experiments.py:")[2] for line in process.stdout.splitlines() if "error:" in line]


def changed(path: str, value: object) -> dict[str, Any]:
    """`KEYS` with another value."""
    keys: dict[str, Any] = json.loads(json.dumps(KEYS))
    *above, last = path.split(".")
    table: Any = keys
    for name in above:
        table = table[int(name)] if name.isdigit() else table[name]
    table[last] = value
    return keys


def test_a_type_checker_accepts_shipped_experiments_and_finds_mistakes(tmp_path: Path) -> None:
    assert len(SHIPPED) > 80
    right = [KEYS, *(tomllib.loads(path.read_text(encoding="utf-8")) for path in SHIPPED)]
    wrong = [
        ("heading", "x"),
        ("time.measure", 5),
        ("topology.kind", "one_switch"),
        ("topology.hosts", "4"),
        ("group.0.apps", "poisson"),
        ("group.0.active.since", "0ns"),
        ("scheme.mine.port.queue", 2),
        ("scheme.mine.transport", {"kind": "dctcp2"}),
    ]
    result = judged(tmp_path, [*right, *(changed(*mistake) for mistake in wrong)])
    numbers = {int(line.partition(":")[0]) - 2 for line in result}
    assert numbers == set(range(len(right), len(right) + len(wrong))), result
