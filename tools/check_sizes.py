"""Fails when a source file has over 800 lines, a Python function over 80, or a Rust function hides arguments in tuples.

Clippy's `too_many_lines` holds Rust functions to the same 80. Its `too_many_arguments` counts a tuple as one argument,
and this script counts its parts.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 800
FUNCTION_LINES = 80
ARGUMENTS = 6
# tools/typed_keys.py writes it.
GENERATED = "python/priolane/keys.py"


def long_functions(name: str, text: str) -> Iterator[str]:
    """One message for each function of a Python source that is too long."""
    for node in ast.walk(ast.parse(text, filename=name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{name}:{node.lineno}: function {node.name} has {lines} lines (at most {FUNCTION_LINES})"


_FUNCTION = re.compile(r"\bfn (\w+)")
_TUPLE = re.compile(r"\(([^()]*,[^()]*)\)\s*:")
_OPENING, _CLOSING = "([{<", ")]}>"


def _closed(text: str, start: int) -> int:
    """The place after the bracket that closes the one at `start`; arrows close none."""
    depth = 0
    for place in range(start, len(text)):
        if text[place] in _OPENING:
            depth += 1
        elif text[place] in _CLOSING and text[place - 1 : place + 1] not in ("->", "=>"):
            depth -= 1
            if depth == 0:
                return place + 1
    return len(text)


def _split(text: str) -> list[str]:
    """The items of a list, which are separated by commas outside brackets."""
    items, start, place = [], 0, 0
    while place < len(text):
        if text[place] in _OPENING:
            place = _closed(text, place)
            continue
        if text[place] == ",":
            items.append(text[start:place])
            start = place + 1
        place += 1
    return [item.strip() for item in [*items, text[start:]] if item.strip()]


def hidden_arguments(name: str, text: str) -> Iterator[str]:
    """One message for each Rust function that has too many arguments, once the parts of tuples are counted."""
    code = re.sub(r"//[^\n]*", "", text)
    for function in _FUNCTION.finditer(code):
        start = function.end()
        if code[start : start + 1] == "<":
            start = _closed(code, start)
        if code[start : start + 1] != "(":
            continue
        arguments = _split(code[start + 1 : _closed(code, start) - 1])
        tuples = [_TUPLE.match(argument) for argument in arguments]
        count = sum(len(_split(inner[1])) if inner else 1 for inner in tuples)
        if any(tuples) and count > ARGUMENTS:
            yield f"{name}: function {function[1]} has {count} arguments with those in tuples (at most {ARGUMENTS})"


def violations(name: str, text: str) -> Iterator[str]:
    """One message for each way in which a source file is too long."""
    lines = text.count("\n")
    if lines > FILE_LINES and name != GENERATED:
        yield f"{name}: {lines} lines (at most {FILE_LINES})"
    if name.endswith(".py"):
        yield from long_functions(name, text)
    else:
        yield from hidden_arguments(name, text)


def sources(root: Path) -> list[str]:
    """The Rust and Python files that git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.rs", "*.py"],  # noqa: S607
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return [name for name in sorted(set(listed.stdout.splitlines())) if (root / name).is_file()]


def main() -> int:
    """Checks all sources; the exit code is the number of complaints, at most 1."""
    root = Path(__file__).parent.parent
    messages = [line for name in sources(root) for line in violations(name, (root / name).read_text("utf-8"))]
    print("\n".join(messages) or f"sizes: {len(sources(root))} files are within bounds")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
