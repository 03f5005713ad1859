"""Published curves behind measured values."""

import csv
import json
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from factories import FIXTURES
from plots import texts_of
from priolane.plots.draw import draw_panel
from priolane.plots.style import style_of
from priolane.results.published import Curve, PublishedPoint, printed
from priolane.results.report import Panel, Report

PAPERS = Path(__file__).parent.parent.resolve() / "study" / "papers"
REPORT = Report.from_json((FIXTURES / "report.json").read_text(encoding="utf-8"))
LINE, BAR = REPORT.panels[0], REPORT.panels[2]


def curve(series: str, *points: tuple[float | str | None, float], how: str = "read off the drawing") -> Curve:
    return Curve("A paper", "Fig. 6", series, how, tuple(PublishedPoint(x, y, 0.0) for x, y in points))


def papers_lines(panel: Panel) -> list[tuple[list[list[float]], str, str]]:
    """Returns points, colour and line style of each published curve."""
    axes = draw_panel(panel).figure.axes[0]
    lines = [line for line in axes.get_lines() if "-paper-" in (line.get_gid() or "")]
    return [
        (np.asarray(line.get_xydata()).tolist(), str(line.get_color()), str(line.get_linestyle())) for line in lines
    ]


def test_a_curve_has_the_colour_of_its_series_and_ends_where_the_panel_does() -> None:
    published = (curve("nos2", (0.5, 1.2), (0.8, 1.4), (0.95, 9.0)),)
    drawn = papers_lines(replace(LINE, published=published))
    assert drawn == [([[0.5, 1.2], [0.8, 1.4]], style_of("nos2").colour, "-")]
    assert texts_of(replace(LINE, published=published)).count("paper") == 1
    assert "paper" not in texts_of(LINE)


def test_points_of_a_text_are_not_joined_and_a_mean_over_all_is_level() -> None:
    points = curve("pias", (0.5, 1.2), (0.8, 1.4), how="a number of the text")
    mean = curve("es8", (None, 1.3), how="a number of the text")
    (apart, style), (level, _) = [(xy, style) for xy, _, style in papers_lines(replace(LINE, published=(points, mean)))]
    assert style == "None"
    assert apart == [[0.5, 1.2], [0.8, 1.4]]
    assert [y for _, y in level] == [1.3, 1.3]


def test_an_axis_reaches_what_was_printed() -> None:
    far = replace(LINE, published=(curve("nos2", (0.8, 77.0)),))
    assert draw_panel(far).figure.axes[0].get_ylim()[1] > 77
    tall = replace(BAR, published=(curve("nos2", ("mice", 77.0)),))
    assert draw_panel(tall).figure.axes[0].get_ylim()[1] > 77


def test_an_empty_bar_stands_around_that_of_its_scheme() -> None:
    panel = replace(BAR, published=(curve("nos2", ("mice", 3.0)), curve("es8", ("elephant", 2.0))))
    drawing = draw_panel(panel)
    bars = {bar.get_gid(): bar for bar in drawing.figure.axes[0].patches}
    place = {series.scheme: nth for nth, series in enumerate(panel.series)}
    for nth, (scheme, name, height) in enumerate((("nos2", "mice", 3.0), ("es8", "elephant", 2.0))):
        printed_bar = bars[f"p0-paper-{nth}-0"]
        of = next(n for n, mark in enumerate(panel.series[place[scheme]].marks) if mark.x == name)
        ours = bars[f"p0-mark-{place[scheme]}-{of}"]
        assert printed_bar.get_bbox().x0 == pytest.approx(ours.get_bbox().x0)  # type: ignore[attr-defined]
        assert printed_bar.get_bbox().height == height  # type: ignore[attr-defined]


def test_a_report_says_what_was_printed_and_how_it_was_read() -> None:
    report = json.loads((FIXTURES / "report.json").read_text(encoding="utf-8"))
    point = {"x": "gain.mice", "y": 3.0, "error": 0.1}
    entry = {"paper": "A paper", "figure": "Fig. 6", "series": "nos2", "read": "table", "points": [point]}
    report["panels"][2]["published"] = [entry]
    (result,) = Report.from_json(json.dumps(report)).panels[2].published
    assert result.points == (PublishedPoint("mice", 3.0, 0.1),)
    assert printed([result, result]) == (
        "Faint lines and dotted bars, named paper, are what A paper printed: Fig. 6 (a number of a table)."
    )
    assert printed([]) == ""


def test_values_with_units_become_numbers_as_those_of_the_panel() -> None:
    report = json.loads((FIXTURES / "report.json").read_text(encoding="utf-8"))
    panel = report["panels"][0]
    panel |= {"x": "time.warmup", "x_label": None, "x_values": ["500us", "1ms"]}
    for series in panel["series"]:
        series["points"] = [point | {"x": x} for point, x in zip(series["points"], ["500us", "1ms"], strict=False)]
    points = [{"x": x, "y": 1.2, "error": 0.0} for x in ("500us", "1ms", "7ms")]
    entry = {"paper": "A paper", "figure": "Fig. 6", "series": "nos2", "read": "drawing", "points": points}
    panel["published"] = [entry]
    read = Report.from_json(json.dumps(report)).panels[0]
    assert [point.x for point in read.published[0].points] == [0.5, 1.0, "7ms"]
    assert papers_lines(read)[0][0] == [[0.5, 1.2], [1.0, 1.2]]


def test_a_logarithmic_axis_of_bars_begins_below_what_was_printed() -> None:
    low = replace(BAR, log_y=True, published=(curve("nos2", ("mice", 1e-3)),))
    assert 0 < draw_panel(low).figure.axes[0].get_ylim()[0] < 1e-3


def test_every_file_of_points_is_drawn_and_says_how_it_was_read() -> None:
    named = set()
    for path in PAPERS.glob("*/*/figure.toml"):
        panels = tomllib.loads(path.read_text(encoding="utf-8")).get("panel", [])
        named |= {(path.parent / panel["published"]).resolve() for panel in panels if "published" in panel}
    assert named == set(PAPERS.glob("**/published/*.csv"))
    for path in named:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("# "), path
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        assert rows
        # What is read off a drawing is never exact.
        assert all(row["read"] != "drawing" or float(row["error"]) > 0 for row in rows), path
