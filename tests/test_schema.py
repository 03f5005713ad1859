"""docs/scheme.schema.json holds for every shipped scheme, and for none that `check` refuses for a key's sake."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).parent.parent
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "scheme.schema.json").read_text(encoding="utf-8")))
SCHEMES = sorted((ROOT / "schemes").glob("*.toml"))


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
