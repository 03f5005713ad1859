"""Quantities as input files write them, read by the parser of the simulator, so that all commands read a text alike."""

from priolane import _core

_SIZES = {"GB": 10**9, "MB": 10**6, "kB": 10**3}


def rate(text: str) -> int:
    """Bits per second of a text such as `10Gbps`; raises `InputError` for another text and for zero."""
    return _core.quantity("rate", text)


def picoseconds(text: str) -> int:
    """Picoseconds of a text such as `2.5us`; raises `InputError` for another text."""
    return _core.quantity("time", text)


def size(text: str) -> int:
    """Bytes of a text such as `1.5MB` or `64KiB`; raises `InputError` for another text."""
    return _core.quantity("bytes", text)


def size_text(count: float) -> str:
    """A number of bytes, not negative, with four significant digits in its largest unit: `1.5MB`."""
    unit, factor = next(((name, by) for name, by in _SIZES.items() if count >= by), ("B", 1))
    return f"{count / factor:.4g}{unit}"
