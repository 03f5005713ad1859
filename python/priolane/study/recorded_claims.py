"""Claims of records as those of reports have them, so that the same sentences tell both."""

from collections.abc import Iterator, Mapping
from typing import Any

from priolane.results.cause import Cause
from priolane.results.estimate import Average, Estimate
from priolane.results.report import Claim, Direction, Flag, MeasuredQuantity, Side, Source, Verdict


def claims_of(grid: Mapping[str, Any]) -> Iterator[Claim]:
    """The claims of one grid of a record; raises `KeyError` or `ValueError` if these are of no version."""
    for value in grid["claims"]:
        yield _claim(value)


def _claim(value: Mapping[str, Any]) -> Claim:
    low_high = value["seeds_needed"]
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
        reason_code=value["reason_code"],
        flags=tuple(Flag(flag["kind"], flag["says"]) for flag in value["flags"]),
        seeds_needed=None if low_high is None else (low_high[0], low_high[1]),
        leads=value["lead"],
        cause=Cause.of(value.get("cause")),
        fitted=value.get("fitted", ""),
    )


def _measured(item: Mapping[str, Any]) -> MeasuredQuantity:
    estimate = Estimate(item["mean"], item["low"], item["high"], item["seeds"], Average(item["average"]))
    return MeasuredQuantity(item["what"], item["at"], estimate, item["unit"])


def _compared(item: Mapping[str, Any]) -> MeasuredQuantity:
    read = _measured(item)
    sides = tuple(Side(side["quantity"], side["class"], side["scheme"], side["at"]) for side in item["sides"])
    return MeasuredQuantity(read.what, read.at, read.estimate, read.unit, Verdict(item["verdict"]), sides=sides)
