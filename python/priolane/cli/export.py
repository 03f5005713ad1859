"""`priolane export`: what to load into switches and hosts for a scheme of an experiment."""

import argparse
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from priolane._core import InputError
from priolane.cli import arguments, show
from priolane.export import code_points, quantity
from priolane.export.deployment import Deployment, read_headroom
from priolane.export.findings import ExportedFiles
from priolane.export.match import read_match, read_networks
from priolane.export.plan import ExportPlan
from priolane.export.present import read_present
from priolane.export.read import read_plan
from priolane.export.targets import TARGETS, export, write
from priolane.model.definition import experiment_name
from priolane.model.experiment import Options
from priolane.text.command_line import path_word


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    targets = "; ".join(f"{name}: {target.about}" for name, target in TARGETS.items())
    command.add_argument("target", choices=tuple(TARGETS), metavar="TARGET", help=targets)
    command.add_argument("file", type=Path, metavar="FILE.toml")
    command.add_argument("--scheme", required=True, metavar="NAME", help="a shipped scheme, or one of the experiment")
    command.add_argument(
        "-o", "--out", type=arguments.output, metavar="DIR", help="where files go (default: below runs/)"
    )
    command.add_argument(
        "--strict", action="store_true", help="refuse what the target would not have exactly as it was simulated"
    )
    command.add_argument(
        "--ports",
        metavar="PORTS",
        help="ports of one switch in place of those of the topology: 48x25Gbps,8x100Gbps, or a CSV with name,rate",
    )
    command.add_argument(
        "--routing",
        choices=("own", "best"),
        default="own",
        help="routing protocols (DSCP 48 to 63) have a queue of their own, or share the best one (default: own)",
    )
    command.add_argument(
        "--dscp",
        metavar="N,N",
        help="code points of the queues, the best first, as the other targets of this scheme have them",
    )
    command.add_argument(
        "--into",
        type=Path,
        metavar="CONFIG_DB.json",
        help="of sonic: the switch's present configuration; writes what to change in it, and the way back",
    )
    command.add_argument(
        "--free",
        metavar="N,N",
        help="of --into: code points that nobody sends; they go where DSCP 0 goes, so that their queues are free",
    )
    command.add_argument(
        "--qdisc",
        choices=("ets", "htb"),
        default="ets",
        help="of tc: ets with RED, or htb for kernels without them, which marks nothing (default: ets)",
    )
    command.add_argument(
        "--memory", metavar="SIZE", help="of sonic: packet memory of the switch, which pools are compared with"
    )
    command.add_argument(
        "--headroom", type=Path, metavar="FILE", help="of sonic with PFC: the platform's pg_profile_lookup.ini"
    )
    command.add_argument(
        "--cable", default="40m", metavar="LENGTH", help="of --headroom: which of its rows (default: 40m)"
    )
    _add_host_options(command)
    command.add_argument("--json", action="store_true", help="the plan, the files and the lists as JSON")
    arguments.add_changes(command)
    command.set_defaults(execute=execute)


def _add_host_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--match",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="of nft: mark these flows alone; port=5000-5010, address=10.0.0.0/8 of the other host, or "
        "cgroup=system.slice/a.service (repeatable; flows have to have all)",
    )
    command.add_argument(
        "--group",
        metavar="NAME",
        help="of nft: the group whose flows are marked, where each begins in a class of its own",
    )
    command.add_argument(
        "--idle",
        type=_seconds,
        metavar="TIME",
        help="of nft: after so many whole seconds without a packet, the bytes of a connection count from zero",
    )
    command.add_argument(
        "--prefix",
        metavar="PREFIXES",
        help="of sysctl: the addresses of the datacenter, 10.0.0.0/8,fd00::/8, whose routes get the congestion control",
    )


# The target that an option belongs to; in another one it would be dropped.
_OF_TARGET = {"into": "sonic", "free": "sonic", "match": "nft", "group": "nft", "idle": "nft", "prefix": "sysctl"}


