"""The shape of the record of a run, `run.json`: that of the members which Python reads (`priolane_results::record`).

Records of earlier versions lack some members, and those of later versions may have others.
"""

from priolane.storage.shapes import both, by_name, many, members, number, optional, text, value, whole

_NUMBERS = by_name(optional(number))
# `None` where nobody counts: drops of switches that are not ours, and all three in imported results.
_COUNTERS = members(dict.fromkeys(("packet_hops", "timeouts", "drops"), optional(whole)))
# The class of all flows is always there.
_ALL = members({"all": members({"unfinished": whole})})
_LOAD = members(dict.fromkeys(("asked", "offered_host", "offered_core"), optional(number)))
_TRIMMED = members({}, {"trimmed": members({"packets": whole})})
_TOKENS = members(dict.fromkeys(("expired_at_hosts", "expired_at_ports", "dropped"), whole))
# Of the merged experiment.
_MERGED = members(
    {},
    {
        "group": many(members({}, {"name": text, "app": text})),
        "metrics": members({}, {"classes": optional(by_name(by_name(value)))}),
        "sample_every": optional(text),
        "scheme": by_name(by_name(value)),
    },
)
_PRIORITY = {
    **dict.fromkeys(("asked", "served", "flows", "packets", "bytes", "inversions"), whole),
    "share": number,
}
require_record = members(
    {
        "run": text,
        "version": text,
        "scheme": text,
        "point": by_name(value),
        "seed": whole,
        "merged": _MERGED,
        "digest": text,
        "stopped_at_ps": whole,
        "counters": _NUMBERS,
        "load": _LOAD,
        "priorities": many(members(_PRIORITY)),
        "summary": by_name(_NUMBERS),
        "files": many(members({"name": text, "sha256": text})),
    },
    {"title": text, "warnings": many(text), "ledger": many(_TRIMMED), "tokens": optional(both(_NUMBERS, _TOKENS))},
)
"""Raises `ValueError`, which names the place, if its first argument is not the record of a run."""

require_totals = members({"counters": _COUNTERS, "summary": _ALL})
"""Raises `ValueError`, which names the place, if a record lacks totals that the table of results has."""
