"""`priolane bench`: how fast the engines are on this machine."""

import argparse
import concurrent.futures
import json
import multiprocessing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from priolane import _core
from priolane._core import InputError
from priolane.cli import FAILED, arguments, command_counts, show
from priolane.simulators import checkout, machine_load, ns3
from priolane.simulators.htsim import Htsim
from priolane.simulators.uet import Uet
from priolane.simulators.yaps import Yaps
from priolane.text.printable import message

SIMULATORS: dict[str, checkout.Simulator] = {simulator.name: simulator for simulator in (Yaps(), Htsim(), Uet())}
_NS3_FLOWS = 50


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("--json", action="store_true", help="as JSON")
    command.add_argument(
        "--against",
        choices=["ns3", *SIMULATORS],
        help="run one flow list in another simulator too, in turn: Debian's ns-3 (libns3-dev), or another one of a "
        "--checkout",
    )
    command.add_argument(
        "--checkout",
        type=Path,
        metavar="PATH",
        help=f"with --against {', '.join(SIMULATORS)}: its checkout, which you have built",
    )
    command.add_argument(
        "--flows",
        type=_above_0,
        metavar="N",
        help="with --against: the first N flows (ns3 50 of 2000; yaps 1000, the others 128, which are all)",
    )
    command.add_argument(
        "--threads", type=arguments.whole(2, 64), metavar="N", help="one run on N threads beside the same on one"
    )
    command.add_argument(
        "--repeat", type=_above_0, default=3, metavar="K", help="with --against or --threads: pairs of runs (3)"
    )
    command.add_argument(
        "--commands",
        action="store_true",
        help="count what short commands take: instructions (under valgrind), modules imported, plannings and drawings; "
        "exit code 1 if any is out of its band",
    )
    command.set_defaults(execute=execute)


