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
            {"type": "button", "data-point": str(one.number), "aria-pressed": "true" if one is last else "false"},
            escape(one.point),
        )
        for one in drawn
    ]
    choice = element(
        "div", {"class": "points", "role": "group", "aria-label": "Point of the sweep", "hidden": ""}, *buttons
    )
    return Markup().join([choice, *(_part(one, is_shown=one is last) for one in drawn)])


def _part(one: AtPoint, *, is_shown: bool) -> Markup:
    hidden = None if is_shown else ""
    return element("div", {"data-at": str(one.number), "hidden": hidden}, _name(one), one.markup)


def _name(one: AtPoint) -> Markup:
    return element("p", {"class": "pointname"}, escape(f"at {one.point}"))
