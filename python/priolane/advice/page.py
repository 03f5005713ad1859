"""The page of an answer: one file with the style sheet of the report pages and the script that reads figures."""

from pathlib import Path

import jinja2

from priolane.advice import terminal
from priolane.advice.answer import Advice, describe_end
from priolane.advice.frontier import panel
from priolane.figure.draw import draw_panel
from priolane.figure.palette import SeriesStyles
from priolane.report.templates import figure_script, styled

_HERE = Path(__file__).parent


def page(advice: Advice) -> str:
    """The page's HTML."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    drawn = panel(advice)
    figure = None if drawn is None else draw_panel(drawn, SeriesStyles([drawn]), "f0", has_legend=False)
    style, style_hash = styled()
    script, script_hash = figure_script()
    (columns, rows), (disturbed, disturbances) = terminal.tables(advice)
    return environment.get_template("page.html.j2").render(
        style=style,
        style_hash=style_hash,
        script=script,
        script_hash=script_hash,
        advice=advice,
        configuration=terminal.configuration(advice),
        figure=figure,
        columns=columns,
        rows=rows,
        disturbed=disturbed,
        disturbances=disturbances,
        ended={name: describe_end(how) for name, how in advice.race.ended.items()},
        description={one.name: one.description for one in advice.candidates},
        simpler=None if advice.simpler is None else terminal.simpler(advice.simpler),
        spending=terminal.spending(advice),
        outcomes=list(zip(advice.best.outcomes, advice.best.verdicts(), strict=True)),
    )
