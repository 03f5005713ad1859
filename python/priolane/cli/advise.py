"""`priolane advise`: which scheme to configure for flows, recorded or drawn, a fabric and goals."""

import argparse
import os
from pathlib import Path

from priolane.advice import terminal
from priolane.advice.answer import Advice, as_json
from priolane.advice.changes import ORDER
from priolane.advice.course import execute
from priolane.advice.goals import DEFAULTS
from priolane.advice.place import PAGE
from priolane.advice.request import MINUTES, Preferences, Request
from priolane.advice.traffic import LOAD, SIZES, Traffic
from priolane.cli import arguments, show
from priolane.cli.progress import progress
from priolane.execution.settings import Settings
from priolane.text.command_line import command_line, path_word
from priolane.text.printable import message


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument(
        "flows",
        type=Path,
        nargs="?",
        metavar="FLOWS.csv",
        help="recorded flows, which `priolane import` makes, or an experiment file, whose flows are taken",
    )
    command.add_argument(
        "--sizes",
        metavar="NAME",
        help=f"in place of flows: sizes, a shipped table (`priolane list workloads`) or a CSV (default: {SIZES})",
    )
    command.add_argument(
        "--load",
        type=arguments.positive(1),
        metavar="PART",
        help=f"in place of flows: what hosts are offered, as a part of their links (default: {LOAD:g})",
    )
    command.add_argument(
        "--fabric", type=Path, required=True, metavar="FABRIC.toml", help="topology, switches, hosts; docs/advise.md"
    )
    command.add_argument(
        "--switch", type=Path, metavar="FILE", help="[switch] and [host] in a file, or config_db.json of SONiC"
    )
    command.add_argument(
        "--queues", type=arguments.whole(1, 16), metavar="N", help="free queues of each port (default: the fabric's)"
    )
    command.add_argument(
        "--goal",
        dest="goals",
        action="append",
        default=[],
        metavar="GOAL",
        help=f"METRIC.CLASS < VALUE (repeatable; the first one ranks; default: {' and '.join(DEFAULTS)})".replace(
            "%", "%%"
        ),
    )
    _add_changes(command)
    limit = command.add_mutually_exclusive_group()
    limit.add_argument(
        "--budget",
        type=arguments.budget,
        metavar="AMOUNT",
        help="packet-hops, such as 2e9hops: the same on any machine",
    )
    limit.add_argument(
        "--minutes",
        type=arguments.positive(10_000),
        metavar="M",
        help=f"converted to a budget by runs at the start (default: {MINUTES:g})",
    )
    command.add_argument(
        "--sampling", type=arguments.whole(1, 2**31), metavar="N", help="one packet in N was seen, if no import says so"
    )
    command.add_argument(
        "--check",
        type=Path,
        metavar="MEASURED.csv",
        help="values that were measured, such as p99.small,1.2ms: compared with the simulation of what runs today",
    )
    command.add_argument(
        "--changed",
        metavar="HOSTS",
        help="hosts that are changed first: all, 0-15,20 or rack1; the answer is also run with 10, 50 and 100 %% of "
        "them changed, beside hosts as today",
    )
    command.add_argument(
        "-o", "--out", type=arguments.output, metavar="DIR", help="where results go (default: below runs/)"
    )
    command.add_argument(
        "--jobs", type=arguments.whole(1, 1_000_000), metavar="N", help="runs side by side (default: all cores)"
    )
    command.add_argument(
        "--explain", action="store_true", help="why candidates were not judged, and schemes cannot be deployed"
    )
    command.add_argument("--json", action="store_true", help="as JSON")
    command.set_defaults(execute=execute_command)


def _add_changes(command: argparse.ArgumentParser) -> None:
    """Adds the arguments that say what runs now and which changes are preferred."""
    command.add_argument(
        "--today", metavar="SCHEME", help="the scheme that runs now, in place of [today] of the fabric file"
    )
    command.add_argument(
        "--steps",
        type=lambda text: tuple(part for part in text.split(",") if part),
        default=(),
        metavar="STEP,STEP",
        help="kinds of change, the cheapest first (default: " + ", ".join(ORDER) + ")",
    )
    command.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="NAME",
        help="a candidate, or a scheme with all candidates that it is the base of, that is not wanted (repeatable)",
    )
    command.add_argument(
        "--least-gain",
        type=arguments.part,
        metavar="PART",
        help="let a more expensive change lead where it surely betters the first goal by this much, such as 10%%",
    )
    command.add_argument(
        "--seed",
        type=arguments.whole(1, 2**31),
        default=1,
        metavar="N",
        help="the first seed of paths and of the order at one instant (default: 1)",
    )


def execute_command(args: argparse.Namespace) -> int:
    """Prints the answer. Stages are told on standard error."""
    with progress(title="advise") as watcher:
        traffic = Traffic(args.flows, args.sizes, args.load)
        request = Request(
            traffic=traffic,
            fabric=args.fabric,
            out=args.out or Path("runs") / f"{traffic.name}-advice",
            switch=args.switch,
            queues=args.queues,
            goals=tuple(args.goals),
            preferences=Preferences(args.today, args.steps, tuple(args.without), args.least_gain),
            seed=args.seed,
            budget=args.budget,
            minutes=args.minutes,
            sampling=args.sampling,
            check=args.check,
            changed=args.changed,
            settings=Settings(jobs=args.jobs or os.cpu_count() or 1),
            watcher=watcher,
        )
        advice = execute(request, _tell)
    if args.json:
        show.json_lines(as_json(advice))
        return 0
    _print(advice, explain=args.explain)
    return 0


def _tell(line: str) -> None:
    message(line)


def _print(advice: Advice, *, explain: bool) -> None:
    for line in terminal.summary(advice):
        show.line(line)
    for line in terminal.checked(advice):
        show.line(line)
    judging = advice.judging
    if judging is not None:
        show.line("")
        rows = terminal.ranking_rows(advice, judging) if explain else terminal.ranking_head(advice, judging)
        show.table(terminal.ranking_columns(advice), rows)
        by_ratio = terminal.judged_by_ratio(advice)
        if by_ratio:
            show.line(by_ratio)
        if judging.no_rollout:
            show.line(f"no rollout: {judging.no_rollout}")
        if judging.rollout:
            show.table(terminal.rollout_columns(advice), terminal.rollout_rows(advice, judging))
        show.line("")
    if explain:
        _explain(advice)
    if judging is not None:
        if not explain:
            counts = (
                f"{len(judging.race.ended)} candidates were eliminated, {len(advice.not_deployable)} schemes cannot be"
            )
            show.line(f"{counts} deployed here, {len(advice.assumed)} things were assumed: --explain has all")
        show.line(f"again  {command_line('priolane', 'run', path_word(advice.experiment))}")
    show.line(f"page   {advice.directory / PAGE}")
    for line in terminal.next_steps(advice):
        show.line(line)


def _explain(advice: Advice) -> None:
    judging = advice.judging
    if judging is not None:
        show.table(terminal.sensitivity_columns(advice, judging), terminal.sensitivity_rows(advice, judging))
        show.line("")
    for line in terminal.explanation(advice):
        show.line(line)
    for line in terminal.cautions(advice):
        show.line(line)
    if judging is not None:
        show.line(terminal.spending(judging))
