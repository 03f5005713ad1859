"""`priolane compare`: which metrics moved between two results, and whether beyond noise."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from priolane._core import InputError
from priolane.cli import arguments, contests, show
from priolane.cli.brief.compared import comparison_lines, contest_lines
from priolane.cli.brief.screen import Screen
from priolane.cli.damage import report_damage
from priolane.comparison.results import (
    LEVEL,
    Change,
    Comparison,
    Design,
    Finding,
    change_text,
    compare,
    metric_text,
    other_flows,
)
from priolane.comparison.schemes import compare_schemes
from priolane.model.experiment import PlannedRun
from priolane.report.overview import overview
from priolane.report.overview_files import narrowed
from priolane.results.numbers import short
from priolane.results.report import point_text
from priolane.results.results import load

_MOST_SETTINGS = 20
_MOST_SUGGESTED = 10
_MOST_UNTESTED = 30
_VALUE_CHARACTERS = 40


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("first", type=arguments.results, metavar="DIR")
    command.add_argument("second", type=arguments.results, nargs="?", metavar="DIR")
    command.add_argument(
        "--schemes",
        nargs=2,
        metavar=("A", "B"),
        help="does A beat B? Two schemes of one directory, metric by metric, paired by seed and sweep point",
    )
    command.add_argument(
        "--class",
        dest="classes",
        nargs="+",
        default=[],
        metavar="C",
        help="with --schemes: these classes alone",
    )
    arguments.add_point(command)
    command.add_argument("--json", action="store_true", help="everything, as JSON")
    arguments.add_verbose(command)
    command.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Prints what differs between the experiments, then what moved; or what two schemes of one differ in."""
    if args.schemes is not None:
        return _schemes_of_one(args)
    if args.second is None:
        raise InputError("compare with what? Give a second DIR, or --schemes A B for two schemes of the first one")
    if args.classes or args.points:
        raise InputError("--class and --point go with --schemes A B; leave them out, or compare schemes")
    both = [load(each).without_damaged(with_tables=True) for each in (args.first, args.second)]
    comparison = compare(*both)
    if args.json:
        show.json_lines(_as_json(comparison))
        return report_damage(both)
    if comparison.identical:
        show.line(f"identical: {_count(comparison.runs, 'run')}, every digest and every record the same")
    if args.verbose or comparison.identical:
        _circumstances(comparison, args.first, args.second)
        if not comparison.identical:
            _changes(comparison)
    else:
        for text in comparison_lines(Screen.of_output(), comparison, (str(args.first), str(args.second))):
            show.line(text)
    return report_damage(both)


def _schemes_of_one(args: argparse.Namespace) -> int:
    if args.second is not None:
        raise InputError("--schemes compares two schemes of one DIR; leave the second DIR out")
    results = load(args.first).without_damaged()
    view = narrowed(overview(results), classes=args.classes, point=args.points)
    comparison = compare_schemes(view, *args.schemes)
    if args.json:
        show.json_lines(contests.as_json(comparison))
    elif args.verbose:
        contests.show_contests(comparison, len(view.seeds))
    else:
        for text in contest_lines(Screen.of_output(), comparison, view):
            show.line(text)
    return report_damage([results])


def _circumstances(comparison: Comparison, first: Path | str, second: Path | str) -> None:
    """The traffic, versions, merged keys and runs that are not the same on both sides."""
    flows = other_flows(comparison)
    if flows:
        show.line(f"warning: {flows}")
    if comparison.versions[0] != comparison.versions[1]:
        show.line(f"versions differ: {', '.join(comparison.versions[0])} and {', '.join(comparison.versions[1])}")
    if comparison.settings:
        show.line(f"experiments differ in {_count(len(comparison.settings), 'value')} of the merged experiment:")
        rows = [[item.key, _value(item.first), _value(item.second)] for item in comparison.settings[:_MOST_SETTINGS]]
        show.table(["key", str(first), str(second)], rows)
        _rest(len(comparison.settings) - _MOST_SETTINGS)
    for directory, only, missing in zip(
        (first, second), (comparison.only_first, comparison.only_second), comparison.missing, strict=True
    ):
        if only:
            show.line(f"only in {directory}: {_count(len(only), 'run')} ({_schemes(only)})")
        if missing:
            show.line(f"{directory} is not whole: {_count(missing, 'run')} of its grid missing")
    if not comparison.identical:
        show.line(f"{_count(comparison.runs, 'run')} in both, {comparison.same} of them identical to the bit")
    for other in comparison.others[:_MOST_UNTESTED]:
        show.line(
            f"{other.run.scheme} seed {other.run.seed}: the tables are the same, the record is not: `{other.key}` is "
            f"{_value(other.first)} and {_value(other.second)}; check both with `priolane run ... --verify`"
        )
    _rest(len(comparison.others) - _MOST_UNTESTED)


