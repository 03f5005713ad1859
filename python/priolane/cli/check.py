"""`priolane check`: is the experiment right, what would run, and what would it cost?"""

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from priolane.cli import arguments, show
from priolane.cli.brief.checked import check_lines
from priolane.cli.brief.screen import Screen
from priolane.execution.prediction import check, from_check
from priolane.model.host_differences import host_differences
from priolane.results.numbers import format_value, short
from priolane.text.command_line import command_line, path_word


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("file", type=Path, metavar="FILE.toml")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="everything as JSON")
    form.add_argument(
        "--merged", action="store_true", help="the experiment with defaults, schemes and overrides in place, as JSON"
    )
    arguments.add_verbose(form)
    arguments.add_options(command)
    command.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Prints what would run, its cost, the load that it offers, and the warnings; with `-v` the merged experiment, then
    one line per number, then the warnings."""
    prediction = check(args.file, arguments.options(args))
    cores = os.cpu_count() or 1
    prediction["command_seconds"] = from_check(prediction, cores).wait_s
    differences = host_differences(prediction["merged"].get("scheme", {}))
    prediction["warnings"] = [*prediction.get("warnings", []), *differences, *_beyond_memory(int(prediction["bytes"]))]
    if args.json:
        show.json_lines(prediction, indent=2)
        return 0
    if args.merged:
        show.json_lines(prediction["merged"], indent=2)
        return 0
    warnings = prediction.pop("warnings")
    if args.verbose:
        _show_all(prediction, warnings, cores)
        return 0
    named = (str(args.file), _run_command(args))
    for text in check_lines(Screen.of_output(), prediction, named, warnings):
        show.line(text)
    return 0


def _run_command(args: argparse.Namespace) -> str:
    return command_line("priolane", "run", path_word(args.file), *arguments.options(args).arguments())


def _show_all(prediction: dict[str, Any], warnings: Sequence[str], cores: int) -> None:
    """The merged experiment, every number, every load, every warning."""
    show.json_lines(prediction.pop("merged", {}), indent=2)
    for key, value in prediction.items():
        if not isinstance(value, list | dict) and (key, value) != ("alone", 0):
            show.line(f"{key}: {show.number(value)}{_MEANINGS.get(key, '')}")
    _show_loads(prediction["loads"])
    show.line(f"threads: {_threads(int(prediction['runs'] + prediction['alone']), cores)}")
    for warning in warnings:
        show.line(f"warning: {warning}")


_MEANINGS = {
    "bytes": " of memory, the run with most",
    "alone": " runs of groups alone, besides",
    "seconds": " of one core, all runs",
    "command_seconds": " of `priolane run` on all cores, figures and start included",
    "ns_per_hop": " measured here",
}


def _show_loads(loads: Sequence[Mapping[str, Any]]) -> None:
    """The load that flows offer to each tier, a line for each point of the sweep."""
    if loads:
        show.line("load offered on the wire, part of what links carry: mean of a tier (its busiest link), first seed")
    for point in loads:
        where = ", ".join(f"{key} = {value}" for key, value in point["point"].items())
        tiers = "; ".join(f"{tier['tier']} {short(tier['mean'])} ({short(tier['busiest'])})" for tier in point["tiers"])
        show.line(f"  {where + ', ' if where else ''}over {format_value(point['seconds'], 's')}: {tiers}")
        for group in point["steady"]:
            wanted, warm, largest = (
                format_value(group[key], "s") for key in ("wanted_warmup_s", "warm_start_s", "largest_s")
            )
            or_warm = "" if group["warm_start"] is None else f' ({warm} with time.start = "{group["warm_start"]}")'
            show.line(
                f"    {group['group']}: a steady state wants a warm-up of {wanted}{or_warm}; the window is "
                f"{short(group['window'])} times the {largest} of the largest flow alone"
            )


def _beyond_memory(predicted: int) -> list[str]:
    """A warning if a run is predicted to need more memory, in bytes, than this machine has; else nothing."""
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if predicted <= installed:
        return []
    needed, memory = format_value(predicted, "B"), format_value(installed, "B")
    return [f"a run is predicted to take {needed} of memory, this machine has {memory}"]


def _threads(runs: int, cores: int) -> str:
    """The number of threads of a run unless told otherwise, and its reason."""
    if runs >= cores:
        return f"1 a run: {runs} runs keep {cores} cores busy, and threads of one run wait for each other"
    return f"1 a run; --threads {cores // max(runs, 1)} would use all {cores} cores, as there are {runs} runs"
