"""`priolane linux agree`: how far measured runs are from simulated ones, of one experiment or of the scenarios."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from priolane._core import InputError, RunFailed
from priolane.cli import show
from priolane.hosts import agreement
from priolane.hosts.agreement import ClaimRow, Row
from priolane.hosts.agreement_page import AGREEMENT_PAGE, Section, write_agreement
from priolane.hosts.agreement_scenarios import GROUP, Scenario
from priolane.report.generator import refuse_replacing
from priolane.results.report import Claim, point_text
from priolane.results.results import Results
from priolane.storage.run_files import RunPlace
from priolane.text.command_line import command_line, option, path_word

# The exit code if something is farther off than its tolerance.
DISAGREE = 1
Both = Callable[[argparse.Namespace, Path], tuple[Results, Results]]
# What a scenario has of its own, by the name of its argument.
_OWN = {
    "schemes": "--scheme",
    "scale": "--scale",
    "switch": "--switch",
    "machines": "--machines",
    "sets": "--set",
    "seeds": "--seeds",
    "reading": "--reading",
}


def one(both: tuple[Results, Results], out: Path, args: argparse.Namespace) -> int:
    """Says how far both results of an experiment are apart, with a page in `out`."""
    simulated, measured = both
    rows, claims = agreement.compare(simulated, measured), agreement.compare_claims(simulated, measured)
    page = out / AGREEMENT_PAGE
    refuse_replacing(page)
    write_agreement(page, _sections(both, rows), _command(args, out))
    if args.json:
        show.line(agreement.as_json(rows, claims))
        return _code(rows)
    _table(rows)
    if claims:
        show.table(["claim", "simulated", "", "measured", ""], [_claim_row(row) for row in claims])
    show.line(f"page   {page}")
    return _code(rows)


def scenarios(wanted: Sequence[Scenario], args: argparse.Namespace, both: Both) -> int:
    """Measures and simulates scenarios one after another, with a line for each, a table of all, and a page.

    A scenario of which a host ends is failed; the others are measured all the same.
    """
    for name, spelled in _OWN.items():
        if getattr(args, name, None):
            raise InputError(f"{spelled}: scenarios have their own; leave it out, or give the file of a scenario")
    base = args.out or Path("runs") / GROUP
    page = base / AGREEMENT_PAGE
    refuse_replacing(page)
    sections: list[Section] = []
    try:
        for scenario in wanted:
            section = _scenario(scenario, args, base / scenario.name, both)
            sections.append(section)
            (show.note if args.json else show.line)(f"{scenario.name}: {_outcome(section)}")
    finally:
        if sections:
            write_agreement(page, sections, _command(args, base))
    rows = [row for section in sections for row in section.rows]
    if args.json:
        show.line(agreement.as_json(rows, []))
    else:
        if len(wanted) == 1:
            _table(rows)
        _summary(wanted, sections)
        show.line(f"page   {page}")
    return DISAGREE if any(section.failure for section in sections) else _code(rows)


def _scenario(scenario: Scenario, args: argparse.Namespace, out: Path, both: Both) -> Section:
    own = {
        "experiment": str(scenario.path),
        "schemes": [scenario.scheme],
        "scale": scenario.scale,
        "switch": scenario.switch,
    }
    about = f"{scenario.scheme}; {scenario.ports}; switch: {scenario.switch}; scale {scenario.scale}"
    try:
        simulated, measured = both(argparse.Namespace(**{**vars(args), **own}), out)
    except RunFailed as error:
        return Section(scenario.name, about, failure=str(error))
    rows = agreement.compare(simulated, measured)
    return Section(scenario.name, f"{simulated.title}. {about}", rows, _pairs((simulated, measured)))


def _pairs(both: tuple[Results, Results], run_ids: Sequence[str] | None = None) -> list[tuple[RunPlace, RunPlace]]:
    """The places of runs, simulated and measured; of all, or of these."""
    simulated, measured = both
    ids = [run.id for run in simulated.runs] if run_ids is None else run_ids
    return [(simulated.place(run_id), measured.place(run_id)) for run_id in ids]


def _sections(both: tuple[Results, Results], rows: Sequence[Row]) -> list[Section]:
    """A section for each scheme and sweep point, with its seeds together."""
    groups: dict[str, list[str]] = {}
    for run in both[0].runs:
        groups.setdefault(", ".join(part for part in (run.scheme, point_text(run.point)) if part), []).append(run.id)
    return [
        Section(name, both[0].title, [row for row in rows if row.run.id in ids], _pairs(both, ids))
        for name, ids in groups.items()
    ]


def _command(args: argparse.Namespace, out: Path) -> str:
    own = [
        part
        for name, value in (("--scale", args.scale), ("--switch", args.switch), ("--machines", args.machines))
        if value is not None
        for part in option(name, str(value))
    ]
    schemes = [part for scheme in args.schemes or () for part in option("--scheme", scheme)]
    words = ["priolane", "linux", "agree", path_word(args.experiment), *schemes, *own]
    return command_line(*words, "-o", path_word(out))


def _code(rows: Sequence[Row]) -> int:
    return 0 if all(row.agrees for row in rows) else DISAGREE


def _outcome(section: Section) -> str:
    if section.failure:
        return f"failed: {section.failure}"
    differing = [
        f"{row.quantity} {show.number(row.measured)} instead of {show.number(row.simulated)}"
        for row in section.rows
        if not row.agrees
    ]
    return f"{section.agreeing} of {len(section.rows)} agree" + "".join(f"; {text}" for text in differing)


def _summary(wanted: Sequence[Scenario], sections: Sequence[Section]) -> None:
    rows = []
    for scenario, section in zip(wanted, sections, strict=True):
        differing = "; ".join(dict.fromkeys(row.quantity for row in section.rows if not row.agrees))
        agree = "failed" if section.failure else f"{section.agreeing} of {len(section.rows)}"
        how = [scenario.scheme, scenario.ports, scenario.switch, str(scenario.scale)]
        rows.append([scenario.name, *how, agree, differing or "-"])
    show.table(["scenario", "scheme", "ports", "switch", "scale", "agree", "differ"], rows)
    compared = [row for section in sections for row in section.rows]
    whole = sum(not section.failure and section.agreeing == len(section.rows) for section in sections)
    agreeing = sum(row.agrees for row in compared)
    show.line(
        f"{whole} of {len(sections)} scenarios agree in everything; {agreeing} of {len(compared)} quantities agree"
    )


def _table(rows: Sequence[Row]) -> None:
    columns = ["scheme", "point", "seed", "quantity", "simulated", "measured", "ratio", "tolerance", ""]
    show.table(columns, [_agree_row(row) for row in rows])


def _agree_row(row: Row) -> list[str]:
    point = ", ".join(f"{key.rpartition('.')[2]} = {value}" for key, value in row.run.point.items())
    ratio = "-" if row.ratio is None else f"{row.ratio:.3f}"
    values = [show.number(row.simulated), show.number(row.measured), ratio]
    verdict = "agrees" if row.agrees else "DIFFERS"
    return [row.run.scheme, point, str(row.run.seed), row.quantity, *values, row.tolerance, verdict]


def _claim_row(row: ClaimRow) -> list[str]:
    def side(claim: Claim) -> list[str]:
        values = [f"{item.value}" + (f" ({point_text(item.at)})" if item.at else "") for item in claim.measured]
        return [claim.word, "\n".join(values)]

    return [f"{row.section}: {row.text}" if row.section else row.text, *side(row.simulated), *side(row.measured)]
