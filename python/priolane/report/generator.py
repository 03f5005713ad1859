"""The mark of a page that priolane made: the page names priolane as its generator, near its beginning."""

import os
from pathlib import Path

from priolane._core import InputError
from priolane.storage.files import open_regular

GENERATOR = '<meta name="generator" content="priolane">'
# Enough of a page to find its generator.
_HEAD_BYTES = 4_000


def refuse_replacing(path: Path, cure: str = "choose another directory with -o") -> None:
    """Raises `InputError` if something stands at `path` that is no page of priolane's; `cure` is what else to do."""
    if not os.path.lexists(path):
        return
    try:
        ours = not path.is_symlink() and path.is_file() and GENERATOR.encode() in _head(path)
    except OSError:
        ours = False
    if not ours:
        raise InputError(f"{path}: priolane did not write this file; move it away, or {cure}")


def _head(path: Path) -> bytes:
    with open_regular(path) as stream:
        return stream.read(_HEAD_BYTES)
