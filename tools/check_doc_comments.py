"""Fails where a doc comment has a form that is not a sentence or a noun phrase: it looks at the form, not at words.

A doc comment in Rust or Python begins with a capital letter or code, ends in a full stop, and is not a relative clause
without a head noun ("What is read." instead of "The text that is read."). Lists, tables, headings and code are exempt.
So are texts of keys (`#[key(..)]`), which `priolane keys` shows as phrases in a table and
python/priolane/keys.py repeats.

tools/check_vocabulary.py looks for words, tools/check_prose.py reads pages.
"""

import ast
import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent

_RUST = re.compile(r"\s*(///|//!)(?!/) ?(.*)")
_ON_ATTRIBUTE = re.compile(r"\s*(#:) ?(.*)")
_KEYS = "python/priolane/keys.py"
_KEY = re.compile(r"\s*#\[keys?\(")
_ATTRIBUTE = re.compile(r"\s*#\[")
_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"\s*#+\s")
# Lines that are not prose: lists, tables, headings, link definitions, doctests, parameters (`name: text`), columns.
_EXEMPT = re.compile(r"\s*(?:\||(?:[-*+>]|#+|\d+\.|\[[^\]]+\]:|[a-z_]+:)\s)|.*\S {2,}\S")
_CODE = re.compile(r"`[^`]*`")
_SENTENCE = re.compile(r".*?[.?!](?=\s|$)|.+")
_RELATIVE = re.compile(
    r"(?:(?:By|In|At|Of|On|To|For|From|With|Since|Until|Up to) )?"
    r"(?i:what|which|who|whom|whose|how|why|when|where)\b"
)
# After a comma, a clause of time or place may have its main clause.
_ADVERBIAL = re.compile(r"(?:When|Where)\b.*,")
_END = re.compile(r"[.?!][\"'”)\]*_]*(?: ∎)?$")
# Starts in lower case that are right: symbols and names such as `x`, `d_o`, `ceil(n)`, pFabric, tc.sh, priolane-bench.
_GREEK = "alpha|beta|gamma|delta|epsilon|eta|theta|lambda|mu|rho|sigma|tau|phi"
_SYMBOL = re.compile(rf"(?:[a-z]\b|(?:{_GREEK})\b|[a-z]+[\w-]*[A-Z_./(-]\S|priolane\b)")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of prose in a doc comment. A sentence may go on after code or a list, and may end in them."""

    place: int
    """The first line, from 0 in the comment."""
    text: str
    after_code: bool
    before_code: bool


def _runs(form: re.Pattern[str], lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The place of the first line, from 0, and the texts of each run of lines with the same marker."""
    matches = [form.match(line) for line in lines]
    for marker, run in itertools.groupby(enumerate(matches), lambda numbered: numbered[1] and numbered[1][1]):
        if marker:
            texts = [(at, match[2]) for at, match in run if match]
            yield texts[0][0], [text for _, text in texts]


def _rust_comments(text: str) -> Iterator[tuple[int, list[str]]]:
    """The first line and the lines of each doc comment, those of keys left out."""
    lines = text.splitlines()
    for at, comment in _runs(_RUST, lines):
        if not _is_of_key(lines, at + len(comment)):
            yield at + 1, comment


def _is_of_key(lines: list[str], at: int) -> bool:
    """Whether an attribute of the item at a line says that its doc comment is the text of a key."""
    while at < len(lines) and _ATTRIBUTE.match(lines[at]):
        if _KEY.match(lines[at]):
            return True
        at += 1
    return False


def _python_comments(text: str) -> Iterator[tuple[int, list[str]]]:
    """The first line and the lines of each docstring, and of each comment on an attribute (`#:`)."""
    yield from ((at + 1, comment) for at, comment in _runs(_ON_ATTRIBUTE, text.splitlines()))
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for statement in node.body:
            match statement:
                case ast.Expr(value=ast.Constant(value=str() as value)):
                    indent = " " * statement.col_offset
                    yield statement.lineno, [line.removeprefix(indent) for line in value.splitlines()]


def _paragraphs(comment: list[str]) -> Iterator[Paragraph]:
    """The paragraphs of prose in a doc comment, with their relation to the code and lists between them."""
    words: list[str] = []
    first, in_code, exempt, after_code = 0, False, False, False
    for place, line in enumerate([*comment, ""]):
        is_fence, is_list = bool(_FENCE.match(line)), bool(_EXEMPT.match(line))
        if words and (is_fence or is_list or not line.strip()):
            yield Paragraph(first, " ".join(words), after_code, _is_code_or_list(comment, place))
            words, after_code = [], False
        in_code = in_code != is_fence
        is_code = in_code or is_fence or (not words and line.startswith("    "))
        after_code = after_code or is_code
        is_heading = bool(_HEADING.match(line))
        exempt = not is_heading and (is_list or (exempt and bool(line.strip())))
        if line.strip() and not (is_code or is_heading or exempt):
            first = first if words else place
            words.append(line.strip())


def _is_code_or_list(comment: list[str], place: int) -> bool:
    """Whether the first line of text from a place on is not prose."""
    line = next((line for line in comment[place:] if line.strip()), "")
    return bool(_FENCE.match(line) or _EXEMPT.match(line) or line.startswith("    "))


def _mistakes(paragraph: Paragraph) -> Iterator[str]:
    """A message for each way in which the form of a paragraph is wrong."""
    plain = _CODE.sub("`code`", paragraph.text)
    sentence = (_SENTENCE.match(plain) or [""])[0]
    if _RELATIVE.match(plain) and not sentence.endswith("?") and not _ADVERBIAL.match(sentence):
        yield "a relative clause without a head noun. Name the thing: `The text that ...`, `The reason why ...`."
    if plain[0].islower() and not paragraph.after_code and not _SYMBOL.match(plain):
        yield "begins in lower case. Begin with a capital letter, or put code in backticks."
    if not paragraph.before_code and not _END.search(plain):
        yield "does not end in a full stop. Write sentences, or noun phrases with a full stop."


def violations(name: str, text: str) -> Iterator[str]:
    """A message for each paragraph of a doc comment whose form is wrong."""
    comments = _rust_comments if name.endswith(".rs") else _python_comments
    for line, comment in comments(text):
        for paragraph in _paragraphs(comment):
            for mistake in _mistakes(paragraph):
                yield f'{name}:{line + paragraph.place}: "{paragraph.text[:60]}": {mistake}'


def sources(root: Path) -> list[str]:
    """The Rust and Python files that git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.rs", "*.py"],  # noqa: S607
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    names = sorted({*listed.stdout.splitlines()} - {_KEYS})
    return [name for name in names if (root / name).is_file() and not (root / name).is_symlink()]


def main() -> int:
    """Checks all sources; the exit code is 1 if the form of a doc comment is wrong."""
    names = sources(ROOT)
    messages = [line for name in names for line in violations(name, (ROOT / name).read_text("utf-8"))]
    print("\n".join(messages) or f"doc comments: those of {len(names)} files are sentences or noun phrases")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
