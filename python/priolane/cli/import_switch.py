"""`priolane import switch`: the configuration of a switch of SONiC as `[switch]` of an experiment."""

import argparse
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from priolane._core import InputError
from priolane.cli import arguments, show
from priolane.export import code_points, configured
from priolane.export.configured import Configured
from priolane.export.quantity import Frame
from priolane.model.toml import inline
from priolane.storage.files import read_head, write_whole

ABOUT = "config_db.json of a switch of SONiC, as [switch] of an experiment; --dscp, --mtu"
OPTIONS = ("dscp", "mtu")
# The first characters of the files that the command writes.
_MARK = "# priolane import switch: "
# An Ethernet frame has 18 B around its packet, and 20 B of preamble and gap on the line.
_LINK, _GAP = 18, 20


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments that only switches have."""
    command.add_argument(
        "--dscp", metavar="N,N", help="switch: code points of the simulated traffic, class 0 first (default: 0)"
    )
    whole = arguments.whole(64, 2**16 - 1)
    command.add_argument("--mtu", type=whole, metavar="BYTES", help="switch: bytes of a full packet (default: 1500)")


def execute(args: argparse.Namespace) -> int:
    """Writes the file and prints the queues, what is missing, and what is not simulated."""
    switch = configured.read(args.file, code_points.read_classes(args.dscp or "0"), _frame(args.mtu or 1500))
    _refuse_foreign(args.out)
    write_whole(args.out, text(switch))
    if args.json:
        show.json_lines({**_plain(asdict(switch)), "written": str(args.out)}, indent=2)
        return 0
    show.table(
        ["queue", "used by", "served", "WRED", "lossless"],
        [
            [str(queue.number), queue.leads, queue.served, queue.wred, "yes" if queue.is_lossless else "no"]
            for queue in switch.queues
        ],
    )
    for line in switch.missing:
        show.line(f"missing: {line}")
    for line in switch.not_simulated:
        show.line(f"not simulated: {line}")
    show.line(f"wrote {args.out}")
    return 0


def _refuse_foreign(path: Path) -> None:
    """Raises `InputError` if something stands at `path` that the command did not write."""
    if os.path.lexists(path) and not read_head(path).startswith(_MARK.encode()):
        raise InputError(
            f"{path}: the file was not written by `import switch`; move it away, or choose another with -o"
        )


def _frame(mtu: int) -> Frame:
    return replace(configured.ETHERNET, mtu=mtu, stored=mtu + _LINK, wire=mtu + _LINK + _GAP)


def text(switch: Configured) -> str:
    """The file: `[switch]`, and the port of a scheme that runs as the switch is configured, as comments."""
    points = ", ".join(map(str, switch.dscps))
    lines = [f"{_MARK}{_one_line(switch.path)}: the queues of DSCP {points}", "[switch]"]
    lines += [f"{key} = {inline(of)}" for key, of in (("buffer", switch.buffer), ("ecn", switch.ecn)) if of]
    if switch.ecn is None:
        lines.append("# No queue of this traffic marks: state a scheme that does not need marks.")
    port = _port(switch)
    lines += ["", "# A scheme whose ports are configured in this way:", "# [scheme.NAME]", "# base = NAME"]
    lines.append(f"# port = {inline(port)}")
    if switch.places != tuple(range(len(switch.places))):
        lines.append(f"# map = {inline({'class': list(switch.places)})}")
    lines += [f"# missing: {_one_line(line)}" for line in switch.missing]
    lines += [f"# not simulated: {_one_line(line)}" for line in switch.not_simulated]
    return "\n".join(lines) + "\n"


def _port(switch: Configured) -> dict[str, Any]:
    return {**switch.port, **({} if switch.pfc is None else {"pfc": switch.pfc})}


def _one_line(value: object) -> str:
    """The text with control characters as escapes: a name of the file could pass for a line of its own."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in str(value))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
