"""Hues against the formulas of WCAG 2, CIE 1976 and Machado et al. 2009, and who has which style."""

import itertools
import re
from dataclasses import replace

import pytest

from factories import FIXTURES
from priolane.figure.palette import DARK, LIGHT, MARKERS, STYLES, SeriesStyles
from priolane.figure.stylesheet import stylesheet
from priolane.report.templates import own
from priolane.results.report import Panel, Report

REPORT = Report.from_json((FIXTURES / "report.json").read_text(encoding="utf-8"))

# Machado, Oliveira and Fernandes 2009, severity 1, on linear red, green and blue.
DEFICIENCIES = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
# A difference of 2.3 is just noticeable in large fields side by side.
LEAST = {"protan": 16.5, "deutan": 24.0, "tritan": 23.0}

Rgb = tuple[float, float, float]


def linear(colour: str) -> Rgb:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (red, green, blue))  # type: ignore[return-value]


def luminance(rgb: Rgb) -> float:
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]


def contrast(left: str, other: str) -> float:
    dark, light = sorted((luminance(linear(left)), luminance(linear(other))))
    return (light + 0.05) / (dark + 0.05)


def seen(colour: str, matrix: tuple[Rgb, Rgb, Rgb]) -> tuple[float, float, float]:
    """The colour as L*, a*, b* under white D65, as somebody with a deficiency sees it."""
    rgb = linear(colour)
    red, green, blue = (min(max(sum(a * b for a, b in zip(row, rgb, strict=True)), 0.0), 1.0) for row in matrix)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = luminance((red, green, blue))
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    f, g, h = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * g - 16, 500 * (f - g), 200 * (g - h)


def paper(scheme: str) -> str:
    """The colour of paper in the style sheet of pages."""
    result: list[str] = re.findall(r"--paper: (#[0-9a-f]{6})", own("page.css")[0])
    return result[0] if scheme == "light" else result[1]


@pytest.mark.parametrize(("hues", "scheme"), [(LIGHT, "light"), (DARK, "dark")])
def test_every_hue_has_the_contrast_with_paper_that_wcag_asks_of_graphics(hues: tuple[str, ...], scheme: str) -> None:
    assert {hue: contrast(hue, paper(scheme)) for hue in hues if contrast(hue, paper(scheme)) < 3} == {}


@pytest.mark.parametrize("hues", [LIGHT, DARK])
@pytest.mark.parametrize("kind", DEFICIENCIES)
def test_hues_are_told_apart_with_any_colour_blindness(hues: tuple[str, ...], kind: str) -> None:
    labs = [seen(hue, DEFICIENCIES[kind]) for hue in hues]
    distances = [
        sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) ** 0.5 for pair in itertools.combinations(labs, 2)
    ]
    assert min(distances) >= LEAST[kind]


def test_the_formulas_know_black_white_and_red() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    # WCAG's own example of the least grey for text on white.
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)
    identity = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    assert seen("#ff0000", identity) == pytest.approx((53.24, 80.09, 67.20), abs=0.05)


def test_every_hue_has_a_marker_of_its_own_and_a_variable_in_both_modes_and_in_print() -> None:
    assert len(set(MARKERS)) == len(LIGHT) == len(DARK)
    for nth, (light, dark) in enumerate(zip(LIGHT, DARK, strict=True)):
        assert re.findall(rf"--c{nth}: (#[0-9a-f]{{6}});", stylesheet()) == [light, dark, light]
        assert f".c{nth} {{ --k: var(--c{nth}); }}" in stylesheet()


def many(names: list[str]) -> Panel:
    curve = REPORT.panels[0].series[0]
    return replace(
        REPORT.panels[0], series=tuple(replace(curve, scheme=name, label=name, styled_as=None) for name in names)
    )


def test_twelve_names_have_a_look_each_and_a_name_keeps_its_look_in_all_panels() -> None:
    names = [f"mine{nth}" for nth in range(STYLES)]
    styles = SeriesStyles([many(names[:4]), many(names)])
    assert {styles.named(name).nth for name in names} == set(range(STYLES))
    assert len({styles.named(name).css for name in names}) == STYLES
    assert SeriesStyles([many(names)]).named("mine5") == styles.named("mine5")


def test_known_names_have_their_usual_look_whatever_stands_before_them() -> None:
    styles = SeriesStyles([many(["mine", "nos2", "dctcp", "pias"])])
    assert [styles.named(name).nth for name in ("dctcp", "pias", "nos2")] == [0, 1, 2]
    assert styles.named("mine").nth == 3


def test_of_more_names_than_looks_the_rest_is_grey_and_those_of_the_first_claim_are_not() -> None:
    names = [f"mine{nth}" for nth in range(STYLES + 3)]
    grey = [name for name in names if SeriesStyles([many(names)]).named(name).nth is None]
    assert grey == names[STYLES:]
    leading = SeriesStyles([many(names)], leading=[names[-1]])
    assert leading.named(names[-1]).nth is not None
    assert leading.named(names[-2]).css == "cg"


def test_names_that_are_never_in_one_panel_share_looks_before_any_is_grey() -> None:
    first, second = [[f"{side}{nth}" for nth in range(10)] for side in "ab"]
    styles = SeriesStyles([many(first), many(second)])
    for names in (first, second):
        assert len({styles.named(name).nth for name in names} - {None}) == 10


def test_the_legend_names_what_means_the_same_in_all_panels() -> None:
    panel = many(["nos2", "pias"])
    ranked = tuple(
        replace(curve, styled_as=f"rank{nth}", label=f"load {nth}") for nth, curve in enumerate(panel.series)
    )
    other = tuple(replace(curve, label=f"{curve.label} ms") for curve in ranked)
    assert [entry.text for entry in SeriesStyles([panel]).legend] == ["nos2", "pias"]
    assert [entry.text for entry in SeriesStyles([replace(panel, series=ranked)]).legend] == ["load 0", "load 1"]
    assert SeriesStyles([replace(panel, series=ranked), replace(panel, series=other)]).legend == []
