"""The report of a grid as the lab writes it: claims, panels, checks, warnings.

This module is the one place that knows the report's JSON. A missing key is a `KeyError`, not a default.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from priolane import _core
from priolane.results.axes import in_numbers, spans_decades, with_scale
from priolane.results.cause import Cause
from priolane.results.estimate import Average, Estimate
from priolane.results.kinds import TIME, kind_of
from priolane.results.numbers import format_value, short
from priolane.results.published import Curve
from priolane.results.shape import require_report
from priolane.storage.files import parse_json

LEVEL = 0.05
"""Largest probability that a figure has even one false verdict `reproduced` or `contradicted`."""


class Verdict(StrEnum):
    """The verdict of the runs on a claim: docs/results.md defines the verdicts."""

    REPRODUCED = "reproduced"
    UNDECIDED = "undecided"
    CONTRADICTED = "contradicted"
    INCOMPLETE = "incomplete"


class Standing(StrEnum):
    """A verdict as it is counted and shown.

    Contradicted claims of numbers that are proved impossible stand apart, and so does a number that a parameter was
    fitted to, whatever its verdict: its reproduction would show nothing.
    """

    REPRODUCED = "reproduced"
    UNDECIDED = "undecided"
    CONTRADICTED = "contradicted"
    IMPOSSIBLE = "impossible as printed"
    FITTED = "fitted"
    INCOMPLETE = "incomplete"


def fitting(parameter: str) -> str:
    """The clause on a number that a parameter was fitted to."""
    return f"{parameter} were fitted to it"


_OWN_WORDS = {"reproduced": ("holds", "hold"), "contradicted": ("does not hold", "do not hold")}


class Direction(StrEnum):
    """The side of no difference on which the interval lies, compared with the claim."""

    AGREES = "agrees"
    OPPOSES = "opposes"
    NONE = "none"


class Source(StrEnum):
    """The source of a claim: the two are counted apart."""

    PAPER = "paper"
    OURS = "ours"

    def word(self, verdict: Verdict | Standing, count: int = 1) -> str:
        """The name of a verdict on `count` claims: those of papers are reproduced or contradicted, one's own hold or do
        not hold."""
        singular, plural = (
            _OWN_WORDS.get(verdict.value, (verdict.value,) * 2) if self is Source.OURS else (verdict.value,) * 2
        )
        return singular if count == 1 else plural


@dataclass(frozen=True)
class Flag:
    """A reason to distrust a metric of a claim, in a word and as a clause with numbers.

    It is about the flows of `of_class` with `scheme`. `measured` is the number that crosses `limit`: a part of all, or
    flows a run. Records of earlier versions have neither.
    """

    kind: str
    text: str
    scheme: str = ""
    of_class: str = ""
    measured: float | None = None
    limit: float | None = None

    def is_about(self, warning: str) -> bool:
        """Whether a warning is about the same flows."""
        return bool(self.scheme) and warning.startswith(f"`{self.scheme}`, class `{self.of_class}`:")


@dataclass(frozen=True)
class Look:
    """A look at the claims of a directory: its seeds, and the part of the error probability that it spends."""

    seeds: tuple[int, ...]
    share: float


@dataclass(frozen=True)
class Side:
    """A metric that is compared. `at` has the swept keys whose values differ from those of the claim's point."""

    quantity: str
    of_class: str
    scheme: str
    at: Mapping[str, Any]


