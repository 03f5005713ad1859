import itertools
import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from factories import FIXTURES
from plots import SVG, svg_of
from priolane.plots import write
from priolane.plots.draw import draw_panel, width_of
from priolane.plots.layout import Font, legend_columns, wrapped
from priolane.plots.marks import Drawing, dot
from priolane.plots.raster import Pixels, Raster, rasterize, together
from priolane.plots.series_styles import SeriesStyles, distinct
from priolane.plots.style import DOUBLE_IN, SINGLE_IN, SOLID, matplotlib_style, style_of
from priolane.plots.ticks import power_text
from priolane.plots.write import draw_files
from priolane.results.axes import in_numbers, metrics_label
from priolane.results.estimate import Estimate
from priolane.results.kinds import kind_of
from priolane.results.numbers import short
from priolane.results.report import Mark, Panel, Report, Series, _metric_names

OURS = Path(__file__).parent.parent / "study" / "ours"
REPORT = Report.from_json((FIXTURES / "report.json").read_text(encoding="utf-8"))


def colours_of(panel: Panel) -> set[str]:
    """The colours that parts of a drawing are filled with, in lower case."""
    results = {element.get("style", "") + ";fill: " + element.get("fill", "") for element in svg_of(panel).iter()}
    return {colour.lower() for style in results for colour in re.findall(r"fill: (#[0-9a-fA-F]{6})", style)}


def test_a_panel_without_values_says_so_and_has_neither_ticks_nor_legend() -> None:
    nothing = Estimate(mean=None, low=None, high=None, seeds=0)
    panel = REPORT.panels[0]
    series = tuple(
        replace(curve, marks=tuple(replace(mark, estimate=nothing) for mark in curve.marks)) for curve in panel.series
    )
    drawn = "".join(svg_of(replace(panel, series=series)).itertext())
    assert "no value" in drawn
    assert panel.series[0].label not in drawn


def test_bars_have_the_colours_of_their_schemes() -> None:
    assert {style_of(name).colour.lower() for name in ("nos2", "pias", "es8")} <= colours_of(REPORT.panels[2])


def test_bars_of_one_scheme_have_the_looks_of_classes_of_service() -> None:
    bars = REPORT.panels[2]
    bar_series = next(series for series in bars.series if series.scheme == "es8")
    marks = tuple(replace(mark, x=name) for mark, name in zip(bar_series.marks, ("BE", "DS", "MRG"), strict=True))
    drawn = colours_of(replace(bars, series=(replace(bar_series, marks=marks),)))
    # Best effort is black, which SVG leaves out.
    assert {style_of(name).colour.lower() for name in ("ds", "mrg")} <= drawn
    assert style_of("es8").colour.lower() not in drawn


def test_a_line_of_many_marks_is_a_band_with_few_of_them() -> None:
    panel = REPORT.panels[0]
    line = panel.series[0]
    many = replace(line, marks=tuple(replace(line.marks[0], x=float(x)) for x in range(100)))
    ids = [element.get("id", "") for element in svg_of(replace(panel, series=(many,))).iter()]
    assert 5 <= len([id_ for id_ in ids if "-mark-" in id_]) <= 10
    assert any(id_.startswith("FillBetween") for id_ in ids)


def test_a_heat_map_has_a_cell_with_its_value_for_each_series_and_x() -> None:
    panel = replace(REPORT.panels[0], kind="heat_map", y_label="FCT (s)", log_x=True)
    line = panel.series[0]
    empty = replace(line.marks[0], estimate=Estimate(mean=None, low=None, high=None, seeds=0))
    ms = [replace(mark, estimate=replace(mark.estimate, mean=nth / 1e3)) for nth, mark in enumerate(line.marks)]
    drawing = draw_panel(replace(panel, series=(replace(line, marks=(empty, *ms[1:])), *panel.series[1:])))
    assert len([patch for patch in drawing.figure.axes[0].patches if patch.get_gid()]) == 3 * 4  # schemes x loads
    axes, colours = drawing.figure.axes
    assert [text.get_text() for text in axes.texts[:4]] == ["–", "0.00100", "0.00200", "0.00300"]
    assert [label.get_text() for label in axes.get_yticklabels()] == [series.label for series in panel.series]
    assert axes.get_ylim() == (2.5, -0.5)
    assert colours.get_ylabel() == "FCT (s)"

    alone = replace(panel, series=(replace(line, marks=(empty, *ms[1:])),))
    axes, colours = draw_panel(alone).figure.axes
    assert [text.get_text() for text in axes.texts] == ["–", "1.00", "2.00", "3.00"]
    assert colours.get_ylabel() == "FCT (ms)"


