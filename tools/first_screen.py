"""Measures the first screen of report pages in a headless Chromium, and takes pictures of whole pages.

    python tools/first_screen.py runs/x/report.html [--pictures DIR]

A page passes if its figure on the first screen ends within the window at 1280 x 800 and 390 x 844, and if it does not
scroll sideways. The sizes of text in figures are checked by tests/test_page_browser.py.
"""

import argparse
import base64
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

import browser  # noqa: E402 - it is beside the tests

SIZES = ((1280, 800), (390, 844))
_MEASURE = """(() => {
  const end = (selector) => {
    const found = [...document.querySelectorAll(selector)].find((one) => one.getClientRects().length);
    return found ? Math.round(found.getBoundingClientRect().bottom + scrollY) : null;
  };
  const page = document.documentElement;
  return [end('.answer'), end('.hero .w, .hero .n'), page.scrollHeight, page.scrollWidth];
})()"""


def main() -> int:
    """Prints a line for each page and size; 1 if a page does not pass."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("pages", type=Path, nargs="+")
    arguments.add_argument("--pictures", type=Path)
    args = arguments.parse_args()
    program = browser.find()
    if program is None:
        print("no browser here: apt-get install chromium")
        return 1
    failed = False
    with tempfile.TemporaryDirectory() as profile, browser.started(program, Path(profile)) as page:
        for path in args.pages:
            for size in SIZES:
                failed |= not _is_within(page, path, size)
                if args.pictures is not None:
                    _take(page, path, size, args.pictures)
    return int(failed)


def _is_within(page: browser.Page, path: Path, size: tuple[int, int]) -> bool:
    width, height = size
    page.open(path)
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
    answer, figure, whole, across = page.value(_MEASURE)
    passes: bool = (figure or answer) <= height and across <= width
    print(
        f"{'ok  ' if passes else 'FAIL'} {path} at {width} x {height}: the answer ends at {answer} px, the figure at "
        f"{figure} px; the page is {across} x {whole} px"
    )
    return passes


def _take(page: browser.Page, path: Path, size: tuple[int, int], directory: Path) -> None:
    """Pictures of the whole page, light and dark."""
    directory.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.call("Emulation.setEmulatedMedia", media="screen", features=features)
        taken = page.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        name = f"{path.absolute().parent.name}-{size[0]}-{scheme}.png"
        (directory / name).write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    sys.exit(main())
