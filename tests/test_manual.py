"""The man page and the shell completions in the tree say what the parser takes. If they do not: `make manual`."""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import manual


def commands() -> dict[str, argparse.ArgumentParser]:
    """Every command and every command of a command, by the words that call it."""
    return dict(below(manual.command_line(), ""))


def below(parser: argparse.ArgumentParser, called: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield f"{called} {name}".strip(), command
                yield from below(command, f"{called} {name}".strip())


def options(parser: argparse.ArgumentParser) -> set[str]:
    return {option for action in parser._actions for option in action.option_strings}


def plain(roff: str) -> str:
    """The words of a roff text."""
    return " ".join(re.sub(r"\\f[A-Z]|\\[,/]", "", roff).replace("\\", "").split())


def sections() -> dict[str, str]:
    """The text about each command, by the words that call it."""
    page = manual.MAN_PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^\.SH COMMAND (.*)$", page, flags=re.MULTILINE)[1:]
    titles = (plain(title).strip("'").removeprefix("priolane ") for title in parts[::2])
    return dict(zip(titles, (part.split("\n.SH OPTIONS\n")[0] for part in parts[1::2]), strict=True))


def test_the_man_page_has_every_command_with_its_options_and_no_others() -> None:
    known = commands()
    written = sections()
    assert set(written) == set(known)
    for name, parser in known.items():
        own = plain(written[name])
        defined = {plain(option) for option in re.findall(r"\\fB(\\-.*?)\\fR", written[name])}
        # argparse-manpage leaves out --help.
        assert defined == options(parser) - {"-h", "--help"}, name
        helps = [action.help for action in parser._actions if action.help and action.dest != "help"]
        assert [text for text in helps if "%" not in text and plain(text) not in own] == [], name


@pytest.mark.parametrize("shell", manual.COMPLETIONS)
def test_completions_know_every_option(shell: str) -> None:
    text = manual.COMPLETIONS[shell].read_text(encoding="utf-8")
    for name, parser in commands().items():
        assert name.split()[-1] in text
        for option in options(parser):
            # fish writes an option without its dashes, after `-l`.
            assert option in text or f"-l {option[2:]}" in text, f"{name} {option}"
