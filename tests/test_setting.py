"""The setting of an experiment in the line above the title of its page."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from priolane.report.setting import setting_text
from priolane.results.results import Results


def group(csv: str, load: float, **more: Any) -> dict[str, Any]:
    return {"sizes": {"csv": csv, "interpolation": "linear", **more}, "load": {"of": "host", "value": load}}


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        ([[group("web_search", 0.6)], [group("web_search", 0.6)]], "web search at load 0.6"),
        ([[group("web_search_pkt1460", 0.6), group("web_search", 0.6)]], "web search at load 0.6"),
        ([[group("own/sizes.csv", 0.25)]], "sizes at load 0.25"),
        ([[group("web_search", 0.6), group("imc10", 0.2)]], "imc10 at load 0.2, web search at load 0.6"),
        # A sweep changes the load, then the sizes too.
        ([[group("web_search", 0.6)], [group("web_search", 0.8)]], "web search"),
        ([[group("web_search", 0.6)], [group("imc10", 0.6)]], ""),
        ([[group("a", 0.1), group("b", 0.1), group("c", 0.1)]], ""),
        # What is scaled is no longer that distribution.
        ([[group("web_search", 0.6, scale_to_mean="1MB")]], ""),
        ([[{"app": "closed_loop", "sizes": "1MB"}]], ""),
        ([[{"sizes": {"csv": "a"}, "load": {"like": "be"}}]], ""),
        ([[]], ""),
        ([], ""),
    ],
)
def test_the_setting_is_what_all_runs_have(runs: list[list[dict[str, Any]]], text: str) -> None:
    records = {str(nth): {"merged": {"group": groups}} for nth, groups in enumerate(runs)}
    assert setting_text(cast("Results", SimpleNamespace(records=records))) == text
