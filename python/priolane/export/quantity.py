"""Quantities of merged experiments as exact numbers: rates, times, bytes, packets, fractions."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from priolane._core import InputError

# No quantity has more digits, and reading a number takes time by the square of its digits.
_QUANTITY = re.compile(r"\s*([0-9]{1,24}(?:\.[0-9]{1,24})?)\s*([A-Za-z]+)\s*")
_LONGEST_SHOWN = 60
_RATES = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
_TIMES = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
_BYTES = {
    "B": 1,
    "kB": 10**3,
    "KiB": 2**10,
    "MB": 10**6,
    "MiB": 2**20,
    "GB": 10**9,
    "GiB": 2**30,
    "TB": 10**12,
    "TiB": 2**40,
}
# Ethernet as a switch stores it: header and checksum; as Linux counts it: the header alone.
_LINUX_HEADER = 14


@dataclass(frozen=True)
class Frame:
    """Sizes of a full packet, in bytes.

    `mtu` is the packet of the network layer, `payload` what of it is the flow's, `stored` what a switch keeps of it
    (link header and checksum, no preamble and gap), `wire` what it takes of the line.
    """

    mtu: int
    payload: int
    stored: int
    wire: int

    @property
    def linux(self) -> int:
        """What Linux counts of it in a queue: no checksum."""
        return self.mtu + _LINUX_HEADER


@dataclass(frozen=True)
class Limit:
    """Room or a threshold: full packets, or bytes on the wire. One of the two is `None`."""

    packets: int | None = None
    wire_bytes: int | None = None

    def stored(self, frame: Frame) -> int:
        """Bytes that a switch counts."""
        return self._as(frame.stored, frame.wire)

    def linux(self, frame: Frame) -> int:
        """Bytes that Linux counts."""
        return self._as(frame.linux, frame.wire)

    def scaled(self, factor: Fraction) -> "Limit":
        """In proportion, rounded up to whole packets or bytes."""
        if self.packets is not None:
            return Limit(packets=math.ceil(self.packets * factor))
        return Limit(wire_bytes=math.ceil((self.wire_bytes or 0) * factor))

    def _as(self, packet: int, wire: int) -> int:
        if self.packets is not None:
            return self.packets * packet
        return math.ceil(Fraction((self.wire_bytes or 0) * packet, wire))

    def __str__(self) -> str:
        """As files write it."""
        return f"{self.packets} packets" if self.packets is not None else f"{self.wire_bytes} B on the wire"


def rate(text: str) -> int:
    """Bits per second of a text such as `10Gbps`."""
    return _whole(text, _RATES, "a rate such as 10Gbps")


def picoseconds(text: str) -> int:
    """Picoseconds of a text such as `5us`."""
    return _whole(text, _TIMES, "a time such as 5us")


def size(text: str) -> int:
    """Bytes of a text such as `1.5MB`."""
    return _whole(text, _BYTES, "a number of bytes such as 1.5MB or 64KiB")


def limit(text: str) -> Limit | None:
    """Packets or bytes; `None` for `unbounded`."""
    if text == "unbounded":
        return None
    if text.endswith("pkt"):
        return Limit(packets=_whole(text, {"pkt": 1}, "a number of packets such as 20pkt"))
    return Limit(wire_bytes=size(text))


def by_rate(table: Mapping[str, str]) -> dict[int, Limit]:
    """Limits by link rate in bits per second, the slowest first."""
    found = {rate(key): limit(text) for key, text in table.items()}
    return {key: value for key, value in sorted(found.items()) if value is not None}


def fraction(value: str | float) -> Fraction:
    """A number or a text such as `1/4`."""
    return Fraction(value) if isinstance(value, str) else Fraction(repr(float(value)))


def rate_text(bps: int) -> str:
    """A rate in its largest whole unit: `25Gbps`."""
    unit, factor = max(((name, by) for name, by in _RATES.items() if bps % by == 0), key=lambda each: each[1])
    return f"{bps // factor}{unit}"


def time_text(ps: float) -> str:
    """A time in the largest unit that it has one of: `4.04us`."""
    unit, factor = max(((name, by) for name, by in _TIMES.items() if by <= max(ps, 1)), key=lambda each: each[1])
    return f"{ps / factor:g}{unit}"


def _whole(text: str, units: Mapping[str, int], what: str) -> int:
    match = _QUANTITY.fullmatch(text)
    factor = units.get(match[2]) if match else None
    if match is None or factor is None:
        shown = text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."
        raise InputError(f"{shown!r} is not {what}")
    number = Fraction(match[1]) * factor
    if number.denominator != 1:
        raise InputError(f"{text!r} is not a whole number of {next(iter(units))}")
    return int(number)
