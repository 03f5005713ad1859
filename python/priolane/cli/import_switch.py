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


def execute(chosen: argparse.Namespace) -> int:
    """Writes the file and prints the queues, what is missing, and what is not simulated."""
    found = configured.read(chosen.file, code_points.read_classes(chosen.dscp or "0"), _frame(chosen.mtu or 1500))
    _refuse_foreign(chosen.out)
    write_whole(chosen.out, text(found))
    if chosen.json:
        show.json_lines({**_plain(asdict(found)), "written": str(chosen.out)}, indent=2)
        return 0
    show.table(
        ["queue", "used by", "served", "WRED", "lossless"],
        [
            [str(queue.number), queue.leads, queue.served, queue.wred, "yes" if queue.is_lossless else "no"]
            for queue in found.queues
        ],
    )
    for line in found.missing:
        show.line(f"missing: {line}")
    for line in found.not_simulated:
        show.line(f"not simulated: {line}")
    show.line(f"wrote {chosen.out}")
    return 0


def _refuse_foreign(path: Path) -> None:
    """Raises `InputError` if something stands at `path` that the command did not write."""
    if os.path.lexists(path) and not read_head(path).startswith(_MARK.encode()):
        raise InputError(
            f"{path}: the file was not written by `import switch`; move it away, or choose another with -o"
        )


def _frame(mtu: int) -> Frame:
    return replace(configured.ETHERNET, mtu=mtu, stored=mtu + _LINK, wire=mtu + _LINK + _GAP)


def text(found: Configured) -> str:
    """The file: `[switch]`, and the port of a scheme that runs as the switch is configured, as comments."""
    points = ", ".join(map(str, found.dscps))
    lines = [f"{_MARK}{_one_line(found.path)}: the queues of DSCP {points}", "[switch]"]
    lines += [f"{key} = {inline(of)}" for key, of in (("buffer", found.buffer), ("ecn", found.ecn)) if of]
    if found.ecn is None:
        lines.append("# No queue of this traffic marks: state a scheme that does not need marks.")
    port = _port(found)
    lines += ["", "# A scheme whose ports are configured in this way:", "# [scheme.NAME]", "# base = NAME"]
    lines.append(f"# port = {inline(port)}")
    if found.places != tuple(range(len(found.places))):
        lines.append(f"# map = {inline({'class': list(found.places)})}")
    lines += [f"# missing: {_one_line(line)}" for line in found.missing]
    lines += [f"# not simulated: {_one_line(line)}" for line in found.not_simulated]
    return "\n".join(lines) + "\n"


def _port(found: Configured) -> dict[str, Any]:
    return {**found.port, **({} if found.pfc is None else {"pfc": found.pfc})}


def _one_line(value: object) -> str:
    """The text with control characters as escapes: a name of the file could pass for a line of its own."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in str(value))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
