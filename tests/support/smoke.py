"""The experiment of docs/python.md, for tests that need the compiled module."""

import re
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).parents[2] / "docs" / "python.md"


def blocks() -> list[str]:
    """The Python blocks of the document, in order."""
    return re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


def write_experiment(directory: Path, measure: str = "10ms") -> Path:
    """Writes the document's experiment; `measure` is how long flows start for."""
    names: dict[str, Any] = {}
    exec(compile(blocks()[0], str(DOCUMENT), "exec"), names)  # noqa: S102 - the project's own document
    text: str = names["experiment"].to_toml()
    assert 'measure = "10ms"' in text
    path = directory / "first.toml"
    path.write_text(text.replace('measure = "10ms"', f'measure = "{measure}"'), encoding="utf-8")
    return path
