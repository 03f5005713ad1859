"""Writing the report of a whole grid: its figures as files, and its page."""

from pathlib import Path

from priolane.directory import FIGURES, PAGE_FILE, REPORT_FILE, declare_outputs, exclusive_writer
from priolane.figures.pictures import names
from priolane.files import write_whole
from priolane.report.figure_csv import figure_csv
from priolane.report.metrics_table import as_csv
from priolane.report.over_time import over_time
from priolane.report.overview import overview
from priolane.report.overview_files import as_csv as overview_csv
from priolane.results import Results


def write_report(results: Results, *, rerun: str | None = None, pdf: bool = False) -> Path:
    """Writes figures, as PDF too if asked for, and the page beside the runs; returns the page's path.

    `rerun` is the command that made the results. Raises `InputError` before the grid is whole, or if a file stands in
    the way that priolane did not write, `WriteError` if the disk is full or must not be written.
    """
    from priolane.figures.write import draw_report  # noqa: PLC0415 - matplotlib is slow to load
    from priolane.report.page import PageOptions, page  # noqa: PLC0415

    directory, report = results.directory, results.report
    figures = names(len(report.drawn), pdf=pdf)
    view = overview(results)
    tables = {f"table-{nth}.csv": as_csv(panel) for nth, panel in enumerate(report.tables, 1)}
    tables |= {f"panel-{nth}.csv": figure_csv(panel) for nth, panel in enumerate(report.drawn, 1)}
    tables["results.csv"] = overview_csv(view).encode()
    with exclusive_writer(directory):
        declare_outputs(directory, [REPORT_FILE, PAGE_FILE, *(f"{FIGURES}/{name}" for name in (*figures, *tables))])
        traces = over_time(results)
        pictures = draw_report(report.drawn, traces.panels if traces is not None else (), pdf=pdf)
        for name, content in {**pictures.files, **tables}.items():
            write_whole(directory / FIGURES / name, content)
        how = PageOptions(rerun=rerun or results.rerun_command(), pdf=pdf)
        write_whole(directory / PAGE_FILE, page(results, view, traces, pictures.panels, how))
    return directory / PAGE_FILE
