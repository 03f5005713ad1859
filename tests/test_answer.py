"""The first screen of a page: the answer, its numbers and verdict, and the worst warning; and what follows in order."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_page import structure

import factories
from fake_papers import recorded_figure
from priolane.cli.brief.claims import claim_lines
from priolane.cli.brief.screen import Screen
from priolane.cli.brief.warnings import warning_lines
from priolane.report.answer import answer, numbers_text
from priolane.report.assumption_links import PAGE, links
from priolane.report.leading import MOST_CLAIMS, shown_first, worst_first
from priolane.report.look_at import kinds
from priolane.report.overview import overview
from priolane.report.page_figures import hero_of
from priolane.report.templates import coded, typeset
from priolane.report.write import write_report
from priolane.results.report import Assumption, Flag, Report
from priolane.results.results import Results, load
from priolane.study.recorded import Recorded


def text_of(markup: str) -> str:
    return " ".join(" ".join(structure(markup).text).split())


def test_the_page_answers_first_and_the_rest_follows_in_order(results: Results) -> None:
    page = write_report(results).read_text(encoding="utf-8")
    assert re.findall(r"<h2>([^<]*)</h2>", page) == [
        *("Figures", "Claims", "Tables", "The slowest flows", "Checks", "Behind it")
    ]
    first = page[page.index("<header") : page.index("</header>")]
    order = [first.index(part) for part in ("eyebrow", "<h1", "numbers", "badge big", 'class="warning"', "<figure")]
    assert order == sorted(order)
    before = first[: first.index("<figure")]
    # A screen of a phone: some 45 letters in each of 15 lines, of which a figure leaves half a screen.
    assert len(text_of(before)) < 700
    assert len(re.findall(r"<(?!/)", before)) < 25
    assert "<table" not in before
    assert text_of(before).startswith(
        "NOS2 (GLOBECOM 2019), Fig. 6 · 16 runs (4 schemes, 2 points, 2 seeds) "
        "The three systems behave alike in mean FCT (ratios of 0.97 to 1.05) "
    )


def test_bars_on_the_first_screen_have_their_legend_there(results: Results) -> None:
    report = results.report
    bars = [panel for panel in report.drawn if panel.kind == "bar"]
    factories.edit(results.directory / "report.json", lambda read: read | {"panels": read["panels"][2:]})
    page = write_report(load(results.directory)).read_text(encoding="utf-8")
    first = page[page.index("<header") : page.index("</header>")]
    assert bars[0].title in first
    legend = first[first.index('<ul class="keys">') :]
    assert all(f"{series.label}</li>" in legend for series in bars[0].series)


def test_the_title_has_the_verdict_in_front_and_the_numbers_below(results: Results) -> None:
    claims = results.report.claims
    by_name = {}
    for place, claim in enumerate(claims):

        def lead(report: dict[str, Any], place: int = place) -> dict[str, Any]:
            return report | {"claims": [claim | {"lead": nth == place} for nth, claim in enumerate(report["claims"])]}

        factories.edit(results.directory / "report.json", lead)
        read = load(results.directory)
        by_name[claim.verdict.value] = answer(read, overview(read), Recorded())
    assert by_name["contradicted"].headline.startswith("Not so here: ")
    assert by_name["undecided"].headline.startswith("Open: ")
    assert not by_name["reproduced"].headline.startswith(("Open", "Not"))
    assert "[" not in by_name["undecided"].headline
    assert by_name["contradicted"].pill is not None
    assert by_name["contradicted"].pill["sign"] == "✗"
    assert "[" in numbers_text(claims[0])


def test_the_numbers_below_the_title_say_their_quantity(results: Results) -> None:
    def lead(report: dict[str, Any], says: str, quantity: str) -> dict[str, Any]:
        claim = next(claim for claim in report["claims"] if claim["verdict"] == "reproduced")
        sides = [side for point in claim["points"] for item in point["contrasts"] for side in item["sides"]]
        for side in sides:
            side["quantity"] = quantity
        return report | {"claims": [claim | {"lead": True, "says": says}]}

    texts = {}
    for quantity, says in (
        ("fct_p99", "One is best"),
        ("gain", "One is best"),
        ("fct_p99", "One has the best p99 FCT"),
    ):
        factories.edit(results.directory / "report.json", lambda of: lead(of, says, quantity))  # noqa: B023 - at once
        read = load(results.directory)
        texts[quantity, says] = answer(read, overview(read), Recorded()).numbers
    without = [texts[key] for key in texts if "p99" in key[1]]
    assert "p99 FCT" not in without[0]
    assert texts["fct_p99", "One is best"].startswith("p99 FCT: ")
    assert texts["fct_p99", "One is best"].removeprefix("p99 FCT: ") == without[0]
    assert texts["gain", "One is best"].startswith("gain in mean FCT: ")


def test_the_console_and_the_page_tell_the_same_claims_and_warn_of_the_same(results: Results) -> None:
    report = results.report
    wide = Screen(100, is_utf8=True)
    flag = Flag("timeouts", "flows of class `mice` of `pias` hold 70 %", "pias", "mice", 0.7, 0.1)
    many = [
        replace(claim, text=f"{nth} {claim.text}", flags=(flag,) if nth == 4 else ())
        for nth, claim in enumerate(report.claims * 3)
    ]
    about = "`pias`, class `mice`: 70 % of the sum of completion times"
    report = replace(report, claims=tuple(many), warnings=("a note", about), checks=())
    _, shown = claim_lines(wide, report, 40, {})
    first, rest = shown_first(report)
    assert {claim.text for claim in shown} == {claim.text for claim in first}
    assert (len(first), len(rest)) == (MOST_CLAIMS, 15 - MOST_CLAIMS)
    # Of both, contradicted ones come first.
    verdicts = [claim.verdict.value for claim in first]
    assert verdicts == sorted(verdicts, key=["contradicted", "incomplete", "undecided", "reproduced"].index)
    assert worst_first(report)[0] == about
    assert warning_lines(wide, report, 2)[0].startswith(f"⚑ {about}")


def bare(directory: Path) -> Results:
    """Results of an experiment without claims."""
    factories.make_results(directory, panels=0)
    factories.edit(directory / "report.json", lambda report: report | {"claims": []})
    return load(directory)


def test_without_claims_the_title_is_the_difference_that_is_supported_best(tmp_path: Path) -> None:
    results = bare(tmp_path / "grid")
    result = answer(results, overview(results), Recorded())
    # The means of es8 are 0.0029 / 0.0030 of those of nos2, which is next, in every seed.
    assert result.headline.startswith("es8 has the lowest mean FCT")
    assert "next is nos2" in result.headline
    assert result.pill is None
    assert "no correction" in result.count
    assert write_report(results).read_text(encoding="utf-8").count("<h1") == 1


def test_without_claims_and_with_one_seed_the_title_is_open(tmp_path: Path) -> None:
    results = bare(tmp_path / "grid")
    grid = tmp_path / "grid" / "grid.json"
    factories.edit(grid, lambda of: of | {"runs": [run for run in of["runs"] if run["seed"] == 1]})
    results = load(results.directory)
    result = answer(results, overview(results), Recorded())
    assert result.headline.startswith(
        "Open: mean FCT is 5.27 to 7.27 ms with 4 schemes at load 0.8".replace(" ms", "\xa0ms")
    )
    assert result.count == "one seed has no interval"


def test_the_hero_shows_the_metric_of_the_leading_claim(results: Results) -> None:
    report: Report = results.report
    assert report.lead is not None
    sides = [side for item in report.lead.contrasts for side in item.sides]
    assert {(side.quantity, side.of_class) for side in sides} == {("gain", "all")}
    panels = [
        replace(panel, metrics=metrics)
        for panel, metrics in zip(report.drawn, [("fct.all",), ("gain.mice",), ("gain.all", "gain.mice")], strict=False)
    ]
    assert hero_of(panels, report.lead) == 2
    assert hero_of(panels[:2], report.lead) == 1
    assert hero_of(panels[:1], report.lead) == 0
    assert hero_of(panels, None) == 0


def test_warnings_that_differ_in_names_and_numbers_are_one_table() -> None:
    results = list(
        kinds(
            [
                "`dctcp`, class `small`: 4.77 % of the flows timed out in 9.77 to 27.7 ms (10ms)",
                "`nos2`, class `small`: 4.21 % of the flows timed out in 0.3 to 10 ms (10ms)",
                "ps: switch buffers are unbounded",
                "`nos2`, class `small`: 4.21 % of the flows timed out in 0.3 to 10 ms (10ms)",
            ]
        )
    )
    assert [kind.text for kind in results] == [
        (
            "<var>scheme</var>, class <code>small</code>: "
            "<var>share</var> of the flows timed out in <var>time</var> (10ms)"
        ),
        "ps: switch buffers are unbounded",
    ]
    assert results[0].columns == ["scheme", "share", "time"]
    assert [list(map(str, row)) for row in results[0].rows] == [
        ["<code>dctcp</code>", "4.77 %", "9.77 to 27.7 ms"],
        ["<code>nos2</code>", "4.21 %", "0.3 to 10 ms"],
    ]
    assert not results[1].rows


def test_warnings_that_differ_in_one_name_are_one_sentence() -> None:
    (kind,) = kinds(["ps: switch buffers are unbounded", "srpt: switch buffers are unbounded"])
    assert kind.text == "ps, srpt: switch buffers are unbounded"
    assert not kind.columns
    assert not kind.rows
    # Numbers need the table that says of what they are.
    (numbers,) = kinds(["`a` loses 3 packets", "`a` loses 5 packets"])
    assert [list(map(str, row)) for row in numbers.rows] == [["3"], ["5"]]


def test_no_text_of_a_page_has_backticks_of_markdown(results: Results) -> None:
    def in_backticks(report: dict[str, Any]) -> dict[str, Any]:
        reason = {"because": "steady_state", "seeds": None, "load": None, "says": "the mean of class `all` changed"}
        claims = [
            claim | {"verdict": "undecided", "alone": "undecided", "undecided": reason} for claim in report["claims"]
        ]
        return report | {"claims": claims, "warnings": ["`dctcp`: class `small` has few flows"]}

    factories.edit(results.directory / "report.json", in_backticks)
    page = write_report(load(results.directory)).read_text(encoding="utf-8")
    text = re.sub(r"<(script|style|pre|code)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert "The mean of class <code>all</code> changed" in page
    assert "`" not in text


def test_quantities_of_one_kind_are_numbered() -> None:
    (kind,) = kinds(["class `a` of `x`: 3 of 12 runs", "class `b` of `y`: 4 of 24 runs"])
    assert kind.text == ("class <var>class</var> of <var>name</var>: <var>number 1</var> of <var>number 2</var> runs")


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("`a<b`: 3 & more", "<code>a&lt;b</code>: 3 &amp; more"),
        ("<i>`", "&lt;i&gt;`"),
        ("`<script>`", "<code>&lt;script&gt;</code>"),
    ],
)
def test_what_stands_in_backticks_is_code_and_nothing_is_markup(text: str, markup: str) -> None:
    assert coded(text) == markup
    (kind,) = kinds([text])
    assert kind.text == markup


def test_microseconds_have_their_sign_on_pages() -> None:
    assert typeset("41 [35, 52]\xa0us and 49\xa0us of us") == "41 [35, 52]\xa0µs and 49\xa0µs of us"


def test_assumptions_are_titles_that_lead_to_the_documentation() -> None:
    root = Path(__file__).parent.parent
    assert (
        PAGE.removesuffix("/docs/assumptions.md").replace("/blob/", "/tree/") in (root / "pyproject.toml").read_text()
    )
    (link,) = links([Assumption("nos2-fig1", "NOS2: Fig. 1")])
    assert (link.title, link.url) == ("NOS2: Fig. 1", f"{PAGE}#nos2-fig1")
    (hostile,) = links([Assumption('"><script>', "x")])
    assert hostile.url == f"{PAGE}#%22%3E%3Cscript%3E"


def test_the_verdict_that_is_recorded_stands_beside_a_claim(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded_figure(monkeypatch, results)
    page = write_report(results).read_text(encoding="utf-8")
    # The fixture has four claims of the paper and one of ours; the record has another verdict on the first.
    assert "recorded: contradicted" in page
    assert "Recorded (full, 16 seeds): 1 contradicted." in page
    assert "priolane reproduce nos2/fig6" in page
    assert "recorded: contradicted; one of 5 claims" in text_of(page[page.index("<header") : page.index("</header>")])
