"""The cases of a test that `make test` runs, and those that only `make soak` runs."""

from collections.abc import Iterable

import pytest

SOAK = pytest.mark.soak


def cases(in_test: Iterable[object], in_soak: Iterable[object]) -> list[object]:
    """Values of a parameter: those of `make test`, and then those that only `make soak` runs."""
    return [*in_test, *(pytest.param(value, marks=SOAK) for value in in_soak)]
