"""The race on growing prefixes of the list, and tuning, on values of which the best is known."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from advise_files import of_pseudo
from priolane.advice.candidate import Candidate
from priolane.advice.goals import read_goals
from priolane.advice.outcomes import Values
from priolane.advice.racing import KEPT, Limits, Race, Why, race, stages
from priolane.advice.samples import Trial
from priolane.advice.trials import Trials
from priolane.advice.tuning import moved, tune
from priolane.advice.windows import FEWEST, Jackknife

TAIL = "fct_p99.small"
WINDOWS = 24
HOPS = 100
"""Packet-hops of a window, the first one, which is not read, too."""
Worlds = Mapping[str, Sequence[float]]
"""The logarithm of the tail of each candidate by window."""


def _world(seed: int, names: Sequence[str], noise: float = 0.08) -> tuple[dict[str, list[float]], str]:
    """Candidates whose tails differ by known factors, with noise that windows and candidates have."""
    draw = random.Random(seed)  # noqa: S311 - noise, not secrets
    order = list(names)
    draw.shuffle(order)
    # The best by 30 %, then steps.
    factor = {name: 1.0 if place == 0 else 1.3 + 0.15 * place for place, name in enumerate(order)}
    shared = [draw.gauss(0, 0.4) for _ in range(WINDOWS)]
    logs = {
        name: [math.log(1e-3 * factor[name]) + deviation + draw.gauss(0, noise) for deviation in shared]
        for name in names
    }
    return logs, order[0]


def _trial(value: Jackknife | None, hops: int) -> Trial:
    return Trial({TAIL: value}, hops, {"small": 0.0}, {TAIL: 1e-3}, 0.5, {TAIL: None})


def _raced(world: Worlds, budget: float, stuck: Sequence[str] = ()) -> Race:
    goals, _ = read_goals(["p99.small < 1ms"])
    requests: list[tuple[tuple[str, ...], int]] = []

    def evaluate(names: Sequence[str], count: int) -> dict[str, Trials]:
        requests.append((tuple(names), count))
        unfinished = Jackknife(np.full(count + 1, np.inf))
        return {
            name: {1: _trial(unfinished if name in stuck else of_pseudo(world[name][:count]), HOPS * (count + 1))}
            for name in names
        }

    done = race(list(world), stages(WINDOWS), goals, evaluate, Limits(budget), lambda _: None)
    # What is counted is what was run, and rounds grow.
    assert done.hops == sum(HOPS * len(names) * (count + 1) for names, count in requests)
    assert (
        [round_.windows for round_ in done.rounds]
        == [count for _, count in requests]
        == sorted({count for _, count in requests})
    )
    return done


def test_rounds_double_to_all_windows() -> None:
    assert stages(24) == (5, 10, 24)
    assert stages(20) == (5, 10, 20)
    assert stages(FEWEST) == (FEWEST,)
    # Windows that are nearly as many as those of the round before take its place.
    assert stages(6) == (6,)
    assert stages(12) == (5, 12)


def test_the_best_wins_20_of_20_races_within_half_of_the_grid() -> None:
    names = [f"c{nth}" for nth in range(20)]
    whole = 20 * (WINDOWS + 1) * HOPS
    won = 0
    for seed in range(20):
        world, best = _world(seed, names)
        done = _raced(world, budget=whole / 2)
        assert sum(done.each.values()) * (WINDOWS + 1) == whole
        assert done.hops <= whole / 2
        won += done.left[0] == best
    assert won == 20


def test_no_more_of_the_equal_are_called_worse_than_by_chance() -> None:
    # Ten candidates of one tail: 5 % of races may exclude some.
    wrong = 0
    for seed in range(100):
        draw = np.random.default_rng(seed)
        shared = draw.normal(0, 0.4, WINDOWS)
        world = {f"c{nth}": (shared + draw.normal(0, 0.2, WINDOWS)).tolist() for nth in range(10)}
        done = _raced(world, budget=1e9)
        wrong += any(how.why is Why.EXCLUDED for how in done.ended.values())
    # The leader is chosen on the windows on which others are compared with it, which costs some of the level.
    assert wrong <= 15


def test_what_the_budget_ends_is_not_called_worse() -> None:
    world, _ = _world(1, [f"c{nth}" for nth in range(20)], noise=0.5)
    # Room for the first round and two candidates more: noise as large as differences leaves many.
    budget = (20 * (FEWEST + 1) + 2 * (2 * FEWEST + 1)) * HOPS
    done = _raced(world, budget)
    ended = {name: how for name, how in done.ended.items() if how.why is Why.BUDGET}
    assert ended
    assert done.hops <= budget
    assert len(done.left) == KEPT
    # The worst end first: those that are left were the best of the round.
    assert {how.windows for how in ended.values()} == {FEWEST}
    order = sorted(world, key=lambda name: sum(world[name][:FEWEST]))
    assert done.rounds[0].left == tuple(order[:KEPT])


def test_the_first_round_is_run_whatever_it_takes() -> None:
    world, _ = _world(1, ["a", "b", "c"], noise=0.5)
    done = _raced(world, budget=1.0)
    assert [round_.windows for round_ in done.rounds] == [FEWEST]
    assert 1 <= len(done.left) <= KEPT


def test_twins_and_the_unfinished_end_in_the_first_round() -> None:
    world, _ = _world(2, ["a"])
    done = _raced({"a": world["a"], "twin": world["a"], "stuck": world["a"]}, budget=1e9, stuck=["stuck"])
    assert (done.ended["twin"].why, done.ended["twin"].against, done.ended["twin"].windows) == (Why.SAME, "a", FEWEST)
    assert done.ended["stuck"].why is Why.STUCK
    assert done.left == ("a",)
    assert done.scores["stuck"] == math.inf


def test_the_same_values_with_other_packet_hops_are_no_twins() -> None:
    goals, _ = read_goals(["p99.small < 1ms"])
    value = of_pseudo([0.1, 0.2, 0.3, 0.2, 0.1])

    def evaluate(names: Sequence[str], _count: int) -> dict[str, Trials]:
        return {name: {1: _trial(value, HOPS + (name == "b"))} for name in names}

    done = race(["a", "b"], (FEWEST,), goals, evaluate, Limits(1e9), lambda _: None)
    assert done.left == ("a", "b")


def test_where_nobody_finishes_one_is_left() -> None:
    world, _ = _world(3, ["a", "b"])
    done = _raced(world, budget=1e9, stuck=["a", "b"])
    assert (done.left, done.ended["b"].why) == (("a",), Why.STUCK)


def _ladder(*thresholds: int) -> Candidate:
    rows = {"base": "dctcp", "assign": {"kind": "bytes_sent", "levels": 2, "thresholds": []}}
    return Candidate("sent2", "by bytes sent", "", rows, 2, thresholds, ("assign",))


def test_many_moved_thresholds_have_a_name_that_files_take() -> None:
    leader = replace(_ladder(), name="pias")
    assert moved(leader, (20_000,)).name == "pias_at_20000"
    long = [moved(leader, (*range(331_785, 331_791), last)).name for last in (3_626_640, 3_626_641)]
    assert all(name.startswith("pias_at_331785_") and len(name) <= 60 for name in long)
    assert long[0] != long[1]
    twice = moved(moved(leader, (20_000,)), (30_000,))
    assert (twice.tuned_from, twice.rows["assign"]["thresholds"]) == ("pias", ["30000B"])


def _tuned(best: int, tries: int, start: int = 20_000) -> tuple[Candidate, int, int]:
    """Tunes a threshold where the tail grows with its distance to the best one, in octaves."""
    goals, _ = read_goals(["p99.small < 1ms"])
    ran: list[tuple[int, ...]] = []

    def value(threshold: int) -> Jackknife:
        level = abs(math.log2(threshold / best))
        return of_pseudo([level + deviation for deviation in (0.0, 0.1, -0.1, 0.2, -0.2)])

    def run(candidate: Candidate) -> Trials:
        ran.append(candidate.thresholds)
        return {1: _trial(value(candidate.thresholds[0]), HOPS)}

    leader = _ladder(start)
    rivals: dict[str, Values] = {leader.name: {TAIL: value(start)}}
    tuned = tune(leader, rivals, goals, run, tries)
    assert tuned.hops == HOPS * len(ran)
    assert tuned.tries == len(set(ran)) == len(ran) <= tries
    return tuned.best, tuned.tries, len(ran)


def test_tuning_moves_a_threshold_towards_the_best_and_counts_its_runs() -> None:
    best, tries, _ = _tuned(best=60_000, tries=20)
    assert tries >= 3
    assert abs(math.log2(best.thresholds[0] / 60_000)) < 0.5
    assert best.tuned_from == "sent2"


def test_tuning_keeps_what_nothing_betters_and_needs_room_for_some_tries() -> None:
    best, tries, _ = _tuned(best=20_000, tries=20)
    assert (best, tries > 0) == (_ladder(20_000), True)
    assert _tuned(best=60_000, tries=2)[:2] == (_ladder(20_000), 0)
    goals, _ = read_goals(["p99.small < 1ms"])
    plain = Candidate("dctcp", "dctcp", "", {"base": "dctcp"}, 1)
    with pytest.raises(AssertionError):
        tune(_ladder(20_000), {"sent2": {TAIL: of_pseudo([0.1] * 5)}}, goals, _never, 20)
    assert tune(plain, {}, goals, _never, 20).best is plain


def _never(_candidate: Candidate) -> Trials:
    raise AssertionError("nothing is to be run")
