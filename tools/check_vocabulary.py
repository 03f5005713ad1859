"""Fails when a name or a sentence uses words that tools/vocabulary.toml lists, and says what to write in their place.

Names are looked for where they are declared, in Rust and Python; phrases in comments, docstrings and documentation.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent

_RUST_NAME = re.compile(r"\b(?:struct|enum|trait|type|fn|mod|const|static|let(?: mut)?)\s+([A-Za-z_]\w*)")
_RUST_COMMENT = re.compile(r"//[/!]?(.*)")


def rust_names(text: str) -> Iterator[tuple[int, str]]:
    """The line and name of each declaration of a Rust source, comments left out."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in _RUST_NAME.finditer(line.split("//")[0]):
            yield number, match[1]


def python_names(text: str) -> Iterator[tuple[int, str]]:
    """The line and name of each class, function and variable of a Python source."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def rust_prose(text: str) -> Iterator[tuple[int, str]]:
    """The line and text of each comment of a Rust source."""
    for number, line in enumerate(text.splitlines(), 1):
        if match := _RUST_COMMENT.search(line):
            yield number, match[1]


def python_prose(text: str) -> Iterator[tuple[int, str]]:
    """The line and text of each docstring and comment of a Python source."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node, clean=False)
            if docstring is not None:
                first = node.body[0].lineno
                yield from enumerate(docstring.splitlines(), first)
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            yield number, line


def plain_prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page, without those of code blocks."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield number, re.sub(r"`[^`]*`", "", line)


def violations(name: str, text: str, names: Mapping[str, str], phrases: Mapping[str, str]) -> Iterator[str]:
    """One message for each listed name or phrase that a file has."""
    suffix = Path(name).suffix
    declared = {".rs": rust_names, ".py": python_names}.get(suffix)
    for number, word in declared(text) if declared else ():
        if word in names:
            yield f"{name}:{number}: `{word}`: not a term of the field. Use {names[word]}."
    prose = {".rs": rust_prose, ".py": python_prose, ".md": plain_prose}[suffix]
    for number, line in prose(text):
        for phrase, better in phrases.items():
            if re.search(rf"\b{phrase}\b", line, re.IGNORECASE):
                yield f'{name}:{number}: "{phrase}": hard to read. Use: {better}.'


def sources(root: Path) -> list[str]:
    """The Rust, Python and Markdown files that git knows or would add, without the list of changes."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.rs", "*.py", "*.md"],  # noqa: S607
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return [name for name in sorted({*listed.stdout.splitlines()} - {"CHANGELOG.md"}) if (root / name).is_file()]


def main() -> int:
    """Checks all files; the exit code is 1 if one of them has a listed word."""
    listed = tomllib.loads((ROOT / "tools/vocabulary.toml").read_text("utf-8"))
    names = {".py": listed["names"] | listed["python_names"]}
    messages = [
        line
        for name in sources(ROOT)
        for line in violations(
            name,
            (ROOT / name).read_text("utf-8"),
            names.get(Path(name).suffix, listed["names"]),
            listed["phrases"],
        )
    ]
    print("\n".join(messages) or "vocabulary: no listed name or phrase")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
