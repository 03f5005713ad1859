"""Columns of numbers, packed for a page: zlib's deflate of byte planes, in base64.

Planes (all lowest bytes of a column, then all second ones, ...) of differences compress several times better than
numbers. `replay_data.js` reads what this writes.
"""

import base64
import zlib
from dataclasses import dataclass

import numpy as np

from priolane.replay.recording import Column

# Of a column of instants: the one that never came.
NEVER_TICK = 2**32 - 1
_LEVEL = 9


@dataclass(frozen=True)
class PackedColumns:
    """Columns as text, and where each is: name, numpy's type, count, whether differences are kept."""

    text: str
    columns: list[tuple[str, str, int, bool]]


def pack(columns: dict[str, Column]) -> PackedColumns:
    """Packs columns of unsigned numbers or float64; sorted ones are kept as differences."""
    parts: list[bytes] = []
    where: list[tuple[str, str, int, bool]] = []
    for name, column in columns.items():
        fits = column if column.dtype == np.float64 else _narrow(column)
        rises = fits.dtype == np.uint32 and len(fits) > 1 and bool(np.all(fits[1:] >= fits[:-1]))
        kept = np.diff(fits, prepend=fits.dtype.type(0)) if rises else fits
        planes = kept.view(np.uint8).reshape(len(kept), kept.dtype.itemsize).T
        parts.append(np.ascontiguousarray(planes).tobytes())
        where.append((name, fits.dtype.name, len(fits), rises))
    packed = zlib.compress(b"".join(parts), _LEVEL)
    return PackedColumns(base64.b64encode(packed).decode("ascii"), where)


def _narrow(column: Column) -> Column:
    """The column in the least unsigned type that has room for it."""
    most = int(column.max(initial=0))
    assert int(column.min(initial=0)) >= 0, "a packed column has no negative numbers"
    kind = np.uint8 if most < 2**8 else np.uint16 if most < 2**16 else np.uint32
    return column.astype(kind)


@dataclass(frozen=True)
class Clock:
    """Instants of a page: whole ticks of `tick_ps` since `from_ps`, so that the last fits into 32 bits."""

    from_ps: int
    tick_ps: int

    @staticmethod
    def spanning(from_ps: int, last_ps: int) -> "Clock":
        """The finest clock that reaches from one instant to another."""
        return Clock(from_ps, max(1, -(-(last_ps - from_ps) // (NEVER_TICK - 1))))

    def ticks(self, instants: Column) -> Column:
        """Instants as ticks, and those that never came as `NEVER_TICK`."""
        ticks = (np.maximum(instants, self.from_ps) - self.from_ps) // self.tick_ps
        return np.where(instants < 0, NEVER_TICK, ticks)
