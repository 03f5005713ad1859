"""What every command that has results does last: page, figures, claims, warnings."""

from priolane.cli import claims, show
from priolane.directory import FIGURES, PAGE_FILE, REPORT_FILE, declare_outputs, filling
from priolane.results import Results


def present(results: Results, rerun: str | None = None) -> None:
    """Writes figures and page, prints claims and warnings, and says where the page is."""
    from priolane.figures.write import figure_names, write_figures  # noqa: PLC0415 - matplotlib is slow to load
    from priolane.report.page import write_page  # noqa: PLC0415

    report = results.report
    figures = [f"{FIGURES}/{name}" for name in figure_names(report.panels)]
    with filling(results.directory):
        declare_outputs(results.directory, [REPORT_FILE, PAGE_FILE, *figures])
        write_figures(report.panels, results.directory / FIGURES)
        page = write_page(results, rerun)
    claims.claims(report)
    claims.cautions(report)
    show.line(f"digest {report.digest}")
    show.line(f"page   {page}")
