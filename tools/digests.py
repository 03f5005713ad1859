"""Prints the digests of some shipped runs, one a line, with the standard library alone, to compare builds and machines.

Usage: python tools/digests.py [RUNS], where RUNS is how many runs of each experiment (4).
"""

import json
import sys
import tempfile
from pathlib import Path

from priolane.execution.settings import Settings
from priolane.model.experiment import Options, plan

ROOT = Path(__file__).parent.parent
COMPARED = (ROOT / "experiments/recipes/first.toml", ROOT / "study/papers/nos2/fig6/figure.toml")


def digests(path: Path, most: int) -> list[str]:
    """Scheme, seed and digest of the first `most` runs of the experiment at its quick size."""
    options = Options(size="quick") if "[quick]" in path.read_text(encoding="utf-8") else Options()
    lines = []
    with tempfile.TemporaryDirectory() as out:
        grid = plan(path, options)
        opened = grid.core.open(out, Settings().to_json())
        for run in grid.runs[:most]:
            opened.run(run.id)
            record = json.loads((Path(out) / run.id / "run.json").read_text(encoding="utf-8"))
            lines.append(f"{path.stem} {run.scheme} seed {run.seed}: {record['digest']}")
    return lines


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    for experiment in COMPARED:
        print("\n".join(digests(experiment, runs)), flush=True)
