"""The content of a panel as CSV: a row for each mark, numbers in full."""

from priolane.results.estimate import Estimate
from priolane.results.report import Panel
from priolane.text.csv_text import csv_text


def figure_csv(panel: Panel) -> bytes:
    """The marks of all series: x, mean, both ends of the 95 % interval, number of seeds; of scatters the interval of x
    and what the area shows besides."""
    marks = [(series, mark) for series in panel.series for mark in series.marks]
    across = any(mark.across is not None for _, mark in marks)
    sized = any(mark.size is not None for _, mark in marks)
    columns = ["series", panel.x_label or "x", *(["x low", "x high"] if across else [])]
    columns += [panel.y_label or "mean", "low", "high", "seeds", *(["area"] if sized else [])]
    rows = [columns]
    for series, mark in marks:
        label = series.label if mark.along is None else f"{series.label}, {mark.along}"
        x = _ends(mark.across)[:3] if across else [mark.x if isinstance(mark.x, str) else repr(mark.x)]
        area = _ends(mark.size)[:1] if sized else []
        rows.append([label, *x, *_ends(mark.estimate), str(mark.estimate.seeds), *area])
    return csv_text(rows).encode()


def _ends(estimate: Estimate | None) -> list[str]:
    """Mean, low and high."""
    if estimate is None:
        return [""] * 3
    return ["" if end is None else repr(end) for end in (estimate.mean, estimate.low, estimate.high)]