def test_a_heat_map_of_many_rows_has_room_for_the_name_of_each_and_plain_numbers_beside_its_colours() -> None:
    panel = replace(REPORT.panels[0], kind="heat_map", log_y=True)
    many = tuple(replace(panel.series[0], label=f"scheme {nth}") for nth in range(30))
    drawing = draw_panel(replace(panel, series=many))
    axes, colours = drawing.figure.axes
    _, height = drawing.figure.get_size_inches()
    # A name is 7.5 points high.
    assert axes.get_position().height * height > 30 * 7.5 / 72
    drawing.figure.canvas.draw()
    named = [label.get_text() for label in colours.get_yticklabels(which="both")]
    assert any(named)
    assert not [text for text in named if "$" in text]


def scatter() -> Panel:
    """Two lines of two dots each: areas are 4 to 1, one dot has no size, and the steepest ray is not seen."""
    estimate = Estimate(mean=1.0, low=0.5, high=1.5, seeds=2)
    size = replace(estimate, mean=400.0)
    far = Mark(x=2.0, estimate=replace(estimate, mean=3.0), across=replace(estimate, mean=2.0), size=size, along=0.5)
    near = replace(far, x=1.0, estimate=estimate, across=estimate, size=replace(size, mean=100.0), along=0.05)
    lines = (("strict", (near, far)), ("paccp", (replace(near, size=None), far)))
    series = tuple(Series(scheme=name, label=name, variant=0, marks=marks) for name, marks in lines)
    panel = replace(REPORT.panels[0], kind="scatter", x_label="rest", y_label="payers", log_y=False, reference=None)
    return replace(panel, series=series, rays=(0.5, 2.0, 9.0))


def test_a_scatter_has_a_dot_for_each_mark_with_both_values_and_areas_as_sizes() -> None:
    drawing = draw_panel(scatter())
    dots = [line for line in drawing.figure.axes[0].get_lines() if "-mark-" in (line.get_gid() or "")]
    assert [np.asarray(line.get_xydata()).tolist() for line in dots] == [[[1, 1]], [[2, 3]]] * 2
    areas = [line.get_markersize() ** 2 for line in dots]
    assert areas[1] == pytest.approx(4 * areas[0])
    assert areas[3] == areas[1]


def test_rays_go_through_the_origin_within_what_is_seen() -> None:
    axes = draw_panel(scatter()).figure.axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    rays = {text.get_text(): line for text, line in zip(axes.texts[-2:], axes.get_lines()[-2:], strict=True)}
    assert set(rays) == {"0.5", "2"}
    for slope, line in rays.items():
        xs, ys = np.asarray(line.get_xydata()).T
        assert np.allclose(ys, float(slope) * xs)
        assert left <= xs.min() < xs.max() <= right * (1 + 1e-9)
        assert bottom <= ys.min() * (1 + 1e-9)
        assert ys.max() <= top * (1 + 1e-9)


BOTH = ("png", "pdf")


def test_figures_are_the_same_bytes_each_time() -> None:
    first = draw_files(REPORT.panels, BOTH)
    assert first == draw_files(REPORT.panels, BOTH)
    assert len(first) == 2 * 4 + 1  # PNG and PDF of each panel, and PNG of all together
    assert all(content.startswith(b"\x89PNG" if name.endswith("png") else b"%PDF") for name, content in first.items())


def test_each_panel_is_drawn_once_for_all_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []

    def counted(panel: Panel, styles: SeriesStyles) -> Drawing:
        drawn.append(panel.title)
        return draw_panel(panel, styles)

    monkeypatch.setattr(write, "draw_panel", counted)
    draw_files(REPORT.panels, BOTH)
    assert drawn == [panel.title for panel in REPORT.panels]


