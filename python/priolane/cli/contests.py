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


def show_contests(comparison: SchemeComparison, seeds: int) -> None:
    """Prints the answer, then what was won, then what is open."""
    first, second = comparison.first, comparison.second
    if not comparison.tested:
        show.line(
            f"Does {first} beat {second}? Not known: "
            + (
                "one seed has no interval; run more, --seeds 5"
                if seeds < 2
                else "flows did not finish, and every value leaves some out"
                if comparison.incomplete and not comparison.contests
                else "all values are the same in every seed"
            )
        )
    else:
        won, lost = len(comparison.won(Winner.FIRST)), len(comparison.won(Winner.SECOND))
        show.line(
            f"Does {first} beat {second}? Of {comparison.tested} metrics tested it is better in {won}, worse in "
            f"{lost}, and open in {comparison.tested - won - lost} (paired by seed; Holm's correction, all together "
            f"at {LEVEL * 100:.0f} %)"
        )
    if comparison.incomplete:
        show.line(f"Not compared: {comparison.incomplete} values that leave out flows that did not finish")
    decided = [contest for contest in comparison.contests if contest.winner is not Winner.NEITHER]
    if decided:
        _table(comparison, decided)
    left = [contest for contest in comparison.contests if contest.winner is Winner.NEITHER]
    if left:
        show.line("Open:" if comparison.tested else "Values:")
        _table(comparison, left[:_MOST_OPEN])
        if len(left) > _MOST_OPEN:
            show.line(f"... and {len(left) - _MOST_OPEN} more; --json has all")


def _table(comparison: SchemeComparison, contests: Sequence[Contest]) -> None:
    names = {Winner.FIRST: comparison.first, Winner.SECOND: comparison.second, Winner.NEITHER: "-"}
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
    columns = [
        "class",
        *point,
        "metric",
        comparison.first,
        comparison.second,
        f"{comparison.first} against {comparison.second}",
        "better",
    ]
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


def as_json(comparison: SchemeComparison) -> dict[str, Any]:
    """Everything: means, relative changes of the first scheme against the second, p values, and who is better."""
    names = {Winner.FIRST: comparison.first, Winner.SECOND: comparison.second, Winner.NEITHER: None}
    return {
        "first": comparison.first,
        "second": comparison.second,
        "tested": comparison.tested,
        "incomplete": comparison.incomplete,
        "contests": [
            {
                "class": contest.change.size_class,
                "point": dict(contest.change.point),
                "metric": contest.quantity.name,
                "unit": contest.quantity.unit,
                "means": {comparison.first: contest.change.second, comparison.second: contest.change.first},
                **{
                    key: value
                    for key, value in asdict(contest.change).items()
                    if key in ("relative", "design", "shared", "change", "low", "high", "p", "corrected", "finding")
                },
                "better": names[contest.winner],
            }
            for contest in comparison.contests
        ],
    }
