"""The meaning of the miss rates printed in Firapam's tables: shares of classes (docs/assumptions.md#firapam-tables)."""

import re
import tomllib
from collections import defaultdict
from pathlib import Path
from statistics import correlation

import pytest

FIGURES = Path(__file__).parent.parent / "study" / "papers" / "firapam"

# PA only, Aequitas and Firapam. In Aequitas' column for D2 two cells of Table III, case 3, look exchanged.
PRINTED = {
    ("asked", "D1"): 0.999,
    ("asked", "D2"): 0.999,
    ("asked", "D3"): 0.990,
    ("aequitas", "D1"): 0.985,
    ("aequitas", "D2"): 0.809,
    ("aequitas", "D3"): 0.992,
    ("firapam", "D1"): 0.982,
    ("firapam", "D2"): 0.978,
    ("firapam", "D3"): 0.987,
}


def _cells() -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Share of flows and printed miss rate of each cell, H and M of both tables, by scheme and sizes."""
    cells = defaultdict(list)
    for table in ("table3", "table4"):
        file = tomllib.loads((FIGURES / table / "figure.toml").read_text(encoding="utf-8"))
        shares = {case["label"]: case["scheme.asked.assign.fractions"] for case in file["sweep"]["case"]}
        for claim in file["claim"]:
            cell = re.fullmatch(r"deadline_miss_rate\.([HM])\.(\w+)", claim.get("ratio", {}).get("of", ""))
            if cell and not cell[2].endswith("_drawn"):
                case = claim["at"]["case"]
                share = shares[case]["HM".index(cell[1])]
                cells[cell[2], case[:2]].append((share, claim["ratio"]["paper"]))
    return cells


def test_printed_miss_rates_are_in_proportion_to_the_shares_of_classes() -> None:
    cells = _cells()
    assert {key: len(values) for key, values in cells.items()} == dict.fromkeys(PRINTED, 12)
    for key, expected in PRINTED.items():
        shares, rates = zip(*cells[key], strict=True)
        assert correlation(shares, rates) == pytest.approx(expected, abs=0.001), key


def test_with_priority_alone_a_share_is_missed_as_much_in_h_as_in_m() -> None:
    by_share = defaultdict(list)
    for share, rate in _cells()["asked", "D1"]:
        by_share[share].append(rate)
    # 0.3: H 0.2342 and 0.2322, M 0.2288. 0.5: H 0.398, M 0.388. 0.33 and 0.34: case 2 of both tables.
    assert max(by_share[0.3]) < 1.03 * min(by_share[0.3])
    assert max(by_share[0.5]) < 1.03 * min(by_share[0.5])


def test_claims_say_which_printed_rates_follow_the_shares() -> None:
    cells = defaultdict(list)
    for table in ("table3", "table4"):
        file = tomllib.loads((FIGURES / table / "figure.toml").read_text(encoding="utf-8"))
        for claim in file["claim"]:
            if claim["section"].startswith("Table"):
                cells["no rate per class" in claim["says"]].append(claim["ratio"]["of"] + " " + claim["at"]["case"])
    # Two of H that look exchanged, and one of M.
    odd = ["deadline_miss_rate.H.asked", "deadline_miss_rate.H.aequitas", "deadline_miss_rate.M.aequitas"]
    assert (len(cells[True]), cells[False]) == (105, [f"{cell} D2-3" for cell in odd])
