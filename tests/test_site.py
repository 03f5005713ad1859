"""The site: built strictly, it loads nothing from the network, and its search and filters work from files."""

import io
import json
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

import browser
from priolane import _core
from priolane.model import requirements
from priolane.model.keys import parts
from priolane.study import catalogue
from priolane.study.record import records

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "site_pages"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "study"))
import evidence_pages
import links

import site_pictures

ROOT = Path(__file__).parent.parent
CHROMIUM = browser.find()
pytestmark = pytest.mark.xdist_group("site")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. A link or an anchor that leads nowhere fails the build."""
    to = tmp_path_factory.mktemp("site")
    mkdocs = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(to)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(mkdocs, check=False, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return to


class _Loads(HTMLParser):
    """The resources that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        loads = named.get("src") if tag in ("script", "img", "iframe", "source") else None
        if tag == "link" and named.get("rel") in ("stylesheet", "icon", "preload"):
            loads = named.get("href")
        if loads:
            self.found.append(loads)


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 100
    for page in pages:
        reader = _Loads()
        reader.feed(page.read_text(encoding="utf-8"))
        assert [name for name in reader.found if re.match(r"(?!data:)[a-z]+:|//", name)] == [], page
        # The page of errors has paths of a server.
        for name in (name for name in reader.found if page.name != "404.html" and not name.startswith("data:")):
            assert (page.parent / name.partition("?")[0]).exists(), f"{page}: {name}"
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//|@import", style.read_text(encoding="utf-8")), style


def test_every_part_metric_column_command_and_scheme_is_in_the_reference(site: Path) -> None:
    for part in parts():
        page = (site / "reference" / f"{part.row}.html").read_text(encoding="utf-8")
        assert all(f"<code>{key.name}</code>" in page for key in part.keys), part.title
    metrics = (site / "reference" / "metrics.html").read_text(encoding="utf-8")
    assert [m["name"] for m in json.loads(_core.metrics()) if f"<code>{m['name']}</code>" not in metrics] == []
    columns = (site / "reference" / "columns.html").read_text(encoding="utf-8")
    assert all(f"<code>{name}</code>" in columns for name in ("fct_ps", "waited_mean_ps", "cct_ps", "base", "t_ps"))
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    assert "usage: priolane keys" in commands
    for scheme in json.loads(_core.catalogue())["schemes"]:
        page = (site / "reference" / "schemes" / f"{scheme['name']}.html").read_text(encoding="utf-8")
        assert "Switch ports must" in page


def test_every_page_has_one_title(site: Path) -> None:
    pages = [page for page in sorted(site.rglob("*.html")) if page.name != "404.html"]
    titles = {page: len(re.findall(r"<h1[ >]", page.read_text(encoding="utf-8"))) for page in pages}
    assert {page: count for page, count in titles.items() if count != 1} == {}


def test_the_ledger_has_every_recorded_claim(site: Path) -> None:
    page = (site / "ledger.html").read_text(encoding="utf-8")
    kept = list(records([item.key for item in catalogue.figures() if item.experiment is not None]))
    assert page.count("<tr data-paper=") == sum(len(record.claims) for record in kept)
    assert all(record.grids[0]["digest"][:16] in page for record in kept)


def test_every_recorded_figure_is_in_the_gallery_with_its_verdicts(site: Path) -> None:
    page = (site / "gallery.html").read_text(encoding="utf-8")
    for item in catalogue.figures():
        if item.experiment is not None:
            assert f'id="{item.key.replace("/", "-")}"' in page, item.key
    assert page.count('<span class="verdict') >= 73


def test_the_gallery_is_a_grid_of_thumbnails_that_lead_to_pages(site: Path, page: browser.Page) -> None:
    page.open(site / "gallery.html")
    page.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    links = page.value(
        "[...document.querySelectorAll('.thumbnails li > a:has(img)')].map(link => link.getAttribute('href'))"
    )
    assert len(links) == len(list((ROOT / "study").glob("**/picture.webp")))
    assert [link for link in links if not (site / link.partition("#")[0]).is_file()] == []
    assert "findings/nos2/fig6.html" in links
    across = page.value(
        "new Set([...document.querySelectorAll('.thumbnails')[0].querySelectorAll('li')]"
        ".map(item => Math.round(item.getBoundingClientRect().left))).size"
    )
    assert across >= 3
    # The pictures in their own size made a page of 70,000 pixels.
    assert page.value("document.documentElement.scrollHeight") < 12_000
    page.call("Emulation.clearDeviceMetricsOverride")


