"""What readers are told of panels by kind, where it is not as of most kinds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PanelKind:
    """A kind of panel.

    `y_label` is that of panels that state none. `log_x`: x may be logarithmic. `by_metric`: without a swept key x is
    the metrics' names. `table`: the marks are rows of a table too. `x_format` is that of numbers along x there.
    `drawn`: there is a picture of it.
    """

    y_label: str = ""
    log_x: bool = True
    by_metric: bool = False
    table: bool = True
    x_format: str = "g"
    drawn: bool = True


_KINDS = {
    "bar": PanelKind(log_x=False, by_metric=True),
    "cdf": PanelKind(y_label="fraction of flows", table=False),
    "table": PanelKind(by_metric=True, drawn=False),
    "trace": PanelKind(x_format=".4g"),
}


def kind_of(name: str) -> PanelKind:
    """The kind of that name."""
    return _KINDS.get(name, PanelKind())