@dataclass(frozen=True)
class MeasuredQuantity:
    """One quantity, or one comparison of quantities, that a claim is about, at one sweep point."""

    what: str
    at: Mapping[str, Any]
    estimate: Estimate
    # As reports have it: `s`, `B`, `Gbit/s`, or `1`.
    unit: str
    # Of comparisons only.
    verdict: Verdict | None = None
    direction: Direction = Direction.NONE
    # Why the verdict is `undecided`; empty if it is not.
    reason: str = ""
    # Of comparisons only: one metric, or the two that are compared.
    sides: tuple[Side, ...] = ()

    @property
    def is_ratio(self) -> bool:
        """Whether it is the ratio of two metrics, and not their difference."""
        return len(self.sides) > 1 and self.estimate.average is Average.GEOMETRIC

    @property
    def value(self) -> str:
        """The estimate in words."""
        return self.estimate.format(self.unit)


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper or of ours, what it asks of numbers, what was measured, and the verdict.

    `contrasts` are what the verdict depends on. `verdict` is corrected for the number of claims in the figure, and
    `uncorrected_verdict` uses the claim's own intervals. `reason` says why `verdict` is undecided; else it is empty.
    """

    section: str
    text: str
    source: Source
    criterion: str
    # What it asks, in numbers: `kind` and the members of that kind.
    test: Mapping[str, Any]
    measured: tuple[MeasuredQuantity, ...]
    contrasts: tuple[MeasuredQuantity, ...]
    verdict: Verdict
    uncorrected_verdict: Verdict
    direction: Direction
    reason: str
    # The reason in a word, as docs/results.md lists them; empty if `reason` is.
    reason_code: str
    flags: tuple[Flag, ...] = ()
    # The fewest and the most seeds that would decide it, with even odds; `None` where nobody estimates that.
    seeds_needed: tuple[int | None, int | None] | None = None
    # Whether the figure is about this claim.
    leads: bool = False
    # Why it comes out as it does, as the experiment states it; `None` where nothing is stated.
    cause: Cause | None = None
    # The parameter that was fitted to its number; empty for all others.
    fitted: str = ""

    @property
    def is_impossible(self) -> bool:
        """Whether it is contradicted because no run can have the number that the paper prints."""
        proven = self.cause is not None and self.cause.proves_impossible
        return self.verdict is Verdict.CONTRADICTED and proven and not self.fitted

    @property
    def standing(self) -> Standing:
        """The verdict, or that a parameter was fitted to the number, or that what the paper prints is impossible."""
        if self.fitted:
            return Standing.FITTED
        return Standing.IMPOSSIBLE if self.is_impossible else Standing(self.verdict.value)

    @property
    def word(self) -> str:
        """The standing in words."""
        return self.source.word(self.standing)

    @property
    def flag_kinds(self) -> str:
        """The flags of its metrics, in words: `timeouts, few flows`; empty without a flag."""
        return ", ".join(dict.fromkeys(flag.kind.replace("_", " ") for flag in self.flags))

    @property
    def notes(self) -> tuple[str, ...]:
        """The note beside the verdict: the one of the claim alone where it is another, why it is undecided, and the
        direction where the verdict does not say it. A number that a parameter was fitted to has only that parameter."""
        if self.fitted:
            return (fitting(self.fitted),)
        alone = self.source.word(self.uncorrected_verdict)
        uncorrected = "" if self.uncorrected_verdict is self.verdict else f"alone {alone}"
        shown = self.verdict is not Verdict.REPRODUCED and self.direction is not Direction.NONE
        direction = f"direction {self.direction.value}" if shown else ""
        return tuple(note for note in (uncorrected, self.reason, direction) if note)


@dataclass(frozen=True)
class Mark:
    """One mark of a panel: at `x`, a number or a category's name. A trace's also has the largest value of its bin.

    A dot of a scatter has the estimate of its `x`, that of the metric which its area shows, and the value of the swept
    key along which dots are joined.
    """

    x: float | str
    estimate: Estimate
    peak: float | None = None
    across: Estimate | None = None
    size: Estimate | None = None
    along: float | str | None = None

    def __str__(self) -> str:
        """The estimate, and the largest value of a bin."""
        most = "" if self.peak is None else f", at most {short(self.peak)}"
        return f"{self.estimate}{most}"


@dataclass(frozen=True)
class Series:
    """The marks of one scheme. `variant`, from 0, distinguishes series of one scheme; so does `label`."""

    scheme: str
    label: str
    variant: int
    marks: tuple[Mark, ...]
    # Whose looks it has, if not the scheme's.
    styled_as: str | None = None
    # The swept keys that all its marks have in common.
    at: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Panel:
    """The data of one panel: `kind` is one of the lab's, or `trace` for values over time."""

    title: str
    kind: str
    x_label: str
    y_label: str
    log_x: bool
    log_y: bool
    reference: float | None
    series: tuple[Series, ...]
    # Slopes of lines through the origin.
    rays: tuple[float, ...] = ()
    # Published curves.
    published: tuple[Curve, ...] = ()
    # The metrics whose values it has, as `quantity.class`.
    metrics: tuple[str, ...] = ()
    # Words for names along x.
    words: Mapping[str, str] = field(default_factory=dict)

    def in_words(self, name: str) -> str:
        """A name along x as readers see it."""
        return self.words.get(name, name)

    @property
    def has_values(self) -> bool:
        """Whether there is anything to draw."""
        return any(mark.estimate.mean is not None for series in self.series for mark in series.marks)


