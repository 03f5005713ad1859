"""What every command that has results does last: page, figures, claims, warnings."""

import argparse

from priolane.cli import claims, show
from priolane.report.write import write_report
from priolane.results import Results


def add_figures(command: argparse.ArgumentParser) -> None:
    """The argument that says which files figures leave."""
    command.add_argument("--pdf", action="store_true", help="figures as PDF too, with fonts that publishers take")


def present(results: Results, chosen: argparse.Namespace, rerun: str | None = None) -> None:
    """Writes figures and page, prints claims and warnings, and says where the page is."""
    page = write_report(results, rerun=rerun, pdf=chosen.pdf)
    report = results.report
    claims.claims(report)
    claims.cautions(report)
    show.line(f"digest {report.digest}")
    show.line(f"page   {page}")
