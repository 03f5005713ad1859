"""The load of other programs on this machine while two simulators are compared."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from priolane._core import RunFailed

MOST = 0.5
"""Processors in use by others up to which a ratio of speeds may be published."""

_STAT = Path("/proc/stat")


@dataclass(frozen=True)
class _Reading:
    """Seconds so far: of all processors in use, of this process with its ended children, and of the clock."""

    busy: float
    own: float
    clock: float

    @classmethod
    def now(cls) -> "_Reading":
        times = os.times()
        return cls(_busy_s(_STAT.read_text(encoding="ascii")), sum(times[:4]), time.monotonic())


@dataclass(frozen=True)
class LoadMeter:
    """Measures from its start on."""

    first: _Reading | None

    @classmethod
    def start(cls) -> "LoadMeter":
        """Begins to measure."""
        return cls(_Reading.now() if _STAT.exists() else None)

    def others(self) -> float | None:
        """Processors that other programs, and other guests of the machine, have used in the mean so far.

        `None` where the system does not say, as macOS does not.
        """
        if self.first is None:
            return None
        now, first = _Reading.now(), self.first
        return max(0.0, (now.busy - first.busy - (now.own - first.own)) / (now.clock - first.clock))


def is_publishable(others: float | None) -> bool:
    """Whether ratios of speeds may be published: a busy machine slows simulators by different factors."""
    return others is not None and others <= MOST


def verdict(others: float | None) -> str:
    """The load in words, and what it means for the ratios."""
    if others is None:
        return f"The load of other programs is not known here, without {_STAT}: do not publish these ratios."
    used = f"Other programs used {others:.2f} processors meanwhile"
    if is_publishable(others):
        return f"{used}: the ratios may be published."
    return f"{used}: do not publish these ratios, measure where others use at most {MOST}."


def _busy_s(stat: str) -> float:
    """Seconds of all processors that were not idle, those that other guests took included."""
    name, *fields = stat.partition("\n")[0].split()
    if name != "cpu":
        raise RunFailed(f"{_STAT} has another form: it begins with {name!r}")
    # user, nice, system, idle, iowait, irq, softirq, steal; guests are part of user.
    ticks = [int(field) for field in fields[:8]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")
