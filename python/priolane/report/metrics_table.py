"""Tables of metrics: a row for each scheme and sweep point, sorted and filtered in the page, whole in a CSV file."""

from collections.abc import Sequence
from dataclasses import dataclass

from priolane.results.estimate import Estimate
from priolane.results.report import Panel, Series
from priolane.text.csv_text import csv_text

# A column with more texts than this has no list to choose from.
_MOST_CHOICES = 40


@dataclass(frozen=True)
class Cell:
    """The text of a cell, and the number that it is sorted by; `None` for texts, and where there is no value."""

    text: str
    number: float | None = None


@dataclass(frozen=True)
class MetricsTable:
    """A table: columns of texts (scheme, swept keys), then metrics.

    `choices` has the texts of each column of texts that can be chosen from, by its place.
    """

    title: str
    columns: tuple[str, ...]
    texts: int
    rows: tuple[tuple[Cell, ...], ...]
    choices: dict[int, tuple[str, ...]]


def table_of(panel: Panel) -> MetricsTable:
    """The table of a panel of kind `table`."""
    keys = list(dict.fromkeys(key for series in panel.series for key in series.at))
    metrics = list(dict.fromkeys(str(mark.x) for series in panel.series for mark in series.marks))
    rows = tuple(tuple(_cells(series, keys, metrics)) for series in panel.series)
    texts = 1 + len(keys)
    names = {nth: tuple(dict.fromkeys(row[nth].text for row in rows)) for nth in range(texts)}
    return MetricsTable(
        title=panel.title,
        columns=(
            "scheme",
            *(key.split(".")[-1] if key.split(".")[-1] != "value" else key.split(".")[-2] for key in keys),
            *metrics,
        ),
        texts=texts,
        rows=rows,
        choices={nth: choices for nth, choices in names.items() if 1 < len(choices) <= _MOST_CHOICES},
    )


def as_csv(panel: Panel) -> bytes:
    """The table with means and both ends of their intervals, numbers in full."""
    table = table_of(panel)
    metrics = table.columns[table.texts :]
    rows = [[*table.columns[: table.texts], *(f"{name}{end}" for name in metrics for end in ("", "_low", "_high"))]]
    for series, row in zip(panel.series, table.rows, strict=True):
        ends = [_in_full(_estimate(series, name)) for name in metrics]
        rows.append([*(cell.text for cell in row[: table.texts]), *(text for three in ends for text in three)])
    return csv_text(rows).encode()


def _cells(series: Series, keys: Sequence[str], metrics: Sequence[str]) -> list[Cell]:
    texts = [Cell(series.scheme), *(Cell(_text(series.at.get(key))) for key in keys)]
    return [*texts, *(_cell(_estimate(series, name)) for name in metrics)]


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _estimate(series: Series, metric: str) -> Estimate | None:
    return next((mark.estimate for mark in series.marks if mark.x == metric), None)


def _cell(estimate: Estimate | None) -> Cell:
    if estimate is None or estimate.mean is None:
        return Cell("\N{EN DASH}")
    return Cell(str(estimate), estimate.mean)


def _in_full(estimate: Estimate | None) -> tuple[str, str, str]:
    if estimate is None:
        return ("", "", "")
    mean, low, high = ("" if end is None else repr(end) for end in (estimate.mean, estimate.low, estimate.high))
    return mean, low, high
