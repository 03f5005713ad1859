"""The report page as a reader's browser shows it: drawn, silent, alone, and made of text only."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import browser
import factories
from adversarial import ADVERSARIAL, spoil
from priolane.report.write import write_report
from priolane.results import Results, load
from rings import cases
from test_metrics_table import VALUES, panel
from test_over_time import US, port, write_series

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


@pytest.fixture
def page(blank: browser.Page, path: Path) -> browser.Page:
    blank.open(path)
    return blank


def test_the_page_says_nothing_and_asks_for_nothing(page: browser.Page) -> None:
    assert page.complaints() == []
    asked = [event["request"]["url"] for event in page.of("Network.requestWillBeSent")]
    assert len(asked) == 1
    assert asked[0].startswith("file:///")
    assert asked[0].endswith("/report.html")
    assert page.value("performance.getEntriesByType('resource').length") == 0


def test_figures_are_drawn(page: browser.Page) -> None:
    boxes = page.value(
        "[...document.querySelectorAll('figure svg')].map(svg => [svg, ...svg.querySelectorAll('[id*=\"-line-\"],"
        ' [id*="-mark-"]\')].map(e => { const b = e.getBoundingClientRect(); return [b.width, b.height]; }))'
    )
    figures = page.value("document.querySelectorAll('figure').length")
    assert len(boxes) == figures >= 4
    for (width, height), *parts in boxes:
        assert width > 250
        assert height > 150
        assert parts
        assert all(wide + high > 0 for wide, high in parts)
    # The style sheet holds: the policy let it in.
    assert page.value("getComputedStyle(document.querySelector('.paper')).backgroundColor") == "rgb(255, 255, 255)"
    assert page.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth") is True


def test_pointing_at_a_mark_shows_its_value_and_interval(page: browser.Page) -> None:
    page.point_at('[id*="-mark-2-0"]')
    text = page.tooltip()
    assert text == page.value("document.querySelector('[id*=\"-mark-2-0\"] > title').textContent")
    assert text is not None
    assert "[" in text
    assert "seeds" in text


def test_pointing_anywhere_over_time_shows_all_schemes(page: browser.Page) -> None:
    page.point_at('[id$="-slot-49"]')
    # The 50th bin holds the instant 500 us: 50 kB, and 4 kB more.
    assert page.tooltip() == "time (ms) 0.495\nnos2: 50.0, at most 50.0\npias: 54.0, at most 54.0"
    opacity = "getComputedStyle(document.querySelector('[id$=\"-slot-{}\"] path')).opacity"
    assert float(page.value(opacity.format(49))) == pytest.approx(0.12)
    assert float(page.value(opacity.format(10))) < 0.01


def test_a_narrow_screen_scrolls_one_way_only(page: browser.Page) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1, mobile=True)
    assert page.value("document.documentElement.scrollWidth <= 360") is True
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
    assert blank.value("document.scripts.length + document.images.length") == 0
    # The page's own links lead to places of it and to files beside it.
    own = r"/^(#scheme-\d+|figures\/[a-z]+(-\d+)?\.(png|csv))$/"
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
