"""The languages of exported files: how a comment begins, what may stand outside of comments, how free text is escaped.

A template writes a value with `{{ }}` and cannot forget to escape it. `mark` puts marks around each text that a
template writes, and `Format.finish` looks at each marked text where it stands:

    in a comment      free text: made one line, cut to `LONGEST` characters, without what the language could obey
    outside of one    a word of the language's own alphabet; anything else is an `UnsafeText`, and no file is written

A line is a comment if the template itself, not a value, begins it with the sign of a comment.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from priolane.text.printable import printable_line

# Programs that read configurations cut or split lines: NX-OS at 511 characters, procps's sysctl at 4095 bytes.
LONGEST = 400
# Noncharacters: no text of a file has them after `printable_line`, which `mark` calls.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_MARKED = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}")
_MARKS = str.maketrans({_OPEN: "\N{REPLACEMENT CHARACTER}", _CLOSE: "\N{REPLACEMENT CHARACTER}"})


class UnsafeText(RuntimeError):
    """A text of the user would stand outside of a comment and is no word of the language."""


@dataclass(frozen=True)
class Format:
    """A language.

    `name` is for messages. `comment` begins a line that is a comment; it is `None` in a language for people, all of
    whose text is free. `word` is the regular expression of what a value may be outside of comments. `escape` makes
    free text harmless in a comment, or anywhere where there is no `comment`.
    """

    name: str
    comment: str | None
    word: re.Pattern[str]
    escape: Callable[[str], str]

    def finish(self, text: str) -> str:
        """The rendered `text` with its marked texts checked or escaped; raises `UnsafeText`."""
        return "".join(self._line(line) for line in text.splitlines(keepends=True))

    def _line(self, line: str) -> str:
        free = self.comment is None or line.lstrip(" ").startswith(self.comment)
        return _MARKED.sub(lambda match: self._free(match[1]) if free else self._word(match[1]), line)

    def _free(self, text: str) -> str:
        return self.escape(text if len(text) <= LONGEST else text[: LONGEST - 3] + "...")

    def _word(self, text: str) -> str:
        if text and not self.word.fullmatch(text):
            raise UnsafeText(f"{text[:LONGEST]!r} is no word of {self.name}: it cannot be exported")
        return text


def mark(value: object) -> str:
    """The text that a template writes for `value`: whole numbers as they are, texts on one line and marked."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None:
        raise TypeError("a template writes None")
    return f"{_OPEN}{printable_line(str(value)).translate(_MARKS)}{_CLOSE}"


def _commented(text: str) -> str:
    """Free text of a comment.

    A backslash at the end of a line joins the next line to it in nftables and in modprobe.d.
    """
    return text.replace("\\", "/")


def _ascii(text: str) -> str:
    """Free text of a comment for the command line of a switch: printable ASCII, without the question mark, which asks
    such a command line for help."""
    return "".join(letter if " " <= letter <= "~" and letter not in "\\?" else "_" for letter in text)


# What Markdown means something by: marks of emphasis, code, links and cells; at the beginning, those of a list, a
# heading or a rule.
_MARKDOWN = re.compile(r"[\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^[-+#=]")
_NUMBERED = re.compile(r"^([0-9]{1,9})([.)])(?= |$)")
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def _markdown(text: str) -> str:
    """Free text in Markdown: no markup, link, cell or HTML of its own."""
    plain = _MARKDOWN.sub(lambda match: f"\\{match[0]}", text.lstrip()).translate(_HTML)
    return _NUMBERED.sub(r"\1\\\2", plain)


# A word of a shell or a configuration: no white space, quote, sign of expansion or option.
_WORD = re.compile(r"(?!-)[A-Za-z0-9_.,:/-]+")
# Numbers in a set, or ranges of a map with what each leads to; ports, prefixes of addresses, a path in quotes.
_RANGE = r"[0-9]+-[0-9]+ : (goto class|7072:)[0-9a-f]+"
_PORTS = r"[0-9]+(-[0-9]+)?"
_PREFIX = r"[0-9a-f.:]+/[0-9]+"
_CGROUP = r'"[A-Za-z0-9_.@:-]+(/[A-Za-z0-9_.@:-]+)*"'
# The part of a table's name that is a group's.
_OF_GROUP = r"_[A-Za-z0-9_-]{1,40}"
_NFT_WORD = re.compile(
    rf"[0-9a-f]+|{_OF_GROUP}|{_PORTS}(, {_PORTS})*|{_PREFIX}(, {_PREFIX})*|{_CGROUP}|{_RANGE}(, {_RANGE})*"
)
SHELL = Format("a shell script", "#", _WORD, _commented)
NFT = Format("an nftables script", "#", _NFT_WORD, _commented)
SETTINGS = Format("a file of settings", "#", re.compile(r"[A-Za-z0-9_./-]+|[0-9]+( [0-9]+)*"), _commented)
EOS = Format("EOS", "!", _WORD, _ascii)
NXOS = Format("NX-OS", "!", _WORD, _ascii)
JUNOS = Format("Junos", "#", _WORD, _ascii)
MARKDOWN = Format("Markdown", None, re.compile(""), _markdown)
