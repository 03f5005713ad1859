"""The output of `priolane check`: the runs, their cost, the load that they offer, and settings that may be mistakes."""

from collections.abc import Mapping, Sequence
from typing import Any

from priolane.cli.brief.screen import MOST_LINES, Screen, in_columns
from priolane.results.numbers import format_value, short

_MOST_POINTS = 5
_MOST_TIERS = 3
_MOST_LINES_EACH = 2
# A window is this many times the largest flow alone, as in docs/assumptions/measuring.md, "steady state".
_WINDOW = 4.0


def check_lines(
    screen: Screen, prediction: Mapping[str, Any], named: Sequence[str], warnings: Sequence[str]
) -> list[str]:
    """The lines, at most 20. `named` is the file, and the command that runs it."""
    file, command = named
    head = [*screen.wrapped(_valid(prediction, file), 2), *screen.wrapped(_cost(prediction), 2, "cost     ", " " * 9)]
    loads, steady = _loads(screen, prediction["loads"]), _steady(screen, prediction["loads"])
    last = [
        screen.cut(f"next     {command}"),
        screen.cut("         `priolane check --merged` prints the file with every default filled in"),
    ]
    between = sum(len(part) + 1 for part in (loads, steady) if part)
    room = MOST_LINES - len(head) - between - len(last) - 2
    warned = _warnings(screen, [*_overloaded(prediction["loads"]), *warnings], room)
    return [line for part in (head, loads, steady, warned, last) if part for line in ("", *part)][1:]


def _valid(prediction: Mapping[str, Any], file: str) -> str:
    counts = [
        f"{prediction[key]} {key if prediction[key] != 1 else key.removesuffix('s')}"
        for key in ("schemes", "points", "seeds")
        if key != "points" or prediction[key] > 1
    ]
    runs = f"{prediction['runs']:,} run{'' if prediction['runs'] == 1 else 's'}"
    alone = f", {prediction['alone']:,} of groups alone" if prediction["alone"] else ""
    return f"{file} is valid: {runs} ({', '.join(counts)}){alone}, {prediction['packet_hops']:.1e} packet-hops"


def _cost(prediction: Mapping[str, Any]) -> str:
    memory = format_value(float(prediction["bytes"]), "B")
    return (
        f"{short(prediction['seconds'])} s of one core; `priolane run` takes about "
        f"{short(prediction['command_seconds'])} s on all cores, and {memory} of memory for the largest run"
    )


def _loads(screen: Screen, loads: Sequence[Mapping[str, Any]]) -> list[str]:
    """The load that flows offer to each tier, a line for each of a few points of the sweep."""
    if not loads:
        return []
    shown = loads if len(loads) <= _MOST_POINTS else [*loads[: _MOST_POINTS - 1], loads[-1]]
    tiers = list(dict.fromkeys(tier["tier"] for point in shown for tier in point["tiers"]))[:_MOST_TIERS]
    rows = [["", *tiers]]
    for point in shown:
        where = ", ".join(f"{key.rpartition('.')[2]} {value}" for key, value in _told(point["point"]).items())
        of = {tier["tier"]: f"{short(tier['mean'])} ({short(tier['busiest'])})" for tier in point["tiers"]}
        rows.append([where, *(of.get(tier, "-") for tier in tiers)])
    title = "offered load, share of link capacity: mean of a tier (its busiest link), first seed"
    left = f"{len(loads) - len(shown)} more points: -v" if len(loads) > len(shown) else ""
    return [screen.cut(line) for line in (title, *in_columns(rows), left) if line]


def _steady(screen: Screen, loads: Sequence[Mapping[str, Any]]) -> list[str]:
    """The warm-up and the window that a steady state wants, of the point that wants most; empty if none is claimed."""
    groups = [group for point in loads for group in point["steady"]]
    if not groups:
        return []
    cold, warm, largest = (
        format_value(max(group[key] for group in groups) * many, "s")
        for key, many in (("wanted_warmup_s", 1.0), ("warm_start_s", 1.0), ("largest_s", _WINDOW))
    )
    starts = {group["warm_start"] for group in groups} - {None}
    or_warm = f' ({warm} with time.start = "{max(starts)}")' if starts else ""
    text = (
        f"a steady state wants a warm-up of {cold} or more{or_warm}, and a window (`time.measure`) of {largest} or more"
    )
    return screen.wrapped(text, _MOST_LINES_EACH, "steady   ", " " * 9)


def _told(point: Mapping[str, Any]) -> Mapping[str, Any]:
    """Swept keys as people call them: a load by its name."""
    return {key.removesuffix(".value"): value for key, value in point.items()}


def _overloaded(loads: Sequence[Mapping[str, Any]]) -> list[str]:
    """A warning if a link is offered more than it carries; else nothing."""
    tiers = [(tier["busiest"], tier["tier"], tier["mean"]) for point in loads for tier in point["tiers"]]
    most, tier, mean = max(tiers, default=(0.0, "", 0.0))
    # Another warning says that there is no steady state where the mean of all links is above their capacity.
    if most <= 1.0 or mean >= 1.0:
        return []
    where = f"in the first seed, the busiest link of `{tier}` is offered {short(most)} times its capacity in the window"
    return [f"{where}. That can be chance: `run` says whether the runs are steady"]


def _warnings(screen: Screen, warnings: Sequence[str], room: int) -> list[str]:
    """As many warnings as there is room for, each in at most two lines; the last line says how many are left out."""
    lines: list[str] = []
    for place, warning in enumerate(warnings):
        block = screen.wrapped(warning, _MOST_LINES_EACH, "warning  ", " " * 9)
        rest = len(warnings) - place
        if len(lines) + len(block) + (1 if rest > 1 else 0) > room:
            return [*lines, f"warning  {rest} more: -v"]
        lines += block
    return lines
