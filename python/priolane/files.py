"""Writing files so that a reader never sees half of one, and reading JSON that is going to be shown."""

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

# Control characters other than tab and line feed, lone surrogates, and what XML 1.0 forbids.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes `content` to a temporary neighbour of `path`, makes it durable and renames it to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def parse_json(text: str) -> Any:
    """Reads JSON; characters that no page or drawing can hold become the replacement character."""
    return _printable(json.loads(text))


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_printable(item) for item in value]
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    return value
