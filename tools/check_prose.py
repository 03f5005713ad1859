"""Fails where a page is hard to read: a sentence that is too long, or a number or unit in a form of its own.

In pages for users it also refuses phrases that native readers stumble over.

It reads the Markdown that people write, without code and links. tools/check_vocabulary.py looks for
words, `typos` for misspellings.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
LONGEST = 35
"""Words that a sentence may have."""
# A list of changes.
_LEFT_OUT = {"CHANGELOG.md"}

_FENCE = re.compile(r"^\s*(```|~~~)")
_ITEM = re.compile(r"^\s*([-*+]|\d+\.)\s+")
_CELL = re.compile(r"(?<!\\)\|")
_COMMENT = re.compile(r"<!--.*?-->")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
# Code, and the statements and placeholders of findings.
_CODE = re.compile(r"`[^`]*`|\{\{.*?\}\}|\{%.*?%\}")
_URL = re.compile(r"<?https?://\S+")
_ABBREVIATION = re.compile(r"\b(Figs?|Eqs?|Secs?|Sect|Alg|No|e\.g|i\.e|vs|al|cf|ca)\.(?=\s)")
_END = re.compile(r"(?<=[.!?])[\"”)*_]*\s+(?=[A-Z*\"“(\d])|;\s*<br>")
_WORD = re.compile(r"\w")
# What is wrong with the form of a number, by what it looks like.
_FORMS = (
    (re.compile(r"(?<![\w.)\]])\.\d"), "a decimal without its zero", "0.9"),
    (re.compile(r"\+-|\+/-"), "plus and minus", "±"),
    (
        re.compile(r"(?<![\w.-])\d[\d,.]*(?:ps|ns|us|ms|s|B|kB|MB|GB|bps|[kMGT]bps|[kMGT]bit/s)\b"),
        "a unit without its space",
        "10 us",
    ),
    (re.compile(r"\d%"), "a percentage without its space", "95 %"),
)
# What users read.
_FOR_USERS = ("docs/", "study/", "README.md")
# Comparisons, before which "is no" is idiomatic: "is no longer than".
_MORE = (
    "more|less|fewer|longer|shorter|faster|slower|larger|smaller|better|worse|later|earlier|"
    "higher|lower|further|nearer|closer"
)
_NOT_THERE = r"(?<!\b[Tt]here )\b"
_WHOSE = "(?:the|an?|all|its|that|those|which|hosts?|links?)"
# What native readers stumble over, and what to write.
_PHRASES = (
    (re.compile(rf"{_NOT_THERE}(?:is|are) no (?!(?:{_MORE})\b)"), '"is not" or "has no"'),
    (re.compile(rf"{_NOT_THERE}(?:is|are) none\b"), '"is not", or say what there is'),
    (re.compile(r"\bof it\b"), "the noun that it stands for"),
    (
        re.compile(rf"\b(?:is|are) of {_WHOSE}\b(?! (?:order|same|kind)\b)"),
        '"belongs to", "refers to", or another verb',
    ),
    (
        re.compile(rf"\b(?:[Ii]t|each|which|that|they|these|those) (?:is|are) of\b(?! {_WHOSE}\b)"),
        '"belongs to", or another verb',
    ),
    (re.compile(r"\b(?:is|are) no more(?=[.,;:)]|$)"), '"no longer exists"'),
    (re.compile(r"\bended in the race\b"), '"was eliminated"'),
    (re.compile(r"\bt(?:old|ells?)(?: \w+)? apart\b"), '"distinguished", or "no significant difference"'),
    (re.compile(r"^\W*What [^.?]*?, (?:what|where|how|in)\b[^?]*\.\W*$"), "a sentence with a verb"),
)


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The first line and the text of each paragraph, list item and table cell, code blocks left out."""
    lines: list[str] = []
    first, in_code = 0, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if _FENCE.match(line):
            in_code = not in_code
        inside = in_code or _FENCE.match(line)
        begins = _ITEM.match(line) or line.lstrip().startswith(("|", "#"))
        if lines and (inside or begins or not line.strip()):
            yield first, " ".join(lines)
            lines = []
        if inside or not line.strip() or line.startswith("    "):
            continue
        if line.lstrip().startswith("|"):
            yield from ((number, cell.strip()) for cell in _CELL.split(line.strip().strip("|")))
        elif not line.startswith("#"):
            first = first if lines else number
            lines.append(line.strip())


def plain(text: str) -> str:
    """A paragraph without markup: links as their words, code and addresses as one word each."""
    text = _LINK.sub(r"\1", _COMMENT.sub("", text))
    return _ABBREVIATION.sub(r"\1", _URL.sub("address", _CODE.sub("Code", text)))


def violations(name: str, text: str) -> Iterator[str]:
    """A message for each sentence that is too long, each number or unit in a form of its own, and each phrase."""
    for line, paragraph in paragraphs(text):
        words = plain(paragraph)
        for sentence in _END.split(words):
            count = sum(bool(_WORD.search(word)) for word in (sentence or "").split())
            if count > LONGEST:
                yield f'{name}:{line}: "{sentence[:60]}...": {count} words. Use at most {LONGEST} in a sentence.'
            for phrase, better in _PHRASES if name.startswith(_FOR_USERS) else ():
                for match in phrase.finditer(sentence or ""):
                    yield f'{name}:{line}: "{match.group()}": hard to read. Use {better}.'
        for form, what, right in _FORMS:
            for match in form.finditer(words):
                yield f'{name}:{line}: "{match.group()}": {what}. Use the form {right}.'


def pages(root: Path) -> list[str]:
    """The Markdown files that git knows or would add, without the list of changes."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],  # noqa: S607
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    names = sorted({*listed.stdout.splitlines()} - _LEFT_OUT)
    return [name for name in names if (root / name).is_file() and not (root / name).is_symlink()]


def main() -> int:
    """Checks all pages; the exit code is 1 if one of them is hard to read."""
    messages = [line for name in pages(ROOT) for line in violations(name, (ROOT / name).read_text("utf-8"))]
    print("\n".join(messages) or f"prose: no sentence above {LONGEST} words, and no phrase that is hard to read")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
