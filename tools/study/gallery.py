"""Makes the small pictures of docs/images/gallery from directories of results: `make gallery RESULTS=DIR`.

`DIR` is what `priolane reproduce PAPER/all --png -o DIR` filled, with a directory PAPER-FIG for each figure. A figure
without results there keeps the picture that it has. docs/images/gallery/runs.json says which run each picture shows.
"""

import argparse
import io
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image

from priolane._core import InputError
from priolane.results import Results, load
from priolane.study import catalogue

ROOT = Path(__file__).parent.parent.parent
PICTURES = ROOT / "docs" / "images" / "gallery"
RUNS = PICTURES / "runs.json"
MOST_BYTES = 120_000
_WIDTHS = (960, 880, 800, 720, 640, 560, 480)
# Few, and fewer where no width has room for these.
_COLOURS = (32, 16, 8, 4)


def name(figure: str) -> str:
    """The name of the picture of a figure."""
    return f"{figure.replace('/', '-')}.png"


def make_thumbnail(picture: Path) -> bytes:
    """A picture as PNG of few colours, as wide as `MOST_BYTES` allow. Raises `ValueError` if no width is."""
    with Image.open(picture) as opened:
        whole = opened.convert("RGB")
    for colours, width in itertools.product(_COLOURS, _WIDTHS):
        if width > whole.width:
            continue
        height = round(whole.height * width / whole.width)
        resized = whole.resize((width, height), Image.Resampling.LANCZOS)
        # Keeps the colours of bars, which fill few of the pixels.
        few = resized.quantize(colours, Image.Quantize.MAXCOVERAGE)
        written = io.BytesIO()
        few.save(written, "PNG", optimize=True)
        if written.tell() <= MOST_BYTES:
            return written.getvalue()
    raise ValueError(f"{picture}: above {MOST_BYTES} bytes at a width of {_WIDTHS[-1]}")


def find_finished(directory: Path) -> Iterator[tuple[str, Results]]:
    """The figures of the catalogue that have results and a picture below `directory`."""
    for item in catalogue.figures():
        there = directory / item.key.replace("/", "-")
        if item.experiment is not None and (there / "figures" / "figure.png").is_file():
            yield item.key, load(there)


def describe_runs(results: Results) -> dict[str, Any]:
    """The run that a picture shows."""
    return {"digest": results.report.digest, "size": results.options.size, "seeds": len(results.report.seeds)}


def make(directory: Path, to: Path = PICTURES) -> list[str]:
    """Writes the pictures of all figures that have results below `directory`; returns the figures."""
    to.mkdir(parents=True, exist_ok=True)
    listed = to / RUNS.name
    runs: dict[str, Any] = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else {}
    made = []
    for figure, results in find_finished(directory):
        (to / name(figure)).write_bytes(make_thumbnail(results.directory / "figures" / "figure.png"))
        runs[figure] = describe_runs(results)
        made.append(figure)
    ordered = {item.key: runs[item.key] for item in catalogue.figures() if item.key in runs}
    listed.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    return made


def main() -> int:
    """Makes the pictures of one directory of results."""
    arguments = argparse.ArgumentParser(description="small pictures of figures, from directories of results")
    arguments.add_argument("results", type=Path, help="the directory with PAPER-FIG below it")
    try:
        made = make(arguments.parse_args().results)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"gallery: {len(made)} pictures")
    return 0 if made else 2


if __name__ == "__main__":
    sys.exit(main())