def test_pdf_has_fonts_that_publishers_take_and_needs_no_png() -> None:
    files = draw_files(REPORT.panels[:1], ("pdf",))
    assert list(files) == ["panel-1.pdf"]
    pdf = files["panel-1.pdf"]
    assert b"/FontFile2" in pdf
    assert b"/Subtype /Type3" not in pdf
    assert b"CreationDate" not in pdf


def test_the_figure_of_one_panel_is_that_panel() -> None:
    files = draw_files(REPORT.panels[:1], ("png",))
    assert files["figure.png"] == files["panel-1.png"]


def test_known_schemes_of_one_paper_differ_in_colour_marker_and_hatch() -> None:
    styles = [style_of(name) for name in ("dctcp", "nos2", "pias", "es8")]
    for part in ("colour", "marker", "hatch", "dash"):
        assert len({getattr(style, part) for style in styles}) == 4


OWN = ("nos2", "paccp", "prioplus", "top", "firapam")
BASELINES = ("pias", "dctcp", "expresspass", "homa", "ndp", "phost", "swift", "hpcc", "aequitas", "pfabric")


def test_schemes_of_different_papers_differ_in_lines_bars_and_marks() -> None:
    for first, second in itertools.combinations([style_of(name) for name in (*OWN, *BASELINES)], 2):
        assert (first.colour, first.dash) != (second.colour, second.dash)
        assert (first.colour, first.hatch) != (second.colour, second.hatch)
        # In grey too.
        assert first.marker != second.marker
        assert first.hatch != second.hatch


def test_the_papers_own_schemes_have_a_colour_each_and_solid_lines() -> None:
    styles = [style_of(name) for name in OWN]
    assert len({style.colour for style in styles}) == len(OWN)
    assert {style.dash for style in styles} == {SOLID}


@pytest.mark.parametrize(
    "names",
    [
        ("expresspass", "top", "phost", "ndp", "homa", "hpcc", "pfabric"),
        ("physical_star_swift", "prioplus_swift", "physical_swift", "physical_star_no_cc"),
        ("prioplus_swift", "swift", "hpcc", "d2tcp"),
        ("asked", "aequitas", "firapam", "firapam_per_mi"),
        ("paccp", "newreno", "paccp_dctcp"),
        ("dctcp", "nos2", "pias", "es8", "dctcp_las", "dctcp_srpt"),
        ("prioplus_swift", "physical_swift", "swift_targets", "d2tcp", "prioplus_ledbat", "ledbat"),
    ],
)
def test_schemes_of_one_figure_of_a_paper_have_a_colour_each(names: tuple[str, ...]) -> None:
    assert len({style_of(name).colour for name in names}) == len(names)


@pytest.mark.parametrize("name", ["queues", "frontier", "exchange", "host_queue", "knowledge"])
def test_schemes_of_our_own_figures_are_told_apart_by_colour_and_mark(name: str) -> None:
    schemes = tomllib.loads((OURS / name / "figure.toml").read_text(encoding="utf-8"))["schemes"]
    styles = {(style_of(scheme).colour, style_of(scheme).marker) for scheme in schemes}
    assert len(styles) == len(schemes)


def test_classes_of_service_by_size_of_flows_differ_in_colour_and_mark() -> None:
    styles = [style_of(f"{cos}{size}") for cos in ("BE", "DS", "MRG") for size in ("", "-small", "-medium", "-big")]
    assert len({style.colour for style in styles}) == len({style.marker for style in styles}) == 12
    assert len({style.hatch for style in styles}) == 12


SEVENTEEN = (
    *("dctcp", "pias", "srpt", "homa", "expresspass", "es8", "nos2", "pfabric", "phost", "ndp", "hpcc", "swift"),
    *("prioplus_swift", "srpt_ranked", "ns3_dctcp", "top", "ideal_tokens"),
)


