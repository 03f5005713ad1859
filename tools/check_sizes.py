"""Fails when a source file is longer than 1000 lines or a Python function longer than 80.

Clippy's `too_many_lines` holds Rust functions to the same 80.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 1000
FUNCTION_LINES = 80
# tools/typed_keys.py writes it.
GENERATED = "python/priolane/keys.py"


def long_functions(name: str, text: str) -> Iterator[str]:
    """One message for each function of a Python source that is too long."""
    for node in ast.walk(ast.parse(text, filename=name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{name}:{node.lineno}: function {node.name} has {lines} lines (at most {FUNCTION_LINES})"


def violations(name: str, text: str) -> Iterator[str]:
    """One message for each way in which a source file is too long."""
    lines = text.count("\n")
    if lines > FILE_LINES and name != GENERATED:
        yield f"{name}: {lines} lines (at most {FILE_LINES})"
    if name.endswith(".py"):
        yield from long_functions(name, text)


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
    found = [line for name in sources(root) for line in violations(name, (root / name).read_text("utf-8"))]
    print("\n".join(found) or f"sizes: {len(sources(root))} files are within bounds")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
