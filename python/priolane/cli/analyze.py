"""`priolane analyze`: Firapam's closed forms for a traffic and its deadlines, beside a simulation of the same flows."""

import argparse
import json
from pathlib import Path
from typing import Any

from priolane import _core
from priolane.cli import arguments, show
from priolane.model.quantity import size_text

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
_LAWS = (("bytes", "by size (Eqs. 9-11)"), ("latency", "by latency requirement (Eqs. 12-14)"))


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("model", type=Path, metavar="MODEL.toml", help="traffic or experiment, and laws")
    arguments.add_size(command)
    command.add_argument("--json", action="store_true", help="as JSON")
    command.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Prints the matrices, then a table for each law."""
    answer = json.loads(_core.analyze(json.dumps({"model": str(args.model), "size": args.size})))
    if args.json:
        show.json_lines(answer, indent=2)
        return 0
    left_out = f", {answer['left_out']} left out" if answer["left_out"] else ""
    sigma = size_text(answer["sigma"])
    show.line(f"{answer['source']}: {answer['flows']:g} flows{left_out}; sigma of T {sigma} (Eq. 7)")
    allowed = [f"L {_time(value)}" for value in answer["requirements"]]
    rows = [_matrix_row(answer, n) for n in range(len(answer["sizes"]))]
    show.table(["S (Eq. 1)", "G", "T (Eq. 2)", *allowed, "R (Eq. 5)"], rows)
    for key, name in _LAWS:
        if answer[key]:
            _law(answer, answer[key], name)
    show.line(_LEGEND)
    return 0


_LEGEND = (
    "S: mean size; G: share of flows; T: bytes of a size together; L: shares by deadline; R: deadlines of a size "
    "together. The forms know no queue, no path and no start of a flow: an FCT may be below the line's time."
)


def _matrix_row(answer: dict[str, Any], n: int) -> list[str]:
    return [
        size_text(answer["sizes"][n]),
        f"{answer['shares'][n]:.4f}",
        size_text(answer["traffic"][n]),
        *(f"{share:.4f}" for share in answer["mix"][n]),
        _time(answer["requirement"][n]),
    ]


def _law(answer: dict[str, Any], law: dict[str, Any], name: str) -> None:
    """The law's numbers by size class and for all flows, beside those of its scheme."""
    fit = ", so that the mean is the simulated one" if law["fitted"] else ""
    slope = "" if law["slope"] is None else f"; a_1 = {law['slope']:.4g} (Eq. 10)"
    show.line(
        f"priority {name}: mu = {law['mu_bps'] / 1e9:.4g} Gbps{fit}; gamma = {law['gamma']:.4g}; "
        f"as printed {_time(law['printed_s'])}{slope}"
    )
    columns, figures = ["flows", "FCT", "missed, %"], [law["predicted"]]
    if law["simulated"]:
        scheme = law["simulated"]["scheme"]
        columns += [f"FCT, {scheme}", f"missed, {scheme}, %"]
        figures.append(law["simulated"]["figures"])
    rows = [
        [size_text(size), *(cell for of in figures for cell in (_time(of["fct_s"][n]), f"{of['missed'][n] * 100:.2f}"))]
        for n, size in enumerate(answer["sizes"])
    ]
    rows.append(["all", *(cell for of in figures for cell in (_time(of["mean_s"]), f"{of['miss_rate'] * 100:.2f}"))])
    show.table(columns, rows)
    if law["simulated"] and law["simulated"]["unfinished"]:
        show.line(f"{law['simulated']['unfinished']} flows did not complete: they are in no mean")


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    for unit, name in _TIMES:
        if seconds >= unit:
            return f"{seconds / unit:.4g}{name}"
    return f"{seconds / 1e-6:.4g}us"
