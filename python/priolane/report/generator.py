"""The mark of a page that priolane made: the page names priolane as its generator, near its beginning."""

import os
from pathlib import Path

from priolane._core import InputError
from priolane.storage.files import read_head

GENERATOR = '<meta name="generator" content="priolane">'


def refuse_replacing(path: Path, cure: str = "choose another directory with -o") -> None:
    """Raises `InputError` if something stands at `path` that is no page of priolane's; `cure` is what else to do."""
    if os.path.lexists(path) and GENERATOR.encode() not in read_head(path):
        raise InputError(f"{path}: priolane did not write this file; move it away, or {cure}")