@dataclass(frozen=True)
class Check:
    """A self-check of the runs: `state` is `ok`, `open` where nobody looked, `warn` or `fail`."""

    name: str
    state: str
    text: str

    @property
    def is_fine(self) -> bool:
        """Whether a reader need not look at the check."""
        return self.state in ("ok", "open")


@dataclass(frozen=True)
class Assumption:
    """The assumption where a paper is silent: an entry of docs/assumptions.md by its anchor."""

    anchor: str
    title: str


@dataclass(frozen=True)
class Report:
    """Everything the lab says about a grid. `missing` are the ids of runs that are not there."""

    title: str
    paper: str | None
    figure: str | None
    # How many looks at the claims are planned while seeds are added; 1 if none are added.
    planned_looks: int
    # The looks at the claims of this directory, and the place of this one.
    looks: tuple[Look, ...]
    look: int
    claims: tuple[Claim, ...]
    panels: tuple[Panel, ...]
    checks: tuple[Check, ...]
    assumptions: tuple[Assumption, ...]
    warnings: tuple[str, ...]
    seeds: tuple[int, ...]
    digest: str
    missing: tuple[str, ...]

    @property
    def lead(self) -> Claim | None:
        """The claim that the figure is about: the one that leads, else the first one; `None` without claims."""
        return next((claim for claim in self.claims if claim.leads), self.claims[0] if self.claims else None)

    @property
    def drawn(self) -> tuple[Panel, ...]:
        """The panels that there are pictures of."""
        return tuple(panel for panel in self.panels if kind_of(panel.kind).drawn)

    @property
    def tables(self) -> tuple[Panel, ...]:
        """The panels that are tables."""
        return tuple(panel for panel in self.panels if not kind_of(panel.kind).drawn)

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """Reads the lab's JSON; raises `ValueError` or `KeyError` if it is no report."""
        read = parse_json(text)
        require_report(read)
        return cls(
            title=read["title"],
            paper=read["paper"],
            figure=read["figure"],
            planned_looks=read["planned_looks"],
            looks=tuple(Look(tuple(look["seeds"]), look["share"]) for look in read["looks"]),
            look=read["look"],
            claims=tuple(_claim(value) for value in read["claims"]),
            panels=tuple(_panel(value) for value in read["panels"]),
            checks=tuple(Check(value["name"], value["state"], value["says"]) for value in read["checks"]),
            assumptions=tuple(Assumption(value["anchor"], value["title"]) for value in read["assumptions"]),
            warnings=tuple(read["warnings"]),
            seeds=tuple(read["seeds"]),
            digest=read["digest"],
            missing=tuple(run["id"] for run in read["missing"]),
        )


def point_text(point: Mapping[str, Any]) -> str:
    """A sweep point in words: `load.value = 0.8`, with the last two parts of each key."""
    return ", ".join(f"{key_text(key)} = {value}" for key, value in point.items())


