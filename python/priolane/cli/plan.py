"""`priolane plan`: what it takes to have TOP's ports on switches (`top`), what flows require (`requirement`), and the
thresholds of priority by size that do best in simulation (`thresholds`)."""

import argparse
import json
from pathlib import Path
from typing import Any

from priolane import _core
from priolane.cli import arguments, show
from priolane.execution import tune
from priolane.model.definition import experiment_name

_PS_PER_US = 1e6
_BPS_PER_GBPS = 1e9


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    schemes = command.add_subparsers(dest="scheme", required=True, metavar="WHAT")
    top = schemes.add_parser("top", help="TOP: ports, VLANs, forwarding entries, shapers, cost, expiry of tokens")
    top.add_argument(
        "--limiter",
        choices=["group", "port"],
        default="port",
        help="what the switch can limit: all token queues of a port together (ETS), or queues and ports only "
        "(default: port, the remedy)",
    )
    _count(top, "--ports", 32, 65_536, "ports of the switch")
    top.add_argument("--rate", default="40Gbps", metavar="RATE", help="rate of a port (default: 40Gbps)")
    _count(top, "--lanes", 4, 16, "sub-ports of a port with a breakout cable")
    _count(top, "--queues", 8, 16, "priority queues of a port")
    _count(top, "--classes", 6, 13, "token classes")
    top.add_argument("--unscheduled", action="store_true", help="a queue for packets that no token called for")
    top.add_argument("--token", default="84B", metavar="BYTES", help="a token on the wire (default: 84B)")
    top.add_argument("--frame", default="1538B", metavar="BYTES", help="a data packet on the wire (default: 1538B)")
    _count(top, "--entries", 262_144, 1 << 40, "entries of the forwarding table")
    _count(top, "--assistant-ports", 48, 65_536, "ports of an assistant switch")
    top.add_argument(
        "--assistant-price", type=arguments.finite, default=20.0, metavar="X", help="of a port of it (default: 20)"
    )
    top.add_argument(
        "--switch-price", type=arguments.finite, default=0.0, metavar="X", help="of the switch (default: 0)"
    )
    top.add_argument("--cable", default="5ns", metavar="TIME", help="delay of a breakout cable (default: 5ns)")
    top.add_argument(
        "--expiry",
        nargs=2,
        metavar=("DELAY", "QUEUES"),
        help="T for tokens of paths with this empty one-way delay and so many token queues, such as 10us 2",
    )
    _count(top, "--depth", 8, 1_000_000, "tokens that wait in a queue")
    top.add_argument("--clock", default="100ns", metavar="TIME", help="how far clocks are apart (default: 100ns)")
    top.add_argument(
        "--share",
        type=arguments.finite,
        default=0.0,
        metavar="X",
        help="tokens' part of the line (default: s / (s + F))",
    )
    top.add_argument("--json", action="store_true", help="as JSON")
    top.set_defaults(execute=execute)
    _add_requirement(schemes)
    _add_thresholds(schemes)


def _add_requirement(plans: "arguments.Commands[argparse.ArgumentParser]") -> None:
    command = plans.add_parser(
        "requirement", help="R_base of an experiment: the least deadlines at which its flows fit"
    )
    command.add_argument("experiment", type=Path, metavar="FILE.toml", help="an experiment with deadlines by `r_base`")
    arguments.add_size(command)
    command.add_argument("--json", action="store_true", help="as JSON")
    command.set_defaults(execute=_requirement)


def _requirement(args: argparse.Namespace) -> int:
    """Prints a row for each point and seed."""
    request = {"experiment": str(args.experiment), "size": args.size}
    answer = json.loads(_core.plan_requirement(json.dumps(request)))
    if args.json:
        show.json_lines(answer, indent=2)
        return 0
    rows = [
        [
            ", ".join(f"{key} = {value}" for key, value in row["point"]) or "-",
            f"{row['seed']}",
            row["fits"],
            row["shared"],
        ]
        for row in answer
    ]
    show.table(["point", "seed", "R_base", "met by sharing too"], rows)
    return 0


