"""`priolane trace`: one flow's life, packet by packet, with a capture for tshark and a page that plays it."""

import argparse
from dataclasses import replace
from pathlib import Path

from priolane._core import InputError
from priolane.cli import arguments, show
from priolane.execution.flow_trace import NETWORK_TABLES, Packet, Trace, trace, trace_directory
from priolane.model.experiment import Options
from priolane.model.quantity import picoseconds
from priolane.replay.extent import MOST_HOPS, Extent, Which
from priolane.report.generator import refuse_replacing
from priolane.results.numbers import short
from priolane.results.report import point_text
from priolane.storage.written_files import refuse_replacing as refuse_replacing_files

# Lines of the timeline at its beginning and at its end, where it is longer than both together.
_FIRST, _LAST = 60, 20
_LARGEST_FLOW = 2**32 - 1
_US = 1e-6
# What the row of an ACK says already, and what seldom moves.
_NOT_SHOWN = {"acked_bytes", "rto_ps", "timeouts"}


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument("file", type=Path, metavar="FILE.toml")
    command.add_argument(
        "--flow",
        dest="flows",
        type=_flow,
        action="append",
        required=True,
        metavar="N",
        help="the flow: its line in flows.parquet (with --page repeatable: the first is described, all are drawn)",
    )
    command.add_argument("--scheme", metavar="S", help="the scheme, where the experiment has several")
    command.add_argument(
        "--seed", type=arguments.whole(1, 1_000_000), metavar="K", help="the seed, where the experiment has several"
    )
    command.add_argument(
        "--point",
        dest="points",
        type=arguments.assignment,
        action="append",
        default=[],
        metavar="a.b=VALUE",
        help="a swept key and its value, where the sweep has several (repeatable)",
    )
    command.add_argument(
        "-o", "--out", type=arguments.output, metavar="DIR", help="where files go (default: below runs/)"
    )
    command.add_argument("--at", metavar="LINK", help="where packets are captured: leaf0->spine1 (default: the sender)")
    command.add_argument("--all", action="store_true", help="the whole timeline, however long")
    command.add_argument("--json", action="store_true", help="everything as JSON")
    _add_page(command)
    arguments.add_changes(command)
    command.set_defaults(execute=execute)


def _add_page(command: argparse.ArgumentParser) -> None:
    """The arguments of the page."""
    page = command.add_argument_group("replay")
    page.add_argument(
        "--page",
        type=_page,
        metavar="FILE.html",
        help="one page that plays what the network did meanwhile: packets, queues, windows, losses",
    )
    page.add_argument(
        "--from",
        dest="since",
        type=_instant,
        metavar="TIME",
        help="where the page begins, as 1.2ms (default: a tenth of the flow's life before it, or with it)",
    )
    page.add_argument("--until", type=_instant, metavar="TIME", help="where it ends (default: a tenth after it)")
    page.add_argument(
        "--most-hops",
        type=arguments.whole(1, 5_000_000),
        metavar="N",
        help=f"where it ends at the latest: packets times links (default: {MOST_HOPS:,})",
    )


def execute(args: argparse.Namespace) -> int:
    """Traces, makes the page, then prints the flow's life or everything as JSON."""
    _refuse(args)
    if args.page is not None:
        # Before the trace of the flow, which takes as long as a run.
        refuse_replacing(args.page, "name another page with --page")
        refuse_replacing_files(trace_directory(args.file, args.out), NETWORK_TABLES)
    schemes = None if args.scheme is None else (args.scheme,)
    options = Options(sets=tuple(args.sets), schemes=schemes, reading=args.reading, size=args.size)
    with arguments.naming_scheme():
        packet_trace = trace(
            args.file,
            args.flows[0],
            args.out,
            options=options,
            seed=args.seed,
            point=args.points,
            at=args.at,
        )
    if args.page is not None:
        packet_trace = _with_page(args, packet_trace, options)
    if args.json:
        show.json_lines(packet_trace.to_json())
        return 0
    for text in heading(packet_trace):
        show.line(text)
    rows = timeline(packet_trace)
    if not args.all and len(rows) > _FIRST + _LAST:
        left_out = len(rows) - _FIRST - _LAST
        rows = [*rows[:_FIRST], ["...", "", f"{left_out} more: --all", "", "", "", ""], *rows[-_LAST:]]
    show.table(["t us", "packet", "what", "class", "way: wait us (packets ahead)", "end us", "sender"], rows)
    for path in packet_trace.files:
        show.line(f"wrote  {path}")
    return 0


def _refuse(args: argparse.Namespace) -> None:
    """Raises `InputError` for arguments that say nothing without a page, and for times in the wrong order."""
    if args.page is None:
        window = {"--from": args.since, "--until": args.until, "--most-hops": args.most_hops}
        for name, value in window.items():
            if value is not None:
                raise InputError(f"{name} needs --page FILE.html, or leave {name} out.")
        if len(args.flows) > 1:
            raise InputError("--flow: several flows are drawn on a page. Add --page FILE.html, or name one flow.")
    repeated = sorted({flow for flow in args.flows if args.flows.count(flow) > 1})
    if repeated:
        raise InputError(f"--flow: flow {repeated[0]} is named twice. Name each flow once.")
    if args.since is not None and args.until is not None and args.since >= args.until:
        raise InputError("--until: it is not after --from. Use a later one.")


