"""`priolane import`: flow lists, size tables and results of other tools as those of priolane."""

import argparse
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from priolane import _core
from priolane._core import InputError
from priolane.cli import arguments, import_fct, import_sizes, import_switch, show

_PS_PER_S = 1e12
# The options of flow lists.
_PATHS = ("file", "out", "topology", "sizes")
_PLAIN = ("format", "hosts", "bond", "start", "spread", "mss", "megabyte", "gap", "sampling", "from", "until")
_OF_JOBS = ("place", "rack", "seed", "first", "collectives", "send_ends", "eager", "nic_rate")
# Formats of files that are no flow lists, and what imports them.
_OTHERS: dict[str, ModuleType] = {
    "sizes": import_sizes,
    "fct": import_fct,
    "switch": import_switch,
}
_COUNT = arguments.whole(1, 2**32 - 1)
# What may be missing in a job, by the member of its report.
_LACKS = {
    "local": "messages between ranks of one host, which take no time",
    "unmatched_sends": "sends without a receive: flows that nothing waits for",
    "unmatched_receives": "receives without a send, which wait for no message",
    "any_source": "receives from any rank or with any tag, matched in the order of the file",
    "unequal_bytes": "messages whose receive states other bytes; those of the send count",
    "empty_messages": "messages without bytes, sent as one byte",
    "receipts": "receipts of one byte, which end a send whose receive came late",
    "overlapping": "computations that wait for nothing, and overlap with others of their rank and cpu",
    "untimed": "computations without a duration, which take no time",
    "missing_dependencies": "dependencies on nodes that the trace does not have, dropped",
}
# A clock that ticks so coarsely, or more so, is mentioned.
_COARSE_PS = 10**9


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("format", nargs="?", metavar="FORMAT", help="auto (flow lists), or one that --list shows")
    command.add_argument("file", nargs="?", type=Path, metavar="FILE")
    command.add_argument("--list", action="store_true", help="the formats, one line each")
    command.add_argument(
        "-o", "--out", type=arguments.output, metavar="OUT.csv", help="the flow list, or what becomes of another file"
    )
    command.add_argument("--hosts", type=_COUNT, metavar="N", help="hosts of the network: more are folded onto them")
    command.add_argument(
        "--topology",
        type=Path,
        metavar="FILE",
        help="hpcc, htsim: its network (topology.txt, .topo), written as one of priolane",
    )
    command.add_argument(
        "--bond",
        choices=("sum", "first"),
        help="--topology: hosts with several links have one of the summed rate, or the first",
    )
    command.add_argument("--sizes", type=Path, metavar="OUT.csv", help="also write a size table of the flows")
    command.add_argument("--start", metavar="TIME", help="when the first flow starts, or `keep` (default: 0)")
    command.add_argument("--spread", metavar="TIME", help="spread flows of one instant evenly over this time")
    command.add_argument("--mss", type=_COUNT, metavar="BYTES", help="yaps, sizes: bytes of a packet (default: 1460)")
    command.add_argument("--megabyte", type=_COUNT, metavar="BYTES", help="coflow: bytes of a MB (default: 1048576)")
    command.add_argument("--gap", metavar="TIME", help="logs, captures: longest gap within a flow (default: 15s)")
    command.add_argument(
        "--sampling", type=_COUNT, metavar="N", help="nfdump, goflow2: one packet in N was seen (default: 1)"
    )
    command.add_argument("--from", metavar="TIME", help="logs: the first start that is listed, on the log's clock")
    command.add_argument("--until", metavar="TIME", help="logs: where the list ends, on the log's clock")
    command.add_argument("--place", metavar="ORDER", help="jobs: hosts of ranks: packed (default), round_robin, random")
    command.add_argument("--rack", type=_COUNT, metavar="N", help="jobs: hosts of a rack, for --place round_robin")
    command.add_argument(
        "--seed", type=_COUNT, metavar="N", help="jobs: the seed of --place random; fct: of the run (default: 1)"
    )
    command.add_argument("--first", type=_COUNT, metavar="N", help="jobs: hosts in this order that other jobs have")
    command.add_argument(
        "--collectives", metavar="NAME", help="chakra: ring (default), tree or halving_doubling for all-reduces"
    )
    command.add_argument(
        "--send-ends",
        metavar="END",
        help="jobs: when a send ends: at-once, at-nic, delivered (chakra's default) or received (goal's)",
    )
    command.add_argument(
        "--eager",
        type=arguments.whole(0, 2**47),
        metavar="BYTES",
        help="jobs: messages of at most these bytes end at once (default of goal: 65535)",
    )
    command.add_argument("--nic-rate", metavar="RATE", help="jobs: the rate of NICs, for --send-ends at-nic")
    for other in _OTHERS.values():
        other.add(command)
    command.add_argument("--json", action="store_true", help="print the report as JSON")
    command.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Imports the file, then says what became of the flows."""
    if args.list:
        formats = json.loads(_core.catalogue())["formats"]
        rows = [[entry["name"], entry["summary"]] for entry in formats]
        show.table(["format", "about"], [*rows, *([name, other.ABOUT] for name, other in _OTHERS.items())])
        return 0
    if args.format is None or args.file is None or args.out is None:
        raise InputError("import what? FORMAT FILE -o OUT.csv; `priolane import --list` shows the formats")
    _refuse_foreign(args)
    if args.format in _OTHERS:
        code: int = _OTHERS[args.format].execute(args)
        return code
    report = json.loads(_core.import_flows(json.dumps(_request(args))))
    if args.json:
        show.json_lines(report, indent=2)
    else:
        _present(report)
    return 0


def _refuse_foreign(args: argparse.Namespace) -> None:
    """Raises `InputError` for an option that has no meaning for the format."""
    own = {name: set(other.OPTIONS) for name, other in _OTHERS.items()}
    flows = set(_PATHS + _PLAIN + _OF_JOBS) - {"file", "format", "out"}
    meant = own.get(args.format, flows)
    for option in sorted(flows.union(*own.values()) - meant):
        if getattr(args, option) is not None:
            key = f"--{option.replace('_', '-')}"
            raise InputError(f"{key} has no meaning for the format {args.format}. Use another format, or remove {key}")


def _request(args: argparse.Namespace) -> dict[str, Any]:
    paths = {key: str(value) for key in _PATHS if (value := getattr(args, key))}
    return paths | {key: value for key in _PLAIN + _OF_JOBS if (value := getattr(args, key)) is not None}


def _present(report: dict[str, Any]) -> None:
    if report["guessed_from"] is not None:
        show.line(f"format: {report['format']}, guessed from {report['guessed_from']}")
    show.line(
        f"{report['rows']} rows, {report['flows']} flows, {report['bytes']} bytes, {report['merged']} records merged"
    )
    for dropped in report["dropped"]:
        show.line(f"dropped {dropped['count']}: {dropped['reason']} ({dropped['bytes']} bytes)")
    if "job" in report:
        _present_job(report["job"])
    show.line(
        f"instants of starts: {report['instants']}, within {report['span_ps'] / _PS_PER_S:.9g} s; "
        f"the first was {report['first_start_s']} s on the file's clock"
    )
    _present_recording(report)
    show.line(f"{report['names']} hosts of the file; a network of {report['hosts']} hosts or more")
    if report["fold"] is not None:
        fold = report["fold"]
        show.line(f"folded {fold['from']} hosts onto {fold['to']}: {fold['factor']:.4g} each")
    if report["waiting"]:
        show.line(f"flows that wait for others: {report['waiting']}")
    if report["rounded_times"]:
        show.line(f"{report['rounded_times']} times were finer than a picosecond, and rounded")
    if report["sizes"] is not None:
        sizes = report["sizes"]
        show.line(
            f"sizes: {sizes['rows']} rows of {sizes['distinct']} sizes, mean {sizes['mean_of_table']:.6g} bytes "
            f"(of the list {sizes['mean_of_list']:.6g})"
        )
    for note in report["notes"]:
        show.line(f"note: {note}")
    for name, path in report["outputs"].items():
        if path is not None:
            show.line(f"{name:8} {path}")


def _present_job(job: dict[str, Any]) -> None:
    show.line(
        f"{job['ranks']} ranks: {job['sends']} sends, {job['receives']} receives, {job['computations']} computations, "
        f"{job['collectives']} collectives; {job['steps']} steps beside the flows"
    )
    show.line(f"the job takes {job['compute_ps'] / _PS_PER_S:.9g} s if messages take no time")
    for name, meaning in _LACKS.items():
        if job[name]:
            show.line(f"{job[name]} {meaning}")


def _present_recording(report: dict[str, Any]) -> None:
    """The properties that a recording shows less exactly than the network had them."""
    if report["tick_ps"] >= _COARSE_PS:
        show.line(f"all starts are multiples of {report['tick_ps'] / _PS_PER_S:g} s on the file's clock")
    if report["late_ps"]:
        show.line(f"starts may be up to {report['late_ps'] / _PS_PER_S:g} s late")
    if report["midstream"]:
        show.line(f"flows that began before the file: {report['midstream']}")
    if report["sampling"] is not None and report["sampling"] > 1:
        show.line(f"sampled: 1 packet in {report['sampling']}")
