"""The table of results as JSON and as CSV, in full, or a requested part."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from priolane._core import InputError, level
from priolane.report.overview import ClassTable, Entry, Overview, Row
from priolane.results.report import point_text
from priolane.text.csv_text import csv_text

_BETTER = {-1: "less", 0: None, 1: "more"}


def as_json(view: Overview) -> dict[str, Any]:
    """Everything: units, intervals, values by seed."""
    return {
        "title": view.title,
        "seeds": list(view.seeds),
        "interval": {"level": level(), "over": "seeds", "contains": view.drawn},
        "missing_runs": view.missing,
        "classes": [
            {"name": section.name, "says": section.text, "flows": section.flows, "usual": view.uses_default_classes}
            for section in view.classes
        ],
        "rows": [
            {"class": section.name, "scheme": row.scheme, "point": dict(row.point), "values": _values(section, row)}
            for section in view.sections
            for row in section.rows
        ],
    }


def _values(section: ClassTable, row: Row) -> dict[str, Any]:
    return {
        quantity.name: {
            "unit": quantity.unit,
            "better": _BETTER[quantity.better],
            "average": entry.estimate.average.value,
            "mean": entry.estimate.mean,
            "low": entry.estimate.low,
            "high": entry.estimate.high,
            "seeds": {str(seed): value for seed, value in entry.by_seed.items()},
            "best": entry.best,
            "unfinished": entry.left_out,
        }
        for quantity, entry in zip(section.quantities, row.entries, strict=True)
    }


def as_csv(view: Overview) -> str:
    """A row for each class, sweep point and scheme: means, both ends of intervals, and whether each is the best."""
    keys = list(dict.fromkeys(key for point in view.points for key in point))
    named = {(quantity.name, quantity.unit): None for section in view.sections for quantity in section.quantities}
    names = [name if unit == "1" else f"{name} ({unit})" for name, unit in named]
    ends = [f"{name}{end}" for name in names for end in ("", " low", " high", " best")]
    rows = [["class", "scheme", *keys, *ends]]
    for section in view.sections:
        for row in section.rows:
            entries = dict(zip(section.quantities, row.entries, strict=True))
            by_name = {(quantity.name, quantity.unit): entry for quantity, entry in entries.items()}
            cells = [cell for column in named for cell in _cells(by_name.get(column))]
            rows.append([section.name, row.scheme, *(_text(row.point.get(key)) for key in keys), *cells])
    return csv_text(rows)


def _cells(entry: Entry | None) -> list[str]:
    if entry is None:
        return [""] * 4
    estimate = entry.estimate
    numbers = ["" if end is None else repr(end) for end in (estimate.mean, estimate.low, estimate.high)]
    return [*numbers, "yes" if entry.best else ""]


def _text(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def narrowed(
    view: Overview, *, schemes: Sequence[str] = (), classes: Sequence[str] = (), point: Sequence[tuple[str, str]] = ()
) -> Overview:
    """The rows of these schemes, classes (`run` for whole runs) and of the sweep points with these values; all of what
    is not named. A key may be its last parts: `value` or `load.value` for `group.all.load.value`.

    Raises `InputError`, which says what there is, for what is not there.
    """
    _require(schemes, view.schemes, "scheme")
    _require(classes, [section.name for section in view.sections], "class")
    points = {repr(place) for place in matching(view.points, point)}

    def part(section: ClassTable) -> ClassTable:
        kept = (row for row in section.rows if repr(row.point) in points and (not schemes or row.scheme in schemes))
        return replace(section, rows=tuple(kept) if not classes or section.name in classes else ())

    return replace(
        view, classes=tuple(part(section) for section in view.classes if part(section).rows), runs=part(view.runs)
    )


def _require(names: Sequence[str], there: Sequence[str], what: str) -> None:
    for name in names:
        if name not in there:
            raise InputError(f"--{what} {name}: there is no such {what} in these results; one of {', '.join(there)}")


def matching(points: Sequence[Mapping[str, Any]], wanted: Sequence[tuple[str, str]]) -> list[Mapping[str, Any]]:
    """The sweep points that have the wanted values; raises `InputError` if none has."""
    keys = list(dict.fromkeys(key for point in points for key in point))
    matching_points = list(points)
    for name, value in wanted:
        named = [key for key in keys if key == name or key.endswith(f".{name}")]
        if len(named) != 1:
            there = f"one of {', '.join(keys)}" if keys else "nothing is swept"
            raise InputError(f"--point {name}={value}: {'several keys end so' if named else 'no such key'}; {there}")
        left = [point for point in matching_points if _same(point.get(named[0]), value)]
        if not left:
            values = list(dict.fromkeys(_text(point.get(named[0])) for point in points))
            raise InputError(
                f"--point {name}={value}: no run has that value; {named[0]} is {', '.join(values)}"
                if not any(_same(point.get(named[0]), value) for point in points)
                else f"--point {name}={value}: no sweep point has all of these values; "
                f"there are {'; '.join(map(point_text, points))}"
            )
        matching_points = left
    return matching_points


def _same(value: object, text: str) -> bool:
    """Whether a swept value is what a command line says; numbers are compared as numbers."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == float(value)
        except ValueError:
            return False
    return _text(value) == text.strip('"')
