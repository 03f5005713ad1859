"""Links of pages to files of the repository, some of which are pages of the site elsewhere."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

REPOSITORY = "https://github.com/priolane/priolane"
_LINK = re.compile(r"(?P<open>!?\[[^\]\n]*\]\()(?P<to>[^)\s]+)(?P<close>\))")
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
        return _with_text_outside_of_code(markdown, lambda text: self._replace(text, page, file))

    def _replace(self, text: str, page: str, file: str) -> str:
        def link(match: re.Match[str]) -> str:
            split = urlsplit(match["to"])
            if split.scheme or not split.path or split.path.startswith("/"):
                return match.group()
            to = self._led_to(split.path, page, file, match["to"])
            mark = f"#{split.fragment}" if split.fragment else ""
            return f"{match['open']}{to}{mark}{match['close']}"

        return _LINK.sub(link, text)

    def _led_to(self, path: str, page: str, file: str, stated: str) -> str:
        """The place to which a link of `page` leads that is written in `file`."""
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


def _with_text_outside_of_code(markdown: str, change: Callable[[str], str]) -> str:
    parts = []
    at = 0
    for code in _CODE.finditer(markdown):
        parts += [change(markdown[at : code.start()]), code.group()]
        at = code.end()
    return "".join([*parts, change(markdown[at:])])


def code_left_out(markdown: str) -> str:
    """The text of a page without its code, in which nothing is a link."""
    return _CODE.sub("", markdown)