@pytest.mark.parametrize(
    "names", [SEVENTEEN, tuple(f"mine-{n}" for n in range(30)), ("plain", "none", "dctcp", "fifo")]
)
def test_many_schemes_of_one_figure_are_told_apart_by_line_mark_and_bar(names: tuple[str, ...]) -> None:
    styles = distinct(names)
    assert list(styles) == list(names)
    for part in ("dash", "marker", "hatch"):
        assert len({(style.colour, getattr(style, part)) for style in styles.values()}) == len(names)


def test_schemes_of_the_table_keep_their_looks_beside_others() -> None:
    styles = distinct(SEVENTEEN)
    for name in ("dctcp", "pias", "homa", "nos2", "top", "swift", "hpcc", "prioplus_swift"):
        assert styles[name] == style_of(name)
    assert distinct(["mine"])["mine"] == style_of("mine")


def test_all_figures_of_a_report_have_the_same_looks() -> None:
    series = [replace(REPORT.panels[0].series[0], scheme=name, styled_as=None) for name in ("plain", "dctcp")]
    both, single = (replace(REPORT.panels[0], series=tuple(series[nth:])) for nth in (0, 1))
    styles = SeriesStyles([both, single])
    assert styles.of(series[1]) != style_of("dctcp")
    assert styles.of(single.series[0]) == styles.of(both.series[1])


def test_ranks_go_from_dark_to_light_and_differ() -> None:
    styles = [style_of(f"order{rank}") for rank in range(8)]
    channels = [[int(style.colour[i : i + 2], 16) for i in (1, 3, 5)] for style in styles]
    luma = [0.299 * red + 0.587 * green + 0.114 * blue for red, green, blue in channels]
    assert luma == sorted(luma)
    assert len({style.colour for style in styles}) == 8
    assert len({style.marker for style in styles}) == 8


def test_a_variant_has_a_shade_of_its_own_and_not_the_line_of_its_base() -> None:
    base = style_of("firapam")
    for name in ("firapam_mine", "firapam_literal", "firapam-drawn"):
        style = style_of(name)
        assert style.colour != base.colour
        assert style.dash != base.dash
        assert style.hatch != base.hatch
    assert style_of("dctcp_x").colour in ("#000000", "#595959", "#8c8c8c")


def test_the_series_of_one_scheme_look_different() -> None:
    series = [replace(REPORT.panels[0].series[0], variant=variant) for variant in range(4)]
    styles = SeriesStyles([replace(REPORT.panels[0], series=tuple(series))])
    looks = [dot(one, styles.of(one)) for one in series]
    assert len({(look["fillstyle"], look["markerfacecolor"]) for look in looks}) == 4
    # The first two differ in their marks alone.
    assert len({styles.of(one).dash for one in series}) == 3
    assert len({look["marker"] for look in looks}) == 1
    bars = draw_panel(
        replace(REPORT.panels[2], series=tuple(replace(REPORT.panels[2].series[0], variant=v) for v in range(4)))
    )
    assert len({bar.get_alpha() for bar in bars.figure.axes[0].patches}) == 4


@pytest.mark.parametrize(
    ("top", "label", "tick"),
    [(2.5, "Wait (s)", "2.5"), (2.5e-3, "Wait (ms)", "2.5"), (5e-7, "Wait (ns)", "500")],
)
def test_spans_are_told_in_a_unit_that_fits(top: float, label: str, tick: str) -> None:
    panel = REPORT.panels[0]
    marks = tuple(
        replace(panel.series[0].marks[0], x=x, estimate=Estimate(mean=y, low=None, high=None, seeds=1))
        for x, y in ((1.0, 0.0), (2.0, top))
    )
    series = (replace(panel.series[0], marks=marks),)
    wait = replace(panel, series=series, y_label="Wait (s)", log_y=False, reference=None)
    texts = [element.text for element in svg_of(wait).iter(f"{{{SVG}}}text")]
    assert label in texts
    assert tick in texts


def read_panel(**changes: object) -> Panel:
    """A panel of the fixture, a line per scheme over load, as if the report had it with `changes`."""
    report = json.loads((FIXTURES / "report.json").read_text(encoding="utf-8"))
    panel = report["panels"][0] | {"x_label": None, "y_label": None, "log_y": None, "metrics": ["fct_p99.small"]}
    return Report.from_json(json.dumps(report | {"panels": [panel | changes]})).panels[0]


