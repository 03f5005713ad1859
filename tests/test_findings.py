"""Numbers of findings, which the site takes from the records of their figures."""

import dataclasses
import html
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from priolane.results.cause import Cause
from priolane.study.outcomes import why
from priolane.study.record import Record, read_record

sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "site_pages"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "study"))
import finding_pages
import gallery_pages
import ledger_pages
import record_values

PAPERS = Path(__file__).parent.parent / "study" / "papers"


def item(what: str, mean: float, unit: str = "1", **at: Any) -> dict[str, Any]:
    return {"what": what, "at": at, "unit": unit, "mean": mean, "low": 0.9 * mean, "high": 1.1 * mean}


@pytest.fixture
def record() -> Record:
    claims = [
        {"compared": [item("gain.all.a", 1.5, load=0.5), item("gain.all.a", 1.25, load=0.8)], "measured": []},
        {"compared": [item("rate.all.a", 7.0, "Gbit/s", group={"theta": "7Gbps"})], "measured": []},
        {"compared": [], "measured": [item("fct.all.a", 0.0123, "s"), item("loss.all.a", 0.5)]},
        {"compared": [], "measured": [item("deadline_miss_share.H.a", 0.2, "part")]},
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
        ('{{ value("deadline_miss_share.H.a", digits=0, to="%") }}', "20 [18, 22]"),
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


def test_every_finding_is_filled_in() -> None:
    assert [page for page, text in finding_pages.pages() if "{{" in text] == []


def test_a_finding_says_why_each_claim_is_contradicted() -> None:
    for page, text in finding_pages.pages():
        record = read_record(page.removeprefix("findings/").removesuffix(".md"))
        for claim in record.claims if record else []:
            rows = [line for line in text.splitlines() if html.escape(claim["says"]).replace("|", "\\|") in line]
            assert rows, f"{page}: {claim['says']}"
            if claim["verdict"] == "contradicted":
                reason = html.escape(str(Cause.of(claim["cause"])))
                # A parameter that was fitted to a number says more than why the number is missed.
                reason = why(claim) if claim.get("fitted") else reason
                assert any(reason in row for row in rows), f"{page}: {claim['says']}"


def test_the_head_of_a_finding_states_the_size_of_the_recorded_run() -> None:
    record = read_record("nos2/fig6")
    assert record is not None
    grid = record.grids[0]
    head = gallery_pages.figure("nos2/fig6", "../../")
    assert f"Recorded in the {grid['size']} size, {len(grid['seeds'])} seeds, {grid['runs']} runs." in head
    assert "A figure of ours" not in head
    assert "A figure of ours. Recorded in" in gallery_pages.figure("nos2/hetero", "../../")


def test_the_score_is_above_the_picture_with_the_counts_of_the_record() -> None:
    for page, text in finding_pages.pages():
        figure = page.removeprefix("findings/").removesuffix(".md")
        record = read_record(figure)
        if record is None:
            continue
        assert "*Recorded with" not in text, page
        score, _, rest = gallery_pages.figure(figure, "../../").partition("\n")
        assert 'class="figure' in rest or "No picture is kept" in rest, page
        written = re.sub(r"<[^>]+>", "", score)
        # Every number that stands before the word of a verdict; those of the paper and of ours add up to all claims.
        counts = [int(number) for number in re.findall("[✓✗≈?○] (\\d+) [a-z]", written)]
        assert sum(counts) == len(record.claims), written
        reproduced = sum(claim["verdict"] == "reproduced" and not claim.get("fitted") for claim in record.claims)
        shown = re.findall("✓ (\\d+) (?:reproduced|holds?)", written)
        assert sum(map(int, shown)) == reproduced, written
        assert f"; {len(record.grids[0]['seeds'])} seed" in written
        assert f"results version {record.results}" in written
        assert ("Recorded with" in written) == record.is_older, written
        if record.is_older:
            newer = tomllib.loads((PAPERS / figure / "about.toml").read_text(encoding="utf-8")).get("newer")
            assert written.endswith(f": {newer}." if newer else "; this figure has not been run again."), written


def test_the_score_says_that_traffic_stopped_in_older_versions() -> None:
    # NOS2's numbers of queues are recorded with version 5, and a list of flows ends in TOP's Fig. 14 with any version.
    score = gallery_pages.figure("nos2/queues", "../../").partition("\n")[0]
    assert ": traffic stops before the last flows end, so long flows finish in an empty network. " in score
    assert score.endswith(" Version 6 keeps traffic on: in Fig. 6 the gains at load 0.8 are 1.31 and 1.32.")
    other = gallery_pages.figure("top/fig14", "../../").partition("\n")[0]
    assert other.endswith(": version 6 changes results; this figure has not been run again.")


def test_the_head_of_a_finding_counts_impossible_numbers_apart() -> None:
    # The text says of Homa that it has an incast problem, and that it has none.
    head = gallery_pages.figure("top/fig12", "../../")
    assert "1 impossible as printed" in head
    assert " contradicted<" not in head


def test_the_head_of_every_finding_leads_to_the_claims_of_its_figure_in_the_ledger() -> None:
    claims = ledger_pages.claims()
    for figure in finding_pages.by_figure():
        anchor = f"claims-{figure.replace('/', '-')}"
        assert f"(../../ledger.md#{anchor})" in gallery_pages.figure(figure, "../../")
        row = claims.partition(f' id="{anchor}">')[2].partition("</tr>")[0]
        assert f">{figure}</a>" in row, figure