def _with_page(args: argparse.Namespace, packet_trace: Trace, options: Options) -> Trace:
    """The trace with the page among its files, and the tables that it was made from."""
    from priolane.replay.make import replay  # noqa: PLC0415 - numpy and jinja2 are slow to load

    extent = Extent.around(packet_trace, args.since, args.until)
    made = replay(
        args.file,
        tuple(args.flows),
        args.page,
        extent=replace(extent, most_hops=args.most_hops or MOST_HOPS),
        out=packet_trace.files[0].parent,
        options=options,
        run=Which(packet_trace.seed, tuple(args.points)),
    )
    for text in made.lacks:
        show.note(f"note: {text}")
    return replace(packet_trace, files=(*packet_trace.files, *made.files))


def heading(packet_trace: Trace) -> list[str]:
    """The flow, its run, and what was seen, in lines."""
    flow, seen = packet_trace.flow, packet_trace.seen
    size = "without end" if flow["bytes"] is None else f"{flow['bytes']:,} B"
    where = ", ".join(
        part for part in (packet_trace.scheme, point_text(packet_trace.point), f"seed {packet_trace.seed}") if part
    )
    fct = "did not complete" if flow["fct_ps"] is None else f"completed in {_us(flow['fct_ps'])} us"
    who = (
        f"flow {flow['id']}: host {flow['src']} to host {flow['dst']}, {size}, class {flow['class_asked']} asked for; "
        f"started at {_us(flow['start_ps'])} us, {fct}"
    )
    expired = f"{seen['expired']} expired, " if seen["expired"] else ""
    what = (
        f"{seen['packets']} packets on {seen['hops']} hops: {seen['again']} sent again, {seen['dropped']} dropped, "
        f"{expired}{seen['lost']} lost, {seen['marked']} marked; {seen['captured']} captured at {packet_trace.at}"
    )
    return [who, f"run {packet_trace.run}: {where}; digest {packet_trace.digest}", what]


def timeline(packet_trace: Trace) -> list[list[str]]:
    """One row per packet in the order in which they were made; what it told the sender stands beside it."""
    state = packet_trace.state_at()
    return [
        [
            _us(packet.made_ps),
            str(packet.number),
            _what(packet),
            _classes(packet),
            _way(packet),
            _end(packet),
            _sender(state.get(packet.delivered_ps)) if packet.dst == packet_trace.flow["src"] else "",
        ]
        for packet in packet_trace.packets
    ]


def _what(packet: Packet) -> str:
    if packet.kind == "data":
        text = f"data {packet.offset:,}..{packet.offset + packet.payload:,}"
    elif packet.kind == "ack":
        text = f"ack {packet.offset:,}"
    else:
        text = packet.kind
    marks = [word for word, is_so in (("again", packet.again), ("ECE", packet.echo)) if is_so]
    return " ".join([text, *marks])


def _classes(packet: Packet) -> str:
    """The class on the wire, and the level inside the host where it is another."""
    same = packet.host_level == packet.priority
    return str(packet.priority) if same else f"{packet.priority} (host {packet.host_level})"


def _way(packet: Packet) -> str:
    parts = []
    for hop in packet.hops:
        waited = "-" if hop["start_ps"] is None else _us(hop["start_ps"] - hop["queued_ps"])
        ahead = f" ({hop['ahead_packets']})" if hop["ahead_packets"] else ""
        mark = " CE" if hop["marked"] else ""
        parts.append(f"{hop['port']} {waited}{ahead}{mark}")
    return ", ".join(parts)


def _end(packet: Packet) -> str:
    """The time at which the packet was delivered, or the reason why it was not."""
    last = packet.hops[-1]
    if packet.delivered_ps is not None:
        return _us(packet.delivered_ps)
    return f"{last['fate'].upper()}: {last['reason'] or 'end of the run'}"


def _sender(state: dict[str, float] | None) -> str:
    """The state of the sender after a packet: window and flight in bytes, times in us."""
    if state is None:
        return ""
    parts = []
    for metric, value in state.items():
        if metric in _NOT_SHOWN:
            continue
        name, _, unit = metric.rpartition("_")
        if unit == "ps":
            parts.append(f"{name} {_us(value)} us")
        elif unit == "bytes":
            parts.append(f"{name} {value:,.0f}")
        else:
            parts.append(f"{metric} {short(value)}")
    return ", ".join(parts)


def _us(ps: float) -> str:
    return f"{ps * _US:,.3f}"


def _flow(text: str) -> int:
    number = int(text) if text.isdecimal() else -1
    if not 0 <= number <= _LARGEST_FLOW:
        raise argparse.ArgumentTypeError(f"{text!r} is not a flow: a number from 0")
    return number


def _page(text: str) -> Path:
    """The path of a page. Another ending may be a file that is something else."""
    path = arguments.output(text)
    if path.suffix.lower() not in {".html", ".htm"}:
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a page: one that ends in .html")
    return path


def _instant(text: str) -> int:
    """Picoseconds since the start of the run."""
    try:
        return picoseconds(text)
    except InputError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an instant: a time such as 1.2ms") from None
