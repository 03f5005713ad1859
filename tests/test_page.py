import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import factories
from adversarial import ADVERSARIAL, spoil
from priolane.cli.finish import _as_json
from priolane.report.tables import load_rows, run_rows
from priolane.report.write import write_report
from priolane.results.results import Results, load
from rings import cases


class Structure(HTMLParser):
    """The elements and attribute names of a page outside its drawings, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self.drawn: set[tuple[str, str]] = set()
        self.text: list[str] = []
        self.inside_svg = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside_svg += tag == "svg"
        if self.inside_svg:
            self.drawn |= {(tag, name) for name, _ in attrs} | {(tag, "")}
        else:
            self.elements[(tag, tuple(name for name, _ in attrs))] += 1

    def handle_endtag(self, tag: str) -> None:
        self.inside_svg -= tag == "svg"

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def structure(page: str) -> Structure:
    parser = Structure()
    parser.feed(page)
    parser.close()
    return parser


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> Structure:
    directory = factories.make_results(tmp_path_factory.mktemp("harmless") / "grid")
    spoil(directory, "name")
    return structure(write_report(load(directory)).read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", cases(ADVERSARIAL[::4], (text for nth, text in enumerate(ADVERSARIAL) if nth % 4)))
def test_no_string_of_a_file_adds_an_element_or_attribute(tmp_path: Path, text: str, harmless: Structure) -> None:
    directory = factories.make_results(tmp_path / "grid")
    spoil(directory, text)
    page = structure(write_report(load(directory), rerun=text).read_text(encoding="utf-8"))
    assert page.elements == harmless.elements
    assert {tag for tag, _ in page.drawn} <= {tag for tag, _ in harmless.drawn}
    assert not [name for _, name in page.drawn if name.startswith("on")]
    if text.isprintable() and len(text) < 100:
        assert text in "".join(page.text)


def test_the_page_is_one_file_with_its_own_script_only(results: Results) -> None:
    page = write_report(results).read_text(encoding="utf-8")
    tags = {tag for tag, _ in structure(page).elements} | {tag for tag, _ in structure(page).drawn}
    assert page.count("<script") == page.count("<script>") == 1
    assert not tags & {"link", "img", "iframe", "object", "image", "foreignobject", "form"}
    assert "style=" not in page
    # Links lead to places of the page, to files beside it, and to the documentation's page of assumptions.
    documented = re.escape("https://github.com/priolane/priolane/blob/main/docs/assumptions.md#")
    assert not re.findall(rf"(?:href|src)=\"(?!#|figures/|{documented}[a-z0-9-]+\")", page)
    files = re.findall(r"href=\"(figures/[^\"]*)", page)
    assert set(files) == {"figures/results.csv", *(f"figures/panel-{nth}.csv" for nth in range(1, 5))}
    assert [file for file in files if not (results.directory / file).is_file()] == []
    drawn = write_report(results, png=True, pdf=True).read_text(encoding="utf-8")
    assert {'href="figures/panel-1.png"', 'href="figures/panel-1.pdf"'} <= set(re.findall(r'href="[^"]*"', drawn))


def test_the_policy_allows_the_pages_own_style_and_script_only(results: Results) -> None:
    page = write_report(results).read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert policy
    assert style
    expected = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)
    assert script
    allowed = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    wanted = f"default-src 'none'; style-src 'sha256-{expected}'; script-src 'sha256-{allowed}'; img-src data:;"
    assert policy[1].startswith(wanted)


def test_the_page_shows_what_a_reader_needs(results: Results) -> None:
    text = " ".join(" ".join(structure(write_report(results).read_text(encoding="utf-8")).text).split())
    for wanted in (
        "NOS2 (GLOBECOM 2019), Fig. 6 · 16 runs (4 schemes, 2 points, 2 seeds)",
        "mice: ES-8 best, PIAS worst",
        "Mice: ES-8 > NOS2 > PIAS",
        "3.20 [3.00, 3.40]",
        "✗ contradicted",
        "9 to 30 seeds would decide it.",
        "our own claim",
        "offered to the core",
        "queue that served",
        "Seeds 1, 2",
        "0.1.0+0123456789abcdef",
        "5b" * 32,
        "--set 'time.measure=\"2s\"' --seeds 2 --quick -o",
        '"hosts_per_leaf": 30',
    ):
        assert wanted in text


def fit_the_reproduced(report: dict[str, Any]) -> dict[str, Any]:
    """The report with parameters that were fitted to every number that is reproduced."""
    fitted = {"fitted": "the deadlines"}
    claims = [claim | (fitted if claim["verdict"] == "reproduced" else {}) for claim in report["claims"]]
    return report | {"claims": claims}


def test_the_tally_counts_claims_and_intervals_need_seeds(results: Results) -> None:
    page = write_report(results).read_text(encoding="utf-8")
    text = " ".join(" ".join(structure(page).text).split())
    # The paper's and ours are counted apart: the one claim of ours is undecided.
    assert "one of 5 claims: 2 reproduced, 1 undecided, 1 contradicted; ours: 1 undecided" in text
    assert (
        "Means over 2 seeds, geometric for quantities above 0; whiskers show 95 % intervals, where these fit the panel."
        in text
    )
    factories.edit(results.directory / "report.json", fit_the_reproduced)
    page = write_report(load(results.directory)).read_text(encoding="utf-8")
    assert "1 undecided, 1 contradicted, 2 fitted; ours: 1 undecided" in page
    assert "The deadlines were fitted to it." in page
    standings = [(claim["verdict"], claim["standing"]) for claim in _as_json(load(results.directory))["claims"]]
    assert standings.count(("reproduced", "fitted")) == 2
    factories.edit(results.directory / "report.json", lambda report: report | {"seeds": [1]})
    page = write_report(load(results.directory)).read_text(encoding="utf-8")
    assert "One seed: no intervals." in page
    assert "95 % intervals" not in page


def test_a_grid_without_a_sweep_has_no_column_of_sweep_points(results: Results) -> None:
    assert load_rows(results).columns[0] == "sweep point"
    assert run_rows(results).columns[2] == "sweep point"
    for record in results.records.values():
        record["point"] = {}
    loads, runs = load_rows(results), run_rows(results)
    assert (loads.columns[:2], loads.texts) == (["scheme", "asked"], 1)
    assert (runs.columns[:3], runs.texts) == (["run", "scheme", "seed"], 2)
    assert {len(row) for row in (*loads.rows,)} == {4}
    assert {len(row) for row in (*runs.rows,)} == {7}


def test_tokens_that_ports_drop_are_apart_from_data(results: Results) -> None:
    assert run_rows(results).columns[4:] == ["packet hops", "drops", "timeouts", "digest"]
    for record in results.records.values():
        if record["scheme"] == "nos2":
            record["tokens"] = {"dropped": 2, "expired_at_hosts": 5, "expired_at_ports": 6}
    runs = run_rows(results)
    assert runs.columns[5:9] == ["drops", "timeouts", "tokens dropped", "tokens expired"]
    # Of the three packets dropped two were tokens.
    assert {tuple(row[5:9]) for row in runs.rows if row[1] == "nos2"} == {("1", "2", "2", "11")}
    assert {tuple(row[5:9]) for row in runs.rows if row[1] == "dctcp"} == {("3", "2", "–", "–")}


def test_flows_that_start_at_once_offer_no_load_over_time(results: Results) -> None:
    for record in results.directory.glob("*/run.json"):
        factories.edit(record, lambda result: result | {"load": result["load"] | {"offered_host": 8.99e9}})
    page = write_report(load(results.directory)).read_text(encoding="utf-8")
    assert "all at once" in page
    assert "8.99e+09" not in page


def test_drops_that_nobody_counted_are_not_shown_as_none(results: Results) -> None:
    for record in results.records.values():
        record["counters"]["drops"] = None
    runs = run_rows(results)
    assert {row[runs.columns.index("drops")] for row in runs.rows} == {"–"}


def test_tables_have_a_row_a_scheme_and_that_of_the_lead_claim_is_open(results: Results) -> None:
    page = write_report(results).read_text(encoding="utf-8")
    tables = page[page.index("<h2>Tables</h2>") : page.index("<h2>The slowest flows</h2>")]
    text = " ".join(" ".join(structure(tables).text).split())
    assert "all: all flows; 1,000 flows a run" in text
    assert "scheme mean FCT, ms p99 FCT, ms slowdown load 0.5 load 0.8 load 0.5 load 0.8" in text
    # dctcp at load 0.5: 6.06 and 6.12 ms, with the logarithms 1.806761 ± 12.7062 x 0.0049262. At 0.8 they are
    # 1.2 times as long: half of that interval, 0.46, deserves one decimal.
    assert "dctcp 6.09 [5.72, 6.48] 7.3 [6.9, 7.8] 54.8 [51.5, 58.3]" in text
    # es8 is ahead by the same 1.5 % of its mean in both seeds.
    assert tables.count("<strong>") > 0
    scheme = re.search(r'<a href="#(scheme-\d+)">nos2</a>', tables)
    assert scheme
    assert f'id="{scheme[1]}"' in page
    # The lead claim is about all flows.
    assert re.findall(r"<details( open)?><summary>(\w+)", tables) == [(" open", "all"), ("", "mice"), ("", "whole")]


def test_the_page_is_the_same_each_time(results: Results) -> None:
    assert write_report(results).read_bytes() == write_report(results).read_bytes()


def test_a_claim_that_is_decided_alone_but_not_among_all_says_so(results: Results) -> None:
    says = "not decided among all claims of the figure: 9 to 30 seeds would decide it, with even odds"
    why = {"because": "claims", "seeds": [9, 30], "load": None, "says": says}

    def undecided(report: dict[str, Any]) -> dict[str, Any]:
        report["claims"][0] |= {"verdict": "undecided", "alone": "reproduced", "undecided": why}
        return report

    factories.edit(results.directory / "report.json", undecided)
    text = " ".join(structure(write_report(load(results.directory)).read_text(encoding="utf-8")).text)
    words = " ".join(text.split())
    assert "Alone it is reproduced; among all claims it is open. 9 to 30 seeds would decide it." in words
    assert f"Alone reproduced. {says.capitalize()}." in words
    # Two of the five are decided; the first one is by itself only.
    assert "2 of 5 claims are decided among all: the probability that even one" in " ".join(text.split())
    assert "its own 95 % interval, 3 are decided" in " ".join(text.split())


def test_a_claim_that_the_load_leaves_undecided_says_so(results: Results) -> None:
    path = results.directory / "report.json"
    says = "asked load 0.200 of hosts, offered 0.626, tolerance ±5 %"
    why = {"because": "load", "seeds": None, "load": {"asked": 0.2, "offered": 0.626}, "says": says}

    def undecided(report: dict[str, Any]) -> dict[str, Any]:
        report["claims"][0] |= {"verdict": "undecided", "alone": "undecided", "undecided": why}
        return report

    factories.edit(path, undecided)
    text = " ".join(structure(write_report(load(results.directory)).read_text(encoding="utf-8")).text)
    assert f"{says.capitalize()}." in " ".join(text.split())
