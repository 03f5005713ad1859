"""Frames, limits and fractions of merged experiments as exact numbers, and rates and times in words."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from priolane._core import InputError
from priolane.model.quantity import picoseconds, rate, size

__all__ = [
    "Frame",
    "Limit",
    "by_rate",
    "fraction",
    "limit",
    "picoseconds",
    "rate",
    "rate_text",
    "size",
    "time_text",
]

_WHOLE = re.compile(r"[0-9]{1,19}")
_LONGEST_SHOWN = 60
_RATES = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
_TIMES = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
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
        """The bytes that Linux counts of a packet in a queue: no checksum."""
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


def limit(text: str) -> Limit | None:
    """Packets or bytes; `None` for `unbounded`."""
    if text == "unbounded":
        return None
    if text.endswith("pkt"):
        packets = text.removesuffix("pkt").strip()
        if not _WHOLE.fullmatch(packets):
            raise InputError(f"{text[:_LONGEST_SHOWN]!r} is not a number of packets such as 20pkt")
        return Limit(packets=int(packets))
    return Limit(wire_bytes=size(text))


def by_rate(table: Mapping[str, str]) -> dict[int, Limit]:
    """Limits by link rate in bits per second, the slowest first."""
    limits = {rate(key): limit(text) for key, text in table.items()}
    return {key: value for key, value in sorted(limits.items()) if value is not None}


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
