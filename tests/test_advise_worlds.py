"""Whether advice is right: worlds of which brute force on fresh lists says what is right (`make soak`).

PRIOLANE_WORLDS names a folder that keeps the records of worlds, `NAME.json`: what is there is not run again.
"""

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advise_truth import FRESH, record
from advise_worlds import WORLDS, World
from priolane.advice.answer import Kind

pytestmark = pytest.mark.soak

# Of all printed intervals, of advised rows on fresh lists, and of advised changes.
LEAST_PAIRS, LEAST_COVERED, LEAST_KEPT, LEAST_CHEAP = 240, 0.9, 0.95, 0.9
MOST_S = 600
# About a fifth of the grid, where candidates are as many or more and lists need not run whole.
MOST_OF_GRID, MANY = 0.22, 12
JUDGED = (Kind.NOTHING, Kind.CHANGE, Kind.NONE)

Records = Callable[[World], dict[str, Any]]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Records:
    """The record of a world, made once."""
    kept = os.environ.get("PRIOLANE_WORLDS")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("records")

    def of(world: World) -> dict[str, Any]:
        path = folder / f"{world.name}.json"
        if not path.exists():
            made = record(world, tmp_path_factory.mktemp(world.name))
            path.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return read

    return of


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_every_answer_of_a_world_is_of_the_right_kind_and_in_time(world: World, records: Records) -> None:
    own = records(world)
    answers = own["answers"]
    assert [answer["kind"] for answer in answers] == [world.kind.value] * len(answers)
    # Brute force agrees with what the world states.
    proved = {Kind.IMPOSSIBLE: Kind.NONE.value, Kind.UNKNOWN: own["truth"]["kind"]}
    assert own["truth"]["kind"] == proved.get(world.kind, world.kind.value)
    assert all(answer["wall_s"] <= MOST_S for answer in answers)
    if own["candidates"] >= MANY and "coflow" not in world.columns:
        assert all(answer["hops"] <= MOST_OF_GRID * answer["grid"] for answer in answers)
    if world.changed is not None:
        assert all(answer["rollout"] == [True, True, True] for answer in answers)


def test_intervals_and_promises_hold_on_lists_that_no_answer_saw(records: Records) -> None:
    answers = [answer for world in WORLDS for answer in records(world)["answers"]]
    covered = [low <= truth <= high for of in answers for _, _, low, high, truth in of.get("intervals", ())]
    kept = [met for of in answers for met in of.get("kept", ())]
    assert len(covered) >= LEAST_PAIRS
    assert sum(covered) >= LEAST_COVERED * len(covered)
    assert len(kept) == len(FRESH) * sum(of["kind"] in (Kind.CHANGE.value, Kind.NOTHING.value) for of in answers)
    assert sum(kept) >= LEAST_KEPT * len(kept)


def test_an_advised_change_costs_no_more_than_the_cheapest_that_always_meets(records: Records) -> None:
    cheap = []
    for world in WORLDS:
        own = records(world)
        always = [row["cost"] for row in own["truth"]["rows"] if row["lists_met"] == len(FRESH)]
        changes = [answer for answer in own["answers"] if answer["kind"] == Kind.CHANGE.value]
        cheap += [answer["cost"][:2] <= min(always)[:2] for answer in changes]
    assert sum(cheap) >= LEAST_CHEAP * len(cheap)


def test_every_family_of_candidates_is_advised_somewhere(records: Records) -> None:
    families = Counter(
        answer["family"]
        for world in WORLDS
        for answer in records(world)["answers"]
        if answer["kind"] == Kind.CHANGE.value
    )
    assert {"by bytes sent", "by tenant", "by deadline", "by coflow"} <= families.keys()
    # Schemes as their papers have them are families of their own.
    assert len(families) >= 7
