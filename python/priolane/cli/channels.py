"""`priolane channels`: how wide virtual priorities must be, and how many lossless queues a buffer has room for."""

import argparse
import json
from typing import Any

from priolane import _core
from priolane.cli import arguments, show

_PS_PER_US = 1e6
_SHARE = arguments.positive(1.0)
_MOST_PORTS = 65_536


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument(
        "--priorities", type=arguments.whole(1, 16), required=True, metavar="N", help="number of priorities, 1 to 16"
    )
    command.add_argument("--rate", default="100Gbps", metavar="RATE", help="rate of the links (default: 100Gbps)")
    command.add_argument("--base-rtt", default="12us", metavar="TIME", help="empty round trip (default: 12us)")
    command.add_argument(
        "--flows",
        type=arguments.whole(1, 1_000_000),
        default=150,
        metavar="K",
        help="flows of a priority (default: 150)",
    )
    command.add_argument("--step", default="150B", metavar="BYTES", help="W_AI, per round trip (default: 150B)")
    command.add_argument("--noise", default="host", metavar="NAME_OR_FILE", help="`host`, or a CSV with ns,cdf")
    command.add_argument(
        "--scale", type=arguments.positive(1e6), default=1.0, metavar="X", help="multiplies the noise (default: 1)"
    )
    room = command.add_mutually_exclusive_group()
    room.add_argument(
        "--part", type=_SHARE, default=0.9985, metavar="P", help="of the noise that has room (default: 0.9985)"
    )
    room.add_argument("--utilization", type=_SHARE, metavar="U", help="wanted of the line, in place of --part")
    command.add_argument("--packet", default="1086B", metavar="BYTES", help="on the line (default: 1086B)")
    command.add_argument("--beta", type=_SHARE, default=0.8, metavar="B", help="Swift's (default: 0.8)")
    command.add_argument("--max-mdf", type=_SHARE, default=0.5, metavar="M", help="Swift's (default: 0.5)")
    command.add_argument(
        "--queues",
        nargs=3,
        metavar=("BUFFER", "PORTS", "DELAY"),
        help="lossless queues of a switch with such a buffer, ports and delay of links, such as 2.64MB 6 1us",
    )
    command.add_argument("--json", action="store_true", help="as JSON")
    command.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Prints width, channels, what a scheme states, and the queues that were asked for."""
    keys = ("priorities", "rate", "base_rtt", "flows", "step", "noise", "scale", "packet", "beta", "max_mdf")
    request: dict[str, Any] = {key: getattr(args, key) for key in keys}
    wanted = args.utilization
    request["room"] = {"part": args.part} if wanted is None else {"utilization": wanted}
    if args.queues:
        buffer, ports, delay = args.queues
        request["switch"] = {"buffer": buffer, "ports": _ports(ports), "delay": delay}
    answer = json.loads(_core.channels(json.dumps(request)))
    if args.json:
        show.json_lines(answer, indent=2)
        return 0
    show.line(
        f"A = {_us(answer['fluctuation_ps'])} us (fluctuation, PrioPlus App. D), "
        f"B = {_us(answer['noise_ps'])} us (noise, {answer['part'] * 100:.2f} %), "
        f"width A + B = {_us(answer['width_ps'])} us"
    )
    if wanted is not None:
        show.line(
            f"B for {args.flows} flows that use {wanted * 100:.1f} % of the line: U = 1 / (1 + y t), "
            "y = two samples of a round trip beyond B, t = 3/2 + 2 log_1.5 m round trips without a share "
            "(ours, from PrioPlus §4.2 and §4.3)"
        )
    columns = ["class", "DSCP", "D_target, us above base", "D_limit, us above base"]
    rows = [[str(of["class"]), str(of["dscp"]), _us(of["target_ps"]), _us(of["limit_ps"])] for of in answer["channels"]]
    show.table(columns, rows)
    show.line(f'in a scheme: transport = {{ kind = "prioplus_swift", {answer["scheme"]} }}')
    if answer["queues"]:
        queues = answer["queues"]
        show.line(
            f"{queues['lossless']} lossless queues fit (headroom {queues['headroom_bytes']} B per queue and port, "
            f"1.5 R 2 d; PFC has 8); buffer {queues['mb_per_tbps']:.2f} MB/Tbps"
        )
    return 0


def _ports(text: str) -> int:
    ports = int(text) if text.isdecimal() else 0
    if not 1 <= ports <= _MOST_PORTS:
        raise _core.InputError(f"channels: --queues: {text!r} is not a number of ports, such as 6")
    return ports


def _us(picoseconds: int) -> str:
    return f"{picoseconds / _PS_PER_US:.3f}"
