"""Makes the flow sizes of PrioPlus's released generator, whose mix changes with the number of priorities.

    python3 tools/study/size_bands.py workloads/web_search.csv 8 > study/papers/prioplus/fig11_bands/bands_8.csv

Sizes are cut into bands of one width. Each band offers the load times its part of the *flows*, not of the bytes: with
f its part and m its mean size it starts flows at a rate proportional to f / m: bands of small flows get more of them.
"""

import sys
from itertools import pairwise
from pathlib import Path

Point = tuple[float, float]


def points(text: str) -> list[Point]:
    """The rows `bytes,cdf` of a table of sizes."""
    rows = [line.split(",") for line in text.splitlines() if line and not line.startswith("#")]
    return [(float(size), float(part)) for size, part in rows[1:]]


def part_below(law: list[Point], size: float) -> float:
    """The part of flows of at most `size` bytes."""
    for (x0, y0), (x1, y1) in pairwise(law):
        if size <= x1:
            return y0 + (y1 - y0) * (size - x0) / (x1 - x0)
    return 1.0


def banded(law: list[Point], bands: int) -> list[Point]:
    """The sizes of all bands together."""
    largest = law[-1][0]
    weighted: list[Point] = [law[0]]
    for band in range(bands):
        low, high = largest * band / bands, largest * (band + 1) / bands
        inner = [point for point in law if low < point[0] < high]
        cut = [(low, part_below(law, low)), *inner, (high, part_below(law, high))]
        flows = cut[-1][1] - cut[0][1]
        steps = list(pairwise(cut))
        mean = sum((x0 + x1) / 2 * (y1 - y0) for (x0, y0), (x1, y1) in steps) / flows
        for (_, y0), (x1, y1) in steps:
            weighted.append((x1, weighted[-1][1] + (y1 - y0) / mean))
    return [(size, part / weighted[-1][1]) for size, part in weighted]


def mean_size(law: list[Point]) -> float:
    """The mean size with linear interpolation."""
    return sum((x0 + x1) / 2 * (y1 - y0) for (x0, y0), (x1, y1) in pairwise(law))


def main() -> None:
    """Prints the table."""
    path, bands = Path(sys.argv[1]), int(sys.argv[2])
    law = banded(points(path.read_text(encoding="utf-8")), bands)
    print(f"# source: {path.name} in {bands} bands of one width, each with its part of the flows as its part")
    print(f"# of the load (tools/study/size_bands.py); mean {mean_size(law) / 1e6:.3f} MB with linear interpolation")
    print("bytes,cdf")
    for size, part in law:
        print(f"{size:.0f},{part:.9g}")


if __name__ == "__main__":
    main()