def _add_thresholds(plans: "arguments.Commands[argparse.ArgumentParser]") -> None:
    command = plans.add_parser("thresholds", help="thresholds of `size` that do best in simulation (AuTO)")
    command.add_argument("experiment", type=Path, metavar="FILE.toml", help="an experiment with the scheme")
    command.add_argument("of", metavar="SCHEME", help="its scheme whose assign row is `size`")
    command.add_argument("--metric", choices=tune.METRICS, default="fct", help="made least (default: fct)")
    command.add_argument(
        "--class", dest="size_class", default="all", metavar="NAME", help="of which flows (default: all)"
    )
    command.add_argument(
        "--most",
        type=arguments.whole(1, 10_000),
        default=60,
        metavar="N",
        help="thresholds that are tried (default: 60)",
    )
    arguments.add_grid(command)
    command.set_defaults(execute=_thresholds)


def _thresholds(args: argparse.Namespace) -> int:
    """Prints every try that was better than all before, and the last as the line of a scheme file."""
    out = args.out or Path("runs") / f"{experiment_name(args.experiment)}-thresholds"
    simulated = tune.SimulatedCost(
        path=args.experiment,
        scheme=args.of,
        metric=args.metric,
        size_class=args.size_class,
        options=arguments.options(args),
        settings=arguments.settings(args),
        out=out,
    )
    tries = tune.descend(simulated.start(), simulated.cost, most=args.most)
    better = [attempt for i, attempt in enumerate(tries) if all(attempt.cost < before.cost for before in tries[:i])]
    rows = [[", ".join(f"{bytes_}B" for bytes_ in attempt.thresholds), f"{attempt.cost:.6g}"] for attempt in better]
    show.table(["thresholds", f"{args.metric}.{args.size_class}"], rows)
    best = ", ".join(f'"{bytes_}B"' for bytes_ in better[-1].thresholds)
    show.line(f"{len(tries)} tried, in {out}")
    show.line(f'assign = {{ kind = "size", thresholds = [{best}] }}')
    return 0


def _count(command: argparse.ArgumentParser, name: str, default: int, most: int, about: str) -> None:
    command.add_argument(
        name, type=arguments.whole(1, most), default=default, metavar="N", help=f"{about} (default: {default})"
    )


def execute(args: argparse.Namespace) -> int:
    """Prints what it takes, and T if it was asked for."""
    keys = (
        "limiter ports rate lanes queues classes token frame entries assistant_ports assistant_price switch_price cable"
    )
    request: dict[str, Any] = {key: getattr(args, key) for key in keys.split()}
    request["unscheduled"] = "queue" if args.unscheduled else "none"
    if args.expiry:
        delay, queues = args.expiry
        if not queues.isdecimal():
            raise _core.InputError(f"plan top: --expiry: {queues!r} is not a number of token queues, such as 3")
        path = {"delay": delay, "queues": int(queues), "depth": args.depth}
        request["path"] = path | {"clock": args.clock, "share": args.share}
    answer = json.loads(_core.plan_top(json.dumps(request)))
    if args.json:
        show.json_lines(answer, indent=2)
        return 0
    _print(answer, args.ports)
    return 0


def _print(answer: dict[str, Any], ports: int) -> None:
    rate = answer["token_rate_bps"] / _BPS_PER_GBPS
    split, spare = answer["split_ports"], answer["spare_ports"]
    rows = [
        ["TOP ports", f"{answer['top_ports']}", f"of {ports}; {split} are split into sub-ports, {spare} left over"],
        ["shapers", f"{answer['shapers']}", f"of {rate:.4f} Gbps, s / (s + F) of a port"],
        ["queues of a port", f"{answer['queues_needed']}", "at the port that needs most"],
        ["assistant ports", f"{answer['assistant_ports']}", f"on {answer['assistants']} assistant switch(es)"],
        ["VLANs", f"{answer['vlans']}", f"{answer['level_vlans']} by level, {answer['assistant_vlans']} of assistants"],
        ["VLANs, assistant full", f"{answer['vlans_full']}", ""],
        ["entries per server", f"{answer['entries_per_host']}", f"room for {answer['hosts']} servers"],
        ["detour of a token", f"{answer['detour_ps'] / _PS_PER_US:.4f} us", "at each switch"],
        [
            "assistants cost",
            f"{answer['assistant_cost']:g}",
            f"{answer['cost_per_port']:g} a TOP port, with the switch",
        ],
    ]
    if answer["expiry_ps"] is not None:
        rows.append(["T, tokens expire", f"{answer['expiry_ps'] / _PS_PER_US:.3f} us", "d + |P| th + D"])
    show.table(["", "", ""], rows)