def _changes(comparison: Comparison) -> None:
    moved, suggested = comparison.found(Finding.MOVED), comparison.found(Finding.SUGGESTED)
    untested, same = comparison.found(Finding.UNTESTED), comparison.found(Finding.SAME)
    if comparison.tested:
        show.line(
            f"{_count(comparison.tested, 'metric')} tested, {len(moved)} moved beyond noise (Holm's correction, all "
            f"together at {LEVEL * 100:.0f} %)"
        )
    if moved:
        _table(moved)
    if suggested:
        show.line(
            f"{_count(len(suggested), 'further 95 % interval')} excluding no change, where luck alone gives about "
            f"{short((1 - LEVEL) * comparison.tested)} in {comparison.tested}: run more seeds to know"
        )
        _table(suggested[:_MOST_SUGGESTED])
        _rest(len(suggested) - _MOST_SUGGESTED)
    if untested:
        show.line(
            f"{_count(len(untested), 'metric')} changed, of one seed and without interval: run more seeds to know"
        )
        _table(untested[:_MOST_UNTESTED])
        _rest(len(untested) - _MOST_UNTESTED)
    if comparison.tested:
        show.line(f"{_count(len(comparison.found(Finding.WITHIN)), 'metric')} within noise")
    if same:
        show.line(f"{_count(len(same), 'metric')} the same in every seed")
    if comparison.unknown:
        show.line(f"{_count(comparison.unknown, 'metric')} without a value on one side or both")


def _table(changes: Sequence[Change]) -> None:
    rows = [
        [
            change.scheme,
            point_text(change.point),
            f"{change.size_class}.{change.metric}",
            metric_text(change.metric, change.first),
            metric_text(change.metric, change.second),
            change_text(change),
            f"{change.design.value}, {_seeds(change)}",
        ]
        for change in changes
    ]
    show.table(["scheme", "point", "metric", "first", "second", "change [95 % interval]", "compared"], rows)


def _seeds(change: Change) -> str:
    if change.design is Design.UNPAIRED or not change.shared:
        return f"{change.seeds[0]} and {change.seeds[1]} seeds, not the same"
    return _count(change.shared, "seed")


def _rest(number: int) -> None:
    if number > 0:
        show.line(f"... and {number} more; --json has all")


def _schemes(runs: Sequence[PlannedRun]) -> str:
    return ", ".join(f"{run.scheme} seed {run.seed}" for run in runs[:4]) + (", ..." if len(runs) > 4 else "")


def _value(value: Any) -> str:
    text = "-" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _VALUE_CHARACTERS else text[: _VALUE_CHARACTERS - 1] + "…"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _as_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "identical": comparison.identical,
        "runs": comparison.runs,
        "same": comparison.same,
        "other_records": [asdict(other) for other in comparison.others],
        "tested": comparison.tested,
        "unknown": comparison.unknown,
        "expected_by_luck": (1 - LEVEL) * comparison.tested,
        "versions": {"first": comparison.versions[0], "second": comparison.versions[1]},
        "missing": {"first": comparison.missing[0], "second": comparison.missing[1]},
        "only_first": [asdict(run) for run in comparison.only_first],
        "only_second": [asdict(run) for run in comparison.only_second],
        "settings": [asdict(setting) for setting in comparison.settings],
        "changes": [asdict(change) for change in comparison.changes],
    }
