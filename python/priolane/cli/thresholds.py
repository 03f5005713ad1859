"""`priolane thresholds`: demotion thresholds from sizes and load, by every solver, and what they cost."""

import argparse
import json
from typing import Any

from priolane import _core
from priolane.cli import show
from priolane.model.quantity import size_text

SOLVERS = ("all", "es", "opt", "opt2", "nos2", "closed_form", "basin_hopping", "published")
# What scheme files call a solver whose name here is a paper's.
_IN_FILES = {"es": "equal_split", "nos2 switch": "opt2", "nos2 host": "equal_split", "published": "pias_published"}
# The solver that is named where another one has the same cost.
_BEST = "opt"
_ALIASES = {"equal_split": "es", "pias_published": "published"}
_FEWEST, _MOST = 2, 16


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    sizes = command.add_mutually_exclusive_group(required=True)
    sizes.add_argument("--flows", metavar="LIST", help="recorded flows: a CSV with start_ns,src,dst,bytes")
    sizes.add_argument("--sizes", metavar="NAME_OR_FILE", help="a shipped size table, or a CSV with bytes,cdf")
    command.add_argument("--levels", type=_levels, required=True, metavar="N", help="number of levels, 2 to 16")
    command.add_argument("--load", type=_load, required=True, metavar="L", help="load of the link, such as 0.8")
    command.add_argument(
        "--solver",
        choices=(*SOLVERS, *_ALIASES),
        default="all",
        metavar="NAME",
        help=f"one of {', '.join(SOLVERS)} (default: all); names of scheme files are understood, too",
    )
    command.add_argument(
        "--interpolation",
        choices=("linear", "step"),
        help="mass between the rows of a table (default: linear; recorded flows are a step)",
    )
    command.add_argument("--json", action="store_true", help="as JSON, costs of every form included")
    command.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Prints one row per ladder, thresholds in exact bytes below it, and why a solver has none."""
    stated = {key: getattr(args, key) for key in ("flows", "sizes", "interpolation", "levels", "load", "solver")}
    request = {key: value for key, value in stated.items() if value is not None}
    request["solver"] = _ALIASES.get(args.solver, args.solver)
    answer = json.loads(_core.thresholds(json.dumps(request)))
    use = _to_use(answer) if args.solver == "all" else None
    if args.json:
        show.json_lines(answer if use is None else {**answer, "use": use}, indent=2)
        return 0
    show.line(_traffic(answer))
    ladders = [(_name(solver, ladder), ladder) for solver in answer["solvers"] for ladder in solver["ladders"]]
    columns = ["solver", "in files", "levels", "byte-share cost", "over best", "PIAS cost", "over best", "thresholds"]
    show.table(columns, [_row(name, ladder) for name, ladder in ladders])
    for name, ladder in ladders:
        show.line(f"{name} bytes: {', '.join(str(threshold) for threshold in ladder['thresholds'])}")
    for solver in answer["solvers"]:
        if solver.get("fit"):
            show.line(_fit(solver["fit"]))
        if solver.get("reason"):
            show.line(f"{solver['solver']} does not apply: {solver['reason']}")
    if use is not None:
        show.line(f"use {', '.join(map(str, use['thresholds']))} bytes ({use['solver']}): {_WHY}")
    return 0


_WHY = (
    "the least byte-share cost of one link with these sizes and this load. The model knows no goals, buffers or "
    "transports: `priolane advise` simulates this ladder with yours among others, and its threshold is the one to "
    "configure where the two differ"
)


def _to_use(answer: dict[str, Any]) -> dict[str, Any] | None:
    """The one ladder to use of those with the levels that were asked for: that of the least byte-share cost.

    Thresholds at the largest size are left out: they part nothing.
    """
    ladders = [
        (round(float(ladder["costs"]["byte_share"]), 6), str(solver["solver"]), ladder)
        for solver in answer["solvers"]
        for ladder in solver["ladders"]
        if ladder["levels"] == answer["levels"] and ladder["costs"]["byte_share"] is not None
    ]
    if not ladders:
        return None
    _, solver, best = min(ladders, key=lambda entry: (entry[0], entry[1] != _BEST))
    largest = answer["traffic"]["largest_bytes"]
    return {"solver": solver, "thresholds": [at for at in best["thresholds"] if at < largest]}


def _name(solver: dict[str, Any], ladder: dict[str, Any]) -> str:
    place = ladder.get("place")
    return f"{solver['solver']} {place}" if place else str(solver["solver"])


def _row(name: str, ladder: dict[str, Any]) -> list[str]:
    costs, relative = ladder["costs"], ladder["relative"]
    cells = [_cost(of[key]) for key in ("byte_share", "pias") for of in (costs, relative)]
    thresholds = " ".join(size_text(threshold) for threshold in ladder["thresholds"])
    return [name, _IN_FILES.get(name, name), str(ladder["levels"]), *cells, thresholds]


def _cost(cost: float | None) -> str:
    return "infinite" if cost is None else f"{cost:.4f}"


def _traffic(answer: dict[str, Any]) -> str:
    traffic = answer["traffic"]
    flows = "" if traffic["flows"] is None else f"{traffic['flows']} flows, "
    extent = f"mean {size_text(traffic['mean_bytes'])}, largest {size_text(traffic['largest_bytes'])}"
    return f"{traffic['source']} ({flows}{traffic['interpolation']}, {extent}), load {answer['load']:g}"


def _fit(fit: dict[str, float]) -> str:
    return (
        f"closed_form fit: p1 = {fit['p1']:.6g}, mu1 = {fit['mu1']:.6g}/B (mean {size_text(1 / fit['mu1'])}), "
        f"mu2 = {fit['mu2']:.6g}/B (mean {size_text(1 / fit['mu2'])}); off by at most {fit['distance']:.3f} in "
        f"cumulative probability; the fit's mean sojourn is {fit['sojourn']:.3f} of that without a threshold"
    )


def _levels(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if not _FEWEST <= number <= _MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from {_FEWEST} to {_MOST}")
    return number


def _load(text: str) -> float:
    try:
        load = float(text)
    except ValueError:
        load = 0.0
    if not 0.0 < load < 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a load above 0 and below 1, such as 0.8")
    return load
