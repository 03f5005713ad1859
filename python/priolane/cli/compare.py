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


def execute(chosen: argparse.Namespace) -> int:
    """Prints what differs between the experiments, then what moved; or what two schemes of one differ in."""
    if chosen.schemes is not None:
        return _schemes_of_one(chosen)
    if chosen.second is None:
        raise InputError("compare with what? Give a second DIR, or --schemes A B for two schemes of the first one")
    if chosen.classes or chosen.points:
        raise InputError("--class and --point go with --schemes A B; leave them out, or compare schemes")
    both = [load(each).without_damaged(with_tables=True) for each in (chosen.first, chosen.second)]
    found = compare(*both)
    if chosen.json:
        show.json_lines(_as_json(found))
        return report_damage(both)
    if found.identical:
        show.line(f"identical: {_count(found.runs, 'run')}, every digest and every record the same")
    if chosen.verbose or found.identical:
        _circumstances(found, chosen.first, chosen.second)
        if not found.identical:
            _changes(found)
    else:
        for text in comparison_lines(Screen.of_output(), found, (str(chosen.first), str(chosen.second))):
            show.line(text)
    return report_damage(both)


def _schemes_of_one(chosen: argparse.Namespace) -> int:
    if chosen.second is not None:
        raise InputError("--schemes compares two schemes of one DIR; leave the second DIR out")
    results = load(chosen.first).without_damaged()
    view = narrowed(overview(results), classes=chosen.classes, point=chosen.points)
    found = compare_schemes(view, *chosen.schemes)
    if chosen.json:
        show.json_lines(contests.as_json(found))
    elif chosen.verbose:
        contests.show_contests(found, len(view.seeds))
    else:
        for text in contest_lines(Screen.of_output(), found, view):
            show.line(text)
    return report_damage([results])


def _circumstances(found: Comparison, first: Path | str, second: Path | str) -> None:
    """The traffic, versions, merged keys and runs that are not the same on both sides."""
    flows = other_flows(found)
    if flows:
        show.line(f"warning: {flows}")
    if found.versions[0] != found.versions[1]:
        show.line(f"versions differ: {', '.join(found.versions[0])} and {', '.join(found.versions[1])}")
    if found.settings:
        show.line(f"experiments differ in {_count(len(found.settings), 'value')} of the merged experiment:")
        rows = [[item.key, _value(item.first), _value(item.second)] for item in found.settings[:_MOST_SETTINGS]]
        show.table(["key", str(first), str(second)], rows)
        _rest(len(found.settings) - _MOST_SETTINGS)
    for directory, only, missing in zip(
        (first, second), (found.only_first, found.only_second), found.missing, strict=True
    ):
        if only:
            show.line(f"only in {directory}: {_count(len(only), 'run')} ({_schemes(only)})")
        if missing:
            show.line(f"{directory} is not whole: {_count(missing, 'run')} of its grid missing")
    if not found.identical:
        show.line(f"{_count(found.runs, 'run')} in both, {found.same} of them identical to the bit")
    for other in found.others[:_MOST_UNTESTED]:
        show.line(
            f"{other.run.scheme} seed {other.run.seed}: the tables are the same, the record is not: `{other.key}` is "
            f"{_value(other.first)} and {_value(other.second)}; check both with `priolane run ... --verify`"
        )
    _rest(len(found.others) - _MOST_UNTESTED)


def _changes(found: Comparison) -> None:
    moved, suggested = found.found(Finding.MOVED), found.found(Finding.SUGGESTED)
    untested, same = found.found(Finding.UNTESTED), found.found(Finding.SAME)
    if found.tested:
        show.line(
            f"{_count(found.tested, 'metric')} tested, {len(moved)} moved beyond noise (Holm's correction, all "
            f"together at {LEVEL * 100:.0f} %)"
        )
    if moved:
        _table(moved)
    if suggested:
        show.line(
            f"{_count(len(suggested), 'further 95 % interval')} excluding no change, where luck alone gives about "
            f"{short((1 - LEVEL) * found.tested)} in {found.tested}: run more seeds to know"
        )
        _table(suggested[:_MOST_SUGGESTED])
        _rest(len(suggested) - _MOST_SUGGESTED)
    if untested:
        show.line(
            f"{_count(len(untested), 'metric')} changed, of one seed and without interval: run more seeds to know"
        )
        _table(untested[:_MOST_UNTESTED])
        _rest(len(untested) - _MOST_UNTESTED)
    if found.tested:
        show.line(f"{_count(len(found.found(Finding.WITHIN)), 'metric')} within noise")
    if same:
        show.line(f"{_count(len(same), 'metric')} the same in every seed")
    if found.unknown:
        show.line(f"{_count(found.unknown, 'metric')} without a value on one side or both")


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


def _as_json(found: Comparison) -> dict[str, Any]:
    return {
        "identical": found.identical,
        "runs": found.runs,
        "same": found.same,
        "other_records": [asdict(other) for other in found.others],
        "tested": found.tested,
        "unknown": found.unknown,
        "expected_by_luck": (1 - LEVEL) * found.tested,
        "versions": {"first": found.versions[0], "second": found.versions[1]},
        "missing": {"first": found.missing[0], "second": found.missing[1]},
        "only_first": [asdict(run) for run in found.only_first],
        "only_second": [asdict(run) for run in found.only_second],
        "settings": [asdict(setting) for setting in found.settings],
        "changes": [asdict(change) for change in found.changes],
    }
