"""The report page as a reader's browser shows it: drawn, silent, alone, and made of text only."""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_default_figures import write_flows
from test_metrics_table import VALUES, panel
from test_over_time import US, port, write_series

import browser
import factories
from adversarial import ADVERSARIAL, spoil
from priolane.report.write import write_report
from priolane.results.results import Results, load
from rings import cases

CHROMIUM = browser.find()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=f"no browser here: none of {', '.join(browser.NAMES)}"),
    pytest.mark.xdist_group("browser"),
]


def with_series(directory: Path) -> Results:
    """Results with samples of two schemes at a switch's port."""
    results = load(factories.make_results(directory))
    for nth, scheme in enumerate(("nos2", "pias")):
        rows = [row for at in range(10, 1000, 10) for row in port(at, "s0->h1", 100.0 * at + 4000 * nth, 12_500)]
        write_series(results, scheme, 1, [*rows, *port(10, "s0->h2", 1, 1)], 1000 * US)
    return load(directory)


@pytest.fixture(scope="module")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Page]:
    assert CHROMIUM is not None
    with browser.started(CHROMIUM, tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(with_series(tmp_path_factory.mktemp("browser") / "grid"))


UNFOLD = "document.querySelectorAll('details').forEach(one => { one.open = true; })"


@pytest.fixture
def page(blank: browser.Page, path: Path) -> browser.Page:
    """The page with all that is folded open."""
    blank.open(path)
    blank.value(UNFOLD)
    return blank


def test_the_page_says_nothing_and_asks_for_nothing(page: browser.Page) -> None:
    assert page.complaints() == []
    results = [event["request"]["url"] for event in page.of("Network.requestWillBeSent")]
    assert len(results) == 1
    assert results[0].startswith("file:///")
    assert results[0].endswith("/report.html")
    assert page.value("performance.getEntriesByType('resource').length") == 0


# The drawings that the style sheet shows.
SHOWN_FIGURES = "[...document.querySelectorAll('figure svg.fig')].filter(svg => svg.getClientRects().length)"


def test_figures_are_drawn(page: browser.Page) -> None:
    boxes = page.value(
        f"{SHOWN_FIGURES}.map(svg => [svg, ...svg.querySelectorAll('.line, .m, .value')].map(e =>"
        " { const b = e.getBoundingClientRect(); return [b.width, b.height]; }))"
    )
    figures = page.value("document.querySelectorAll('figure').length")
    assert len(boxes) == figures >= 4
    for (width, height), *parts in boxes:
        assert width > 250
        assert height > 120
        assert parts
        assert all(wide + high > 0 for wide, high in parts)
    # The style sheet holds: the policy let it in.
    assert page.value("getComputedStyle(document.querySelector('.c1 .line')).stroke") == "rgb(15, 69, 155)"
    assert page.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth") is True


def test_dark_pages_have_hues_of_their_own_and_paper_has_those_of_light(page: browser.Page) -> None:
    stroke = "getComputedStyle(document.querySelector('.c1 .line')).stroke"
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.call("Emulation.setEmulatedMedia", media="screen", features=dark)
    assert page.value(stroke) == "rgb(110, 160, 245)"
    page.call("Emulation.setEmulatedMedia", media="print", features=dark)
    assert page.value(stroke) == "rgb(15, 69, 155)"
    assert page.value("getComputedStyle(document.querySelector('.hint')).display") == "none"
    page.call("Emulation.setEmulatedMedia", media="", features=[])


# The first figure is of gains over load by scheme: nos2, pias, es8.
TIP = "(tip => tip.hidden ? null : [...tip.children].map(one => one.textContent))(document.querySelector('.tip'))"
FIRST = "document.querySelector('figure svg.fig')"


def press(page: browser.Page, *keys: str) -> None:
    for key in keys:
        page.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        page.call("Input.dispatchKeyEvent", type="keyUp", key=key)


def test_pointing_at_a_figure_shows_the_values_of_all_schemes_there(page: browser.Page) -> None:
    page.point_at("figure svg.fig .m[data-k='3']")
    head, *lines = page.value(TIP)
    assert head == "Load 0.8"
    assert [line.split()[0] for line in lines] == ["nos2", "pias", "es8"]
    assert lines[0] == "nos2 1.52 [1.43,\u202f1.61], 2 seeds"
    assert page.value("document.querySelector('.tip').getAttribute('role')") == "status"
    assert page.value(f"{FIRST}.querySelector('.cross').getAttribute('d').startsWith('M')") is True


def test_arrow_keys_step_through_a_figure_and_escape_ends(page: browser.Page) -> None:
    assert page.value(f"{FIRST}.getAttribute('role')") == "group"
    page.value(f"{FIRST}.focus()")
    heads = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft"):
        press(page, key)
        heads.append(page.value(TIP)[0])
    # It stays at the first one.
    assert heads == ["Load 0.5", "Load 0.6", "Load 0.5", "Load 0.5"]
    press(page, "Escape")
    assert page.value(TIP) is None


def test_a_button_takes_a_scheme_out_of_all_figures_and_back(page: browser.Page) -> None:
    seen = (
        "[...document.querySelectorAll('figure [data-s=\"pias\"]')].filter(part => part.getClientRects().length).length"
    )
    before = page.value(seen)
    assert before >= 4
    button = "document.querySelector('button[data-chip=\"pias\"]')"
    page.value(f"{button}.focus()")
    page.value(f"{button}.click()")
    assert (page.value(seen), page.value(f"{button}.getAttribute('aria-pressed')")) == (0, "false")
    page.point_at("figure svg.fig .m[data-k='3']")
    assert [line.split()[0] for line in page.value(TIP)[1:]] == ["nos2", "es8"]
    page.value(f"{button}.click()")
    assert page.value(seen) == before


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of default figures at two loads, with slowdowns of 2 at the lower one and 3 at the higher."""
    results = load(factories.make_results(tmp_path_factory.mktemp("swept") / "grid", panels=0))
    for at, slowdown in ((0.5, 2.0), (0.8, 3.0)):
        for scheme in factories.SCHEMES:
            for seed in factories.SEEDS:
                write_flows(results, scheme, seed, [(1000 * nth, slowdown) for nth in range(1, 101)], load=at)
    return write_report(load(results.directory))


# What can be seen of the figures of flows: the points that are drawn, their names, and the buttons that are pressed.
POINTS = """(() => { const seen = (css) => [...document.querySelectorAll(css)].filter(e => e.getClientRects().length);
return [seen('[data-at]').map(e => e.dataset.at), seen('.pointname').map(e => e.textContent),
seen('.points [aria-pressed="true"]').map(e => e.textContent)]; })()"""
LOW, HIGH = "load 0.5", "load 0.8"


def test_a_button_shows_all_figures_of_flows_at_another_point_of_the_sweep(blank: browser.Page, swept: Path) -> None:
    blank.open(swept)
    assert blank.complaints() == []
    assert blank.value(POINTS) == [["1"] * 3, [], [HIGH] * 3]
    button = "document.querySelector('[data-point=\"0\"]')"
    blank.value(f"{button}.focus()")
    blank.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", text="\r", windowsVirtualKeyCode=13)
    assert blank.value(POINTS) == [["0"] * 3, [], [LOW] * 3]
    # The drawing that is shown now reads its own values.
    blank.point_at("[data-at='0'] svg.fig .m[data-k='3']")
    assert blank.value(TIP)[1:] == [f"{scheme} 2.00, 2 seeds" for scheme in factories.SCHEMES]
    blank.value(f"{button}.nextElementSibling.click()")
    assert blank.value(POINTS) == [["1"] * 3, [], [HIGH] * 3]


def test_without_scripts_the_last_point_of_the_sweep_is_shown_and_named(blank: browser.Page, swept: Path) -> None:
    blank.open(swept, scripts=False)
    assert blank.value(POINTS) == [["1"] * 3, [f"at {HIGH}"] * 3, []]


# Bytes waiting at a port.
TRACE = "#over-time figure:first-child"
TRACE_SLOT = f'{TRACE} .slots [data-k="49"]'


def drag(page: browser.Page, start: float, end: float) -> None:
    """Drags across the first figure, in parts of the width of its frame."""
    left, right, y = page.value(
        f"(svg => {{ svg.scrollIntoView({{block: 'center'}}); const b = svg.getBoundingClientRect();"
        " const [l, r, t, o] = svg.dataset.plot.split(' ').map(Number); const f = b.width / svg.viewBox.baseVal.width;"
        f" return [b.x + l * f, b.x + r * f, b.y + (t + o) / 2 * f]; }})({FIRST})"
    )
    places = [left + part * (right - left) for part in (start, (start + end) / 2, end)]
    kinds = ("mousePressed", "mouseMoved", "mouseReleased")
    for kind, x in zip(kinds, places, strict=True):
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)


def test_dragging_zooms_along_x_and_a_double_click_shows_all_again(page: browser.Page) -> None:
    # Loads 0.5 to 0.8 lie from 0.037 to 0.963 of the frame: the right half has 0.7 and 0.8.
    marks = f"[...{FIRST}.querySelectorAll('.m')].filter(m => m.getClientRects().length)"
    seen = f"[...new Set({marks}.map(m => m.dataset.k))]"
    line = f"{FIRST}.querySelector('.line').getAttribute('d')"
    whole = page.value(line)
    drag(page, 0.5, 1.0)
    assert page.value(seen) == ["2", "3"]
    assert page.value(line) != whole
    assert page.value(f"getComputedStyle({FIRST}.querySelector('.reset')).display") != "none"
    # The place of 0.8 has kept its part of what is shown: 0.963 is now at 0.926.
    left, right = page.value(f"{FIRST}.dataset.plot.split(' ').map(Number).slice(0, 2)")
    at = page.value(
        f"(m => Number(m.dataset.x) + Number(/translate\\((-?[\\d.]+)/.exec(m.getAttribute('transform'))[1]))"
        f"({FIRST}.querySelector(\".series .m[data-k='3']\"))"
    )
    assert (at - left) / (right - left) == pytest.approx(0.926, abs=0.03)
    # Names stay beside their lines, and apart. The left half ends at 0.6.
    page.value(f"{FIRST}.dispatchEvent(new MouseEvent('dblclick'))")
    names = f"[...{FIRST}.querySelectorAll('.lab')].map(name => Number(name.getAttribute('y')))"
    before = page.value(names)
    drag(page, 0.0, 0.5)
    ends = page.value(f"[...{FIRST}.querySelectorAll(\".m[data-k='1']\")].map(mark => Number(mark.dataset.y))")
    moved = page.value(names)
    assert sorted(range(3), key=moved.__getitem__) == sorted(range(3), key=ends.__getitem__)
    assert min(b - a for a, b in itertools.pairwise(sorted(moved))) >= 14
    assert min(moved) == pytest.approx(min(ends) + 4)
    page.value(f"{FIRST}.dispatchEvent(new MouseEvent('dblclick'))")
    assert page.value(names) == before
    assert page.value(seen) == ["0", "1", "2", "3"]
    assert [float(x) for x in re.findall(r"[\d.]+", page.value(line))] == pytest.approx(
        [float(x) for x in re.findall(r"[\d.]+", whole)]
    )


def test_pointing_anywhere_over_time_shows_all_schemes(page: browser.Page) -> None:
    # The 50th bin holds the instant 500 us: 50 kB, and 4 kB more.
    wanted = ["time 0.495 ms", "nos2 50.0, at most 50.0", "pias 54.0, at most 54.0"]
    page.point_at(TRACE_SLOT)
    assert page.value(TIP) == wanted
    # The narrow drawing has no strips of its own and says the same.
    page.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1, mobile=True)
    trace = f"document.querySelector('{TRACE} .n svg.fig')"
    page.value(f"{trace}.focus()")
    press(page, *["ArrowRight"] * 50)
    assert page.value(TIP) == wanted
    page.call("Emulation.clearDeviceMetricsOverride")


def test_without_scripts_the_same_figures_have_titles_and_a_legend(blank: browser.Page, path: Path) -> None:
    blank.open(path, scripts=False)
    blank.value(UNFOLD)
    blank.point_at("figure svg.fig .m[data-k='3'] .dot")
    assert blank.tooltip() == "nos2, Load 0.8: 1.52 [1.43,\u202f1.61], 2 seeds"
    blank.point_at(TRACE_SLOT)
    assert blank.tooltip() == "time 0.495 ms\nnos2: 50.0, at most 50.0\npias: 54.0, at most 54.0"
    assert blank.value(f"{FIRST}.getAttribute('role')") == "img"
    assert blank.value("document.querySelector('.tip') === null") is True
    legend = "[...document.querySelectorAll('.legend button')].map(b => [b.textContent, b.disabled])"
    assert blank.value(legend)[:3] == [["nos2", True], ["pias", True], ["es8", True]]


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_answer_and_its_figure_are_on_the_first_screen(
    blank: browser.Page, path: Path, width: int, height: int
) -> None:
    blank.open(path)
    blank.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
    )
    drawing = f"{SHOWN_FIGURES}[0].getBoundingClientRect()"
    assert blank.value(f"{drawing}.bottom + scrollY") <= height
    assert blank.value("document.querySelector('figure').contains(document.querySelector('figure.hero svg'))") is True
    # In one column the answer stands above, in two beside it.
    below = blank.value(f"{drawing}.top >= document.querySelector('.answer').getBoundingClientRect().bottom")
    assert below is (width < 500)
    assert blank.value("document.documentElement.scrollWidth") <= width
    blank.call("Emulation.clearDeviceMetricsOverride")


def test_a_narrow_screen_scrolls_one_way_only(page: browser.Page) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1, mobile=True)
    assert page.value("document.documentElement.scrollWidth <= 360") is True
    # Text has its size on a phone too: drawings are not scaled down.
    assert (
        page.value(
            f"Math.min(...{SHOWN_FIGURES}.map(svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width))"
        )
        > 0.8
    )
    page.call("Emulation.clearDeviceMetricsOverride")


# A tag, an attribute, and text that is too long.
@pytest.mark.parametrize("nth", cases([0, 2, 10], [1, *range(3, 10)]))
def test_hostile_texts_stay_text(blank: browser.Page, tmp_path: Path, nth: int) -> None:
    text = ADVERSARIAL[nth]
    directory = with_series(tmp_path / "grid").directory
    spoil(directory, text)
    blank.open(write_report(load(directory), rerun=text))
    assert blank.complaints() == []
    assert blank.of("Page.javascriptDialogOpening") == []
    assert len(blank.of("Network.requestWillBeSent")) == 1
    assert blank.value("[document.scripts.length, document.images.length]") == [1, 0]
    # The page's own links lead to places of it and to files beside it.
    own = r"/^(#scheme-\d+|#checks|figures\/[a-z]+(-\d+)?\.csv|https:\/\/github\.com\/[a-z\/]+\.md#[\w.~%-]*)$/"
    hrefs = "[...document.links].map(link => link.getAttribute('href'))"
    assert blank.value(f"{hrefs}.filter(href => !{own}.test(href)).length") == 0
    assert blank.value(f"{hrefs}.length") > 0
    handlers = "[...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => /^on/i.test(a.name)))"
    assert blank.value(f"{handlers}.length") == 0
    if text.isprintable():
        assert blank.value("document.title") == " ".join(text.split())
        assert blank.value(f"document.body.textContent.includes({json.dumps(text)})") is True


@pytest.fixture
def table(blank: browser.Page, tmp_path: Path) -> browser.Page:
    directory = factories.make_results(tmp_path / "grid", 1)
    factories.edit(directory / "report.json", lambda report: report | {"panels": [panel(VALUES)]})
    blank.open(write_report(load(directory)))
    return blank


SHOWN = (
    "[...document.querySelectorAll('.metrics tbody tr')].filter(row => !row.hidden)"
    ".map(row => row.cells[0].textContent + ' ' + row.cells[1].textContent)"
)


def test_a_click_on_a_columns_name_sorts_by_its_numbers_and_what_has_none_comes_last(table: browser.Page) -> None:
    assert table.complaints() == []
    click = "document.querySelectorAll('.metrics th button')[{}].click()"
    table.value(click.format(2))
    assert table.value(SHOWN) == ["dctcp 0.5", "<b>& 0.8", "dctcp 0.8"]
    table.value(click.format(2))
    assert table.value(SHOWN) == ["dctcp 0.8", "<b>& 0.8", "dctcp 0.5"]
    assert table.value("document.querySelector('.metrics th[aria-sort]').getAttribute('aria-sort')") == "descending"
    # The second metric of dctcp at 0.8 has no value.
    for order in (["dctcp 0.5", "<b>& 0.8", "dctcp 0.8"], ["<b>& 0.8", "dctcp 0.5", "dctcp 0.8"]):
        table.value(click.format(3))
        assert table.value(SHOWN) == order


def test_words_and_choices_leave_rows_out(table: browser.Page) -> None:
    assert table.value("document.querySelector('.filters').hidden") is False
    change = (
        "{{ const f = document.querySelector('.filters {}'); f.value = '{}'; f.dispatchEvent(new Event('input')); }}"
    )
    table.value(change.format('select[data-column="1"]', "0.8"))
    assert table.value(SHOWN) == ["dctcp 0.8", "<b>& 0.8"]
    table.value(change.format("input", "DCTCP"))
    assert table.value(SHOWN) == ["dctcp 0.8"]
    assert table.value("document.querySelector('[role=status]').textContent") == "1 of 3 rows"