def test_the_landing_page_shows_three_pages_and_three_commands(site: Path, page: browser.Page) -> None:
    page.open(site / "index.html")
    for name in site_pictures.NAMES:
        for ending in site_pictures.SCHEMES:
            picture = site_pictures.PICTURES / f"{name}{ending}.png"
            assert picture.stat().st_size <= site_pictures.MOST_BYTES
    for system, ending in (("light", ""), ("dark", "-dark")):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": system}])
        shown = "[...document.querySelectorAll('.three img')].map(one => one.currentSrc.split('/').pop()).join(' ')"
        wait_for(page, f"{shown} === '{' '.join(f'{name}{ending}.png' for name in site_pictures.NAMES)}'")
        wait_for(page, "[...document.querySelectorAll('.three img')].every(one => one.naturalWidth > 600)")
    page.call("Emulation.setEmulatedMedia", features=[])
    code = page.value("document.querySelector('.md-content pre').textContent")
    assert re.findall(r"^priolane (\w+)", code, re.MULTILINE) == ["run", "trace", "advise"]


def test_pictures_show_what_readme_and_the_documents_say() -> None:
    titles = json.loads(site_pictures.HEADLINES.read_text(encoding="utf-8"))
    assert list(titles) == list(site_pictures.NAMES)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    match = re.search(r"^✓ holds  (.*)\.$", readme, re.MULTILINE)
    assert match is not None
    says = re.sub(r" \[[^]]*\]", "", match[1])
    assert titles["report"] == says, "make pictures"
    # The document has the answer of the same command.
    assert f"{titles['advice']}: " in (ROOT / "docs" / "advise.md").read_text(encoding="utf-8"), "make pictures"


