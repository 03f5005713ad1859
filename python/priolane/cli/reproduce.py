"""`priolane reproduce`: figures of papers, from their experiment files to their verdicts."""

import argparse
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priolane._core import InputError
from priolane.cli import FAILED, arguments, show
from priolane.cli.brief.outcome import Outcome
from priolane.cli.finish import add_figures, prepare, tell, tell_all
from priolane.cli.progress import progress
from priolane.execution.backend import LOCAL
from priolane.execution.output import open_output
from priolane.execution.prediction import check, from_plans
from priolane.model import folders
from priolane.model.experiment import Options
from priolane.plots.formats import formats_of
from priolane.report.summary import Summary
from priolane.reproduction.figures import Figure, Reproduction, ReproductionOptions, plan_figures, reproduce
from priolane.results.report import Source, Standing
from priolane.storage.directory import PAGE_FILE
from priolane.storage.object_store import display_name
from priolane.study import catalogue
from priolane.study.outcomes import outcome, why
from priolane.study.record import counts_text, read_record
from priolane.study.recorded import recorded
from priolane.text.command_line import command_line, path_word
from priolane.text.printable import message

if TYPE_CHECKING:
    from priolane.reproduction.index import Entry

# The page of figures that are named one by one.
_SEVERAL = "figures"
# A line for each figure, whatever its record.
_LIST_WIDTH = 280


