"""Values that were measured of the network as it runs today, against its simulation: `--check measured.csv`.

A row names a metric as goals do, and its value with a unit: `p99.small,1.2ms`. A prediction that is off says that the
model of today lacks something, and so does the advice.
"""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from priolane._core import InputError
from priolane.advice.goals import Goal, read_goals
from priolane.advice.outcomes import Values
from priolane.advice.windows import estimate
from priolane.results.estimate import Estimate
from priolane.results.numbers import short
from priolane.storage.input_file import read_text_of_user

COLUMNS = ("metric", "value")
_MOST_ROWS = 100


@dataclass(frozen=True)
class Measurement:
    """A measured value of a metric, and what today's scheme has for it in the simulation."""

    goal: Goal
    predicted: Estimate

    @property
    def value(self) -> float:
        """The measured value, in the unit of the metric."""
        return self.goal.bound

    @property
    def agrees(self) -> bool:
        """Whether the measured value is within the interval of the prediction."""
        low, high = self.predicted.low, self.predicted.high
        return low is not None and high is not None and low <= self.value <= high

    def __str__(self) -> str:
        """The comparison as a clause."""
        unit = self.goal.quantity.unit
        measured = (
            f"{self.goal.asked} is measured as {self.goal.format(self.value)}, predicted {self.predicted.format(unit)}"
        )
        if self.agrees or not self.predicted.mean or self.value <= 0:
            return measured
        factor = math.exp(abs(math.log(self.value / self.predicted.mean)))
        return f"{measured}: {short(factor)} times off"


def read_measured(path: Path | None) -> tuple[Goal, ...]:
    """The rows of the file as goals whose bound is the measured value; raises `InputError` with a line per mistake."""
    if path is None:
        return ()
    rows = list(csv.reader(read_text_of_user(path).splitlines()))
    if not rows or tuple(cell.strip() for cell in rows[0]) != COLUMNS:
        raise InputError(
            f"{path}: line 1: the columns are not {','.join(COLUMNS)}. Write them, then rows: p99.small,1.2ms"
        )
    if len(rows) > _MOST_ROWS:
        raise InputError(f"{path}: {len(rows) - 1} rows; at most {_MOST_ROWS - 1}")
    goals: list[Goal] = []
    mistakes: list[str] = []
    for line, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        try:
            goals.append(_read(row))
        except InputError as error:
            mistakes.append(f"{path}: line {line}: {str(error).removeprefix('--goal ')}")
    if mistakes:
        raise InputError("\n".join(mistakes))
    return tuple(goals)


def _read(row: Sequence[str]) -> Goal:
    if len(row) != len(COLUMNS):
        raise InputError(f"{len(row)} cells; a metric and its value, such as p99.small,1.2ms")
    metric, value = (cell.strip() for cell in row)
    sign = ">" if metric.startswith("goodput") else "<"
    goals, _ = read_goals([f"{metric} {sign} {value}"])
    if goals[0].is_relative:
        raise InputError(f"{value!r} is relative; write the measured value with its unit, such as 1.2ms")
    return goals[0]


def compare(measured: Sequence[Goal], values: Values) -> tuple[Measurement, ...]:
    """The measured values beside those of today's scheme."""
    return tuple(Measurement(goal, estimate(values.get(goal.name), is_part=goal.quantity.is_part)) for goal in measured)
