"""Texts that try to be more than text, and results full of them."""

from pathlib import Path
from typing import Any

import factories

ADVERSARIAL = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "</title><svg onload=alert(1)>",
    "]]><!--<a href=javascript:alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt;&#x3c;i&#x3e;",
    "a\x00b\x1b[31m\u2028\u202e\x85",
    "$\\frac{1}{2}$ _under",
    "x" * 3000,
)
# Keys whose values name things of ours, not of the user's: files, kinds, states.
KEPT = {
    "id",
    "run",
    "kind",
    "state",
    "verdict",
    "average",
    "alone",
    "size",
    "sets",
    "digest",
    "unit",
    "goes",
    "source",
    "direction",
    "because",
    "files",
    "outputs",
}


def replaced(value: Any, text: str) -> Any:
    """`value` with every string that a user could have written replaced by `text`."""
    if isinstance(value, str):
        return text
    if isinstance(value, list):
        return [replaced(item, text) for item in value]
    if isinstance(value, dict):
        return {key: item if key in KEPT else replaced(item, text) for key, item in value.items()}
    return value


def spoil(directory: Path, text: str) -> None:
    """Puts `text` everywhere in results where a user's text could stand."""
    for path in [directory / "grid.json", directory / "report.json", *directory.glob("*/run.json")]:
        factories.edit(path, lambda value: replaced(value, text))