def _above_0(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def execute(args: argparse.Namespace) -> int:
    """Measures, then prints one row per scenario."""
    if args.checkout and args.against not in SIMULATORS:
        raise InputError(f"--checkout is for --against {' or '.join(SIMULATORS)}")
    if args.against in SIMULATORS:
        return against_checkout(args)
    if args.against:
        return against(args)
    if args.threads:
        return threads(args)
    if args.commands:
        return commands(args)
    measured = measure(_core.bench_scenarios())
    if args.json:
        show.json_lines(measured, indent=None)
        return 0
    scenarios = measured["scenarios"]
    columns = list(dict.fromkeys(key for scenario in scenarios for key in scenario))
    show.table(columns, [[show.number(scenario.get(key, "-")) for key in columns] for scenario in scenarios])
    for key, value in measured["limit"].items():
        show.line(f"limit {key}: {show.number(value)}")
    return 0


def threads(args: argparse.Namespace) -> int:
    """Each scenario on one thread and on several, in turn."""
    request = {"scenarios": _core.bench_scenarios(), "threads": args.threads, "repeat": args.repeat}
    rows: list[dict[str, Any]] = json.loads(_core.bench_threads(json.dumps(request)))
    if args.json:
        show.json_lines(rows, indent=None)
        return 0
    columns = list(rows[0])
    show.table(columns, [[show.number(row[key]) for key in columns] for row in rows])
    return 0


def against(args: argparse.Namespace) -> int:
    """Compares with ns-3; where that is not installed, says what would be and is done."""
    meter = machine_load.LoadMeter.start()
    try:
        comparison = ns3.compare(args.flows or _NS3_FLOWS, args.repeat, _tell)
    except ns3.SimulatorMissing as missing:
        _tell(f"skipped: {missing}")
        return 0
    others = meter.others()
    if args.json:
        show.json_lines(comparison.to_json() | _load_to_json(others), indent=None)
        return 0
    rows = [
        [name, str(turn), f"{side.packet_hops:,}", f"{side.cpu_s:.3f}", f"{side.hops_per_s / 1e6:.3f}"]
        for turn, pair in enumerate(comparison.pairs, 1)
        for name, side in zip(("priolane", "ns-3"), pair, strict=True)
    ]
    show.table(["simulator", "run", "packet-hops", "CPU s", "million hops/CPU s"], rows)
    least, median, most = comparison.ratios
    show.line(f"\npriolane / ns-3, packet-hops per CPU-second: min {least:.0f}, median {median:.0f}, max {most:.0f}")
    show.line(machine_load.verdict(others))
    show.line(f"{ns3.BUILD_NOTE}\n")
    columns = ["flows of", "number", "mean us", "ns-3", "ratio", "p99 us", "ns-3", "ratio"]
    show.table(columns, [_fct_row(size_class) for size_class in comparison.classes])
    return 0


def against_checkout(args: argparse.Namespace) -> int:
    """Compares with a simulator that the user has built."""
    simulator = SIMULATORS[args.against]
    if args.checkout is None:
        raise InputError(f"--against {simulator.name} needs its checkout, built: --checkout PATH ({simulator.build})")
    counts = (args.flows or simulator.flows, args.repeat)
    meter = machine_load.LoadMeter.start()
    comparison = checkout.compare(simulator, args.checkout, counts, _tell)
    others = meter.others()
    if args.json:
        show.json_lines(comparison.to_json() | _load_to_json(others), indent=None)
        return 0
    rows = [
        [
            name,
            str(turn),
            f"{side.packet_hops:,}",
            f"{side.cpu_s:.3f}",
            f"{side.hops_per_s / 1e6:.3f}",
            f"{command:.3f}",
        ]
        for turn, pair in enumerate(comparison.pairs, 1)
        for name, side, command in zip(
            ("priolane", simulator.name), (pair.ours, pair.theirs), pair.commands_s, strict=True
        )
    ]
    columns = ["simulator", "run", "packet-hops", "CPU s", "million hops/CPU s", "command CPU s"]
    show.table(columns, rows)
    name = simulator.name
    of_hops, of_commands = (
        f"min {least:.1f}, median {median:.1f}, max {most:.1f}"
        for least, median, most in (comparison.comparison.ratios, comparison.command_ratios)
    )
    show.line(f"\npriolane / {name}, packet-hops per CPU-second: {of_hops}")
    show.line(f"{name} / priolane, CPU of whole commands: {of_commands}")
    show.line(machine_load.verdict(others))
    show.line(
        f"This favours {name}: its time is its event loop, the process less {comparison.start_s:.2f} s for its first "
        "flow alone; priolane's contains the making of nodes, digests and tables, and its command starts Python and "
        f"writes a page. Hops of {name}: {simulator.note}.\n"
    )
    columns = ["flows of", "number", "mean us", simulator.name, "ratio", "p99 us", simulator.name, "ratio"]
    show.table(columns, [_fct_row(size_class) for size_class in comparison.comparison.classes])
    return 0


def commands(args: argparse.Namespace) -> int:
    """Counts what short commands take, beside what is kept; the exit code is 1 if a count is out of its band."""
    kept = command_counts.read_kept(command_counts.KEPT.read_text(encoding="utf-8"))
    try:
        now = command_counts.count()
    except command_counts.CountError as why:
        _tell(f"instructions are not counted: {why}")
        now = command_counts.count(instructions=())
    if why_not := command_counts.comparable(now, kept):
        _tell(f"instructions and modules are not compared: {why_not}")
    rows = list(command_counts.compare_counts(now, kept))
    if args.json:
        show.json_lines([asdict(row) for row in rows], indent=None)
    else:
        cells = [["-" if count is None else f"{count:,}" for count in (row.now, row.kept)] for row in rows]
        show.table(["count of", "now", "kept", ""], [[r.name, *c, r.why] for r, c in zip(rows, cells, strict=True)])
    return FAILED if any(row.why for row in rows) else 0


def _load_to_json(others: float | None) -> dict[str, float | bool | None]:
    return {"others_load": others, "publishable": machine_load.is_publishable(others)}


def _fct_row(size_class: ns3.SizeClass) -> list[str]:
    cells = [size_class.name, str(size_class.flows)]
    for ours, theirs in (size_class.mean_s, size_class.p99_s):
        cells += [f"{ours * 1e6:.1f}", f"{theirs * 1e6:.1f}", f"{ours / theirs:.3f}"]
    return cells


def _tell(text: str) -> None:
    message(text)


def measure(names: list[str]) -> dict[str, Any]:
    """Measures each scenario in a process of its own, so that its memory is its own."""
    limit: dict[str, float] = {}
    scenarios: list[dict[str, Any]] = []
    with concurrent.futures.ProcessPoolExecutor(
        max_workers=1, mp_context=multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as processes:
        for measured in processes.map(one, names):
            limit |= measured["limit"]
            scenarios += measured["scenarios"]
    return {"limit": limit, "scenarios": scenarios}


def one(name: str) -> dict[str, Any]:
    """Measures one scenario, and the yardstick beside it."""
    answer: dict[str, Any] = json.loads(_core.bench(json.dumps({"scenarios": [name]})))
    return answer
