"""Each shipped experiment says why its runs have the form that `time` gives them."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
STATES_TIME = re.compile(r"^(?:time\b|\[time\])")
FILES = sorted(
    path
    for folder, name in (("experiments", "*.toml"), ("examples", "*.toml"), ("study", "figure.toml"))
    for path in (ROOT / folder).rglob(name)
    if any(STATES_TIME.match(line) for line in path.read_text(encoding="utf-8").splitlines())
)
SENTENCE = re.compile(r'^[A-Z0-9"`].* .* .*\.$')
# A paper's sentence in quotation marks, a word about its text, or its release.
SOURCE = re.compile(r'"[^"]{10,}"|does not say|the text|the talk|released', re.IGNORECASE)


def comment_above_time(text: str) -> str:
    """The words of the comment directly above `time`."""
    words: list[str] = []
    for line in text.splitlines():
        if STATES_TIME.match(line):
            break
        words = [*words, line.removeprefix("#").strip()] if line.startswith("#") else []
    return " ".join(words)


def names_of_form(time: dict[str, Any]) -> list[str]:
    """The words of which a comment on this table has at least one."""
    if time.get("arrivals") == "continue":
        return ["Steady state", "A transient"]
    if "flows" in time:
        return ["A number of flows", "A list"]
    return ["A fixed duration", "Fixed durations", "empty network"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_comment_above_time_names_the_form_and_where_it_is_from(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    experiment, comment = tomllib.loads(text), comment_above_time(text)
    assert SENTENCE.match(comment), "no sentence directly above `time`"
    names = names_of_form(experiment["time"])
    assert any(name in comment for name in names), f"{comment!r} has none of {names}"
    if "paper" in experiment and experiment.get("figure") != "ours":
        assert SOURCE.search(comment), f"{comment!r} says nothing of what the paper or its release has"


def test_all_shipped_experiments_are_there() -> None:
    of_study = [path for path in FILES if path.is_relative_to(ROOT / "study")]
    assert of_study == sorted((ROOT / "study").rglob("figure.toml"))
    assert len(FILES) > len(of_study) + 15


@pytest.mark.parametrize(
    ("above", "comment"),
    [
        ("# A list.\n# Of two.\n", "A list. Of two."),
        ("# A list.\n\n", ""),
        ("# A list.\nseeds = 2\n", ""),
    ],
)
def test_only_a_comment_directly_above_counts(above: str, comment: str) -> None:
    assert comment_above_time(f"{above}time = {{ flows = 2 }}\n# After.\n") == comment
