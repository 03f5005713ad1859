"""Findings on the site: Markdown of the study, each page below findings/ with links that lead to pages of the site."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import claim_tables
import links
import record_values

import versions_of_findings
from priolane.study import catalogue
from priolane.study.record import read_record

ROOT = Path(__file__).parent.parent.parent
_STUDY = ROOT / "study"
_FINDING = "finding.md"
_SHOWN = re.compile(r"^<!-- made by the site: figure ([\w/]+) -->$", re.MULTILINE)


@cache
def sources() -> Mapping[str, str]:
    """The file of the repository that each page of findings is made of, by the path of the page below docs/."""
    pages_of = {"findings/index.md": "study/README.md", "findings/claims-changed.md": "study/claims-changed.md"}
    for path in sorted((_STUDY / "papers").glob(f"*/*/{_FINDING}")):
        pages_of[f"findings/{path.parent.parent.name}/{path.parent.name}.md"] = path.relative_to(ROOT).as_posix()
    for path in sorted((_STUDY / "papers").glob("*/*.md")):
        pages_of[f"findings/{path.parent.name}/{path.name}"] = path.relative_to(ROOT).as_posix()
    return pages_of


@cache
def site() -> links.Site:
    """The site, of which pages below findings/ are files of the study."""
    return links.Site(ROOT, pages={source: page for page, source in sources().items()})


def pages() -> Iterator[tuple[str, str]]:
    """Every page of findings with the numbers of its record, and with its path below docs/.

    Raises `record_values.NoSuchValue` for a placeholder that stands for no number.
    """
    for page, source in sources().items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if source.endswith(f"/{_FINDING}"):
            text = _filled(text, page.removeprefix("findings/").removesuffix(".md"))
        yield page, site().with_links(text, page, source)


def _filled(text: str, figure: str) -> str:
    record = read_record(figure)
    if record is None:
        raise record_values.NoSuchValue(f"{figure} has a finding and no record")
    # The score above the picture says the version.
    return f"{record_values.filled(versions_of_findings.without(text), record)}\n{claim_tables.of_record(record)}"


@cache
def by_figure() -> Mapping[str, str]:
    """The page below docs/ that shows each figure."""
    return {figure: page for page, text in pages() for figure in _SHOWN.findall(text)}


def of_paper(paper: str) -> list[str]:
    """The pages about the figures of a paper, in the order of the catalogue, then others."""
    known = [item.key for item in catalogue.figures()]
    names = [page.removeprefix("findings/").removesuffix(".md") for page in sources()]
    figures = [name for name in sorted(names) if name.startswith(f"{paper}/")]
    ordered = sorted(figures, key=lambda name: known.index(name) if name in known else len(known))
    return [f"findings/{name}.md" for name in ordered]
