"""Makes the small pictures of figures, picture.webp in their folders, from results: `make gallery RESULTS=DIR`.

`DIR` is what `priolane reproduce PAPER/all --png -o DIR` filled, with a directory PAPER-FIG for each figure. A figure
without results there keeps the picture that it has. The text `run` of a picture says which run it shows.
"""

import argparse
import io
import itertools
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from PIL import Image
from PIL.ExifTags import Base

from priolane._core import InputError
from priolane.model import folders
from priolane.results.results import Results, load
from priolane.study import catalogue

ROOT = Path(__file__).parent.parent.parent
STUDY = ROOT / "study"
PICTURE = "picture.webp"
"""The name of the picture in the folder of a figure."""
_RUN = Base.ImageDescription
MOST_BYTES = 120_000
_WIDTHS = (960, 880, 800, 720, 640, 560, 480)
# Few, and fewer where no width has room for these.
_COLOURS = (32, 16, 8, 4)


def pictures(study: Path = STUDY) -> dict[str, Path]:
    """The pictures that there are, by figure in the order of the catalogue."""
    places = {item.key: folders.folder(study, item.key) / PICTURE for item in catalogue.figures()}
    return {figure: path for figure, path in places.items() if path.is_file()}


def run_shown(picture: Path) -> dict[str, Any]:
    """The run that a picture shows: its digest, size, and number of seeds."""
    with Image.open(picture) as opened:
        read: dict[str, Any] = json.loads(opened.getexif()[_RUN])
    return read


def make_thumbnail(picture: Path, run: Mapping[str, Any]) -> bytes:
    """A picture as lossless WebP of few colours, as wide as `MOST_BYTES` allow, with the run that it shows.

    Raises `ValueError` if no width is small enough.
    """
    with Image.open(picture) as opened:
        whole = opened.convert("RGB")
    for colours, width in itertools.product(_COLOURS, _WIDTHS):
        if width > whole.width:
            continue
        height = round(whole.height * width / whole.width)
        resized = whole.resize((width, height), Image.Resampling.LANCZOS)
        # Keeps the colours of bars, which fill few of the pixels.
        few = resized.quantize(colours, Image.Quantize.MAXCOVERAGE)
        content = encoded(few, run)
        if len(content) <= MOST_BYTES:
            return content
    raise ValueError(f"{picture}: above {MOST_BYTES} bytes at a width of {_WIDTHS[-1]}")


def encoded(picture: Image.Image, run: Mapping[str, Any]) -> bytes:
    """A picture as WebP with the same pixels, a fifth smaller than as PNG, and the run that it shows."""
    description = Image.Exif()
    description[_RUN] = json.dumps(run)
    written = io.BytesIO()
    picture.convert("RGB").save(written, "WEBP", lossless=True, quality=100, exif=description)
    return written.getvalue()


def find_finished(directory: Path) -> Iterator[tuple[str, Results]]:
    """The figures of the catalogue that have results and a picture below `directory`."""
    for item in catalogue.figures():
        there = directory / item.key.replace("/", "-")
        if item.experiment is not None and (there / "figures" / "figure.png").is_file():
            yield item.key, load(there)


def describe_runs(results: Results) -> dict[str, Any]:
    """The run that a picture shows."""
    return {"digest": results.report.digest, "size": results.options.size, "seeds": len(results.report.seeds)}


def make(directory: Path, study: Path = STUDY) -> list[str]:
    """Writes the pictures of all figures that have results below `directory`; returns the figures."""
    made = []
    for figure, results in find_finished(directory):
        to = folders.folder(study, figure)
        to.mkdir(parents=True, exist_ok=True)
        drawn = results.directory / "figures" / "figure.png"
        (to / PICTURE).write_bytes(make_thumbnail(drawn, describe_runs(results)))
        made.append(figure)
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
