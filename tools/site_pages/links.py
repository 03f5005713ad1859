"""Links of pages to files of the repository, some of which are pages of the site elsewhere."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

REPOSITORY = "https://github.com/priolane/priolane"
# The text of a link may go on in the next line of its paragraph.
_LINK = re.compile(r"!?\[(?:[^\]\n]|\n(?![ \t]*\n))*\]\((?P<to>[^)\s]+)\)")
# Stands for the letters of code, in which nothing is a link; the text of a link may be code.
_HIDDEN = "\0"
_CODE = re.compile(r"^(```|~~~).*?^\1\s*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


class BrokenLink(ValueError):
    """A link to a file of the repository that does not exist."""


@dataclass(frozen=True)
class Site:
    """The files of the repository at `root` that are pages of a site.

    All files below `docs` are. `pages` has the path below `docs` of others that are, by their path from the root.
    """

    root: Path
    docs: str = "docs"
    pages: Mapping[str, str] = field(default_factory=dict)

    def with_links(self, markdown: str, page: str, file: str = "") -> str:
        """The text of `page`, a path below `docs`, in which links lead to pages of the site or to the repository.

        The text is that of `file`, a path from the root, or has links as the page itself if that is empty. Raises
        `BrokenLink` for a link to a file that does not exist. Code is left alone.
        """
        file = file or f"{self.docs}/{page}"
        parts, at = [], 0
        for match in _LINK.finditer(_CODE.sub(lambda code: _HIDDEN * len(code.group()), markdown)):
            parts += [markdown[at : match.start("to")], self._place(match["to"], page, file)]
            at = match.end("to")
        return "".join([*parts, markdown[at:]])

    def _place(self, stated: str, page: str, file: str) -> str:
        """The place to which a link of `page` leads that is written as `stated` in `file`."""
        split = urlsplit(stated)
        if split.scheme or not split.path or split.path.startswith("/"):
            return stated
        mark = f"#{split.fragment}" if split.fragment else ""
        return f"{self._led_to(split.path, page, file, stated)}{mark}"

    def _led_to(self, path: str, page: str, file: str, stated: str) -> str:
        """The path or address of `path`, a path without its fragment as a link in `file` has it."""
        there = _joined(PurePosixPath(file).parent, path, f"{file}: {stated}")
        on_site = self.pages.get(there)
        if on_site is None and there.startswith(f"{self.docs}/"):
            on_site = there.removeprefix(f"{self.docs}/")
        if on_site is not None:
            return os.path.relpath(on_site, PurePosixPath(page).parent)
        if not (self.root / there).exists():
            raise BrokenLink(f"{file}: {stated}: no such file")
        kind = "tree" if (self.root / there).is_dir() else "blob"
        return f"{REPOSITORY}/{kind}/main/{there}"


def _joined(folder: PurePosixPath, path: str, what: str) -> str:
    """The path from the root of the repository that `path` has as seen from `folder`."""
    parts: list[str] = []
    for part in (folder / path).parts:
        if part == "..":
            if not parts:
                raise BrokenLink(f"{what}: leads out of the repository")
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def code_left_out(markdown: str) -> str:
    """The text of a page without its code, in which nothing is a link."""
    return _CODE.sub("", markdown)
