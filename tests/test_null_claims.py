"""Claims in which nothing may be found: the hosts of equal groups, and groups whose hosts are swapped."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

from null_claims import (
    MOST_HOPS,
    TRIALS,
    UNFIT,
    Swap,
    changes,
    changes_more,
    most_false,
    numbers,
    run_swaps,
    shipped,
    swapped,
    swaps,
    trials,
)

ROOT = Path(__file__).parent.parent


def test_as_many_false_verdicts_are_allowed_as_five_percent_may_have() -> None:
    # By the binomial distribution, 30 of 400 or more have a probability of 1.9 % at 5 %.
    assert most_false(400) == 29
    assert most_false(20) == 3


def test_hosts_are_counted_as_the_file_lists_them() -> None:
    assert numbers("0-2,7,9-10") == [0, 1, 2, 7, 9, 10]


def test_groups_with_as_many_hosts_in_each_rack_are_swapped() -> None:
    merged = {
        "topology": {"kind": "leaf_spine", "hosts_per_leaf": 4},
        "group": [
            {"name": "a", "hosts": "0-1,4-5", "app": "poisson"},
            {"name": "b", "hosts": "2-3,6-7", "app": "poisson"},
            {"name": "other_racks", "hosts": "8-9,12-13", "app": "poisson"},
            {"name": "listed", "hosts": "0-1,4-5", "app": "long_lived", "pairs": [{"src": 0, "dst": 1}]},
            {"name": "all", "hosts": "*", "app": "poisson"},
        ],
    }
    (swap,) = swaps(merged)
    assert swap == Swap("a", "b", "0-1,4-5", "2-3,6-7")
    assert swap.sets == (("group.a.hosts", '"2-3,6-7"'), ("group.b.hosts", '"0-1,4-5"'))


def test_what_changes_is_counted_among_decided_verdicts() -> None:
    before = dict.fromkeys([("s", "1"), ("s", "2"), ("s", "3"), ("s", "4")], "reproduced")
    after = {("s", "1"): "reproduced", ("s", "2"): "undecided", ("s", "3"): "contradicted", ("s", "4"): "reproduced"}
    assert changes(before | {("s", "5"): "undecided"}, after | {("s", "5"): "undecided"}) == (4, 2, 1)
    assert changes(before | {("s", "5"): "reproduced"}, after | {("s", "5"): UNFIT}) == (4, 2, 1)


def test_swapped_hosts_may_change_as_much_as_other_seeds_do() -> None:
    # By the hypergeometric distribution, 6 of 92 against 7 of 99 has p = 0.67, 20 of 92 against 7 of 99 p = 0.003.
    assert not changes_more((92, 6, 0), (99, 7, 0))
    assert changes_more((92, 20, 0), (99, 7, 0))
    assert not changes_more((92, 4, 0), (99, 0, 0))


def test_a_host_number_decides_no_claim_of_a_few_trials() -> None:
    # At 5 %, two false verdicts of four have a probability of 1.4 %.
    assert trials(TRIALS / "two_tenants.toml", 4)["undecided"] >= 3


def test_swapped_hosts_turn_no_verdict_of_a_figure_round() -> None:
    result = swapped(ROOT / "study" / "papers" / "paccp" / "fig5" / "figure.toml", seeds=6)
    assert result is not None
    for other in (result.swapped, result.control):
        decided, _, turned = changes(result.plain, other)
        assert decided > 0
        assert turned == 0


@pytest.mark.soak
def test_swapped_hosts_change_no_more_verdicts_of_the_figures_than_other_seeds() -> None:
    assert run_swaps(shipped(), 20, MOST_HOPS) == 0


@pytest.mark.soak
@pytest.mark.parametrize("path", sorted(TRIALS.glob("*.toml")), ids=lambda path: path.stem)
def test_a_host_number_decides_a_claim_in_five_percent_of_400_trials_at_most(path: Path) -> None:
    assert 400 - trials(path, 400)["undecided"] <= most_false(400)
