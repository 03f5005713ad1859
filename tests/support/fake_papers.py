"""A figure of a paper whose file is that of some results, with a record of another size."""

import json
from pathlib import Path

import pytest

from priolane.results.results import Results
from priolane.study import catalogue, recorded
from priolane.study.record import Record


def recorded_figure(monkeypatch: pytest.MonkeyPatch, results: Results) -> None:
    """Makes the file of `results` that of nos2/fig6, whose record contradicts their first claim."""
    item = catalogue.PaperFigure("nos2", "fig6", "Fig. 6", "", Path(results.source))
    first = results.report.claims[0]
    claim: dict[str, object] = {
        "section": first.section,
        "says": first.text,
        "source": "paper",
        "asked": first.criterion,
        "test": dict(first.test),
        "verdict": "contradicted",
        "alone": "contradicted",
        "direction": "none",
        "reason": "",
        "reason_code": "",
        "seeds_needed": None,
        "lead": False,
        "flags": [],
        "measured": [],
        "compared": [],
    }
    grid = json.loads(json.dumps({"size": "full", "seeds": list(range(16)), "claims": [claim]}))
    record = Record("nos2/fig6", results.title, "priolane reproduce nos2/fig6 --full", 6, (grid,))
    monkeypatch.setattr(catalogue, "figures", lambda: iter([item]))
    monkeypatch.setattr(recorded, "read_record", lambda _: record)