def points(values: dict[object, float]) -> list[dict[str, object]]:
    return [{"x": x, "average": "geometric", "mean": y, "low": None, "high": None, "n": 1} for x, y in values.items()]


def series_of(values: dict[object, float]) -> dict[str, object]:
    return {"scheme": "dctcp", "quantity": "fct_p99", "class": "small", "at": {}, "points": points(values)}


def test_labels_and_units_are_those_of_metric_and_key_where_none_is_stated() -> None:
    panel = read_panel(series=[series_of({0.5: 0.001, 0.8: 0.002})], x_values=[0.5, 0.8], reference=None)
    assert (panel.x_label, panel.y_label, panel.log_y) == ("load (part of capacity)", "FCT p99, small (s)", False)
    texts = [element.text for element in svg_of(panel).iter(f"{{{SVG}}}text")]
    assert "FCT p99, small (ms)" in texts
    stated = read_panel(series=[series_of({0.5: 0.001})], x_label="Load", y_label="Tail (s)")
    assert (stated.x_label, stated.y_label) == ("Load", "Tail (s)")


@pytest.mark.parametrize(
    ("metrics", "label"),
    [
        (["fct.all"], "mean FCT (s)"),
        (["fct_p999.small"], "FCT p99.9, small (s)"),
        (["gain.small", "gain.large"], "gain in mean FCT"),
        (["fct.small", "cct.all"], "time (s)"),
        (["goodput.large"], "goodput, large (Gbit/s)"),
        (["fct.small", "slowdown.small"], ""),
        ([], ""),
    ],
)
def test_metrics_in_words(metrics: list[str], label: str) -> None:
    assert metrics_label(metrics) == label


def test_distributions_and_scatters_have_metrics_along_x() -> None:
    assert kind_of("cdf").labels(["fct.small"], None) == ("FCT, small (s)", "fraction of flows")
    assert kind_of("scatter").labels(["goodput.large", "fct_p99.small"], "group.all.load.value") == (
        "goodput, large (Gbit/s)",
        "FCT p99, small (s)",
    )
    assert kind_of("line").labels(["queue_max.all"], "time") == ("time (s)", "queue max (B)")


@pytest.mark.parametrize(
    ("values", "changes", "scale", "label"),
    [
        # 57 us to 10 ms is more than two decades, 100 us to 10 ms is two.
        ({0.5: 57e-6, 0.8: 0.01}, {}, "log", "FCT p99, small (s), log scale"),
        ({0.5: 1e-4, 0.8: 0.01}, {}, "linear", "FCT p99, small (s)"),
        ({0.5: 0.0, 0.8: 0.01}, {}, "linear", "FCT p99, small (s)"),
        ({0.5: 57e-6, 0.8: 0.01}, {"log_y": False}, "linear", "FCT p99, small (s)"),
        ({0.5: 57e-6, 0.8: 0.01}, {"log_y": True}, "log", "FCT p99, small (s)"),
        ({0.5: 57e-6, 0.8: 0.01}, {"y_label": "Tail (s)"}, "log", "Tail (s), log scale"),
    ],
)
def test_values_over_two_decades_have_a_logarithmic_axis_that_says_so(
    values: dict[object, float], changes: dict[str, object], scale: str, label: str
) -> None:
    panel = read_panel(series=[series_of(values)], reference=None, **changes)
    assert ("log" if panel.log_y else "linear", panel.y_label) == (scale, label)


def test_the_shortest_bar_on_a_logarithmic_axis_is_seen() -> None:
    series = [series_of({"a": 57e-6, "b": 0.01})]
    panel = read_panel(kind="bar", x=None, x_values=["a", "b"], series=series, reference=None)
    assert panel.log_y
    (axes,) = draw_panel(panel).figure.axes
    assert axes.get_yscale() == "log"
    assert axes.get_ylim()[0] == pytest.approx(57e-6 / 2)


