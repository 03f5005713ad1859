"""The plain tables of a report, made from the runs' records: load, priorities, runs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from priolane.report.overview import EXPIRED, dropped_data
from priolane.results.numbers import short
from priolane.results.report import point_text
from priolane.results.results import Results

T = TypeVar("T")
K = TypeVar("K")


@dataclass(frozen=True)
class Table:
    """Column names and rows of text; after the first `texts` columns come numbers."""

    columns: list[str]
    rows: list[list[str]]
    texts: int

    def without_empty(self, column: str) -> "Table":
        """The table, without a column of texts if no row has anything there."""
        nth = self.columns.index(column)
        if any(row[nth] for row in self.rows):
            return self
        columns, *rows = [[*row[:nth], *row[nth + 1 :]] for row in (self.columns, *self.rows)]
        return Table(columns, rows, self.texts - 1)


def load_rows(results: Results) -> Table:
    """Load asked for and load offered to hosts and to the core, means over seeds, per sweep point and scheme."""
    groups = _grouped(results.records.values(), lambda record: (point_text(record["point"]), record["scheme"]))
    rows = [
        [point, scheme, *(_load(record["load"][key] for record in records) for key in _LOADS)]
        for (point, scheme), records in groups.items()
    ]
    columns = [_POINT, "scheme", "asked", "offered to hosts", "offered to the core"]
    return Table(columns, rows, texts=2).without_empty(_POINT)


_POINT = "sweep point"
# Loads above this are those of flow lists that start within an instant.
_AT_ONCE = 1000.0
_LOADS = ("asked", "offered_host", "offered_core")


def priority_rows(results: Results) -> Table:
    """The service of each class, summed over ports and over the runs of a scheme, with its inversions."""
    served = ((record["scheme"], row) for record in results.records.values() for row in record["priorities"])
    groups = _grouped(served, lambda item: (item[0], item[1]["asked"], item[1]["served"]))
    rows = []
    for (scheme, priority, queue), items in sorted(groups.items()):
        packets, inversions = (sum(row[key] for _, row in items) for key in ("packets", "inversions"))
        share = f"{100 * inversions / packets:.2f} %" if packets else "–"
        rows.append([scheme, str(priority), str(queue), f"{packets:,}", f"{inversions:,}", share])
    return Table(["scheme", "class asked", "queue that served", "packets", "inversions", "share"], rows, texts=1)


def run_rows(results: Results) -> Table:
    """Every run with its sweep point, seed, size, losses and digest. Tokens, where there are any, have columns of their
    own: ports drop them by design.
    """
    tokens = any(record.get("tokens") for record in results.records.values())
    rows = [
        [
            record["run"],
            record["scheme"],
            point_text(record["point"]),
            str(record["seed"]),
            f"{record['counters']['packet_hops']:,}",
            "–" if (dropped := dropped_data(record)) is None else f"{dropped:,}",
            f"{record['counters']['timeouts']:,}",
            *([_token_text(record, "dropped"), _token_text(record, *EXPIRED)] if tokens else []),
            str(record["digest"])[:16],
        ]
        for record in results.records.values()
    ]
    of_tokens = ["tokens dropped", "tokens expired"] if tokens else []
    columns = ["run", "scheme", _POINT, "seed", "packet hops", "drops", "timeouts", *of_tokens, "digest"]
    return Table(columns, rows, texts=3).without_empty(_POINT)


def _token_text(record: Mapping[str, Any], *keys: str) -> str:
    tokens = record.get("tokens")
    return f"{sum(tokens[key] for key in keys):,}" if tokens else "–"


def _grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _load(values: Iterable[Any]) -> str:
    """The mean load; in words where all flows start at once, so that there is no time over which to offer it."""
    known = [value for value in values if value is not None]
    return "all at once" if known and min(known) > _AT_ONCE else _mean(known)


def _mean(values: Iterable[Any]) -> str:
    known = [value for value in values if value is not None]
    return short(sum(known) / len(known)) if known else "–"
