"""The page of an answer: one file with the style sheet of the report pages and the script that reads figures."""

import re
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from priolane.advice import terminal, words
from priolane.advice.answer import Advice, ends_of
from priolane.advice.frontier import directions, panel
from priolane.figure.draw import draw_panel
from priolane.figure.palette import SeriesStyles
from priolane.report.templates import figure_script, styled, typeset
from priolane.text.template_cache import TemplateCache

_HERE = Path(__file__).parent


def page(advice: Advice) -> str:
    """The page's HTML."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        bytecode_cache=TemplateCache(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = _prose
    drawn = panel(advice)
    figure = None if drawn is None else draw_panel(drawn, SeriesStyles([drawn]), "f0", has_legend=False)
    style, style_hash = styled()
    script, script_hash = figure_script()
    judging = advice.judging
    return environment.get_template("page.html.j2").render(
        style=style,
        style_hash=style_hash,
        script=script,
        script_hash=script_hash,
        advice=advice,
        detail=_detail(advice),
        judging=judging,
        configuration=terminal.configuration(advice),
        how_sure=None if judging is None else terminal.how_sure(judging),
        holds=None if judging is None else terminal.holds(judging),
        by_ratio=terminal.judged_by_ratio(advice),
        figure=figure,
        directions=directions(advice),
        columns=terminal.ranking_columns(advice),
        rows=() if judging is None else terminal.ranking_rows(advice, judging),
        disturbed=() if judging is None else terminal.sensitivity_columns(advice, judging),
        disturbances=() if judging is None else terminal.sensitivity_rows(advice, judging),
        steps=terminal.rollout_columns(advice),
        rollout=() if judging is None else terminal.rollout_rows(advice, judging),
        ended={} if judging is None else ends_of(judging),
        words=_words(advice),
        description={}
        if judging is None
        else {candidate.name: candidate.description for candidate in judging.candidates},
        spending=None if judging is None else terminal.spending(judging),
    )


_QUOTED = re.compile("`([^`]+)`")


def _prose(text: object) -> Markup:
    """Text of the terminal as HTML: what is in backticks is code, arrows are arrows, and us is µs."""
    typed = typeset(str(escape(text)).replace("-&gt;", "→"))
    return Markup(_QUOTED.sub(r"<code>\1</code>", typed))  # noqa: S704 - escaped


def _words(advice: Advice) -> dict[str, str]:
    """The configuration of each scheme that was judged, but today's, in words."""
    if advice.judging is None:
        return {}
    now = advice.judging.now.candidate
    shown = [judged.candidate for judged in advice.judging.ranking if judged.candidate is not now]
    shown += [remedy.judged.candidate for remedy in advice.judging.remedies]
    return {candidate.name: words.configuration(candidate, now) for candidate in shown}


def _detail(advice: Advice) -> str:
    """The headline without the title, which stands above it."""
    return advice.headline.removeprefix(advice.title).lstrip(":; ")
