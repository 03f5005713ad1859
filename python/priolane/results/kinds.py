"""The texts about panels for readers by kind, where they differ from those of most kinds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from priolane.results.axes import key_label, metrics_label

TIME = "time"
"""The text in place of a swept key where x is simulated time."""
SIZE = "size"
"""The `by` of a panel whose x is the flow size, in bytes."""

_ALONG = {TIME: "time (s)", SIZE: "flow size (B)"}

Labels = tuple[str, str]


def _by_key(metrics: Sequence[str], x_key: str | None) -> Labels:
    """A swept key, time, or the flow size along x, and values of metrics along y."""
    along = _ALONG.get(x_key, key_label(x_key)) if x_key else ""
    return along, metrics_label(metrics)


def _distribution(metrics: Sequence[str], _x_key: str | None) -> Labels:
    return metrics_label(metrics, of_flows=True), "fraction of flows"


def _one_by_another(metrics: Sequence[str], _x_key: str | None) -> Labels:
    return metrics_label(metrics[:1]), metrics_label(metrics[1:2])


@dataclass(frozen=True)
class PanelKind:
    """A kind of panel.

    `labels` are those of the axes of panels that state none, by their metrics and the swept key along x. `log_x`,
    `log_y`: the axis may be logarithmic without being asked for. `by_metric`: without a swept key x is the metrics'
    names. `along_numbers`: x is numbers, those of values with units too. `table`: the marks are rows of a table too.
    `x_format` is that of numbers along x there. `drawn`: there is a picture of it.
    """

    labels: Callable[[Sequence[str], str | None], Labels] = _by_key
    log_x: bool = True
    log_y: bool = True
    by_metric: bool = False
    along_numbers: bool = False
    table: bool = True
    x_format: str = "g"
    drawn: bool = True


_KINDS = {
    "bar": PanelKind(log_x=False, by_metric=True),
    "cdf": PanelKind(labels=_distribution, log_y=False, table=False),
    "line": PanelKind(along_numbers=True),
    "scatter": PanelKind(labels=_one_by_another),
    "table": PanelKind(log_y=False, by_metric=True, drawn=False),
    "trace": PanelKind(log_y=False, x_format=".4g"),
}


def kind_of(name: str) -> PanelKind:
    """The kind of that name."""
    return _KINDS.get(name, PanelKind())
