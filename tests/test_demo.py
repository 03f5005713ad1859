"""`make demo`: what it runs, the sentence and the picture in which it ends, and that README shows the same."""

import contextlib
import html
import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from priolane.cli import main
from priolane.study import catalogue

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "images" / "demo.svg"
SVG = "{http://www.w3.org/2000/svg}"
# Milliseconds in which flows of 1, 3 and 5 ms of work end. With fair sharing, each gets the same part of the link until
# it is done: 3 x 1, then 3 + 2 x 2, then 7 + 2. Shortest first, they end one after the other.
FAIR, SHORTEST = (3.0, 7.0, 9.0), (1.0, 4.0, 9.0)
PRINTED = ((3.0, 7.0, 9.0), (1.0, 4.0, 10.0))


def run(*words: str) -> str:
    """The output of a command."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(list(words)) == 0
    return out.getvalue()


def command() -> list[str]:
    """The arguments of `priolane` in the Makefile's target."""
    match = re.search(r"^demo: build\n\t\$\(BIN\)/priolane (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert match is not None
    return match[1].split()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The directory in which the demo ran, and what it printed."""
    there = tmp_path_factory.mktemp("demo")
    with contextlib.chdir(there), pytest.MonkeyPatch.context() as patch:
        # As in a pipe.
        patch.delenv("COLUMNS", raising=False)
        text = run(*command())
    return there, text


def conclusion() -> str:
    (item,) = catalogue.find("nos2/fig1")
    assert item.conclusion
    return item.conclusion


def test_the_demo_ends_in_its_sentence_and_its_picture(demo: tuple[Path, str]) -> None:
    directory, text = demo
    lines = text.splitlines()
    assert len(lines) <= 20
    assert " ".join(lines[-6:-4]) == conclusion()
    assert lines[-4:-2] == ["plot  runs/demo/figures/panel-1.svg", "page  runs/demo/report.html"]
    assert (directory / "runs" / "demo" / "figures" / "panel-1.svg").is_file()


def test_the_demo_decides_every_claim(demo: tuple[Path, str]) -> None:
    assert "undecided" not in demo[1]
    assert demo[1].splitlines()[2].startswith("✗ impossible as printed  Short flows first: an average FCT of")


def test_the_page_of_the_demo_begins_with_the_same_sentence(demo: tuple[Path, str]) -> None:
    page = (demo[0] / "runs" / "demo" / "report.html").read_text(encoding="utf-8")
    first = page[page.index("<header") : page.index("</header>")]
    title = re.search(r"<h1[^>]*>(.*?)</h1>", first, re.DOTALL)
    assert title is not None
    assert html.unescape(title[1]).strip() + "." == conclusion()
    assert "impossible as printed" in first
    assert "Not so here" not in page
    # The simulated number stands in the title, and below with its claim.
    shown = html.unescape(first[: first.index("<figure")]).replace("\N{NO-BREAK SPACE}", " ")
    assert re.findall(r"average FCT of 5 units[^<]*\(4\.68 ms here, 5\.00 ms in the paper\)", shown)
    assert shown.count("4.68") == 2
    # The axis calls flows by their classes, the claims by the numbers of the paper.
    assert "flow0 to flow2 are the paper's flows 1 to 3" in html.unescape(first)
    # On a phone, what the colours are is nearer than what the means are.
    assert first.index('class="legend"') < first.index("Means over 2 seeds")


def test_the_list_counts_the_claims_as_the_run_does(demo: tuple[Path, str]) -> None:
    paper, ours = "6 reproduced, 2 impossible as printed", "1 holds"
    assert f" Paper: {paper}. Ours: {ours}." in demo[1]
    assert f"9 claims: {paper}; ours: {ours} (default, 2 seeds)" in run("reproduce", "--list", "nos2/fig1")
    page = (demo[0] / "runs" / "demo" / "report.html").read_text(encoding="utf-8")
    assert f"one of 9 claims: {paper}; ours: {ours}" in page[: page.index("</header>")]


def test_the_step_after_the_demo_decides_every_claim(demo: tuple[Path, str]) -> None:
    following = next(line for line in demo[1].splitlines() if line.startswith("next  priolane "))
    with contextlib.chdir(demo[0]):
        text = run(*following.split()[2:])
    assert re.search(r"^\d+ more: -v\. Paper: 4 reproduced\.", text, re.MULTILINE)


def test_readme_shows_the_sentence_and_the_picture_of_the_demo(demo: tuple[Path, str]) -> None:
    made = (demo[0] / "runs" / "demo" / "figures" / "panel-1.svg").read_bytes()
    assert made == PICTURE.read_bytes(), "cp runs/demo/figures/panel-1.svg docs/images/demo.svg, after make demo"
    text = README.read_text(encoding="utf-8")
    assert f"> {conclusion()}\n" in text
    assert "](docs/images/demo.svg)" in text
    assert text.index("make demo ") < text.index("make test ") < text.index("pipx install")


def test_readme_has_at_most_700_words() -> None:
    assert len(re.findall(r"\S*\w\S*", README.read_text(encoding="utf-8"))) <= 700


def _tops(outlines: list[str]) -> list[float]:
    """The heights of bars or outlines in the picture: the second ordinate is their top."""
    results = []
    for outline in outlines:
        heights = [float(y) for y in re.findall(r"M\S+ (\S+)V(\S+)H", outline)[0]]
        results.append(heights[0] - heights[1])
    return results


def test_the_bars_of_the_picture_are_as_high_as_the_flows_take() -> None:
    root = ET.parse(PICTURE).getroot()  # noqa: S314 - our own file
    assert root.tag == f"{SVG}svg"
    bars = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("class") == "column"]
    # The first outline is the one in the legend, which does not begin at the axis.
    outlines = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("class") == "outline"][1:]
    # The printed 10 ms are the scale.
    scale = max(_tops(outlines)) / 10.0
    assert [top / scale for top in _tops(bars)] == pytest.approx([*FAIR, *SHORTEST], rel=0.02)
    # Outlines stand by flow and scheme; each is the number of the paper.
    assert sorted(top / scale for top in _tops(outlines)) == pytest.approx(sorted([*PRINTED[0], *PRINTED[1]]), abs=0.02)


def test_results_with_other_verdicts_do_not_end_in_that_sentence(tmp_path: Path) -> None:
    # On a link of twice the rate, 9 ms of work take 4.5 ms.
    changed = ["--set", 'topology.host_link.rate="2Gbps"']
    text = run("reproduce", "nos2/fig1", "-o", str(tmp_path / "out"), "--jobs", "1", *changed)
    assert conclusion() not in text
    assert "page  " in text


def test_a_conclusion_stands_where_a_figure_is_run() -> None:
    for item in catalogue.figures():
        assert not item.conclusion or (item.experiment is not None and item.conclusion.endswith(".")), item.key
