"""The size of a grid in words."""

from priolane.results.results import Results


def grid_text(results: Results) -> str:
    """The number of runs, and their factors: `48 runs (3 schemes, 2 points, 8 seeds)`."""
    schemes = len({run.scheme for run in results.runs})
    points = len({repr(sorted(run.point.items())) for run in results.runs})
    seeds = len({run.seed for run in results.runs})
    counts = [_count(schemes, "scheme"), *([_count(points, "point")] if points > 1 else []), _count(seeds, "seed")]
    return f"{_count(len(results.runs), 'run')} ({', '.join(counts)})"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
