"""Commands that are printed to be copied into a shell."""

import shlex
from collections.abc import Sequence
from pathlib import Path


def command_line(*words: str) -> str:
    """The words of a command as a shell reads them back."""
    return shlex.join(words)


def path_word(path: str | Path) -> str:
    """A path, or the URL of results, as an argument that no command takes for an option."""
    text = str(path)
    return f"./{text}" if text.startswith("-") else text


def option(name: str, value: str) -> list[str]:
    """An option that begins with `--` and its value, which may begin with a hyphen."""
    return [f"{name}={value}"] if value.startswith("-") else [name, value]


def operands(*names: str) -> Sequence[str]:
    """Names as arguments that no command takes for options."""
    return ["--", *names] if any(name.startswith("-") for name in names) else names
