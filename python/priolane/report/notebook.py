"""The output in notebooks: claims as sentences, and a figure."""

import base64
import html
from typing import TYPE_CHECKING

from priolane.report.sentences import finding, reason_text, verdict_text
from priolane.report.signs import sign_of
from priolane.results.report import Claim, Panel, Report

if TYPE_CHECKING:
    from priolane.results.results import Results

_FIGURE_STYLE = "max-width: 45em; width: 100%"


def claims_html(report: Report) -> str:
    """The claims as a list of sentences with their verdicts, in the order of the file; empty without claims."""
    items = "".join(f"<li>{_claim(claim)}</li>" for claim in report.claims)
    return f'<ul style="list-style: none; padding-left: 0; text-align: left">{items}</ul>' if items else ""


def _claim(claim: Claim) -> str:
    flag = f" \N{BLACK FLAG} {claim.flag_kinds}" if claim.flags else ""
    verdict = f"<b>{sign_of(claim)} {html.escape(verdict_text(claim))}</b>{html.escape(flag)}"
    return f"{verdict}: {html.escape(f'{finding(claim)} {reason_text(claim)}'.rstrip())}"


def figure_html(results: "Results") -> str:
    """The first figure of results as a picture in the cell: the first panel, or a figure by default; empty without one.

    It is an SVG of its own, as an image, so that its style sheet does not reach the notebook. matplotlib is not needed.
    Raises `InputError` if a table of a run is damaged.
    """
    from priolane.figure.document import svg_document  # noqa: PLC0415 - slow to load, and only notebooks need it
    from priolane.figure.palette import SeriesStyles  # noqa: PLC0415
    from priolane.figure.panels import describe  # noqa: PLC0415

    panel = _first_panel(results)
    if panel is None:
        return ""
    content = base64.b64encode(svg_document(panel, SeriesStyles([panel])).encode()).decode()
    words = html.escape(describe(panel), quote=True)
    return f'<img alt="{words}" style="{_FIGURE_STYLE}" src="data:image/svg+xml;base64,{content}">'


def _first_panel(results: "Results") -> Panel | None:
    from priolane.report.default_figures import default_figures  # noqa: PLC0415 - slow to load
    from priolane.report.overview import overview  # noqa: PLC0415

    if results.report.panels:
        return next(iter(results.report.drawn), None)
    figures = default_figures(results, overview(results), None)
    return figures[0].panel if figures else None