def spread(claim: Claim) -> str:
    """The values that a verdict depends on in a few words: how many, from the smallest mean to the largest.

    A metric that is compared with a baseline counts once: the baseline's own value, such as its gain of 1, is none.
    """
    items = claim.contrasts or claim.measured
    means = [(item.estimate.mean, item.unit) for item in items if item.estimate.mean is not None]
    noun = "ratio" if items and all(item.is_ratio for item in items) else "value"
    if not means:
        return "no value"
    if len(items) == 1:
        return f"1 {noun}, {format_value(*means[0])}"
    return f"{len(items)} {noun}s, {format_value(*min(means))} to {format_value(*max(means))}"


def key_text(key: str) -> str:
    """A swept key in words: its last two parts."""
    return ".".join(key.split(".")[-2:])


_TEST = ("kind", "paper", "within", "above", "below", "goes")


def _claim(value: Mapping[str, Any]) -> Claim:
    points = value["points"]
    measured = tuple(
        MeasuredQuantity(item["metric"], point["point"], Estimate.read(item), item["unit"])
        for point in points
        for item in point["measured"]
    )
    contrasts = tuple(
        MeasuredQuantity(
            item["of"],
            point["point"],
            Estimate.read(item),
            item["unit"],
            Verdict(item["verdict"]),
            Direction(item["direction"]),
            _reason(item),
            tuple(Side(side["quantity"], side["class"], side["scheme"], side["at"]) for side in item["sides"]),
        )
        for point in points
        for item in point["contrasts"]
    )
    return Claim(
        section=value["section"],
        text=value["says"],
        source=Source(value["source"]),
        criterion=_criterion(value, contrasts[0].unit if contrasts else "1"),
        test={key: value[key] for key in _TEST if value.get(key) is not None},
        measured=measured,
        contrasts=contrasts,
        verdict=Verdict(value["verdict"]),
        uncorrected_verdict=Verdict(value["alone"]),
        direction=Direction(value["direction"]),
        reason=_reason(value),
        reason_code="" if value["undecided"] is None else value["undecided"]["because"],
        flags=tuple(_flag(flag) for flag in value["flags"]),
        seeds_needed=_seeds_needed(value),
        leads=value["lead"],
        cause=Cause.of(value.get("cause")),
        fitted=value.get("fitted") or "",
    )


def _flag(flag: Mapping[str, Any]) -> Flag:
    return Flag(flag["kind"], flag["says"], flag["scheme"], flag["class"], flag["measured"], flag["limit"])


def _seeds_needed(value: Mapping[str, Any]) -> tuple[int | None, int | None] | None:
    seeds = None if value["undecided"] is None else value["undecided"]["seeds"]
    return None if seeds is None else (seeds[0], seeds[1])


def _reason(value: Mapping[str, Any]) -> str:
    return "" if value["undecided"] is None else str(value["undecided"]["says"])


def tally_text(source: Source, counts: Mapping[Standing, int]) -> str:
    """The number of claims of one source with each verdict: `6 reproduced, 2 impossible as printed`."""
    there = [(standing, counts[standing]) for standing in Standing if counts.get(standing)]
    return ", ".join(f"{count} {source.word(standing, count)}" for standing, count in there)


def tallies(claims: Iterable[Claim]) -> dict[Source, Counter[Standing]]:
    """The number of claims of the paper and of ours with each verdict."""
    counted: dict[Source, Counter[Standing]] = {source: Counter() for source in Source}
    for claim in claims:
        counted[claim.source][claim.standing] += 1
    return counted


def tally_texts(report: Report) -> list[tuple[Source, str]]:
    """The counts of the paper's claims and of ours in words; without those that nobody makes."""
    return [(source, tally_text(source, counts)) for source, counts in tallies(report.claims).items() if counts]


