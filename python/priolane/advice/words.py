"""Candidates, goals and gains in words: the sentences that an answer begins with."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from priolane.advice.candidate import Candidate
from priolane.advice.changes import merged, own_marking, own_parameters
from priolane.advice.goals import Goal
from priolane.advice.outcomes import Outcome
from priolane.model.quantity import size
from priolane.results.numbers import format_value, short

_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
_METRICS = {
    "fct": "mean completion time",
    "fct_p50": "median completion time",
    "fct_p95": "p95",
    "fct_p99": "p99",
    "fct_p999": "p99.9",
    "slowdown": "mean slowdown",
    "slowdown_p95": "p95 slowdown",
    "slowdown_p99": "p99 slowdown",
    "cct": "mean completion time",
    "cct_p95": "p95 completion time",
    "deadline_miss_rate": "missed deadlines",
    "goodput": "goodput",
}
# Values that differ by less are called unchanged.
_SAME = 0.05


def metric(goal: Goal) -> str:
    """The metric of a goal, such as `p99 of small flows`."""
    kind = "coflows" if goal.quantity.is_of_coflows else "flows"
    of = kind if goal.size_class == "all" else f"{goal.size_class.replace('_', ' ')} {kind}"
    return f"{_METRICS[goal.quantity.metric]} of {of}"


def configuration(candidate: Candidate, now: Candidate) -> str:
    """The configuration of a candidate, such as `two strict queues; a flow leaves the first after 100 kB`."""
    then, today = merged(candidate.rows), merged(now.rows)
    parts = []
    kind = then["transport"]["kind"]
    if kind != today["transport"]["kind"]:
        parts.append(f"transport {kind} in place of {today['transport']['kind']}")
    queues = int(then["port"].get("queues", 1))
    if queues > 1:
        parts.append(f"{_count(queues)} {_served(then['port'])} queues")
    parts += _classes(then["assign"])
    parts += _parameters(candidate, now)
    parts += _host_queues(then)
    return "; ".join(parts) or candidate.description


def _host_queues(rows: Mapping[str, Any]) -> list[str]:
    """The queues by bytes sent that hosts have: those of switches, or a number of their own."""
    host = rows["host"]
    if host["kind"] != "mlfq":
        return []
    if host["thresholds"] == rows["assign"].get("thresholds"):
        return ["hosts have the same queues"]
    return [f"hosts have {_count(int(host['levels']))} queues by bytes sent"]


def _parameters(candidate: Candidate, now: Candidate) -> list[str]:
    """Parameters of hosts and switches that a candidate varies, and what runs today does not."""
    own, before = own_parameters(candidate), own_parameters(now)
    changed = {key: own.get(key) for key in own.keys() | before.keys() if own.get(key) != before.get(key)}
    parts = []
    if "init_window" in changed:
        first = merged(candidate.rows)["transport"]["init_window"]
        parts.append(f"a first window of {str(first).removesuffix('pkt')} packets")
    if changed.get("min_rto") is not None:
        parts.append(f"a smallest retransmission timeout of {changed['min_rto']}")
    ecn, ecn_now = own_marking(candidate), own_marking(now)
    if ecn is not None and ecn != ecn_now:
        parts.append("marks from " + ", ".join(f"{limit} at {rate}" for rate, limit in ecn["at"].items()) + " on")
    return parts


def gains(now: Sequence[Outcome], then: Sequence[Outcome]) -> str:
    """The goals' metrics today and after a change."""
    return ", ".join(_gain(before, other) for before, other in zip(now, then, strict=True))


def values(outcomes: Sequence[Outcome]) -> str:
    """The values of goals' metrics, each with its interval."""
    return ", ".join(
        f"{metric(outcome.goal)} {outcome.estimate.format(outcome.goal.quantity.unit)}"
        + (f" (bound {outcome.relative_bound})" if outcome.relative_bound else "")
        for outcome in outcomes
    )


def _gain(now: Outcome, then: Outcome) -> str:
    goal, unit = now.goal, now.goal.quantity.unit
    gain = f"{metric(goal)} {now.estimate.format(unit)} -> {then.estimate.format(unit)}"
    bound = f", bound {then.relative_bound}" if then.relative_bound else ""
    if now.margin is None or then.margin is None or goal.quantity.is_part:
        return f"{gain}{f' ({bound[2:]})' if bound else ''}"
    better = now.margin.minus(then.margin)
    if abs(better.all) < _SAME:
        return f"{metric(goal)} unchanged ({then.estimate.format(unit)}{bound})"
    verb = "better" if better.all > 0 else "worse"
    # Both are read on the same windows, so that the factor has an interval of its own.
    middle, half = abs(better.all), better.half_width()
    low, factor, high = (short(math.exp(value)) for value in (middle - half, middle, middle + half))
    return f"{gain} ({factor} [{low}, {high}] times {verb}{bound})"


def _count(number: int) -> str:
    return _COUNTS[number] if number < len(_COUNTS) else str(number)


def _served(port: Mapping[str, Any]) -> str:
    weights = port.get("weights")
    if not weights:
        return "strict"
    before = f"strict ({port['strict']}) and " if port.get("strict") else ""
    return f"{before}weighted ({':'.join(map(str, weights))})"


def _classes(assign: Mapping[str, Any]) -> list[str]:
    at = ", ".join(format_bytes(size(str(text))) for text in assign.get("thresholds", ()))
    sent = "a flow moves to the next after" if "," in at else "a flow leaves the first after"
    if assign.get("first"):
        sent = "each tenant begins in its own; a flow moves to the next after"
    by_kind = {
        "bytes_sent": f"{sent} {at}",
        "size": f"flows go by size, up to {at}",
        "coflow_size": f"flows go by the bytes of their coflow, up to {at}",
        "group": "each tenant has its own",
        "deadlines_first": "flows with a deadline have the first",
    }
    return [by_kind[assign["kind"]]] if assign["kind"] in by_kind else []


def format_bytes(count: int) -> str:
    """A number of bytes to three digits, such as `60.0 kB`."""
    return format_value(float(count), "B")
