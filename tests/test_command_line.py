"""Commands that are printed to be copied: a shell and the command line read back what was meant, hyphens included."""

import argparse
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from priolane.cli import agree, parser
from priolane.model.experiment import Options
from priolane.replay import make
from priolane.replay.recording import Part
from priolane.results.results import Results
from priolane.text.command_line import command_line, operands, option, path_word

HOSTILE = ["-x", "--help", "-", "a b", "$(touch x)", "'; touch x", "-o", "=x"]


def read(command: str) -> argparse.Namespace:
    """The arguments that the command line reads from a command that was copied into a shell."""
    first, *words = shlex.split(command)
    assert first == "priolane"
    return parser(words[:1]).parse_args(words)


@pytest.mark.parametrize("text", HOSTILE)
def test_the_command_that_makes_results_again_names_their_place(results: Results, text: str) -> None:
    options = Options(sets=(("a.b", text),), reading=text)
    again = replace(results, directory=Path(text), source=Path(text), options=options)
    content = read(again.rerun_command())
    assert (content.file, content.out, content.reading, content.sets) == (Path(text), Path(text), text, [("a.b", text)])


@pytest.mark.parametrize("text", HOSTILE)
def test_the_command_of_a_replay_and_of_an_agreement_name_what_they_are_of(text: str) -> None:
    options = Options(schemes=(text,), reading=text)
    content = read(make._command(Path(text), Part((1,), 0, 5, 1, 1, (("k", text),)), options))
    assert (content.file, content.scheme, content.reading, content.points) == (Path(text), text, text, [("k", text)])
    choice = argparse.Namespace(experiment=text, schemes=[text], scale=None, switch=None, machines=Path(text))
    content = read(agree._command(choice, Path(text)))
    assert (Path(content.experiment), content.schemes, content.machines) == (Path(text), [text], Path(text))


@pytest.mark.parametrize("text", HOSTILE)
def test_words_of_a_command_are_no_options(text: str) -> None:
    content = read(command_line("priolane", "linux", "down", *operands(text)))
    assert content.name == text
    content = read(command_line("priolane", "results", *option("--scheme", "a"), "--", path_word(text)))
    assert Path(content.dir) == Path(text)
