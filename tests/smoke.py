"""The experiment of docs/python.md, for tests that need the compiled module."""

import re
from pathlib import Path

DOCUMENT = Path(__file__).parent.parent / "docs" / "python.md"


def blocks() -> list[str]:
    """The Python blocks of the document, in order."""
    return re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


def write_experiment(directory: Path, measure: str = "10ms") -> Path:
    """Writes the document's experiment; `measure` is how long flows start for."""
    text = re.search(r'write_text\("""\n(.*?)"""\)', blocks()[0], re.DOTALL)
    assert text
    path = directory / "first.toml"
    path.write_text(text[1].replace('measure = "10ms"', f'measure = "{measure}"'), encoding="utf-8")
    return path