def error_bound(report: Report) -> str:
    """The joint promise of the verdicts of a figure, as a sentence; empty where there is none to promise."""
    claims = len(report.claims)
    if not claims:
        return ""
    many = max(report.planned_looks, len(report.looks))
    looks = f" at any of {many} looks" if many > 1 else ""
    decided = [claim.verdict in (Verdict.REPRODUCED, Verdict.CONTRADICTED) for claim in report.claims].count(True)
    uncorrected = [
        claim.uncorrected_verdict in (Verdict.REPRODUCED, Verdict.CONTRADICTED) for claim in report.claims
    ].count(True)
    return (
        f"{decided} of {claims} claims are decided among all{looks}: the probability that even one of these verdicts "
        f"is false is at most {100 * LEVEL:g} %. Alone, each by its own 95 % interval, {uncorrected} are decided."
        f"{_spent(report)}"
    )


def _spent(report: Report) -> str:
    """The cost of earlier looks at the claims of this directory for this one, as a sentence; empty if there were
    none."""
    earlier = [look for place, look in enumerate(report.looks) if place != report.look]
    if not earlier:
        return ""
    seeds = ", ".join(str(len(look.seeds)) if look.seeds else "unknown" for look in earlier)
    share = report.looks[report.look].share
    return (
        f" This directory was also judged with other runs (number of seeds: {seeds}); of the {100 * LEVEL:g} %, this "
        f"look spends {100 * LEVEL * share:.2g} %."
    )


def spent_elsewhere(report: Report) -> str:
    """The note beside the command that makes the results again, if it would judge the claims otherwise in an empty
    directory, as a sentence; empty if its verdicts would be the same."""
    share, fresh = report.looks[report.look].share, _core.first_share(report.planned_looks)
    if not report.claims or math.isclose(share, fresh, rel_tol=1e-9):
        return ""
    return (
        f"In an empty directory, this command judges the claims with {100 * LEVEL * fresh:.2g} % instead of "
        f"{100 * LEVEL * share:.2g} % for a false verdict, as this directory was judged before with other runs: its "
        "verdicts may differ from those of this page."
    )


def _criterion(claim: Mapping[str, Any], unit: str) -> str:
    """The condition of a claim in words: `1.67 within 20 %`, and at how many points if not at all of them."""
    at_a_point = _criterion_at_a_point(claim, unit)
    if not claim.get("most"):
        return at_a_point
    return f"{at_a_point}, at more than half of {len(claim['points'])} points"


def _criterion_at_a_point(claim: Mapping[str, Any], unit: str) -> str:
    """The condition of a claim on the compared values, in words: `1.67 within 20 %`."""
    match claim["kind"]:
        case "order":
            return "in this order"
        case "equal":
            return f"equal within {100 * claim['within']:g} %"
        case "ratio":
            return f"{format_value(claim['paper'], unit)} within {100 * claim['within']:g} %"
        case "agree":
            return f"the stated numbers within {100 * claim['within']:g} %"
        case "trend":
            return "rises" if claim["goes"] == "up" else "falls"
        case "bound":
            ends = [
                f"{side} {format_value(claim[side], unit)}" for side in ("above", "below") if claim[side] is not None
            ]
            return ", ".join(ends)
        case kind:
            raise KeyError(kind)


def _panel(value: Mapping[str, Any]) -> Panel:
    kind, x_key = kind_of(value["kind"]), value.get("by") or value["x"]
    read = value["series"]
    names = _metric_names(value["x_values"]) if kind.by_metric and x_key is None else {}
    series = tuple(_series(item, read, names) for item in read)
    x_label, y_label = kind.labels(value.get("metrics", ()), x_key)
    numbers = in_numbers(value["x_values"]) if kind.along_numbers and value["x_label"] is None else None
    published = tuple(Curve.read(curve, names) for curve in value.get("published", ()))
    if numbers is not None:
        series = tuple(_along_numbers(curve, numbers.by_text) for curve in series)
        published = tuple(curve.along(numbers.by_text) for curve in published)
        x_label = f"{x_label} ({numbers.unit})"
    log_x = kind.log_x and x_key != TIME and spans_decades([mark.x for curve in series for mark in curve.marks])
    is_log = kind.log_y and value["log_y"] is None and _values_span_decades(series, value["reference"])
    return Panel(
        title=value["title"],
        kind=value["kind"],
        x_label=value["x_label"] or with_scale(x_label, scaled=log_x),
        y_label=with_scale(value["y_label"] or y_label, scaled=is_log),
        log_x=log_x,
        log_y=is_log or bool(value["log_y"]),
        reference=value["reference"],
        series=series,
        rays=tuple(value.get("rays", ())),
        published=published,
        metrics=tuple(value.get("metrics", ())),
    )


