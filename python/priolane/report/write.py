"""Writing the report of a whole grid: its figures as files, and its page."""

from pathlib import Path

from priolane.figure.document import svg_files
from priolane.plots.formats import formats_of, names, require_plots
from priolane.report.figure_csv import figure_csv
from priolane.report.metrics_table import as_csv
from priolane.report.overview import Overview, overview
from priolane.report.overview_files import as_csv as overview_csv
from priolane.results.results import Results
from priolane.storage.directory import FIGURES, PAGE_FILE, REPORT_FILE, declare_outputs, exclusive_writer
from priolane.storage.files import write_whole


def write_report(
    results: Results, view: Overview | None = None, *, rerun: str | None = None, png: bool = False, pdf: bool = False
) -> Path:
    """Writes the page beside the runs, figures as CSV and SVG, PNG and PDF too if asked for; returns the page's path.

    `view` is the overview of the results, if it has been made, and `rerun` the command that made them. Raises
    `InputError` before the grid is whole, if a table of a run is damaged, if a file stands in the way that priolane did
    not write, or if PNG or PDF is asked for and matplotlib is not installed; `WriteError` if the disk is full or must
    not be written.
    """
    from priolane.report.page import PageOptions, page  # noqa: PLC0415 - slow to load
    from priolane.report.page_figures import page_figures  # noqa: PLC0415

    formats = formats_of(png=png, pdf=pdf)
    if formats:
        require_plots()
    directory, report = results.directory, results.report
    view = view or overview(results)
    drawn = page_figures(results, view)
    files = {f"table-{nth}.csv": as_csv(panel) for nth, panel in enumerate(report.tables, 1)}
    files |= {f"panel-{nth}.csv": figure_csv(panel) for nth, panel in enumerate(drawn.panels, 1)}
    files |= svg_files(drawn.panels)
    files["results.csv"] = overview_csv(view).encode()
    with exclusive_writer(directory):
        plots = names(len(drawn.panels), formats)
        declare_outputs(directory, [REPORT_FILE, PAGE_FILE, *(f"{FIGURES}/{name}" for name in (*plots, *files))])
        if plots:
            from priolane.plots.write import draw_files  # noqa: PLC0415 - matplotlib is slow to load

            files |= draw_files(drawn.panels, formats)
        for name, content in files.items():
            write_whole(directory / FIGURES / name, content)
        how = PageOptions(rerun=rerun or results.rerun_command(), formats=formats)
        write_whole(directory / PAGE_FILE, page(results, view, drawn, how))
    return directory / PAGE_FILE
