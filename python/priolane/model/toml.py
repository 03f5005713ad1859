"""Python values as TOML text on one line."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(value: Any) -> str:
    """A Python value as the TOML text that `sets` carries; raises `TypeError` for what TOML has no word for."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        # Escapes of JSON are those of TOML, but for pairs of surrogates.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, Sequence):
        return "[" + ", ".join(toml_text(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {toml_text(item)}" for key, item in value.items()) + " }"
    raise TypeError(f"{value!r} has no TOML form")


def inline(value: Any) -> str:
    """A value in TOML on one line, with keys as people write them."""
    if isinstance(value, Mapping):
        pairs = (
            f"{name if _BARE.fullmatch(name) else json.dumps(name)} = {inline(item)}" for name, item in value.items()
        )
        return "{ " + ", ".join(pairs) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    return toml_text(value)
