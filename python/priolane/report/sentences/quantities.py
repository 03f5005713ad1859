"""The names of quantities in sentences."""

import re

from priolane.results.axes import quantity_label

_PERCENTILE = re.compile(r"(fct|cct|slowdown|queue)_p(\d+)")
_MEDIAN = "50"
_ABBREVIATIONS = ("fct", "cct")
_WORDS = {
    "deadline_meet_ratio": "the share of deadlines met",
    "deadline_miss_rate": "the share of deadlines missed",
    "deadline_miss_share": "the share of late flows",
    "fct_ratio": "relative mean FCT",
    "flow_share": "the share of flows",
    "jain": "Jain's index",
    "rate": "mean rate",
    "rate_ratio": "relative mean rate",
    "size": "mean size",
    "tail_timed_out": "the share of timeouts in the tail",
    "timed_out": "the share of flows that timed out",
}


def quantity_words(name: str) -> str:
    """A quantity in the middle of a sentence: `mean FCT`, `p99 FCT`, `median slowdown`."""
    match = _PERCENTILE.fullmatch(name)
    if match is None:
        return _WORDS.get(name, quantity_label(name))
    about = match[1].upper() if match[1] in _ABBREVIATIONS else match[1]
    digits = match[2] if len(match[2]) < 3 else f"{match[2][:2]}.{match[2][2:]}"
    return f"median {about}" if digits == _MEDIAN else f"p{digits} {about}"
