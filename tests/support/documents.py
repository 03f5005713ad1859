"""Pages whose blocks are executed in their order, and whose outputs are compared with what is printed."""

import contextlib
import io
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import split
from typing import Any

from priolane.cli import main

_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_AT_ITS_END = ", at its end"
_ANY = "..."


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its title, its text."""

    language: str
    title: str
    text: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in their order."""
    return [Block(*block) for block in _BLOCK.findall(page.read_text(encoding="utf-8"))]


def run_page(page: Path, names: dict[str, Any]) -> int:
    """Executes the blocks of a page in the current directory; returns how many outputs were compared.

    A block with a title is a file, or the end of one. `console` has commands after `$ ` with their outputs, in which a
    line `...` stands for any lines, and ` ...` at the end of a line for the rest of it. `python` shares
    `names`; the block `text` after it is what it prints.
    """
    compared = 0
    printed = ""
    for block in blocks(page):
        if block.title:
            _write(block)
        elif block.language == "python":
            printed = _python(block.text, names)
        elif block.language == "text":
            compare(block.text, printed)
            compared += 1
        elif block.language == "console":
            for command, output in _commands(block.text):
                compare(output, run(command))
                compared += 1
    return compared


def _write(block: Block) -> None:
    path = Path(block.title.removesuffix(_AT_ITS_END))
    before = path.read_text(encoding="utf-8") + "\n" if block.title.endswith(_AT_ITS_END) else ""
    path.write_text(before + block.text, encoding="utf-8")


def _python(text: str, names: dict[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(text, "page", "exec"), names)  # noqa: S102 - the project's own document
    return printed.getvalue()


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a block with what each prints."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def run(command: str) -> str:
    """The output of a command on both streams; `priolane` is this one, all else is the shell's."""
    if not command.startswith("priolane "):
        done = subprocess.run(["sh", "-c", command], check=True, capture_output=True, text=True)
        return done.stdout + done.stderr
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
        main(split(command)[1:])
    return out.getvalue() + errors.getvalue()


_PROGRESS = re.compile(r"priolane: .*: \d+ of \d+ \w+ after \d+ s")


def _matches(line: str, wanted: str) -> bool:
    return line.startswith(wanted.removesuffix(_ANY)) if wanted.endswith(f" {_ANY}") else line == wanted


def compare(shown: str, printed: str) -> None:
    """Raises `AssertionError` with the first shown line that is not printed where it should be.

    Lines of progress are left out: only a command that takes more than ten seconds prints them.
    """
    lines = [line.rstrip() for line in printed.rstrip().splitlines() if not _PROGRESS.match(line)]
    at, free = 0, False
    for wanted in (line.rstrip() for line in shown.rstrip().splitlines()):
        if wanted == _ANY:
            free = True
            continue
        places = range(at, len(lines)) if free else range(at, min(at + 1, len(lines)))
        match = next((place for place in places if _matches(lines[place], wanted)), None)
        assert match is not None, f"not printed: {wanted!r}\nafter line {at} of:\n{printed}"
        at, free = match + 1, False
    assert free or at == len(lines), f"printed besides: {lines[at:]}"