def _along_numbers(series: Series, numbers: Mapping[str, float]) -> Series:
    """A series whose x are values with units, as numbers in increasing order."""
    marks = [replace(mark, x=numbers[mark.x] if isinstance(mark.x, str) else mark.x) for mark in series.marks]
    return replace(series, marks=tuple(sorted(marks, key=lambda mark: mark.x)))


def _values_span_decades(series: Sequence[Series], reference: float | None) -> bool:
    values = [mark.estimate.mean for curve in series for mark in curve.marks]
    return spans_decades(values, inclusive=False) and (reference is None or reference > 0)


def _series(value: Mapping[str, Any], siblings: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> Series:
    same = [other for other in siblings if other["scheme"] == value["scheme"]]
    alone = len(same) == len(siblings)
    several = len({other["class"] for other in same}) > 1
    measured = len({other["quantity"] for other in same}) > 1
    # Where there is one scheme, classes distinguish the series, in looks too.
    classed = several and alone
    pointed = len({json.dumps(other["at"], sort_keys=True) for other in same}) > 1
    # So do points where there is one class too.
    graded = (pointed or measured) and not several and alone
    parts = [value["class"]] if classed else [value["scheme"], *([value["class"]] if several else [])]
    if measured:
        parts = [*([] if alone and not several else parts), value["quantity"].replace("_", " ")]
    if pointed:
        parts = [*([] if graded and not measured else parts), point_text(value["at"])]
    nth = next(nth for nth, other in enumerate(same) if other is value)
    # And so do quantities of several classes: a look of its own for each pair.
    ranked = graded or (classed and measured)
    look = f"rank{nth}" if ranked else value["class"] if classed else None
    marks = (_mark(point, names) for point in value["points"] if point["x"] is not None)
    return Series(
        scheme=value["scheme"],
        label=", ".join(parts),
        variant=0 if look else nth,
        styled_as=look,
        at=value["at"],
        marks=tuple(mark for mark in marks if mark.estimate.mean is not None),
    )


def _mark(value: Mapping[str, Any], names: Mapping[str, str]) -> Mark:
    mark = Mark(x=_x(value["x"], names), estimate=Estimate.read(value))
    if "x_interval" not in value:
        return mark
    size, along = value["size"], value["along"]
    return replace(
        mark,
        across=Estimate.read(value["x_interval"]),
        size=None if size is None else Estimate.read(size),
        along=None if along is None else _x(along, names),
    )


def _x(value: Any, names: Mapping[str, str]) -> float | str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    text = value if isinstance(value, str) else json.dumps(value)
    return names.get(text, text)


def _metric_names(metrics: Sequence[Any]) -> dict[str, str]:
    """The differences of metrics: classes, as in `gain.mice`, `gain.medium`, or quantities, or both."""
    parts = {str(metric): str(metric).partition(".")[::2] for metric in metrics}
    quantities, classes = ({part[nth] for part in parts.values()} for nth in range(2))
    if len(parts) < 2 or (len(quantities) > 1 and len(classes) > 1):
        return {}
    return {
        metric: quantity.replace("_", " ") if len(quantities) > 1 else of_class
        for metric, (quantity, of_class) in parts.items()
    }
