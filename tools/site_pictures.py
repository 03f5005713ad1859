"""Makes the pictures of the landing page in docs/images/site: `make pictures`, with a Chromium.

Each is the first screen of a page that a command of docs/index.md makes, in light and in dark: the report of README's
experiment, a replay of one of its flows, and advice on the recorded flows of examples/advise.
"""

import html
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from priolane.hosts.machine import BROWSERS

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "images" / "site"
SCHEMES = {"": 1, "-dark": 0}
"""The end of the name of a picture, and Chromium's number for that colour scheme."""

NAMES = ("report", "replay", "advice")
MOST_BYTES = 150_000
HEADLINES = PICTURES / "headlines.json"
"""The titles that the pictures show, by their names: a test compares them with what README and docs/advise.md say."""
_TITLE = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_SCREEN, _WIDTH = (1120, 780), 960
_COLOURS = (256, 128, 64)
# Milliseconds that a page has to draw itself.
_DRAWN_MS = 8_000
_EXPERIMENT = re.compile(r'```toml title="first.toml"\n(.*?)```', re.DOTALL)


@dataclass(frozen=True)
class Page:
    """A page that a command made."""

    name: str
    path: Path


def pages(directory: Path) -> Iterator[Page]:
    """Runs the three commands below `directory`."""
    match = _EXPERIMENT.search((ROOT / "README.md").read_text(encoding="utf-8"))
    if match is None:
        raise SystemExit("README.md has no first.toml")
    first = directory / "first.toml"
    first.write_text(match[1], encoding="utf-8")
    _priolane(directory, "run", "first.toml", "-o", "first")
    yield Page("report", directory / "first" / "report.html")
    replay, traced = directory / "replay.html", ("--scheme", "pias", "--seed", "1", "--flow", "70")
    _priolane(directory, "trace", "first.toml", *traced, "--page", replay.name, "-o", "trace")
    yield Page("replay", replay)
    examples = ROOT / "examples" / "advise"
    goals = ("--goal", "p99.small < 60us", "--goal", "goodput.bulk > 90%", "--budget", "1e9hops")
    for name in ("flows.csv", "fabric.toml"):
        shutil.copy(examples / name, directory / name)
    _priolane(directory, "advise", "flows.csv", "--fabric", "fabric.toml", *goals, "-o", "advice")
    yield Page("advice", directory / "advice" / "advice.html")


def _priolane(directory: Path, *words: str) -> None:
    """Runs a command in `directory`, so that pages show no path of this machine."""
    command = [sys.executable, "-m", "priolane", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=directory)  # noqa: S603 - our own command


def browser() -> str | None:
    """The path of a Chromium of this machine."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


def screenshot(program: str, page: Path, scheme: int) -> bytes:
    """The first screen of a page in a colour scheme, as PNG of few colours."""
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "screen.png"
        drawn = [f"--screenshot={to}", f"--window-size={_SCREEN[0]},{_SCREEN[1]}", "--hide-scrollbars"]
        when = [f"--virtual-time-budget={_DRAWN_MS}", f"--blink-settings=preferredColorScheme={scheme}"]
        quiet = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
        command = [program, *quiet, *drawn, *when, page.absolute().as_uri()]
        null = subprocess.DEVNULL
        subprocess.run(command, check=True, stdout=null, stderr=null)  # noqa: S603 - a browser of this machine
        return smaller(to)


def smaller(picture: Path) -> bytes:
    """A picture as PNG of at most `MOST_BYTES`. Raises `ValueError` if even 64 colours take more."""
    with Image.open(picture) as opened:
        whole = opened.convert("RGB")
    resized = whole.resize((_WIDTH, round(whole.height * _WIDTH / whole.width)), Image.Resampling.LANCZOS)
    for colours in _COLOURS:
        written = io.BytesIO()
        # The means of what is near: else the ground of a page takes on a tint.
        few = resized.quantize(colours, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
        few.save(written, "PNG", optimize=True)
        if written.tell() <= MOST_BYTES:
            return written.getvalue()
    raise ValueError(f"{picture}: above {MOST_BYTES} bytes in {_COLOURS[-1]} colours")


def title_of(page: str) -> str:
    """The title of a page, as text. Raises `ValueError` if the page has none."""
    match = _TITLE.search(page)
    if match is None:
        raise ValueError("a page of the landing page has no title")
    return " ".join(html.unescape(_TAG.sub("", match[1])).split())


def main() -> int:
    """Writes all pictures."""
    program = browser()
    if program is None:
        print(f"site_pictures: no browser here: none of {', '.join(BROWSERS)}", file=sys.stderr)
        return 2
    PICTURES.mkdir(parents=True, exist_ok=True)
    titles: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for page in pages(Path(folder)):
            titles[page.name] = title_of(page.path.read_text(encoding="utf-8"))
            for ending, scheme in SCHEMES.items():
                (PICTURES / f"{page.name}{ending}.png").write_bytes(screenshot(program, page.path, scheme))
            print(f"site_pictures: {page.name}")
    HEADLINES.write_text(json.dumps(titles, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