def test_swept_values_with_units_are_numbers_in_one_unit() -> None:
    x_values = ["10us", "1ms", "200us"]
    series = [series_of(dict(zip(x_values, (1.0, 2.0, 3.0), strict=True)))]
    panel = read_panel(x="topology.host_link.delay", x_values=x_values, series=series)
    assert panel.x_label == "host link delay (ms), log scale"
    assert [mark.x for mark in panel.series[0].marks] == [0.01, 0.2, 1.0]
    # A label of the experiment's own may say something else: values stay as they are written.
    own = read_panel(x="topology.host_link.delay", x_values=x_values, series=series, x_label="Delay")
    assert [mark.x for mark in own.series[0].marks] == x_values
    assert in_numbers(["10us", "1kB"]) is None
    assert in_numbers(["10us", 5]) is None
    assert in_numbers(["2pkt", "10pkt"]) == ({"2pkt": 2.0, "10pkt": 10.0}, "pkt")


def test_with_many_series_a_panel_is_as_wide_as_the_page() -> None:
    line = REPORT.panels[0].series[0]
    for number, width in ((8, SINGLE_IN), (9, DOUBLE_IN)):
        panel = replace(REPORT.panels[0], series=tuple(replace(line, scheme=f"s{n}") for n in range(number)))
        assert width_of(panel) == width


def test_metrics_of_one_class_are_named_by_their_quantities() -> None:
    assert _metric_names(["token_used.all", "token_wasted.all"]) == {
        "token_used.all": "token used",
        "token_wasted.all": "token wasted",
    }
    assert _metric_names(["gain.mice", "gain.medium"]) == {"gain.mice": "mice", "gain.medium": "medium"}
    assert _metric_names(["fct.mice", "gain.medium"]) == {}
    assert _metric_names(["gain.all"]) == {}


def test_quantities_of_several_classes_of_one_scheme_each_look_different() -> None:
    report = json.loads((FIXTURES / "report.json").read_text(encoding="utf-8"))
    panel = next(panel for panel in report["panels"] if panel["x"])
    line = panel["series"][0]
    pairs = [("H", "downgraded"), ("M", "downgraded"), ("M", "upgraded")]
    panel["series"] = [{**line, "class": request, "quantity": quantity} for request, quantity in pairs]
    read = Report.from_json(json.dumps(report))
    series = next(panel for panel in read.panels if len(panel.series) == 3 and "H" in panel.series[0].label).series
    assert [curve.label for curve in series] == ["H, downgraded", "M, downgraded", "M, upgraded"]
    assert len({style_of(curve.styled_as or curve.scheme).colour for curve in series}) == 3


def test_the_kinds_of_lanes_have_a_colour_each_and_admission_solid_lines() -> None:
    styles = {
        name: style_of(name) for kind in ("wfq", "top", "prioplus") for name in (f"{kind}_asked", f"{kind}_firapam")
    }
    assert len({style.colour for style in styles.values()}) == 3
    assert len({style.marker for style in styles.values()}) == len({style.hatch for style in styles.values()}) == 6
    assert {name for name, style in styles.items() if style.dash == SOLID} == {
        n for n in styles if n.endswith("firapam")
    }


def test_an_unknown_scheme_looks_the_same_everywhere() -> None:
    assert style_of("my-own") == style_of("my-own")
    assert style_of("NOS2") == style_of("nos2")


def test_a_scheme_with_a_leading_underscore_stays_in_the_legend() -> None:
    panel = REPORT.panels[0]
    series = (replace(panel.series[0], label="_mine"), *panel.series[1:])
    texts = [element.text or "" for element in svg_of(replace(panel, series=series)).iter(f"{{{SVG}}}text")]
    assert any(text.endswith("_mine") for text in texts)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1.5, "1.50"), (0.71, "0.710"), (12345.0, "12300"), (123.4, "123"), (2.5e-7, "2.50e-07")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert short(value) == text


@pytest.mark.parametrize(("value", "text"), [(1e-4, "10⁻⁴"), (0.1, "0.1"), (100, "100"), (1e6, "10⁶"), (20, "20")])
def test_logarithmic_ticks(value: float, text: str) -> None:
    assert power_text(value) == text


