"""The JSON Schemas for editors hold for every shipped file, and for none that `check` refuses for a key's sake."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from priolane import _core
from priolane.cli import main

ROOT = Path(__file__).parent.parent
SCHEMA = jsonschema.Draft202012Validator(json.loads(_core.schema("scheme")))
SCHEMES = sorted((ROOT / "schemes").glob("*.toml"))
EXPERIMENTS = sorted([*(ROOT / "experiments").rglob("*.toml"), *(ROOT / "study").rglob("figure.toml")])
EXPERIMENT_SCHEMA = jsonschema.Draft202012Validator(json.loads(_core.schema("experiment")))


def read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", SCHEMES, ids=lambda path: path.stem)
def test_shipped_schemes_are_valid(path: Path) -> None:
    assert [error.message for error in SCHEMA.iter_errors(read(path))] == []


@pytest.mark.parametrize(
    ("row", "key", "value"),
    [
        ("transport", "g", 2),
        ("transport", "gain", 1),
        ("transport", "kind", "dctpc"),
        ("transport", "min_rto", 10),
        ("transport", "max_window", 0),
        ("transport", "max_window", False),
        ("nic", "ecn", 0),
        ("port", "queues", 2),
        ("port", "buffer", 240),
        ("admit", "levels", 3),
        ("nic", "queue", "strict"),
    ],
)
def test_wrong_keys_are_not(row: str, key: str, value: object) -> None:
    scheme = read(ROOT / "schemes" / "dctcp.toml")
    scheme[row][key] = value
    assert not SCHEMA.is_valid(scheme)


def test_a_missing_row_is_not() -> None:
    scheme = read(ROOT / "schemes" / "dctcp.toml")
    del scheme["host"]
    assert not SCHEMA.is_valid(scheme)


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_shipped_experiments_are_valid(path: Path) -> None:
    assert [error.message for error in EXPERIMENT_SCHEMA.iter_errors(read(path))] == []


def test_the_schema_itself_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(EXPERIMENT_SCHEMA.schema)


_GOOD = """
title = "Two racks"
schemes = ["dctcp"]
seeds = [1, 2]
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
deadline = [{ share = 0.5, within = "2ms" }, { share = 0.5 }]
[[claim]]
section = "1"
says = "a"
bound = { of = "fct.all.dctcp", above = 1 }
"""


def test_the_experiment_that_the_wrong_ones_are_made_from_is_valid() -> None:
    assert list(EXPERIMENT_SCHEMA.iter_errors(tomllib.loads(_GOOD))) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title = ", "tile = "),
        ("[[group]]", "[group]"),
        ("[[claim]]", "[claim]"),
        ("seeds = [1, 2]", "seeds = 0"),
        ("seeds = [1, 2]", 'seeds = "2"'),
        ('measure = "2ms"', "measure = 2"),
        ("warmup", "warmpu"),
        ("leaves = 2", 'leaves = "2"'),
        ('kind = "leaf_spine"', 'kind = "leaf_spin"'),
        ("spines = 2", "spine = 2"),
        ('app = "poisson"', 'app = "possion"'),
        ('app = "poisson"', 'app = "permutation"'),
        ("value = 0.5", "values = 0.5"),
        ('of = "host"', 'of = "hosts"'),
        ("deadline = [", "deadline = 3 # ["),
        ("share = 0.5, within", "part = 0.5, within"),
        ("above = 1", "above = true"),
        ("above = 1", "abo = 1"),
        ("says =", "say ="),
        ("hosts = ", 'transport = { kind = "cubik" }\nhosts = '),
        ("hosts = ", 'transport = { kind = "cubic", gain = 1 }\nhosts = '),
        ("hosts = ", 'transport = { min_rto = "1ms" }\nhosts = '),
        ("[[group]]", '[metrics]\nbaselin = "dctcp"\n[[group]]'),
        ("[[group]]", "[scheme.dctcp]\ntransport = { gian = 1 }\n[[group]]"),
        ("[[group]]", '[sweep]\n"time.measure" = "2ms"\n[[group]]'),
        ("[[group]]", '[[event]]\nat = "1ms"\nfails = "switch:spine0"\n[[group]]'),
        ("[[group]]", "[[control]]\nat = 1\nflow = 0\nabort = true\n[[group]]"),
        ("[[group]]", '[reading.a]\nevidence = "e"\ndecide = "d"\n[[group]]'),
    ],
)
def test_wrong_experiments_are_not(old: str, new: str) -> None:
    assert old in _GOOD
    assert not EXPERIMENT_SCHEMA.is_valid(tomllib.loads(_GOOD.replace(old, new, 1)))


@pytest.mark.parametrize(
    "transport", ['kind = "cubic", beta = 0.7', 'base = "cubic"', 'base = "own.toml", min_rto = "1ms"']
)
def test_the_transport_of_a_group_is_one_or_that_of_a_scheme(transport: str) -> None:
    text = _GOOD.replace("hosts = ", f"transport = {{ {transport} }}\nhosts = ", 1)
    assert list(EXPERIMENT_SCHEMA.iter_errors(tomllib.loads(text))) == []


@pytest.mark.parametrize("of", ["experiment", "scheme"])
def test_the_command_prints_the_schema(of: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "--schema", of]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(_core.schema(of))
