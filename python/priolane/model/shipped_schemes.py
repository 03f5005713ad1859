"""The files of shipped schemes, and what their first comment says."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

_SHIPPED = Path(__file__).parent.parent / "schemes"


def text_of(name: str) -> str:
    """The file of a shipped scheme; empty if no shipped scheme has the name."""
    path = _files().get(name)
    return "" if path is None else path.read_text(encoding="utf-8")


@cache
def _files() -> Mapping[str, Path]:
    """The shipped files by name. A name of a user's file is looked up here and never becomes part of a path."""
    return {path.stem: path for path in _SHIPPED.glob("*.toml")}


def first_sentence(text: str) -> str:
    """The first sentence of the comment at the top of a scheme file, without its full stop."""
    lines = text.splitlines()
    end = next((nth for nth, line in enumerate(lines) if not line.startswith("#")), len(lines))
    comment = " ".join(line.removeprefix("#").strip() for line in lines[:end])
    return comment.partition(". ")[0].rstrip(".")


def about(name: str) -> str:
    """The first sentence of the file of a shipped scheme; empty if no shipped scheme has the name."""
    return first_sentence(text_of(name))
