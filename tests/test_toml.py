"""Values as TOML on one line, read again by a parser of TOML."""

import tomllib
from typing import Any

import pytest

from priolane.model.toml import inline, toml_text

VALUES: list[Any] = [
    True,
    0.25,
    1e21,
    'a "quoted" word \\ and a tab\t',
    "µ, an emoji \U0001f680, a delete \x7f, a bell \x07",
    {"solver": "opt", "a key": [1, 2]},
    [{"share": 0.5, "within": "40us"}, {}],
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("write", [inline, toml_text])
def test_a_value_is_read_as_it_was_written(write: Any, value: Any) -> None:
    assert tomllib.loads(f"value = {write(value)}") == {"value": value}


def test_keys_that_need_no_quotes_have_none() -> None:
    assert inline({"of": "host", "at.10": 1}) == '{ of = "host", "at.10" = 1 }'


def test_what_toml_has_no_word_for_is_refused() -> None:
    with pytest.raises(TypeError, match="no TOML form"):
        toml_text(None)
