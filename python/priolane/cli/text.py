"""Text in and out of the command: arguments must be UTF-8, and output must be encodable."""

import argparse
import codecs
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from priolane._core import InputError


def require_utf8(args: argparse.Namespace) -> None:
    """Raises `InputError` for the first argument that is not UTF-8, before anything is read or run.

    Python decodes such bytes as lone surrogates, which neither JSON nor Parquet nor the report can hold.
    """
    for name, value in vars(args).items():
        for text in _texts(value):
            try:
                text.encode()
            except UnicodeEncodeError:
                shown = text.encode(errors="backslashreplace").decode()
                raise InputError(f"{shown}: the argument `{name}` is not UTF-8; use another name") from None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str | Path):
        yield str(value)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def make_encodable(stream: TextIO) -> None:
    """Lets a stream print every character, whatever the locale.

    In an ASCII locale, which is what C and POSIX mean, output is UTF-8, as Python has it by default (PEP 540). In any
    other, characters that it lacks are escaped.
    """
    if not isinstance(stream, io.TextIOWrapper) or stream.encoding is None:
        return
    encoding = codecs.lookup(stream.encoding).name
    if encoding == "ascii":
        stream.reconfigure(encoding="utf-8")
    elif encoding != "utf-8":
        stream.reconfigure(errors="backslashreplace")
