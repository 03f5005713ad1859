"""The setting of an experiment in few words: the sizes of its flows and their load."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from priolane.results.results import Results

# With more traffic than that, the words would be longer than the title.
_MOST = 2
# What shipped sizes say of their form at the end of their name.
_FORM = "_pkt1460"


def setting_text(results: Results) -> str:
    """The sizes and loads of the groups: `web search at load 0.6`; what a sweep or a reading changes is left out.

    Empty where nothing is the same in all runs, and where groups have more than two settings.
    """
    runs = [set(_traffic(record.get("merged", {}))) for record in results.records.values()]
    if not runs or not runs[0]:
        return ""
    common = set.intersection(*runs)
    if all(run == common for run in runs):
        return _joined(f"{sizes} at load {load:g}" for sizes, load in sorted(common))
    sizes = [{sizes for sizes, _ in run} for run in runs]
    return _joined(sorted(sizes[0])) if all(other == sizes[0] for other in sizes) else ""


def _joined(texts: Iterator[str] | list[str]) -> str:
    listed = list(texts)
    return ", ".join(listed) if len(listed) <= _MOST else ""


def _traffic(merged: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Sizes in words and load of each group that takes a distribution as its file has it."""
    for group in merged.get("group", ()):
        sizes, load = group.get("sizes"), group.get("load")
        if not isinstance(sizes, Mapping) or not isinstance(load, Mapping):
            continue
        value = load.get("value")
        if {"csv"} <= set(sizes) <= {"csv", "interpolation"} and isinstance(value, int | float):
            yield Path(sizes["csv"]).stem.removesuffix(_FORM).replace("_", " "), float(value)
