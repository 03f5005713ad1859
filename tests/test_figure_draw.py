"""The drawing of a panel: marks with titles, intervals cut at the frame, and no text that becomes markup."""

import itertools
import random
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from adversarial import ADVERSARIAL
from factories import FIXTURES
from hostile_texts import TEXTS
from priolane._core import InputError
from priolane.figure.draw import draw_panel, draw_thumbnail
from priolane.figure.frame import Size
from priolane.figure.layout import width_of
from priolane.figure.markup import element, escape
from priolane.figure.palette import SeriesStyles
from priolane.figure.panels import plot_of
from priolane.figure.plot import Line
from priolane.figure.render import render
from priolane.figure.stylesheet import stylesheet
from priolane.results.estimate import Estimate
from priolane.results.published import Curve, PublishedPoint
from priolane.results.report import Mark, Panel, Report, Series
from rings import cases

REPORT = Report.from_json((FIXTURES / "report.json").read_text(encoding="utf-8"))
LINE, BAR = REPORT.panels[0], REPORT.panels[2]
KINDS = ("line", "bar", "cdf", "trace", "scatter", "heat_map")


def series(name: str, marks: list[Mark], label: str | None = None, variant: int = 0) -> Series:
    return Series(name, label or name, variant, tuple(marks))


def estimate(mean: float, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(mean, low, high, 3)


def panel(kind: str, *of: Series, **changes: object) -> Panel:
    made = Panel("Title", kind, "x", "y", log_x=False, log_y=False, reference=None, series=of)
    return replace(made, **changes)  # type: ignore[arg-type]


def sample(kind: str, name: str = "nos2") -> Panel:
    """A panel of a kind with two series of three marks."""
    marks = [Mark(float(x), estimate(x / 4, x / 5, x / 3), peak=1.0, across=estimate(x)) for x in (1, 2, 3)]
    return panel(kind, series(name, marks), series(f"{name} too", marks))


def drawn(of: Panel) -> list[ET.Element]:
    """Both drawings and legends of a panel, as elements."""
    markup = draw_panel(of, SeriesStyles([of]), "f0", has_legend=False).markup
    return list(ET.fromstring(f"<div>{markup}</div>"))  # noqa: S314 - our own drawing


def wide(of: Panel) -> ET.Element:
    return drawn(of)[0][0]


def titles(of: ET.Element) -> list[str]:
    return [title.text or "" for title in of.iter("title")]


def by_class(of: ET.Element, name: str) -> list[ET.Element]:
    return [part for part in of.iter() if name in part.get("class", "").split()]


@pytest.mark.parametrize("kind", KINDS)
def test_a_panel_is_drawn_twice_without_style_or_reference_to_other_files(kind: str) -> None:
    both = drawn(sample(kind))[:2]
    assert [part.get("class") for part in both] == ["w", "n"]
    widths = [float(part[0].get("viewBox", "").split()[2]) for part in both]
    assert widths == [520, 344]
    ids = [part.get("id") for drawing in both for part in drawing.iter() if part.get("id")]
    assert len(ids) == len(set(ids))
    for part in itertools.chain(*(drawing.iter() for drawing in both)):
        assert part.tag not in ("style", "script", "image", "use", "a", "foreignObject")
        assert not {name for name in part.attrib if name == "style" or name.endswith("href") or name.startswith("on")}
    for drawing in both:
        assert drawing[0].get("role") == "img"
        assert "nos2" in drawing[0].get("aria-label", "")


def test_every_class_of_a_drawing_is_one_of_the_style_sheet_or_of_the_script() -> None:
    used = {
        name
        for kind in KINDS
        for part in drawn(sample(kind))
        for element in part.iter()
        for name in element.get("class", "").split()
    }
    styled = set(re.findall(r"\.([a-z]\w*)", stylesheet()))
    assert used - styled <= {"fig", "series", "m", "reset"}
    assert {"line", "dot", "bar", "column", "grid", "tick", "lab"} <= used


def test_every_mark_says_series_place_value_interval_and_seeds() -> None:
    shown = titles(wide(LINE))
    assert len(shown) == 3 * 4  # schemes x loads
    assert "nos2, Load 0.8: 1.52 [1.43,\u202f1.61], 2 seeds" in shown
    assert "es8, elephant: 0.71 [0.61,\u202f0.81], 2 seeds" in titles(wide(BAR))


def test_marks_lie_where_their_values_are() -> None:
    # y from 0 to 10 and x from 1 to 3 in the frame that the drawing states.
    marks = [Mark(float(x), estimate(y)) for x, y in ((1, 0.0), (2, 5.0), (3, 10.0))]
    svg = wide(panel("line", series("a", marks), y_label="rate"))
    left, right, top, bottom = map(float, svg.get("data-plot", "").split())
    places = [(float(mark.get("data-x", "")), float(mark.get("data-y", ""))) for mark in by_class(svg, "m")]
    # 4 % of the length of x is free at both ends, 5 % above the largest y.
    assert [x for x, _ in places] == pytest.approx(
        [left + (right - left) * (0.04 + 0.5 * n) / 1.08 for n in (0, 1, 2)], abs=9
    )
    assert [y for _, y in places] == pytest.approx(
        [bottom, bottom - (bottom - top) * 5 / 10.5, top + (bottom - top) * 0.5 / 10.5], abs=0.1
    )


def test_an_interval_that_leaves_the_frame_is_cut_with_a_triangle_at_the_edge() -> None:
    marks = [Mark(1.0, estimate(1.0, 0.9, 1.1)), Mark(2.0, estimate(2.0, -90.0, 95.0))]
    svg = wide(panel("line", series("a", marks)))
    _, _, top, bottom = map(float, svg.get("data-plot", "").split())
    cuts = [part.get("d", "") for part in by_class(svg, "cut")]
    tips = sorted(float(re.findall(r"L[\d.]+ ([\d.]+)", cut)[0]) for cut in cuts)
    assert tips == [pytest.approx(top, abs=0.1), pytest.approx(bottom, abs=0.1)]
    for bar in by_class(svg, "bar"):
        ends = [float(end) for end in re.findall(r"[MV](?:[\d.]+ )?([\d.]+)", bar.get("d", ""))]
        assert all(top - 0.1 <= end <= bottom + 0.1 for end in ends)
    # The marks are still told apart.
    ys = [float(mark.get("data-y", "")) for mark in by_class(svg, "m")]
    assert abs(ys[0] - ys[1]) > (bottom - top) / 4


@pytest.mark.parametrize(
    ("label", "means", "low"),
    [
        ("goodput (Gbit/s)", (8.0, 9.0), 0.0),  # rates are compared with 0
        ("mean slowdown", (3.0, 9.0), 1.0),  # slowdowns with 1
        ("gain", (0.99, 1.0), 0.989),  # others fill the frame
        ("gain", (0.2, 1.0), 0.0),
        ("change", (-2.0, 1.0), -2.15),
    ],
)
def test_axes_begin_where_values_are_compared_with(label: str, means: tuple[float, float], low: float) -> None:
    marks = [Mark(float(x), estimate(mean)) for x, mean in enumerate(means)]
    of = panel("line", series("a", marks), y_label=label)
    assert plot_of(of, SeriesStyles([of])).y.scale.low == pytest.approx(low, abs=0.002)


def test_bars_stand_on_zero_in_groups_and_a_published_bar_around_its_own() -> None:
    first = series("a", [Mark("p", estimate(4.0)), Mark("q", estimate(2.0))])
    second = series("b", [Mark("p", estimate(3.0)), Mark("q", estimate(1.0))])
    curve = Curve("A paper", "Fig. 1", "b", "a number of the text", (PublishedPoint("q", 2.0, 0.0),))
    svg = wide(panel("bar", first, second, published=(curve,)))
    bottom = float(svg.get("data-plot", "").split()[3])
    columns = [re.findall(r"-?[\d.]+", part.get("d", "")) for part in by_class(svg, "column")]
    assert all(float(column[1]) == pytest.approx(bottom, abs=0.1) for column in columns)
    heights = [bottom - float(column[2]) for column in columns]
    assert [height / heights[0] for height in heights] == pytest.approx([1, 0.5, 0.75, 0.25], abs=0.01)
    (outline,) = by_class(svg, "outline")
    printed = re.findall(r"-?[\d.]+", outline.get("d", ""))
    assert (printed[0], printed[3]) == (columns[3][0], columns[3][3])
    assert bottom - float(printed[2]) == pytest.approx(heights[1], abs=0.2)
    assert titles(outline) == ["paper, b: Fig. 1, a number of the text, q: 2"]
    keys = drawn(panel("bar", first, second, published=(curve,)))[2]
    assert ["".join(key.itertext()) for key in keys] == ["a", "b", "paper"]


def test_a_distribution_says_within_what_time_each_share_is() -> None:
    # 10 flows of 1 to 10 ms: half of them take at most 5 ms, 99 % at most 10.
    marks = [Mark(nth / 1e3, estimate(nth / 10)) for nth in range(1, 11)]
    svg = wide(panel("cdf", series("a", marks), series("b", marks[:6]), x_label="FCT (s)"))
    shown = titles(by_class(svg, "slots")[0])
    assert "50 % of flows within\na: 5.00\u202fms\nb: 5.00\u202fms" in shown
    # The second has no more than 60 %.
    assert "99 % of flows within\na: 10.0\u202fms" in shown


@pytest.mark.parametrize(("x", "place"), [(2.0, "within"), (9.0, "above")])
def test_the_text_of_an_upright_line_is_above_the_frame_where_the_title_leaves_room(x: float, place: str) -> None:
    marks = [Mark(float(nth), estimate(nth / 10)) for nth in range(1, 11)]
    of = panel("cdf", series("a", marks), y_label="a title that is half as long as the figure is wide")
    plot = replace(plot_of(of, SeriesStyles([of])), lines=(Line("timeout 10 ms", x=x),))
    svg = ET.fromstring(render(plot, Size(520.0, 300.0), "f"))  # noqa: S314 - our own drawing
    (note,) = [part for part in svg.iter("text") if part.text == "timeout 10 ms"]
    top = float((svg.get("data-plot") or "").split()[2])
    assert ("above" if float(note.get("y", "nan")) < top else "within") == place
    assert place == "within" or float(note.get("x", "nan")) + width_of("timeout 10 ms", 11.0) <= 520.0


def test_schemes_over_time_have_strips_of_one_height_and_every_bin_says_all_values() -> None:
    marks = [Mark(x / 10, estimate(float(x)), peak=2.0 * x) for x in range(30)]
    of = panel("trace", series("a", marks), series("b", marks[:20]), x_label="time (ms)")
    svg = wide(of)
    assert len(by_class(svg, "axis")) == 2
    shown = titles(by_class(svg, "slots")[0])
    assert len(shown) == 30
    assert shown[3] == "time 0.3 ms\na: 3.00, at most 6.00\nb: 3.00, at most 6.00"
    assert shown[25] == "time 2.5 ms\na: 25.0, at most 50.0"
    # The script of the narrow drawing takes them from the wide one.
    assert by_class(drawn(of)[1], "slots") == []


def test_areas_of_dots_are_as_sizes_are() -> None:
    marks = [
        Mark(1.0, estimate(1.0), across=estimate(1.0), size=estimate(100.0), along=0.05),
        Mark(2.0, estimate(3.0), across=estimate(2.0), size=estimate(400.0), along=0.5),
    ]
    svg = wide(panel("scatter", series("strict", marks), x_label="rest", y_label="payers", rays=(0.5, 2.0, 9.0)))
    radii = [float(re.findall(r"scale\(([\d.]+)\)", dot.get("transform", ""))[0]) for dot in by_class(svg, "dot")]
    assert (radii[1] / radii[0]) ** 2 == pytest.approx(4, rel=0.1)
    assert titles(svg)[1] == "strict, at 0.5: rest 2.00, payers 3.00; area 400; 3 seeds"
    # The steepest ray leaves the frame before the first dot.
    assert [text.text for text in by_class(svg, "note")][:2] == ["0.5", "2"]


def test_an_axis_of_a_scatter_is_that_of_its_values() -> None:
    marks = [Mark(x, estimate(y), across=estimate(x)) for x, y in ((1.0, 12.0), (2.0, 14.0))]
    of = panel("scatter", series("a", marks), y_label="goodput (Gbit/s)")
    # 5 % of the height of 2 Gbit/s is free at both ends.
    scale = plot_of(of, SeriesStyles([of])).y.scale
    assert (scale.low, scale.high) == pytest.approx((11.9, 14.1))


def test_a_heat_map_has_a_cell_with_its_value_for_each_series_and_x() -> None:
    marks = [Mark(float(x), estimate(x / 1e3)) for x in (1, 2, 4)]
    svg = wide(panel("heat_map", series("a", marks), series("b", [marks[0]]), y_label="FCT (s)"))
    assert [text.text for text in by_class(svg, "cellvalue")] == ["1.00", "2.00", "4.00", "1.00"]
    strengths = [float(cell.get("fill-opacity", "")) for cell in by_class(svg, "cell")][:3]
    # From the least, 0.06, to the largest, 0.9; 2 lies a third of the way between 1 and 4.
    assert strengths == pytest.approx([0.06, 0.34, 0.9], abs=0.006)
    assert "FCT (ms)" in [text.text for text in by_class(svg, "axl")]


def test_a_panel_without_values_says_so() -> None:
    nothing = Estimate(None, None, None, 0)
    of = panel("line", series("a", [Mark(1.0, nothing)]))
    assert ["".join(part.itertext()) for part in drawn(of)] == ["no value", "no value"]
    assert draw_thumbnail(of, SeriesStyles([of])) == ""


@pytest.mark.parametrize("kind", ["violin", "os.path", "../draw", "__init__", "", "line\0"])
def test_a_kind_that_nothing_draws_is_refused(kind: str) -> None:
    with pytest.raises(InputError, match="which this version does not draw"):
        drawn(sample(kind))


HOSTILE = [*ADVERSARIAL, *TEXTS.values(), "\0\x01\x1f", "\ud800", "\ufffe", "a\nb: c", "]]>", "<!--", "&lt;", "&#0;"]


def structure(of: Panel, *, has_legend: bool = False) -> list[tuple[str, tuple[str, ...]]]:
    """Elements and names of attributes, without those that depend on where a text breaks."""
    styles = SeriesStyles([of])
    markup = draw_panel(of, styles, "f0", has_legend=has_legend).markup + draw_thumbnail(of, styles)
    root = ET.fromstring(f"<div>{markup}</div>")  # noqa: S314 - our own drawing
    return sorted({(part.tag, tuple(sorted(part.attrib))) for part in root.iter()})


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_breaks_out_of_the_drawing(kind: str) -> None:
    harmless = set(structure(with_text(kind, "name"))) | set(structure(with_text(kind, "n" * 60)))
    for text in HOSTILE:
        assert set(structure(with_text(kind, text))) <= harmless, text


@pytest.mark.parametrize("rounds", cases([150], [5000]))
def test_random_texts_are_shown_as_they_are(rounds: int) -> None:
    draw = random.Random(11)  # noqa: S311 - no secret
    signs = "<>&\"'/=;:#!-[]{}()\\ \t\n\r\0\x0b\x1b\x7f\x85\u2028\u202e\ufeff\ufffe\ud800abcZ09é漢\U0001f600"
    for _ in range(rounds):
        text = "".join(draw.choices(signs, k=draw.randrange(1, 24)))
        marks = [Mark(1.0, estimate(1.0)), Mark(2.0, estimate(2.0))]
        svg = wide(panel("line", series(text, marks), title=text, x_label=text))
        allowed = re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
        (group,) = by_class(svg, "series")
        # XML has white space of attributes as spaces.
        assert group.get("data-s", "").split() == allowed.split()
        assert titles(svg)[0].replace("\r", "\n").startswith(allowed.replace("\r\n", "\n").replace("\r", "\n"))
        assert {part.tag for part in svg.iter()} <= {"svg", "g", "path", "text", "title", "clipPath", "rect"}


def with_text(kind: str, text: str) -> Panel:
    """A panel that has a text wherever a file can have one."""
    xs: list[float | str] = [f"{text}1", f"{text}2"] if kind in ("line", "bar", "heat_map") else [1.0, 2.0]
    marks = [Mark(x, estimate(nth + 1.0, 0.5, 3.0), peak=2.0, along=text) for nth, x in enumerate(xs)]
    if kind == "scatter":
        marks = [replace(mark, across=estimate(1.0, 0.5, 2.0)) for mark in marks]
    published = (Curve(text, text, text, text, (PublishedPoint(xs[0], 1.0, 0.0),)),)
    return panel(
        kind,
        *(series(f"{text}{nth}", marks, f"{text} {nth}", nth) for nth in range(2)),
        title=text,
        x_label=text,
        y_label=f"{text} (s)",
        published=published if kind in ("line", "bar") else (),
    )


def test_an_element_has_no_name_that_is_markup() -> None:
    assert escape('<a b="c">&') == "&lt;a b=&quot;c&quot;&gt;&amp;"
    assert element("g", {"data-s": '"><script>'}) == '<g data-s="&quot;&gt;&lt;script&gt;"/>'
    with pytest.raises(ValueError, match="letters and hyphens"):
        element("g", {"a b": "c"})


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_any_size_are_drawn_with_finite_numbers(kind: str) -> None:
    values = (5e-324, 1e-300, 1.0, 1e300, 1.7e308)
    for log in (False, True):
        marks = [Mark(x, estimate(x, -x, x), peak=x, across=estimate(x, 0.0, x)) for x in values]
        of = panel(kind, series("a", marks), series("b", marks[:1]), log_x=log, log_y=log, reference=1e308)
        for part in drawn(of):
            for node in part.iter():
                for name in ("d", "x", "y", "width", "transform", "data-x", "viewBox"):
                    assert not re.search(r"nan|inf|e[+-]?\d", node.get(name, "")), (name, node.get(name))
