"""The page of an answer: one file, no scripts, the style sheet of the report pages."""

from pathlib import Path

import jinja2
from markupsafe import Markup

from priolane.advice import terminal
from priolane.advice.answer import Advice, describe_end
from priolane.advice.frontier import panel
from priolane.report.templates import own

_HERE = Path(__file__).parent


def page(advice: Advice) -> str:
    """The page's HTML."""
    from priolane.figures.write import draw_report  # noqa: PLC0415 - matplotlib is slow to load

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    drawn = panel(advice)
    pictures = draw_report([drawn]).panels if drawn is not None else ()
    style, style_hash = own("page.css")
    (columns, rows), (disturbed, disturbances) = terminal.tables(advice)
    return environment.get_template("page.html.j2").render(
        style=style,
        style_hash=style_hash,
        advice=advice,
        configuration=terminal.configuration(advice),
        picture=Markup(pictures[0].svg) if pictures else None,  # noqa: S704 - serialised XML
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
