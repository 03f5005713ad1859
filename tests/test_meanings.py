"""Names on pages in words: classes with their bounds, schemes, and the names of the study."""

from dataclasses import replace
from pathlib import Path

import pytest

import factories
from priolane.cli.brief.screen import Screen
from priolane.cli.brief.tables import panel_lines
from priolane.figure.palette import SeriesStyles
from priolane.figure.panels import plot_of
from priolane.model.shipped_schemes import about
from priolane.report.figure_values import values_of
from priolane.report.leading import worst_first
from priolane.report.meanings import class_in_words, meanings, panels_in_words
from priolane.report.overview import Overview, overview
from priolane.results.estimate import Estimate
from priolane.results.report import Mark, Panel, Series
from priolane.results.results import Results, load

BARS = Panel(
    title="Completion times",
    kind="bar",
    x_label="",
    y_label="FCT (s), by class",
    log_x=False,
    log_y=False,
    reference=None,
    series=(
        Series(
            "pias",
            "pias",
            0,
            (Mark("mice", Estimate(0.003, 0.002, 0.004, 3)), Mark("mouse", Estimate(0.001, None, None, 1))),
        ),
    ),
    metrics=("fct.mice",),
)


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return load(factories.make_results(tmp_path / "grid"))


@pytest.fixture
def bounded(results: Results) -> Overview:
    """The table of results whose class `mice` has a bound."""
    view = overview(results)
    classes = tuple(
        replace(section, text="below 100kB" if section.name == "mice" else section.text) for section in view.classes
    )
    return replace(view, classes=classes)


def test_bars_of_classes_are_named_with_their_bounds(
    results: Results, bounded: Overview, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = replace(results.report, panels=(BARS,))
    monkeypatch.setattr(Results, "report", property(lambda _: report))
    (panel,) = panels_in_words(results, bounded)
    assert class_in_words(bounded, "mice") == "mice: below 100\N{NO-BREAK SPACE}kB"
    assert (
        class_in_words(bounded, "all")
        == class_in_words(bounded, None)
        == class_in_words(overview(results), "mice")
        == ""
    )
    # `mouse` is along x but no class of the panel's metrics.
    assert [tick.text for tick in plot_of(panel, SeriesStyles([panel])).x.named] == [
        "mice: below 100\N{NO-BREAK SPACE}kB",
        "mouse",
    ]
    assert [row[0] for row in values_of(panel).rows] == ["mice: below 100\N{NO-BREAK SPACE}kB", "mouse"]
    assert "mice: below 100" in panel_lines(Screen(100, is_utf8=True), panel, 3)[0]


def test_values_of_a_figure_have_the_unit_that_fits_them() -> None:
    table = values_of(BARS)
    assert table.of == "FCT, by class"
    thin = "\N{NARROW NO-BREAK SPACE}"
    assert table.rows[0][1] == f"3.0{thin}ms [2.0,{thin}4.0]"
    assert table.rows[1][1] == f"1.00{thin}ms"


def test_schemes_are_explained_unless_a_key_of_theirs_is_set(results: Results) -> None:
    view = overview(results)
    explained = dict(meanings(results, view).entries)
    assert explained["es8"].startswith("Eight levels at hosts and switches, with equal numbers of flows in each level")
    changed = replace(results, options=replace(results.options, sets=(("scheme.es8.port.queues", "4"),)))
    assert "es8" not in dict(meanings(changed, view).entries)
    assert "pias" in dict(meanings(changed, view).entries)


def test_settings_of_the_study_stay_with_the_checks(results: Results) -> None:
    ran = ("`pias`: 3 flows waited (1 of its 4 runs)", "4 flows waited (2 of 16 runs)")
    report = replace(results.report, warnings=("buffers are unbounded", *ran), claims=(), checks=())
    assert worst_first(report) == ["buffers are unbounded", *ran]
    assert worst_first(report, of_study=True) == [*ran]


def test_a_name_of_a_user_is_no_path() -> None:
    assert about("pias")
    assert [about(name) for name in ("../schemes/pias", "x" * 5000, "", "pias\0", "/etc/passwd")] == [""] * 5
