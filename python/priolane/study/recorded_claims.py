"""Claims of records as those of reports have them, so that the same sentences tell both.

Records of earlier versions lack the parts of the metrics that are compared (`sides`): they are read from the text of
the comparison. They lack the scale of a mean (`average`), too: that of a ratio was the geometric one.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from priolane.report.estimate import Average, Estimate
from priolane.report.model import Claim, Direction, Flag, MeasuredQuantity, Side, Source, Verdict

_RATIO, _DIFFERENCE, _AT = " / ", " - ", " at "


def claims_of(grid: Mapping[str, Any]) -> Iterator[Claim]:
    """The claims of one grid of a record; raises `KeyError` or `ValueError` if these are of no version."""
    for value in grid["claims"]:
        yield _claim(value)


def _claim(value: Mapping[str, Any]) -> Claim:
    low_high = value.get("seeds_needed")
    return Claim(
        section=value["section"],
        text=value["says"],
        source=Source(value["source"]),
        criterion=value["asked"],
        test=value["test"],
        measured=tuple(_measured(item) for item in value["measured"]),
        contrasts=tuple(_compared(item) for item in value["compared"]),
        verdict=Verdict(value["verdict"]),
        uncorrected_verdict=Verdict(value["alone"]),
        direction=Direction(value["direction"]),
        reason=value["reason"],
        reason_code=value.get("reason_code", ""),
        flags=tuple(Flag(flag["kind"], flag["says"]) for flag in value.get("flags", ())),
        seeds_needed=None if low_high is None else (low_high[0], low_high[1]),
        leads=value.get("lead", False),
    )


def _measured(item: Mapping[str, Any]) -> MeasuredQuantity:
    average = Average(item["average"]) if "average" in item else _average(item["what"])
    estimate = Estimate(item["mean"], item["low"], item["high"], item["seeds"], average)
    return MeasuredQuantity(item["what"], item["at"], estimate, item["unit"])


def _compared(item: Mapping[str, Any]) -> MeasuredQuantity:
    read = _measured(item)
    if "sides" in item:
        sides = tuple(Side(side["quantity"], side["class"], side["scheme"], side["at"]) for side in item["sides"])
    else:
        sides = tuple(_sides(item["what"]))
    return MeasuredQuantity(read.what, read.at, read.estimate, read.unit, Verdict(item["verdict"]), sides=sides)


def _average(what: str) -> Average:
    return Average.GEOMETRIC if _RATIO in what else Average.ARITHMETIC


def _sides(what: str) -> Sequence[Side]:
    """The metrics of a comparison such as `fct.all.pias / fct.all.dctcp`; none of what is no metric's path."""
    separator = _RATIO if _RATIO in what else _DIFFERENCE
    sides = [_side(text) for text in what.split(separator)]
    return [side for side in sides if side is not None] if None not in sides else []


def _side(text: str) -> Side | None:
    path, _, at = text.partition(_AT)
    parts = path.split(".", 2)
    if len(parts) != 3 or " " in path:
        return None
    quantity, of_class, scheme = parts
    return Side(quantity, of_class, scheme, _point(at))


def _point(text: str) -> Mapping[str, Any]:
    """A point as comparisons have it: `group.all.load.value = 0.8, time.warmup = "1ms"`."""
    point = {}
    for pair in text.split(", ") if text else ():
        key, _, value = pair.partition(" = ")
        point[key] = json.loads(value)
    return point