def test_a_short_logarithmic_axis_names_what_lies_between_powers() -> None:
    panel = REPORT.panels[0]
    marks = tuple(
        replace(mark, estimate=replace(mark.estimate, mean=mean, low=None, high=None))
        for mark, mean in zip(panel.series[0].marks, (3e6, 4e6, 1.5e7, 2.3e7), strict=True)
    )
    short_axis = replace(panel, log_y=True, reference=None, series=(replace(panel.series[0], marks=marks),))
    texts = [element.text or "" for element in svg_of(short_axis).iter(f"{{{SVG}}}text")]
    assert {"10⁷", "2×10⁷", "5×10⁶"} <= set(texts)
    assert not any("math" in text for text in texts)


def test_bars_of_one_thing_are_named_by_their_series() -> None:
    panel = REPORT.panels[2]
    series = tuple(replace(curve, marks=curve.marks[:1]) for curve in panel.series)
    texts = [element.text or "" for element in svg_of(replace(panel, series=series)).iter(f"{{{SVG}}}text")]
    assert {curve.label for curve in series} <= set(texts)
    assert str(series[0].marks[0].x) not in texts


def many(panel: Panel, series: int) -> Panel:
    """A panel with so many series of different schemes."""
    return replace(
        panel,
        series=tuple(replace(panel.series[0], scheme=f"scheme{nth}", label=f"scheme{nth}") for nth in range(series)),
    )


def laid_out(drawing: Drawing) -> Figure:
    """The figure with everything where drawing puts it."""
    with matplotlib_style(SINGLE_IN):
        drawing.figure.draw_without_rendering()
    return drawing.figure


def height_in(axes: Axes) -> float:
    figure = axes.get_figure(root=True)
    assert figure
    return float(axes.get_position().height * figure.get_size_inches()[1])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("nth", range(4), ids=["line", "line", "bar", "cdf"])
def test_axes_keep_their_height_whatever_the_legend_needs(nth: int) -> None:
    for series in (2, 12, 20):
        figure = laid_out(draw_panel(many(REPORT.panels[nth], series)))
        (axes,) = figure.axes
        assert height_in(axes) >= 1.29
        (legend,) = figure.legends
        x_axis = axes.xaxis.get_tightbbox()
        assert x_axis
        assert legend.get_window_extent().y1 <= x_axis.y0
        assert legend.get_window_extent().y0 >= 0
        assert legend.get_window_extent().x0 >= 0


def raster(value: int, size: tuple[int, int], axes_top: int, *, is_wide: bool = False) -> Raster:
    return Raster(np.full((*size, 3), value, dtype=np.uint8), axes_top, is_wide)


def where(sheet: Pixels, value: int) -> tuple[int, int]:
    """The first row and column of a value, which fills a rectangle."""
    rows, columns = (np.flatnonzero((sheet[:, :, 0] == value).any(axis=other)) for other in (1, 0))
    return int(rows[0]), int(columns[0])


def test_all_panels_stand_two_in_a_row_with_axes_level_and_wide_ones_alone() -> None:
    first, second, third = raster(1, (50, 30), 10), raster(2, (60, 40), 25), raster(3, (20, 90), 5, is_wide=True)
    last = raster(4, (20, 30), 5)
    sheet = together([first, second, third, last])
    assert sheet.shape == (65 + 20 + 20, 90, 3)
    assert [where(sheet, value) for value in (1, 2, 3, 4)] == [(15, 0), (0, 30), (65, 0), (85, 0)]
    assert int((sheet[:, :, 0] == 1).sum()) == 50 * 30


def test_a_raster_is_cropped_and_says_where_its_axes_begin() -> None:
    result = rasterize(draw_panel(REPORT.panels[0]))
    ink = (result.pixels != 255).any(axis=2)
    assert not ink[:20].any()
    assert not ink[:, -20:].any()
    assert ink[20].any()
    # Below a title of one line: the ends of y ticks and grid lines are not above the axes.
    assert 20 + 20 < result.axes_top < 20 + 60


def test_a_panel_of_few_series_has_the_usual_height() -> None:
    for panel in REPORT.panels:
        assert draw_panel(panel).figure.get_size_inches() == pytest.approx((SINGLE_IN, 0.68 * SINGLE_IN))