@pytest.mark.skipif(CHROMIUM is None, reason="no browser here")
def test_a_picture_of_a_page_is_small_and_in_its_colours(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<meta name=color-scheme content='light dark'><style>body { background: #fff }"
        "@media (prefers-color-scheme: dark) { body { background: #000 } }</style>",
        encoding="utf-8",
    )
    assert CHROMIUM is not None
    corners = {}
    for ending, scheme in site_pictures.SCHEMES.items():
        content = site_pictures.screenshot(CHROMIUM, path, scheme)
        assert len(content) <= site_pictures.MOST_BYTES
        with Image.open(io.BytesIO(content)) as opened:
            corners[ending] = opened.convert("RGB").getpixel((5, 5))
    assert corners == {"": (255, 255, 255), "-dark": (0, 0, 0)}


def test_links_between_pages_lead_somewhere_without_the_site() -> None:
    for path in [*(ROOT / "docs").rglob("*.md"), *(ROOT / "study").rglob("*.md"), *ROOT.glob("*.md")]:
        text = links.code_left_out(path.read_text(encoding="utf-8"))
        for to in re.findall(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)", text):
            if not re.match(r"[a-z]+:", to):
                assert (path.parent / to).exists(), f"{path}: {to}"


def test_every_link_on_the_site_leads_to_a_file_and_an_anchor_that_are_there(site: Path) -> None:
    pages = {path.resolve(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    anchors = {path: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for path, text in pages.items()}
    broken, followed = [], 0
    for path, text in pages.items():
        article = text.partition("<article")[2].partition("</article>")[0]
        for to in re.findall(r'<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)="([^"]+)"', article):
            if re.match(r"[a-z]+:", to):
                continue
            file, _, anchor = to.partition("#")
            there = (path.parent / file).resolve() if file else path
            followed += 1
            if not there.exists() or (anchor and there in anchors and anchor not in anchors[there]):
                broken.append(f"{path.relative_to(site.resolve())}: {to}")
    assert followed > 6000
    assert broken == []


def test_what_a_page_says_without_the_site_is_not_on_the_site(site: Path) -> None:
    for name in ("ledger", "ledger-readings", "reference", "gallery"):
        assert "where the site is not built" in (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        shown = (site / f"{name}.html").read_text(encoding="utf-8")
        assert "The site has more here" not in shown
        assert "made by the site" not in shown


def test_pages_of_assumptions_have_readings_and_what_figures_take(site: Path) -> None:
    listed: set[str] = set()
    for item in catalogue.figures():
        if item.experiment is None:
            continue
        page = (site / "assumptions" / f"{item.paper}.html").read_text(encoding="utf-8")
        table = tomllib.loads(item.experiment.read_text(encoding="utf-8"))
        linked = set(re.findall(r'assumptions\.html#([^"]+)"', page))
        assert linked >= set(table.get("assumptions", [])), item.key
        assert all(f"<code>{name}</code>" in page for name in table.get("reading", {})), item.key
        listed |= linked
    assert len(listed) > 150
    model = (site / "assumptions" / "model.html").read_text(encoding="utf-8")
    taken = model.partition('id="nic-queue"')[2].partition("<h3")[0]
    assert "ledger.html#nos2-fig6" in taken


def test_paths_of_the_glossary_exist() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    paths = re.findall(r"^\|.*\| `([^`]+)` \|$", text, re.MULTILINE)
    assert len(paths) > 45
    there = {path: ROOT / (path if path.startswith("python/") else f"crates/priolane-{path}") for path in paths}
    assert [path for path, place in there.items() if not place.exists()] == []


def test_files_and_tests_that_the_oracles_name_exist() -> None:
    page = (ROOT / "docs" / "evidence" / "oracles.md").read_text(encoding="utf-8")
    first, _, invariants = page.partition("## Invariants")
    paths = [path for path in re.findall(r"`([a-z]+/[^`]+)`", first) if path.endswith((".rs", ".py"))]
    assert len(paths) > 50
    there = {path: ROOT / (path if path.startswith("tests/") else f"crates/priolane-{path}") for path in paths}
    assert [path for path, place in there.items() if not place.is_file()] == []
    names = {name for file in evidence_pages.test_files() for name in file.tests}
    named = re.findall(r"`(\w+)`", invariants)
    assert len(named) > 15
    assert [name for name in named if name not in names | {"zero_loss"}] == []


def test_evidence_is_counted_from_the_tests(site: Path) -> None:
    files = {file.path: file for file in evidence_pages.test_files()}
    own = files["tests/test_site.py"]
    assert "test_evidence_is_counted_from_the_tests" in own.tests
    assert own.about.startswith("The site: built strictly")
    assert [file.path for file in files.values() if "[`" in file.about] == []
    engines = files["crates/priolane-sim/tests/runs/engines.rs"]
    assert engines.both_engines
    assert engines.about.startswith("Random small experiments")
    page = (site / "validation.html").read_text(encoding="utf-8")
    total = sum(len(file.tests) for file in files.values())
    assert f"{total:,} tests in {len(files)} files" in page
    listed = (site / "evidence" / "tests.html").read_text(encoding="utf-8")
    assert listed.count("<details") == len(files)
    assert "<code>sim/tests/runs/engines.rs</code>" in (site / "evidence" / "engines.html").read_text(encoding="utf-8")


def test_what_a_scheme_asks_of_switches_and_hosts() -> None:
    def scheme(name: str) -> dict[str, object]:
        return tomllib.loads((ROOT / "schemes" / f"{name}.toml").read_text(encoding="utf-8"))

    queues = {
        name: requirements.queues(scheme(name)) for name in ("dctcp", "nos2", "pias", "top", "ndp", "homa", "pfabric")
    }
    assert queues == {"dctcp": 1, "nos2": 2, "pias": 8, "top": 8, "ndp": 2, "homa": 8, "pfabric": 1}
    sizes = {
        name: requirements.sizes(scheme(name)) for name in ("dctcp", "nos2", "pfabric", "top", "srpt", "prioplus_swift")
    }
    assert sizes == {
        "dctcp": "no",
        "nos2": "distribution",
        "pfabric": "each flow",
        "top": "each flow",
        "srpt": "each flow",
        "prioplus_swift": "no",
    }
    assert "mark packets (ECN)" in requirements.switches(scheme("dctcp"))
    assert "pause 8 classes (PFC)" in requirements.switches(scheme("physical_swift"))
    assert requirements.deadlines(scheme("firapam")) == "yes"


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("[a](b.md)", "[a](b.md)"),
        ("[a](../README.md)", f"[a]({links.REPOSITORY}/blob/main/README.md)"),
        ("[a](../schemes)", f"[a]({links.REPOSITORY}/tree/main/schemes)"),
        ("[a](../README.md#x)", f"[a]({links.REPOSITORY}/blob/main/README.md#x)"),
        ("[a\nb](../README.md)", f"[a\nb]({links.REPOSITORY}/blob/main/README.md)"),
        ("[`a`](../README.md)", f"[`a`]({links.REPOSITORY}/blob/main/README.md)"),
        ("[a\n\nb](../none)", "[a\n\nb](../none)"),
        ("`[a](../none)`", "`[a](../none)`"),
        ("[a](https://x.org/../y)", "[a](https://x.org/../y)"),
    ],
)
def test_links_that_leave_the_pages_lead_to_the_repository(text: str, becomes: str) -> None:
    assert links.Site(ROOT).with_links(text, "page.md") == becomes


def test_links_lead_to_pages_of_the_site_that_are_files_elsewhere() -> None:
    site = links.Site(
        ROOT, pages={"study/README.md": "findings/index.md", "study/papers/top/readings.md": "findings/top.md"}
    )
    assert site.with_links("[a](../study/README.md#b)", "faq.md") == "[a](findings/index.md#b)"
    text = "[a](../../../docs/faq.md), [b](../../README.md), [c](../../../schemes)"
    on_site = site.with_links(text, "findings/top.md", "study/papers/top/readings.md")
    assert on_site == f"[a](../faq.md), [b](index.md), [c]({links.REPOSITORY}/tree/main/schemes)"


@pytest.mark.parametrize("to", ["../none.md", "../../outside.md"])
def test_a_link_to_a_file_that_is_not_there_is_refused(to: str) -> None:
    with pytest.raises(links.BrokenLink):
        links.Site(ROOT).with_links(f"[a]({to})", "page.md")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Page]:
    if CHROMIUM is None:
        pytest.skip(f"no browser here: none of {', '.join(browser.NAMES)}")
    with browser.started(CHROMIUM, tmp_path_factory.mktemp("profile")) as started:
        yield started


def wait_for(page: browser.Page, expression: str) -> None:
    """Waits until an expression holds."""
    end = time.monotonic() + 30.0
    while not page.value(expression):
        assert time.monotonic() < end, expression
        time.sleep(0.05)


def test_search_works_from_files(site: Path, page: browser.Page) -> None:
    page.open(site / "index.html")
    page.value("document.querySelector('input.md-search__input').focus()")
    page.value(
        "(i => { i.value = 'dual_rtt'; i.dispatchEvent(new Event('keyup')); i.dispatchEvent(new Event('input')) })"
        "(document.querySelector('input.md-search__input'))"
    )
    wait_for(page, "document.querySelectorAll('.md-search-result__link').length > 0")
    value = page.value("[...document.querySelectorAll('.md-search-result__link')].map(a => a.href).join(' ')")
    assert "reference/transport.html" in value
    results = [event["request"]["url"] for event in page.of("Network.requestWillBeSent")]
    assert [url for url in results if not url.startswith(("file:", "data:"))] == []


def test_the_index_of_the_search_has_no_tables_of_records(site: Path) -> None:
    index = json.loads(
        (site / "search" / "search_index.js").read_text(encoding="utf-8").partition("=")[2].rstrip(";\n")
    )
    results = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert {"faq.html", "thresholds.html", "reference/transport.html", "findings/nos2/fig6.html"} <= results
    assert results.isdisjoint({"ledger.html", "ledger-readings.html", "gallery.html", "reference/metrics.html"})
    assert "assumptions/model.html" in results
    assert "assumptions/ours.html" not in results
    assert {entry.get("boost") for entry in index["docs"] if entry["location"].startswith("faq.html")} == {4}


def test_every_section_can_be_reached_on_a_wide_screen(site: Path, page: browser.Page) -> None:
    page.open(site / "concepts.html")
    page.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    shown = "[...document.querySelectorAll('.md-tabs__link')].filter(link => link.getBoundingClientRect().height > 0)"
    wait_for(page, f"{shown}.length > 0")
    names = page.value(f"{shown}.map(link => link.textContent.trim()).join(' ')")
    for name in ("Start", "Guides", "Concepts", "Figures and findings", "Reference", "Evidence", "About"):
        assert name in names
    page.call("Emulation.clearDeviceMetricsOverride")


def test_wide_tables_of_sentences_are_cards_on_a_phone(site: Path, page: browser.Page) -> None:
    page.open(site / "reference" / "port.html")
    page.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
    cards = "[...document.querySelectorAll('table[data-cards]')]"
    assert page.value(f"{cards}.length") > 0
    wait_for(page, f"{cards}.every(table => table.getBoundingClientRect().right <= 390)")
    assert page.value(f"{cards}.every(table => [...table.querySelectorAll('td')].every(cell => cell.dataset.column))")
    page.call("Emulation.clearDeviceMetricsOverride")


@pytest.mark.parametrize(("system", "scheme"), [("light", "default"), ("dark", "slate")])
def test_colours_follow_the_system(site: Path, page: browser.Page, system: str, scheme: str) -> None:
    page.open(site / "index.html")
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": system}])
    wait_for(page, f"document.body.dataset.mdColorScheme === '{scheme}'")


def test_filters_of_the_ledger_leave_the_rows_that_fit(site: Path, page: browser.Page) -> None:
    page.open(site / "ledger.html")
    shown = "[...document.querySelectorAll('table.filtered tbody tr')].filter(row => !row.hidden)"
    everything = page.value(f"{shown}.length")
    page.value(
        "(s => { s.value = 'contradicted'; s.dispatchEvent(new Event('input', { bubbles: true })) })"
        "(document.querySelector('#ledger-filters [name=verdict]'))"
    )
    left = page.value(f"{shown}.length")
    assert 0 < left < everything
    assert page.value(f"{shown}.every(row => row.dataset.verdict === 'contradicted')")
    page.value(
        "(s => { s.value = 'no such words'; s.dispatchEvent(new Event('input', { bubbles: true })) })"
        "(document.querySelector('#ledger-filters [name=words]'))"
    )
    assert page.value(f"{shown}.length") == 0
    assert page.value("document.querySelector('#ledger-filters output').textContent") == f"0 of {everything}"
