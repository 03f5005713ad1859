"""The worlds of `advise` cover kinds of answer and capabilities, and each list of theirs reads."""

from collections import Counter
from pathlib import Path

import pytest

from advise_worlds import WORLDS, World
from priolane.advice.answer import Kind
from priolane.advice.fabric import HOST_FEATURES, SWITCH_FEATURES, read_fabric
from priolane.advice.flow_list import read_flows


def test_every_kind_of_answer_is_right_in_two_worlds_at_least() -> None:
    count = Counter(world.kind for world in WORLDS)
    assert all(count[kind] >= 2 for kind in Kind)


def test_every_capability_is_there_in_one_world_and_missing_in_another(tmp_path: Path) -> None:
    read = [read_fabric(world.write(tmp_path / world.name, 1)[1]).features for world in WORLDS]
    for name in (*SWITCH_FEATURES, *HOST_FEATURES):
        assert {name in features for features in read} == {True, False}, name


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_each_list_of_a_world_is_another_one_that_reads(world: World, tmp_path: Path) -> None:
    first, second = (read_flows(world.write(tmp_path, seed)[0]) for seed in (1, 2))
    assert len(first) != len(second)
    assert not first.unused
