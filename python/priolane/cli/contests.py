"""The output of `priolane compare DIR --schemes A B`: the better scheme in each metric."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from priolane.cli import show
from priolane.comparison.results import LEVEL, Finding, change_text
from priolane.comparison.schemes import Contest, SchemeComparison, Winner
from priolane.results.numbers import format_value
from priolane.results.report import point_text

_MOST_OPEN = 20


def show_contests(found: SchemeComparison, seeds: int) -> None:
    """Prints the answer, then what was won, then what is open."""
    first, second = found.first, found.second
    if not found.tested:
        show.line(
            f"Does {first} beat {second}? Not known: "
            + (
                "one seed has no interval; run more, --seeds 5"
                if seeds < 2
                else "flows did not finish, and every value leaves some out"
                if found.incomplete and not found.contests
                else "all values are the same in every seed"
            )
        )
    else:
        won, lost = len(found.won(Winner.FIRST)), len(found.won(Winner.SECOND))
        show.line(
            f"Does {first} beat {second}? Of {found.tested} metrics tested it is better in {won}, worse in {lost}, "
            f"and open in {found.tested - won - lost} (paired by seed; Holm's correction, all together "
            f"at {LEVEL * 100:.0f} %)"
        )
    if found.incomplete:
        show.line(f"Not compared: {found.incomplete} values that leave out flows that did not finish")
    decided = [contest for contest in found.contests if contest.winner is not Winner.NEITHER]
    if decided:
        _table(found, decided)
    left = [contest for contest in found.contests if contest.winner is Winner.NEITHER]
    if left:
        show.line("Open:" if found.tested else "Values:")
        _table(found, left[:_MOST_OPEN])
        if len(left) > _MOST_OPEN:
            show.line(f"... and {len(left) - _MOST_OPEN} more; --json has all")


def _table(found: SchemeComparison, contests: Sequence[Contest]) -> None:
    names = {Winner.FIRST: found.first, Winner.SECOND: found.second, Winner.NEITHER: "-"}
    pointed = any(contest.change.point for contest in contests)
    rows = [
        [
            contest.change.size_class,
            *([point_text(contest.change.point)] if pointed else []),
            contest.quantity.label if contest.quantity.name != "slowdown_p99" else "slowdown p99",
            format_value(contest.change.second, contest.quantity.unit),
            format_value(contest.change.first, contest.quantity.unit),
            change_text(contest.change),
            _better(contest, names),
        ]
        for contest in contests
    ]
    point = ["point"] if pointed else []
    columns = ["class", *point, "metric", found.first, found.second, f"{found.first} against {found.second}", "better"]
    show.table(columns, rows)


def _better(contest: Contest, names: Mapping[Winner, str]) -> str:
    """The better scheme; where only the metric alone would say so, a note of that."""
    match contest.change.finding:
        case Finding.SAME:
            return "the same"
        case Finding.SUGGESTED:
            return f"({names[contest.ahead]}, by this metric alone)"
        case _:
            return names[contest.winner]


def as_json(found: SchemeComparison) -> dict[str, Any]:
    """Everything: means, relative changes of the first scheme against the second, p values, and who is better."""
    names = {Winner.FIRST: found.first, Winner.SECOND: found.second, Winner.NEITHER: None}
    return {
        "first": found.first,
        "second": found.second,
        "tested": found.tested,
        "incomplete": found.incomplete,
        "contests": [
            {
                "class": contest.change.size_class,
                "point": dict(contest.change.point),
                "metric": contest.quantity.name,
                "unit": contest.quantity.unit,
                "means": {found.first: contest.change.second, found.second: contest.change.first},
                **{
                    key: value
                    for key, value in asdict(contest.change).items()
                    if key in ("relative", "design", "shared", "change", "low", "high", "p", "corrected", "finding")
                },
                "better": names[contest.winner],
            }
            for contest in found.contests
        ],
    }
