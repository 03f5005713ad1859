"""A panel as an SVG file of its own: whole, well-formed, in two schemes of colours, without scripts."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

import factories
from adversarial import ADVERSARIAL
from priolane.figure.document import svg_document, svg_files
from priolane.figure.palette import SeriesStyles
from priolane.results.report import Panel
from priolane.results.results import load

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def panels(tmp_path_factory: pytest.TempPathFactory) -> list[Panel]:
    """A panel of each kind that is drawn."""
    drawn = list(load(factories.make_results(tmp_path_factory.mktemp("grid"))).report.drawn)
    (line,) = [panel for panel in drawn if panel.kind == "line"][:1]
    return [*drawn, replace(line, kind="heat_map")]


def test_each_kind_of_panel_is_a_file_that_stands_alone(panels: list[Panel]) -> None:
    assert len({panel.kind for panel in panels}) > 3
    files = svg_files(panels)
    assert list(files) == [f"panel-{nth}.svg" for nth in range(1, len(panels) + 1)]
    for panel, content in zip(panels, files.values(), strict=True):
        root = ET.fromstring(content)  # noqa: S314 - made just now
        assert root.tag == f"{SVG}svg"
        assert root.get("aria-label") == panel.title
        width, height = float(root.get("width", "")), float(root.get("height", ""))
        assert root.get("viewBox") == f"0 0 {width:g} {height:g}"
        text = content.decode()
        assert "prefers-color-scheme: dark" in text
        assert "<script" not in text
        assert re.findall(r'(?:href|src|url\()="?(?!#)', text.replace("url(#", "")) == []


def test_the_legend_names_what_no_label_beside_a_line_names(panels: list[Panel]) -> None:
    for panel in panels:
        root = ET.fromstring(svg_document(panel, SeriesStyles([panel])))  # noqa: S314 - made just now
        shown = " ".join("".join(element.itertext()) for element in root.iter(f"{SVG}text"))
        for series in panel.series:
            assert series.label[:6] in shown, panel.kind


@pytest.mark.parametrize("nth", range(len(ADVERSARIAL)))
def test_hostile_texts_stay_text(panels: list[Panel], nth: int) -> None:
    hostile = ADVERSARIAL[nth]
    for panel in panels:
        series = tuple(replace(curve, label=hostile) for curve in panel.series)
        changed = replace(panel, title=hostile, y_label=hostile, series=series)
        root = ET.fromstring(svg_document(changed, SeriesStyles([changed])))  # noqa: S314 - made just now
        assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
            *("svg", "style", "rect", "text", "g", "path", "title", "clipPath", "circle", "line"),
        }
