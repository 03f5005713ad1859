"""Links of pages to files of the repository that are not part of the site."""

import re
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

REPOSITORY = "https://github.com/priolane/priolane"
_LINK = re.compile(r"(?P<open>!?\[[^\]\n]*\]\()(?P<to>[^)\s]+)(?P<close>\))")
_CODE = re.compile(r"^(```|~~~).*?^\1\s*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


class BrokenLink(ValueError):
    """A link to a file of the repository that does not exist."""


def to_repository(markdown: str, page: str, root: Path, docs: str = "docs") -> str:
    """The text of the page at `page` below `docs`, in which links that leave `docs` lead to the repository's files.

    Raises `BrokenLink` for a link to a file that does not exist. Code is left alone.
    """
    parts = []
    at = 0
    for code in _CODE.finditer(markdown):
        parts += [_replace(markdown[at : code.start()], page, root, docs), code.group()]
        at = code.end()
    return "".join([*parts, _replace(markdown[at:], page, root, docs)])


def code_left_out(markdown: str) -> str:
    """The text of a page without its code, in which nothing is a link."""
    return _CODE.sub("", markdown)


def _replace(text: str, page: str, root: Path, docs: str) -> str:
    def link(match: re.Match[str]) -> str:
        to = match["to"]
        outside = _outside(to, page, docs)
        if outside is None:
            return match.group()
        path = root / outside
        if not path.exists():
            raise BrokenLink(f"{docs}/{page}: {to}: no such file")
        kind = "tree" if path.is_dir() else "blob"
        mark = f"#{urlsplit(to).fragment}" if urlsplit(to).fragment else ""
        return f"{match['open']}{REPOSITORY}/{kind}/main/{outside}{mark}{match['close']}"

    return _LINK.sub(link, text)


def _outside(to: str, page: str, docs: str) -> str | None:
    """The path from the root of the repository, if a link leaves the folder of pages."""
    split = urlsplit(to)
    if split.scheme or not split.path or split.path.startswith("/"):
        return None
    parts: list[str] = []
    for part in (PurePosixPath(docs) / PurePosixPath(page).parent / split.path).parts:
        if part == "..":
            if not parts:
                raise BrokenLink(f"{docs}/{page}: {to}: leads out of the repository")
            parts.pop()
        elif part != ".":
            parts.append(part)
    return None if parts[:1] == [docs] else "/".join(parts)
