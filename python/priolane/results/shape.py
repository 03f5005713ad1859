"""The shape of the report of a grid, as the lab writes it (`priolane_lab::verdict`, `priolane_lab::panels`)."""

from typing import Any

from priolane.results.numbers import UNITS
from priolane.storage.shapes import by_name, flag, many, members, number, one_of, optional, text, value, whole

_ESTIMATE = {
    "average": one_of("geometric", "arithmetic"),
    "mean": optional(number),
    "low": optional(number),
    "high": optional(number),
    "n": whole,
}
_INTERVAL = members(_ESTIMATE)
_UNDECIDED = members({"because": text, "says": text, "seeds": optional(many(optional(whole)))})
_DECISION = {"verdict": text, "direction": text, "undecided": optional(_UNDECIDED)}
_SIDE = members({**dict.fromkeys(("quantity", "class", "scheme"), text), "at": by_name(value)})
_UNIT = one_of(*UNITS)
_POINT = members(
    {
        "point": by_name(value),
        "measured": many(members({"metric": text, "unit": _UNIT, **_ESTIMATE})),
        "contrasts": many(members({"of": text, "sides": many(_SIDE), "unit": _UNIT, **_ESTIMATE, **_DECISION})),
    }
)
_FLAG = members(
    {**dict.fromkeys(("kind", "says", "scheme", "class"), text), **dict.fromkeys(("measured", "limit"), number)}
)
_CLAIM = members(
    {
        **dict.fromkeys(("section", "says", "source", "kind", "alone"), text),
        "points": many(_POINT),
        **_DECISION,
        "lead": flag,
        "flags": many(_FLAG),
    },
    {"cause": optional(by_name(text)), "fitted": optional(text), "most": flag},
)
# The numbers of each kind of claim.
_ASKED = {
    "order": members({}),
    "equal": members({"within": number}),
    "agree": members({"within": number}),
    "ratio": members({"within": number, "paper": number}),
    "bound": members({"above": optional(number), "below": optional(number)}),
    "trend": members({"goes": text}),
}
_MARK = members(
    {"x": value, **_ESTIMATE}, {"x_interval": _INTERVAL, "size": optional(_INTERVAL), "along": optional(value)}
)
_SERIES = members({"scheme": text, "quantity": text, "class": text, "at": by_name(value), "points": many(_MARK)})
_CURVE = members(
    {
        "paper": text,
        "figure": text,
        "series": text,
        "read": text,
        "points": many(members({"x": value, "y": number, "error": number})),
    }
)
_PANEL = members(
    {
        "title": text,
        "kind": text,
        "x": optional(text),
        "x_label": optional(text),
        "y_label": optional(text),
        "log_y": optional(flag),
        "reference": optional(number),
        "x_values": many(value),
        "series": many(_SERIES),
    },
    {"metrics": many(text), "by": text, "rays": many(number), "published": many(_CURVE)},
)
LOOKS = many(members({"seeds": many(whole), "runs": text, "share": number}))
"""The looks at the claims of a directory."""

_REPORT = members(
    {
        "title": text,
        "paper": optional(text),
        "figure": optional(text),
        "planned_looks": whole,
        "looks": LOOKS,
        "look": whole,
        "claims": many(_CLAIM),
        "panels": many(_PANEL),
        "checks": many(members({"name": text, "state": one_of("ok", "open", "warn", "fail"), "says": text})),
        "assumptions": many(members({"anchor": text, "title": text})),
        "warnings": many(text),
        "seeds": many(whole),
        "digest": text,
        "missing": many(members({"id": text})),
    }
)


def require_report(report: Any) -> None:
    """Raises `ValueError`, which names the place, if `report` is not the report of a grid."""
    _REPORT(report, "")
    for nth, claim in enumerate(report["claims"]):
        one_of(*_ASKED)(claim["kind"], f"claims[{nth}].kind")
        _ASKED[claim["kind"]](claim, f"claims[{nth}]")
