"""Numbers of findings, which the site takes from the records of their figures."""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest

from priolane.study.record import Record, read_record

sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "site_pages"))
import finding_pages
import record_values


def item(what: str, mean: float, unit: str = "1", **at: Any) -> dict[str, Any]:
    return {"what": what, "at": at, "unit": unit, "mean": mean, "low": 0.9 * mean, "high": 1.1 * mean}


@pytest.fixture
def record() -> Record:
    claims = [
        {"compared": [item("gain.all.a", 1.5, load=0.5), item("gain.all.a", 1.25, load=0.8)], "measured": []},
        {"compared": [item("rate.all.a", 7.0, "Gbit/s", group={"theta": "7Gbps"})], "measured": []},
        {"compared": [], "measured": [item("fct.all.a", 0.0123, "s"), item("loss.all.a", 0.5)]},
    ]
    return Record("p/fig", "", "", 6, ({"seeds": [1, 2, 3], "runs": 1234, "claims": claims},))


@pytest.mark.parametrize(
    ("placeholder", "text"),
    [
        ("{{ seeds }} seeds ({{ runs }} runs)", "three seeds (1,234 runs)"),
        ('{{ value("gain.all.a", at="0.8") }}', "1.25 [1.12, 1.38]"),
        ('{{ value("rate.all.a", at="7Gbps", digits=1, unit="Gbps") }}', "7.0 Gbps [6.3, 7.7]"),
        ('{{ value("fct.all.a", digits=1, unit="ms") }}', "12.3 ms [11.1, 13.5]"),
        ('{{ value("loss.all.a", digits=0, to="%") }}', "50 [45, 55]"),
        ("no placeholder, { #anchor }\n", "no placeholder, { #anchor }\n"),
    ],
)
def test_a_placeholder_becomes_the_number_of_the_record(record: Record, placeholder: str, text: str) -> None:
    assert record_values.filled(placeholder, record) == text


def test_a_number_changes_with_the_record(record: Record) -> None:
    (grid,) = record.grids
    other = dataclasses.replace(record, grids=({**grid, "seeds": list(range(24))},))
    assert record_values.filled("{{ seeds }}", other) == "24"


@pytest.mark.parametrize(
    ("placeholder", "message"),
    [
        ('{{ value("gain.all.b") }}', "is 0 values of the record, which has no point"),
        ('{{ value("gain.all.a") }}', "is 2 values of the record, which has 0.5; 0.8"),
        ('{{ value("gain.all.a", at="0.6") }}', "is 0 values"),
        ('{{ value("fct.all.a", unit="kB") }}', "s is not shown in 'kB'"),
        ("{{ seed }}", "'seed' is undefined"),
        ("{{ value(", "the finding of p/fig: "),
    ],
)
def test_a_placeholder_that_stands_for_no_number_is_refused(record: Record, placeholder: str, message: str) -> None:
    with pytest.raises(record_values.NoSuchValue, match=message):
        record_values.filled(placeholder, record)


def test_every_finding_is_filled_in_and_states_the_seeds_of_its_record() -> None:
    texts = dict(finding_pages.pages())
    assert [page for page, text in texts.items() if "{{" in text] == []
    stated = 0
    for page, source in finding_pages.sources().items():
        if not source.endswith("finding.md"):
            continue
        record = read_record(page.removeprefix("findings/").removesuffix(".md"))
        assert record is not None, page
        seeds = record_values.filled("{{ seeds }} seeds ({{ runs }} runs", record)
        stated += seeds in " ".join(texts[page].split())
    assert stated >= 60
