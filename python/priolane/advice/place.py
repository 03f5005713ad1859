"""The directory of an answer: whose it is, and the files that are written last."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from priolane._core import InputError
from priolane.advice.answer import Advice, as_json
from priolane.advice.page import page
from priolane.storage.files import MOST_JSON_BYTES, parse_json, read_regular, sole_writer, to_json, write_whole

MARK = "advice.json"
PAGE = "advice.html"


@contextmanager
def claim(directory: Path) -> Iterator[None]:
    """Keeps other processes from the directory while the context lasts.

    Raises `InputError` if it has files and no answer of priolane's, `DirectoryInUse` if another process is filling it.
    """
    if directory.exists() and not directory.is_dir():
        raise InputError(f"{directory}: this is no directory; choose another one with -o")
    if directory.is_dir() and any(directory.iterdir()) and not _is_ours(directory):
        raise InputError(
            f"{directory}: this directory has files, and no answer of priolane; choose another one with -o"
        )
    with sole_writer(directory):
        if not (directory / MARK).exists():
            write_whole(directory / MARK, to_json({"advice": None}))
        yield


def replaced(directory: Path, goals: Sequence[str]) -> str | None:
    """A sentence if the directory has the answer for other goals, which the next one replaces."""
    try:
        before = parse_json(read_regular(directory / MARK, MOST_JSON_BYTES)).get("goals")
    except (OSError, ValueError, AttributeError):
        return None
    if before is None or list(before) == list(goals):
        return None
    return f"{directory} has an answer for other goals ({' and '.join(map(str, before))}), which this one replaces"


def _is_ours(directory: Path) -> bool:
    try:
        return "advice" in parse_json(read_regular(directory / MARK, MOST_JSON_BYTES))
    except (OSError, ValueError, TypeError):
        return False


def finish(advice: Advice) -> None:
    """Writes the answer and its page."""
    write_whole(advice.directory / MARK, to_json(as_json(advice)))
    write_whole(advice.directory / PAGE, page(advice))