def _refuse_others(args: argparse.Namespace) -> None:
    for option, target in _OF_TARGET.items():
        if getattr(args, option) and args.target != target:
            raise InputError(f"--{option} is of {target}; leave it out for {args.target}")
    if args.into is not None and args.ports is not None:
        raise InputError("--into has the ports of the present configuration: leave --ports out")
    if args.free is not None and args.into is None:
        raise InputError("--free is of a present configuration: give it with --into")


def _seconds(text: str) -> int:
    """Whole seconds, as conntrack has them."""
    try:
        ps = quantity.picoseconds(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if ps % 10**12 or not 1 <= ps // 10**12 <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time of whole seconds, from 1s to 86400s")
    return int(ps // 10**12)


def execute(args: argparse.Namespace) -> int:
    """Writes the files and prints what is in them, what is not, and what is otherwise."""
    options = Options(sets=tuple(args.sets), schemes=(args.scheme,), reading=args.reading, size=args.size, seeds=1)
    _refuse_others(args)
    deployment = Deployment(
        qdisc=args.qdisc,
        memory=None if args.memory is None else quantity.size(args.memory),
        cable=args.cable,
        headroom=None if args.headroom is None else read_headroom(args.headroom, args.cable),
        match=read_match(args.match),
        group=args.group,
        idle=args.idle,
        prefixes=() if args.prefix is None else read_networks("--prefix", args.prefix),
        present=None if args.into is None else read_present(args.into),
        free=() if args.free is None else code_points.read_free(args.free),
        scheme=_named(args),
    )
    with arguments.naming_scheme():
        plan = read_plan(args.file, options, routing=args.routing, named=args.ports)
    plan = deployment.placed(plan, None if args.dscp is None else code_points.read(args.dscp))
    exported = export(args.target, plan, deployment, strict=args.strict)
    out = args.out or Path("runs") / f"{experiment_name(args.file)}-{plan.scheme}-{args.target}"
    written = write(out, exported)
    if args.json:
        show.json_lines(_as_json(args.target, plan, exported, written))
        return 0
    if deployment.present is None:
        _print_queues(plan)
    for line in [*exported.findings.lines(), *exported.findings.step_lines()]:
        show.line(line)
    for path in written:
        show.line(f"wrote {path}")
    return 0


def _named(args: argparse.Namespace) -> tuple[str, ...]:
    """The words of the command line that name the scheme, for the exports of other devices."""
    words = [path_word(args.file), "--scheme", args.scheme]
    words += [word for key, value in args.sets for word in ("--set", f"{key}={value}")]
    words += [] if args.reading is None else ["--reading", args.reading]
    return tuple(words)


def _print_queues(plan: ExportPlan) -> None:
    rows = [
        [
            queue.label,
            " and ".join(filter(None, [str(queue.dscp), "the rest" if queue is plan.queues[-1] else ""])),
            str(queue.level),
            "strict" if queue.weight is None else f"weight {queue.weight}",
        ]
        for queue in plan.queues
    ]
    shared = "" if plan.routing == "own" else " (shared)"
    rows.insert(0, ["routing protocols", "48 to 63", f"{plan.routing_level}{shared}", "strict"])
    show.table(["for", "DSCP", "queue, the highest first", "served"], rows)


def _as_json(target: str, plan: ExportPlan, exported: ExportedFiles, written: list[Path]) -> dict[str, Any]:
    findings = exported.findings
    return {
        "target": target,
        "scheme": plan.scheme,
        "plan": _plain(asdict(plan)),
        "files": dict(exported.files),
        "written": [str(path) for path in written],
        "not_expressed": findings.not_expressed,
        "changed": [asdict(change) for change in findings.changed],
        "notes": findings.notes,
        "steps": {step: list(lines) for step, lines in findings.steps.items()},
    }


def _plain(value: Any) -> Any:
    """A plan in JSON's types: fractions as texts, rates as keys."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Fraction) else value
