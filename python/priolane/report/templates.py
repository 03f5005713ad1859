"""The common parts of pages: their templates, their style, and the policy that allows nothing else."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from priolane.figure.stylesheet import SCRIPT, stylesheet
from priolane.report.sentences.values import NO_BREAK
from priolane.report.sentences.words import sentence_case
from priolane.report.signs import SIGNS, STYLES
from priolane.results.numbers import short
from priolane.results.report import Claim, Source, Standing, point_text
from priolane.text.template_cache import TemplateCache

_TEMPLATES = Path(__file__).parent
_MICROSECONDS = re.compile(rf"(?<=[\d\]][ {NO_BREAK}])us\b")
_CODE = re.compile(r"`([^`]*)`")


def render(template: str, content: dict[str, Any]) -> str:
    """The HTML of a template with `content`; every text in it is escaped, but for `Markup`."""
    return _environment().get_template(template).render(content)


@cache
def _environment() -> jinja2.Environment:
    """Templates are compiled once a process: a worker makes many pages."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        bytecode_cache=TemplateCache(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["short"] = short
    environment.filters["point"] = point_text
    environment.filters["typeset"] = typeset
    environment.filters["coded"] = coded
    environment.filters["capitalized"] = sentence_case
    environment.globals["badge"] = badge
    environment.globals["badge_of"] = badge_of
    return environment


def typeset(text: str) -> str:
    """A text of sentences with the sign of microseconds, where consoles have `us`."""
    return _MICROSECONDS.sub("µs", text)


def coded(text: str) -> Markup:
    """A text with parts in backticks as code. All of it is escaped."""
    parts = _CODE.split(text)
    return Markup().join(
        Markup("<code>{}</code>").format(part) if nth % 2 else escape(part) for nth, part in enumerate(parts)
    )


def own(name: str) -> tuple[Markup, str]:
    """A style sheet or script of this package, as `inline` has it."""
    return inline(_TEMPLATES / name)


def styled() -> tuple[Markup, str]:
    """The style sheet of pages that hold figures, and its hash for the page's policy."""
    return hashed((_TEMPLATES / "page.css").read_text(encoding="utf-8") + stylesheet())


def figure_script() -> tuple[Markup, str]:
    """The script that reads figures, and its hash for the page's policy."""
    return inline(SCRIPT)


def inline(path: Path) -> tuple[Markup, str]:
    """A style sheet or script of ours, to be put into a page, and its hash for the page's policy."""
    return hashed(path.read_text(encoding="utf-8"))


def hashed(text: str) -> tuple[Markup, str]:
    """A text of ours as markup, and its hash as policies name it."""
    return Markup(text), base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()  # noqa: S704 - our own file


def badge(standing: Standing, source: Source = Source.PAPER, count: int = 1) -> dict[str, str]:
    """Class, sign and word of the badge of so many claims of `source` that stand so. Sign and word distinguish them, so
    that none depends on colour alone."""
    style = STYLES[standing]
    return {"class": style, "sign": SIGNS[style], "word": source.word(standing, count)}


def badge_of(claim: Claim) -> dict[str, str]:
    """The badge of a claim, whose word also says whether its number is impossible as printed, or was fitted to."""
    return badge(claim.standing, claim.source)
