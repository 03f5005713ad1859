"""A figure at several points of a sweep. One of them is shown; buttons choose another where scripts run."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from priolane.figure.markup import element, escape


@dataclass(frozen=True)
class AtPoint:
    """A figure at a point of the sweep. `number` is that of the point, the same in all figures of a page."""

    number: int
    point: str
    markup: Markup


def draw_sweep(drawn: Sequence[AtPoint]) -> Markup:
    """The figures with a button for each point; the last one is shown. One figure alone has no button."""
    last = drawn[-1]
    if len(drawn) == 1:
        return Markup().join([_name(last), last.markup]) if last.point else last.markup
    buttons = [
        element(
            "button",
            {"type": "button", "data-point": str(point.number), "aria-pressed": "true" if point is last else "false"},
            escape(point.point),
        )
        for point in drawn
    ]
    choice = element(
        "div", {"class": "points", "role": "group", "aria-label": "Point of the sweep", "hidden": ""}, *buttons
    )
    return Markup().join([choice, *(_part(point, is_shown=point is last) for point in drawn)])


def _part(point: AtPoint, *, is_shown: bool) -> Markup:
    hidden = None if is_shown else ""
    return element("div", {"data-at": str(point.number), "hidden": hidden}, _name(point), point.markup)


def _name(point: AtPoint) -> Markup:
    return element("p", {"class": "pointname"}, escape(f"at {point.point}"))