def add(command: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    command.add_argument(
        "names",
        nargs="*",
        metavar="PAPER/FIG",
        help="for example nos2/fig6; nos2 runs all of its figures, all runs every figure",
    )
    command.add_argument(
        "--list",
        action="store_true",
        help="every figure and table with the counts of its recorded verdicts and its cost; with PAPER/FIG every claim "
        "with its verdict and cause, too; runs nothing",
    )
    command.add_argument(
        "--json",
        action="store_true",
        help="with --list: every claim with its recorded verdict, its cause, and what became of it, as JSON",
    )
    command.add_argument(
        "--record",
        type=arguments.output,
        metavar="DIR",
        help="also write what was found to the folder of the figure in the study DIR, without times or places, to be "
        "kept and compared",
    )
    arguments.add_grid(command, arguments.results)
    add_figures(command)
    arguments.add_verbose(command)
    command.set_defaults(execute=execute)


def execute(args: argparse.Namespace) -> int:
    """Reproduces the named items."""
    options = arguments.options(args)
    if args.list:
        listed = _wanted(args.names) if args.names else catalogue.figures()
        if args.json:
            return _list_json(listed, options)
        _list(listed, options)
        _list_claims(item for name in args.names if not catalogue.is_group(name) for item in catalogue.find(name))
        return 0
    if args.json:
        raise InputError("--json belongs to --list: `priolane reproduce --list --json`")
    if not args.names:
        raise InputError(
            "reproduce what? PAPER/FIG such as nos2/fig6, PAPER such as nos2, or all; `priolane reproduce --list` "
            "shows what there is"
        )
    wanted = _wanted(args.names)
    budget = arguments.until(args)
    drawn = formats_of(png=args.png, pdf=args.pdf)
    with open_output(args.out or Path("runs"), arguments.settings(args)) as (base, settings):
        how = ReproductionOptions(settings, drawn, args.record, budget, lambda look: show.line(str(look)))
        if len(wanted) > 1 or catalogue.is_group(args.names[0]):
            names = tuple(name.removesuffix(f"/{catalogue.ALL}") for name in args.names)
            return _run_many(names, wanted, base, (options, how))
        planned = plan_figures(wanted, base, options, base if args.out else None)
        return _run_one(planned, base, how, verbose=args.verbose)


def _wanted(names: Sequence[str]) -> list[catalogue.PaperFigure]:
    """The figures that the names mean, each once."""
    return list({item.key: item for name in names for item in catalogue.find(name)}.values())


def _run_one(planned: Sequence[Figure], base: Path, how: ReproductionOptions, *, verbose: bool) -> int:
    """A figure: what its claims come to, or with `verbose` its claims, one by one."""
    began = time.monotonic()
    with progress(near_end=prepare) as watcher:
        (done,) = reproduce(planned, base, how, watcher)
    if done.failure:
        return _failed(done)
    if verbose:
        for results in reversed(done.results):
            reading = "" if results.options.reading is None else f", reading {results.options.reading}"
            show.line(f"{done.figure.item.key}{reading}: {done.figure.item.about}")
            tell_all(results)
    else:
        tell(_outcome(done, time.monotonic() - began))
    if done.record is not None:
        show.line(f"record {done.record}")
    return 0


# Figures that decide all of their claims, or half of them, in seconds at the quick size.
_DECIDED_WHEN_QUICK = ("prioplus/starts", "prioplus/fig10")


def _outcome(done: Reproduction, seconds: float) -> Outcome:
    """The leading reading with the verdicts that are recorded at another size; other readings are on its page."""
    leading = done.results[0]
    kept = recorded(leading)
    return Outcome(
        leading,
        seconds,
        _next_steps(done),
        recorded=kept.words,
        recorded_note=kept.note,
        of_figure=True,
        conclusion=kept.conclusion,
    )


def _next_steps(done: Reproduction) -> list[str]:
    """The figure at its own size if this was a quick one, else another figure, whose quick size decides claims."""
    key = done.figure.item.key
    if done.figure.options.size == "quick":
        following = key
    else:
        following = next(f"{other} --quick" for other in _DECIDED_WHEN_QUICK if other != key)
    return [f"priolane reproduce {following}", "priolane reproduce --list"]


def _run_many(
    names: tuple[str, ...],
    wanted: Sequence[catalogue.PaperFigure],
    base: Path,
    settings: tuple[Options, ReproductionOptions],
) -> int:
    """Several figures, or all of a paper: a line for each as it is done, then how many claims have each verdict."""
    from priolane.report.generator import refuse_replacing  # noqa: PLC0415 - slow to load
    from priolane.reproduction.index import Entry, Index, write_index  # noqa: PLC0415

    options, how = settings
    name = names[0] if len(names) == 1 else _SEVERAL
    path = base / f"{name}.html"
    refuse_replacing(path)
    planned = plan_figures(wanted, base, options)
    entries = {figure.item.key: Entry(figure.item, figure.directory / PAGE_FILE) for figure in planned}
    command = command_line("priolane", "reproduce", *names, *options.arguments(), "-o", path_word(display_name(base)))
    show.line(_announcement(planned, how))
    failed = 0
    with progress([grid.plan for figure in planned for grid in figure.grids], title=name) as watcher:
        for done in reproduce(planned, base, how, watcher):
            key = done.figure.item.key
            entries[key] = replace(entries[key], summary=done.summary, failure=done.failure)
            failed += _failed(done) if done.summary is None else 0
            if done.summary is not None:
                show.line(_line(done, done.summary))
            write_index(path, Index(_title(name), list(entries.values()), command))
    _counts(list(entries.values()))
    show.line(f"page   {path}")
    return FAILED if failed else 0


def _title(name: str) -> str:
    """The title of the page of all figures of a paper, or of all."""
    titles = {catalogue.ALL: "All figures", folders.OURS: "Our own figures", _SEVERAL: "Several figures"}
    if name in titles:
        return titles[name]
    return f"All figures of {catalogue.names()[name]}"


def _announcement(planned: Sequence[Figure], how: ReproductionOptions) -> str:
    """The work that is about to be done."""
    plans = [grid.plan for figure in planned for grid in figure.grids]
    runs = {run.id for each in plans for run in each.all_runs}
    jobs = how.settings.jobs
    summary = f"{len(planned)} figures, {len(runs):,} runs"
    if how.settings.on != LOCAL:
        return f"{summary} on {how.settings.on}"
    predicted = from_plans(plans, jobs)
    return (
        f"{summary}, {jobs} at a time: predicted to take {_time(predicted.wait_s)} if none is there yet, and "
        f"{_time(predicted.cpu_s)} of CPU time"
    )


def _time(seconds: float) -> str:
    """Seconds up to two minutes, then minutes and hours."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def _line(done: Reproduction, summary: Summary) -> str:
    """A figure that is done: its runs, its verdicts, and what to look at."""
    cautions = f"; {len(summary.cautions)} to look at" if summary.cautions else ""
    return f"{done.figure.item.key}: {summary.runs} runs; {counts_text(summary.counts)}{cautions}"


def _failed(done: Reproduction) -> int:
    message(f"failed: {done.figure.item.key}: {done.failure}")
    return FAILED


def _counts(entries: "Sequence[Entry]") -> None:
    """The number of claims with each verdict, paper by paper, and our own claims apart."""
    from priolane.reproduction.index import counts  # noqa: PLC0415

    rows = [
        [name, f"{done} of {many}", *(str(tally[standing]) for standing in Standing)]
        for name, (done, many), tally in counts(entries)
    ]
    show.table(["claims of", "figures", *(standing.value for standing in Standing)], rows)


def _list(items: Iterable[catalogue.PaperFigure], options: Options) -> None:
    """A line for each figure: the counts of its verdicts, and its cost."""
    rows = []
    for item in items:
        state, cost = item.state, "-"
        if item.experiment is not None:
            prediction = check(item.experiment, options)
            claims = len(prediction["merged"].get("claim", []))
            state, cost = (
                f"{claims} claim{'' if claims == 1 else 's'}: {_recorded(item.key, claims)}",
                _cost(prediction),
            )
        rows.append([item.key, item.name, item.about, state, cost])
    show.table(["reproduce", "item", "about", "recorded verdicts", "cost"], rows, _LIST_WIDTH)


def _list_claims(items: Iterable[catalogue.PaperFigure]) -> None:
    """Every recorded claim of each figure with its verdict, and why it is contradicted."""
    for item in items:
        record = read_record(item.key)
        if record is not None:
            show.line("")
            show.table([f"claim of {item.key}", "asks", "outcome", "why"], map(_claim_row, record.claims), _LIST_WIDTH)


def _claim_row(claim: Mapping[str, Any]) -> list[str]:
    own = " (ours)" if claim["source"] == Source.OURS.value else ""
    return [f"{claim['section']}{own}: {claim['says']}", claim["asked"], outcome(claim).value, why(claim)]


def _list_json(items: Iterable[catalogue.PaperFigure], options: Options) -> int:
    """Every figure with its claims: what the file states of each, and what is recorded."""
    show.json_lines([_figure_json(item, options) for item in items])
    return 0


def _figure_json(item: catalogue.PaperFigure, options: Options) -> dict[str, Any]:
    about = {"reproduce": item.key, "item": item.name, "about": item.about, "state": item.state}
    if item.experiment is None:
        return about
    prediction = check(item.experiment, options)
    record = read_record(item.key)
    recorded_claims = {} if record is None else {(claim["section"], claim["says"]): claim for claim in record.claims}
    claims = [
        _claim_json(claim, recorded_claims.get((claim["section"], claim["says"])))
        for claim in prediction["merged"].get("claim", [])
    ]
    size = None if record is None else {"size": record.size, "command": record.command, "results": record.results}
    cost = {key: prediction.get(key) for key in ("packet_hops", "seconds")}
    return {**about, "cost": cost, "recorded": size, "claims": claims}


def _claim_json(stated: Mapping[str, Any], kept: Mapping[str, Any] | None) -> dict[str, Any]:
    """A claim of a file; `verdict` and `outcome` are null where the record does not have it."""
    both = {} if kept is None else {**kept, "cause": stated.get("cause"), "fitted": stated.get("fitted")}
    return {
        **{key: stated[key] for key in ("section", "says", "source")},
        "cause": stated.get("cause"),
        "fitted": stated.get("fitted"),
        "verdict": None if kept is None else kept["verdict"],
        "outcome": outcome(both).value if both else None,
    }


def _recorded(figure: str, claims: int) -> str:
    """The verdicts in the record that comes with the package."""
    record = read_record(figure)
    if record is None:
        return "none recorded"
    # The record is of another version of the file.
    other = "" if len(record.claims) == claims else f" of then {len(record.claims)} claims"
    return f"{counts_text(record.standings())}{other} ({record.size})"


def _cost(prediction: Mapping[str, Any]) -> str:
    """Runs, and what `check` predicts where it does."""
    runs = prediction.get("runs")
    parts = [f"{len(runs) if isinstance(runs, list) else runs} runs"]
    if isinstance(prediction.get("packet_hops"), int | float):
        parts.append(f"{prediction['packet_hops']:.1e} packet-hops")
    if isinstance(prediction.get("seconds"), int | float):
        parts.append(f"{prediction['seconds'] / 60:.1f} min of one core")
    return ", ".join(parts)
