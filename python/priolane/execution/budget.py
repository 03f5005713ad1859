"""The budget of `--until decided`."""

import re
from dataclasses import dataclass
from typing import Literal

LOOKS = 6
"""Looks at the claims that are planned: the last has 32 times the seeds of the first."""

_UNITS: dict[str, tuple[Literal["runs", "hops", "s"], float]] = {
    "run": ("runs", 1.0),
    "runs": ("runs", 1.0),
    "hops": ("hops", 1.0),
    "s": ("s", 1.0),
    "min": ("s", 60.0),
    "h": ("s", 3600.0),
}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?(?:e\+?\d+)?)\s*([a-z]+)\s*")


@dataclass(frozen=True)
class Budget:
    """The budget of all looks together. Runs and packet-hops count all of the grid, whenever they were run; seconds are
    CPU time of this process and its workers, so that the answer depends on the machine."""

    amount: float
    unit: Literal["runs", "hops", "s"]

    @classmethod
    def read(cls, text: str) -> "Budget":
        """Reads `200runs`, `5e9hops`, `90s`, `10min` or `2h`; raises `ValueError` for anything else."""
        match = _AMOUNT.fullmatch(text)
        unit = _UNITS.get(match[2]) if match else None
        if match is None or unit is None or float(match[1]) <= 0:
            raise ValueError(f"{text!r} is not a budget; write 200runs, 5e9hops, 90s, 10min or 2h")
        return cls(float(match[1]) * unit[1], unit[0])

    def __str__(self) -> str:
        """The amount with its unit."""
        return f"{self.amount:g} {'packet-hops' if self.unit == 'hops' else self.unit}"
