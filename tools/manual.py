"""Writes the man page and the shell completions of the command `priolane` into packaging/wheel, part of the wheel.

They are made from the command's own parser and are kept in the tree, so that a wheel needs no second step:
`make manual` writes them, and tests/test_manual.py compares them with the parser.
"""

import argparse
from pathlib import Path

import shtab
from argparse_manpage.manpage import Manpage

from priolane import __version__, cli

SHARE = Path(__file__).parent.parent / "packaging" / "wheel" / "data" / "share"
MAN_PAGE = SHARE / "man" / "man1" / "priolane.1"
COMPLETIONS = {
    "bash": SHARE / "bash-completion" / "completions" / "priolane",
    "zsh": SHARE / "zsh" / "site-functions" / "_priolane",
    "fish": SHARE / "fish" / "vendor_completions.d" / "priolane.fish",
}
COLUMNS = 100


class _Formatter(argparse.HelpFormatter):
    """Help of a width that does not depend on the terminal."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=COLUMNS)


def command_line() -> argparse.ArgumentParser:
    """The parser with the arguments of all commands."""
    parser = cli.parser(cli.COMMANDS)
    parser.formatter_class = _Formatter
    return parser


def man_page(parser: argparse.ArgumentParser) -> str:
    """The page `priolane(1)`, in roff, without a date: the version says which one it is."""
    about = {
        "version": __version__,
        "manual_title": "priolane",
        "description": "packet-level simulation of datacenter priority scheduling",
    }
    page = Manpage(parser, about)
    page.date = ""
    return str(page)


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """The completion of the command in `shell`."""
    text: str = shtab.complete(parser, shell)
    return text.rstrip("\n") + "\n"


def main() -> None:
    """Writes all files."""
    parser = command_line()
    texts = {MAN_PAGE: man_page(parser)}
    texts |= {path: completion(parser, shell) for shell, path in COMPLETIONS.items()}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
