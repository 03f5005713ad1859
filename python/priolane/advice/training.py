"""The flows that candidates are made for: those of the windows of the race."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from priolane.advice.fabric import Sizes
from priolane.model.solvers import Thresholds, thresholds

# Bounds of the load that solvers are given.
_LEAST_LOAD, _MOST_LOAD = 0.05, 0.95


@dataclass(frozen=True)
class Training:
    """The flows that candidates are made for: a list of the training flows, their sizes in ascending order, and their
    load.

    `coflows` are the bytes of coflows in ascending order, `groups` the names of the groups of flows, `tenants` their
    places, the most important first (empty if there is one), `has_deadlines` whether any flow has one.
    """

    flows: Path
    sizes: Sizes
    load: float
    coflows: Sizes = field(default_factory=lambda: np.empty(0))
    tenants: tuple[int, ...] = ()
    groups: tuple[str, ...] = ()
    has_deadlines: bool = False

    def ladders(self, levels: int) -> Thresholds:
        """The thresholds of all solvers."""
        load = min(max(self.load, _LEAST_LOAD), _MOST_LOAD)
        return thresholds(levels=levels, load=load, flows=self.flows)

    def cut(self, thresholds: Sequence[int]) -> tuple[int, ...]:
        """Thresholds that part flows: each above the one before, and below the largest size."""
        return _increasing(thresholds, self.sizes)

    def equal_bytes(self, levels: int) -> tuple[int, ...]:
        """Sizes between which there are as many bytes."""
        return self.cut(_equal_bytes(self.sizes, levels))

    def equal_bytes_of_coflows(self, levels: int) -> tuple[int, ...]:
        """Sizes of coflows between which there are as many bytes."""
        return _increasing(_equal_bytes(self.coflows, levels), self.coflows)

    def equal_coflows(self, levels: int) -> tuple[int, ...]:
        """Sizes of coflows between which there are as many coflows."""
        quantiles = np.quantile(self.coflows, [nth / levels for nth in range(1, levels)], method="inverted_cdf")
        return _increasing(quantiles.tolist(), self.coflows)


def _equal_bytes(sizes: Sizes, levels: int) -> list[int]:
    sums = np.cumsum(sizes)
    parts = [sums[-1] * nth / levels for nth in range(1, levels)]
    return [int(sizes[np.searchsorted(sums, part)]) for part in parts]


def _increasing(thresholds: Sequence[float], sizes: Sizes) -> tuple[int, ...]:
    """Thresholds that part `sizes`: each above the one before, and below the largest."""
    return tuple(sorted({int(at) for at in thresholds if 0 < at < sizes[-1]}))
