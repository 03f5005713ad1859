"""`priolane import sizes`: size tables of other simulators and traffic generators."""

import argparse
import json
from typing import Any

from priolane import _core
from priolane.cli import show
from priolane.results.numbers import format_value

ABOUT = "size table of HPCC, ConWeave, TrafficGenerator, YAPS, PIAS, ns-2 or Homa; --unit, --mss, --interpolation"
OPTIONS = ("mss", "unit", "interpolation")


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments that only size tables have."""
    command.add_argument(
        "--unit", choices=("bytes", "packets"), help="sizes: their unit (default: what the table shows)"
    )
    command.add_argument(
        "--interpolation",
        choices=("linear", "step"),
        help="sizes: whether flows have sizes between rows, or only those of rows (default: what the table shows)",
    )


def execute(args: argparse.Namespace) -> int:
    """Converts the table, then says what it was found to be."""
    request = {"file": str(args.file), "out": str(args.out)}
    request |= {key: value for key in OPTIONS if (value := getattr(args, key)) is not None}
    report = json.loads(_core.import_sizes(json.dumps(request)))
    if args.json:
        show.json_lines(report, indent=2)
    else:
        _present(report)
    return 0


def _present(report: dict[str, Any]) -> None:
    form = report["form"]
    unit = "bytes" if form["packet_bytes"] is None else f"packets of {form['packet_bytes']} bytes"
    parts = "per cent" if form["percent"] else "parts of one"
    show.line(
        f"{form['rows']} rows of {form['columns']} columns: sizes in {unit} ({form['unit_from']}), "
        f"probabilities in {parts}"
    )
    between = "also between rows" if form["interpolation"] == "linear" else "of rows only"
    show.line(f"flows have sizes {between}: {form['interpolation_from']}")
    mean, largest = (format_value(form[key], "B") for key in ("mean_bytes", "largest_bytes"))
    show.line(f"mean size {form['mean_bytes']:.8g} bytes ({mean}), at most {largest}")
    for note in form["notes"]:
        show.line(f"note: {note}")
    show.line(f'use it as `sizes = "{report["table"]}"` in a group, or with `--sizes {report["table"]}`')
    for name in ("table", "report"):
        show.line(f"{name:8} {report[name]}")
