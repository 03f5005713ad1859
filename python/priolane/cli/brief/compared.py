"""The output of `priolane compare`: the better side in how many metrics, and the largest differences."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from priolane.cli.brief.screen import MOST_LINES, Screen, in_columns
from priolane.comparison.results import LEVEL, Change, Comparison, Finding, metric_text, other_flows
from priolane.comparison.schemes import Contest, SchemeComparison, Winner
from priolane.report.overview import Overview
from priolane.report.overview_text import column_name
from priolane.report.sentences.places import place_text
from priolane.report.sentences.values import rounded
from priolane.results.estimate import Average, Estimate
from priolane.results.numbers import format_value

_MOST_ROWS = 10
_MOST_POINTS = 3
_MOST_SETTINGS = 3
_LONGEST_VALUE = 24


def contest_lines(screen: Screen, comparison: SchemeComparison, view: Overview) -> list[str]:
    """Two schemes of one directory, in at most 20 lines."""
    head = screen.wrapped(_answer(comparison, len(view.seeds)), 2)
    groups: dict[tuple[str, str], list[Contest]] = {}
    for contest in comparison.contests:
        groups.setdefault((contest.change.size_class, contest.quantity.name), []).append(contest)
    every = view.points
    points = every if len(every) <= _MOST_POINTS else (every[0], *every[-_MOST_POINTS + 1 :])
    largest_first = sorted(groups.values(), key=lambda group: max(map(_size, group)), reverse=True)[:_MOST_ROWS]
    rows = [
        [f"{comparison.first} over {comparison.second}", "", *(place_text(point, every) for point in points), "better"]
    ]
    for group in largest_first:
        by_point = {repr(contest.change.point): contest for contest in group}
        cells = [_cell(screen, by_point.get(repr(point))) for point in points]
        quantity = group[0].quantity
        name = column_name(quantity)
        rows.append([group[0].change.size_class, name, *cells, _better(comparison, group)])
    decided, is_open = (screen.sign(verdict) for verdict in ("reproduced", "undecided"))
    notes = [
        f"{decided} decided among all {comparison.tested} metrics, {is_open} open; ratios are those that `run` judges",
        f"more  -v has all {len(comparison.contests)} rows, --json the p values",
    ]
    lines = in_columns(rows) if largest_first else []
    parts = [head, lines, notes if largest_first else []]
    return [screen.cut(line) for part in parts if part for line in ("", *part)][1:]


def _answer(comparison: SchemeComparison, seeds: int) -> str:
    if not comparison.tested:
        why = "one seed has no interval; run more, --seeds 5" if seeds < 2 else "all values are the same in every seed"
        return f"Does {comparison.first} beat {comparison.second}? Not known: {why}"
    won, lost = len(comparison.won(Winner.FIRST)), len(comparison.won(Winner.SECOND))
    undecided = comparison.tested - won - lost
    return (
        f"{comparison.first} beats {comparison.second} in {won} of {comparison.tested} metrics, and loses in {lost}; "
        f"{undecided} {'is' if undecided == 1 else 'are'} open (paired by seed, Holm, {100 * LEVEL:.0f} %)"
    )


def _size(contest: Contest) -> tuple[bool, float]:
    """The importance of a difference: decided ones first, then by factors."""
    return contest.winner is not Winner.NEITHER, magnitude(contest.change)


def magnitude(change: Change) -> float:
    """The size of a change, as the logarithm of a ratio; a difference from or to 0 is the largest."""
    return abs(math.log1p(change.change)) if change.relative else math.inf


def ratio_text(change: Change, unit: str) -> str:
    """A relative change as a ratio with its interval, `1.13 [1.05, 1.22]`; any other as a difference."""
    if not change.relative:
        sign = "+" if change.change > 0 else ""
        return sign + format_value(change.change, unit if unit != "%" else "1")
    low, high = (None if end is None else 1 + end for end in (change.low, change.high))
    estimate = Estimate(1 + change.change, low, high, change.shared, Average.GEOMETRIC)
    texts = rounded(estimate, 1.0)
    return texts[0] if len(texts) == 1 else f"{texts[0]} [{texts[1]}, {texts[2]}]"


def _cell(screen: Screen, contest: Contest | None) -> str:
    if contest is None:
        return "-"
    if contest.change.finding is Finding.SAME:
        return "the same"
    decided = contest.winner is not Winner.NEITHER
    sign = screen.sign("reproduced" if decided else "undecided")
    return f"{ratio_text(contest.change, contest.quantity.unit)} {sign}"


def _better(comparison: SchemeComparison, group: Sequence[Contest]) -> str:
    """The scheme that is better wherever that is decided; empty where it is nowhere."""
    names: Mapping[Winner, str] = {Winner.FIRST: comparison.first, Winner.SECOND: comparison.second}
    won = list(dict.fromkeys(names[contest.winner] for contest in group if contest.winner in names))
    return " and ".join(won)


def comparison_lines(screen: Screen, comparison: Comparison, places: Sequence[str]) -> list[str]:
    """Two directories, in at most 20 lines."""
    flows = other_flows(comparison)
    warned = screen.wrapped(flows, 2, f"{screen.sign('flag')} ", "  ") if flows else []
    head = [*warned, _same_runs(comparison), *_circumstances(comparison, places)]
    settings = [
        f"{item.key}: {_value(screen, item.first)} and {_value(screen, item.second)}"
        for item in comparison.settings[:_MOST_SETTINGS]
    ]
    if len(comparison.settings) > _MOST_SETTINGS:
        settings.append(f"{len(comparison.settings) - _MOST_SETTINGS} more settings differ: -v")
    order = (Finding.MOVED, Finding.SUGGESTED, Finding.UNTESTED)
    changes = [change for finding in order for change in comparison.found(finding)]
    room = MOST_LINES - len(head) - len(settings) - 7
    table = _changes(screen, comparison, changes[: max(1, min(_MOST_ROWS, room))], places)
    moved, open_ = (screen.sign(verdict) for verdict in ("reproduced", "undecided"))
    notes = [
        f"{moved} moved beyond noise; {open_} may have moved, or has no interval: run more seeds",
        f"more  -v has all {len(changes)} changes, --json everything",
    ]
    notes = notes if table else []
    parts = [head, settings, table, notes]
    return [screen.cut(line) for part in parts if part for line in ("", *part)][1:]


def _circumstances(comparison: Comparison, places: Sequence[str]) -> list[str]:
    """The circumstances that make the two sides less comparable, a line each."""
    lines = []
    if comparison.versions[0] != comparison.versions[1]:
        lines.append(f"versions differ: {', '.join(comparison.versions[0])} and {', '.join(comparison.versions[1])}")
    if comparison.others:
        lines.append(f"{len(comparison.others)} runs have the same tables and other records: check with `run --verify`")
    for place, missing, alone in zip(
        places, comparison.missing, (comparison.only_first, comparison.only_second), strict=True
    ):
        lines += [f"{place} is not whole: {missing} of its runs are missing"] if missing else []
        lines += [f"{len(alone)} of the runs are in {place} only"] if alone else []
    return lines


def _same_runs(comparison: Comparison) -> str:
    moved, suggested = len(comparison.found(Finding.MOVED)), len(comparison.found(Finding.SUGGESTED))
    runs = f"{comparison.runs} run{'' if comparison.runs == 1 else 's'} in both, {comparison.same} identical to the bit"
    if not comparison.tested:
        return f"{runs}; no metric has an interval: run more seeds to know"
    answer = f"{moved} of {comparison.tested} metrics moved beyond noise (Holm, {100 * LEVEL:.0f} %)"
    return f"{answer}, {suggested} may have; {runs}"


def _changes(screen: Screen, comparison: Comparison, changes: Sequence[Change], places: Sequence[str]) -> list[str]:
    if not changes:
        return []
    every = list({repr(change.point): change.point for change in comparison.changes}.values())
    rows = [["scheme", *(["point"] if len(every) > 1 else []), "metric", "first", "second", "second over first", ""]]
    for change in changes:
        sign = screen.sign("reproduced") if change.finding is Finding.MOVED else screen.sign("undecided")
        rows.append(
            [
                screen.cut(change.scheme, _LONGEST_VALUE),
                *([place_text(change.point, every)] if len(every) > 1 else []),
                f"{change.size_class}.{change.metric}",
                metric_text(change.metric, change.first),
                metric_text(change.metric, change.second),
                _over(change),
                sign,
            ]
        )
    first, second = places
    return [f"first: {first}, second: {second}", *in_columns(rows)]


def _over(change: Change) -> str:
    """The ratio of the second side to the first, or their difference in the unit of the metric."""
    if change.relative:
        return ratio_text(change, "1")
    return ("+" if change.change > 0 else "") + metric_text(change.metric, change.change)


def _value(screen: Screen, value: Any) -> str:
    return screen.cut("nothing" if value is None else str(value), _LONGEST_VALUE)