@pytest.mark.parametrize("title", ["How much sooner flows end than with DCTCP", "W" * 60, "as wide as can be " * 9])
def test_titles_end_inside_of_the_figure(title: str) -> None:
    figure = laid_out(draw_panel(replace(REPORT.panels[0], title=title)))
    drawn = figure.axes[0].get_title(loc="left")
    assert drawn.split()[0] == title[: len(drawn.split()[0])]
    (text,) = figure.axes[0].findobj(lambda part: getattr(part, "get_text", str)() == drawn)
    assert text.get_window_extent().x1 <= figure.bbox.x1


def test_text_is_wrapped_at_spaces_then_behind_joints_then_anywhere() -> None:
    font = Font(7.5)
    assert wrapped("one two", font.width("one two"), font) == ["one two"]
    assert wrapped("one two", font.width("one tw"), font) == ["one", "two"]
    assert wrapped("deadline_miss_rate", font.width("deadline_miss_"), font) == ["deadline_miss_", "rate"]
    assert wrapped("mmmm", font.width("mm"), font) == ["mm", "mm"]


@pytest.mark.parametrize("groups", [3, 6, 9])
def test_names_below_bars_are_whole_and_inside_of_the_figure(groups: int) -> None:
    names = [f"deadline_miss_rate_of_class_{nth}" for nth in range(groups)]
    line = REPORT.panels[2].series[0]
    marks = tuple(replace(line.marks[0], x=name) for name in names)
    figure = laid_out(draw_panel(replace(REPORT.panels[2], series=(replace(line, marks=marks),))))
    ticks = figure.axes[0].get_xticklabels()
    assert ["".join(tick.get_text().split()) for tick in ticks] == names
    assert all(tick.get_window_extent().x0 >= 0 and tick.get_window_extent().y0 >= 0 for tick in ticks)


def test_many_bars_have_the_width_of_a_page() -> None:
    few, wide = REPORT.panels[2], many(REPORT.panels[2], 17)  # 51 bars
    assert (width_of(few), width_of(wide)) == (SINGLE_IN, DOUBLE_IN)
    assert draw_panel(wide).figure.get_size_inches()[0] == DOUBLE_IN
    narrow, broad = (rasterize(draw_panel(panel)) for panel in (few, wide))
    assert (narrow.is_wide, broad.is_wide) == (False, True)
    assert broad.pixels.shape[1] > 1.9 * narrow.pixels.shape[1]


def test_an_interval_far_beyond_the_bars_leaves_them_to_be_seen() -> None:
    panel = REPORT.panels[2]
    wide = replace(panel.series[0].marks[0].estimate, mean=1.0, low=-90.0, high=92.0)
    marks = (replace(panel.series[0].marks[0], estimate=wide),)
    series = (replace(panel.series[0], marks=marks),)
    low, high = draw_panel(replace(panel, series=series, reference=None)).figure.axes[0].get_ylim()
    assert (low, high) == (-2.0, 3.0)


@pytest.mark.parametrize("reference", [2.0, 500.0])
def test_bars_leave_room_for_the_line_that_they_are_compared_with(reference: float) -> None:
    series = [series_of({"a": 3.0, "b": 40.0 if reference < 40 else 4.0})]
    panel = read_panel(kind="bar", x=None, x_values=["a", "b"], series=series, reference=reference)
    low, high = draw_panel(panel).figure.axes[0].get_ylim()
    assert low < reference < high


def test_a_line_below_all_bars_of_a_logarithmic_axis_is_seen() -> None:
    series = [series_of({"a": 3.0, "b": 4000.0})]
    panel = read_panel(kind="bar", x=None, x_values=["a", "b"], series=series, reference=0.1)
    assert panel.log_y
    assert draw_panel(panel).figure.axes[0].get_ylim()[0] == pytest.approx(0.1 / 2)


def test_a_legend_has_as_few_rows_as_fit() -> None:
    with matplotlib_style(SINGLE_IN):
        assert legend_columns(["nos2", "pias", "es8", "dctcp"], SINGLE_IN) == 4
        assert legend_columns(["x" * 40] * 3, SINGLE_IN) == 1
        # 5 would fit, in two rows of 5 and 1: 3 and 3 are as few.
        assert legend_columns(["abc"] * 6, SINGLE_IN) == 3
