"""Prints the tables of docs/evidence/advise.md from records of worlds (tests/test_advise_worlds.py).

`PRIOLANE_WORLDS=FOLDER make soak` leaves FOLDER/*.json, which `python tools/worlds_page.py FOLDER` reads. `--keep` also
writes them together to tests/kept/advise_worlds.json.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "tests" / "kept" / "advise_worlds.json"
_ADVISED = ("change nothing", "change")

Records = Sequence[Mapping[str, Any]]


def counts(records: Records) -> Iterator[str]:
    """The rows of the table of what was right."""
    answers = [(record, answer) for record in records for answer in record["answers"]]
    right = sum(answer["kind"] == record["stated"] for record, answer in answers)
    yield f"| answers of the right kind | {right} of {len(answers)} |"
    covered = [low <= truth <= high for _, of in answers for _, _, low, high, truth in of.get("intervals", ())]
    yield f"| printed 95 % intervals that hold the mean of the five lists | {_part(covered)} |"
    kept = [met for _, of in answers if of["kind"] in _ADVISED for met in of.get("kept", ())]
    yield f"| runs of what was advised or left as it is, on the five lists, that meet all goals | {_part(kept)} |"
    change = [(record, of) for record, of in answers if of["kind"] == "change"]
    cheapest = [of["cost"][:2] <= min(row["cost"] for row in always(record))[:2] for record, of in change]
    yield f"| advised changes no dearer than the cheapest row that meets on all five lists | {_part(cheapest)} |"


def always(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows of a world that meet all goals on all fresh lists; all rows if none does."""
    rows = record["truth"]["rows"]
    return [row for row in rows if row["lists_met"] == len(next(iter(row["values"].values())))] or rows


def families(records: Records) -> str:
    """The families of advised changes with their numbers."""
    won = Counter(of["family"] for record in records for of in record["answers"] if of["kind"] == "change")
    return ", ".join(f"{name} {count}" for name, count in won.most_common())


# The number of candidates from which on an answer takes about a fifth of the grid.
_MANY = 12


def takes(records: Records) -> Iterator[str]:
    """The rows of the table of what answers take: worlds, packet-hops in per cent of the grid, the longest time."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        if any("hops" in answer for answer in record["answers"]):
            kinds.setdefault(_compared(record), []).append(record)
    for name in sorted(kinds):
        ran = [answer for record in kinds[name] for answer in record["answers"] if "hops" in answer]
        grids = sorted(100 * answer["hops"] / answer["grid"] for answer in ran)
        longest = max(answer["wall_s"] for answer in ran)
        yield f"| {name} | {len(kinds[name])} | {grids[0]:.0f} to {grids[-1]:.0f} % | {longest:.0f} s |"


def _compared(record: Mapping[str, Any]) -> str:
    if record["goals"][0].startswith("cct"):
        return "lists of coflows, whole"
    if record["candidates"] <= 1:
        return "today's scheme is enough"
    return f"{_MANY} candidates or more" if record["candidates"] >= _MANY else f"fewer than {_MANY} candidates"


def _part(met: Sequence[bool]) -> str:
    return f"{sum(met)} of {len(met)} ({100 * sum(met) / len(met):.0f} %)" if met else "none"


def read(folder: Path) -> list[dict[str, Any]]:
    """The records of a folder, in the order of their names."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def main() -> None:
    """Prints the tables, and keeps records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    records = read(options.folder)
    print(*counts(records), "", families(records), "", *takes(records), sep="\n")
    if options.keep:
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(records, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
