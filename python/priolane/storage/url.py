"""The names of results that are not on this machine."""

import re
from pathlib import Path

URL = re.compile(r"([a-z][a-z0-9+.-]*)://(.+)", re.DOTALL)
"""A protocol, and the rest."""


def is_url(text: str | Path) -> bool:
    """Whether results are named by a URL; a `Path` is never one."""
    return isinstance(text, str) and URL.fullmatch(text) is not None
