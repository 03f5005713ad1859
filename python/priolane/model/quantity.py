"""Quantities as input files write them, read by the parser of the simulator: all commands read a text alike."""

from priolane import _core


def rate(text: str) -> int:
    """Bits per second of a text such as `10Gbps`; raises `InputError` for another text and for zero."""
    return _core.quantity("rate", text)


def picoseconds(text: str) -> int:
    """Picoseconds of a text such as `2.5us`; raises `InputError` for another text."""
    return _core.quantity("time", text)


def size(text: str) -> int:
    """Bytes of a text such as `1.5MB` or `64KiB`; raises `InputError` for another text."""
    return _core.quantity("bytes", text)
