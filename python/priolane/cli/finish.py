"""The last steps of every command that has results: page, figures, claims, warnings."""

import argparse
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from priolane.cli import claims, show
from priolane.cli.brief.next_steps import after_run
from priolane.cli.brief.outcome import Outcome, outcome_lines
from priolane.cli.brief.screen import Screen
from priolane.plots.formats import missing_plots
from priolane.report.overview import overview
from priolane.report.overview_files import as_json
from priolane.report.write import write_report
from priolane.results.results import Results
from priolane.storage.directory import PAGE_FILE
from priolane.storage.object_store import display_name


def add_figures(command: argparse.ArgumentParser) -> None:
    """The arguments that say which files figures leave besides the page and CSV."""
    command.add_argument("--png", action=_Plots, help="figures as PNG too; needs priolane[plots]")
    command.add_argument(
        "--pdf", action=_Plots, help="figures as PDF too, with fonts that publishers take; needs priolane[plots]"
    )


class _Plots(argparse.Action):
    """An option that is refused at once where what draws such files is not installed."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=False, **options)

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *_: Any) -> None:
        reason = missing_plots()
        if reason:
            parser.error(reason)
        setattr(namespace, self.dest, True)


def prepare() -> None:
    """Begins to load what writes the page in a thread: for while the last run goes on."""
    threading.Thread(target=_load, daemon=True).start()


def _load() -> None:
    import_module("priolane.report.page")


def present(results: Results, args: argparse.Namespace, *, seconds: float | None = None) -> None:
    """Writes figures and page, and tells of the results, which took `seconds` if they were made now."""
    view = overview(results)
    write_report(results, view, png=args.png, pdf=args.pdf)
    if args.verbose:
        tell_all(results, with_table=True)
    else:
        tell(Outcome(results, seconds, after_run(results), view=view))


def tell(outcome: Outcome) -> None:
    """Prints the answer, one table, the worst warning, where the page is, and what to do next: at most 20 lines."""
    for text in outcome_lines(Screen.of_output(), outcome):
        show.line(text)


def tell_all(results: Results, *, with_table: bool = False) -> None:
    """Prints all claims, the table of results if asked for, and all warnings, and says where the page is."""
    report = results.report
    show.line(f"{results.title}: {len(results.runs)} runs in {display_name(results.directory)}")
    claims.print_claims(report)
    if with_table:
        from priolane.cli.overview import show as show_table  # noqa: PLC0415 - rich is slow to load

        show_table(overview(results), display_name(results.directory))
    claims.print_warnings(report)
    show.line(f"digest {report.digest}")
    show.line(f"page   {results.directory / PAGE_FILE}")


def present_as_json(results: Results, args: argparse.Namespace) -> None:
    """Writes figures and page, and prints everything as one JSON object."""
    write_report(results, png=args.png, pdf=args.pdf)
    show.json_lines(_as_json(results))


def _as_json(results: Results) -> dict[str, Any]:
    report = results.report
    return {
        "directory": display_name(results.directory),
        "page": str(results.directory / PAGE_FILE),
        "digest": report.digest,
        "runs": len(results.runs),
        "claims": [
            {
                "section": claim.section,
                "says": claim.text,
                "source": claim.source.value,
                "verdict": claim.source.word(claim.verdict),
                "standing": claim.word,
                "alone": claim.source.word(claim.uncorrected_verdict),
                "direction": claim.direction.value,
                "flags": [{"kind": flag.kind, "says": flag.text} for flag in claim.flags],
            }
            for claim in report.claims
        ],
        "checks": [{"name": check.name, "state": check.state, "says": check.text} for check in report.checks],
        "warnings": list(report.warnings),
        "results": as_json(overview(results)),
    }
