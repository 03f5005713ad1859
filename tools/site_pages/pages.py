"""The pages of the site that are made when it is built, and their makers."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import assumption_pages
import evidence_pages
import finding_pages
import gallery_pages
import ledger_pages
import paper_pages
import parts_pages
import reference_pages
import scheme_pages

import ledger

# What a line `<!-- made by the site: NAME -->` stands for.
_MADE: Mapping[str, Callable[[], str]] = {
    "parts": parts_pages.index,
    "schemes": scheme_pages.index,
    "metrics": reference_pages.metrics,
    "columns": reference_pages.columns,
    "commands": reference_pages.commands,
    "matrix": reference_pages.pairs,
    "faults": reference_pages.faults,
    "evidence": evidence_pages.summary,
    "engines": evidence_pages.engines,
    "tests": evidence_pages.tests,
    "counts": ledger_pages.counts,
    "claims": ledger_pages.claims,
    "outcomes": ledger_pages.outcomes,
    "causes": ledger_pages.causes,
    "shares": ledger_pages.shares,
    "undecided": ledger_pages.undecided,
    "records": ledger_pages.runs,
    "readings": ledger_pages.by_reading,
    "pictures": gallery_pages.pictures,
    "papers": gallery_pages.cited_papers,
}
# Pages of generated tables. Their rows would hide what other pages say: results.md explains every metric and column.
_NOT_SEARCHED = {
    "ledger.md",
    "ledger-readings.md",
    "gallery.md",
    "matrix.md",
    "assumptions/ours.md",
    "reference/metrics.md",
    "reference/columns.md",
    "evidence/tests.md",
    "evidence/faults.md",
}
# What a page says where the site has not filled it in, as on a host of repositories.
_UNFILLED = re.compile(r"^<!-- where the site is not built -->$.*?^<!-- end -->$\n*", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"^<!-- made by the site: (\w+)(?: ([\w/]+))? -->$", re.MULTILINE)


def generated() -> dict[str, str]:
    """The Markdown of pages that no file below docs/ has, by path."""
    texts: dict[str, str] = {}
    makers = (parts_pages.pages, scheme_pages.pages, assumption_pages.pages, finding_pages.pages, paper_pages.pages)
    for several in makers:
        texts.update(several())
    return texts


def filled(markdown: str, page: str) -> str:
    """The text of a page with what its marks stand for. Raises `KeyError` for a mark that stands for nothing."""

    def made(mark: re.Match[str]) -> str:
        if mark[1] == "figure":
            return gallery_pages.figure(mark[2], "../" * page.count("/"))
        return _MADE[mark[1]]()

    text = _MARK.sub(made, _UNFILLED.sub("", markdown))
    return assumption_pages.with_takers(text, page) if page.startswith("assumptions/") else text


def search(page: str) -> dict[str, Any]:
    """The treatment of a page by the search: generated tables are left out, and answers come first."""
    if page in _NOT_SEARCHED:
        return {"exclude": True}
    if page == "faq.md":
        return {"boost": 4}
    if page.startswith(("reference/", "assumptions")):
        return {"boost": 0.5}
    return {}


def navigation(nav: Any) -> Any:
    """The navigation of mkdocs.yml, with the generated pages that it does not name."""
    for entry in nav:
        if "Reference" in entry:
            entry["Reference"] = [_extended(page) for page in entry["Reference"]]
        if "Concepts" in entry:
            entry["Concepts"] = [_with_pages(page) for page in entry["Concepts"]]
        if "Figures and findings" in entry:
            entry["Figures and findings"] += [
                {ledger.NAMES[paper]: [paper_pages.path(paper), *finding_pages.of_paper(paper)]}
                for paper in ledger.NAMES
            ]
    return nav


def _with_pages(page: Any) -> Any:
    """The list of assumptions, with their pages below it."""
    if page != {"Assumptions": "assumptions.md"}:
        return page
    return {"Assumptions": ["assumptions.md", *({title: path} for path, title in assumption_pages.titles().items())]}


def _extended(page: Any) -> Any:
    """A page of the reference, with those below it."""
    if page == "reference.md":
        rows = [{title: path} for path, title in parts_pages.titles().items()]
        return {"Parts and keys": ["reference.md", *rows]}
    if page == {"Schemes": "reference/schemes.md"}:
        schemes = [{scheme.name: f"reference/schemes/{scheme.name}.md"} for scheme in scheme_pages.schemes()]
        return {"Schemes": ["reference/schemes.md", *schemes]}
    return page
