"""A report on standard output: claims with their verdicts, and what to look at before trusting them."""

from rich.text import Text

from priolane.cli.show import line, table
from priolane.results.report import Claim, Report, Source, Standing, error_bound, point_text, tally_texts

_COLOURS = {
    Standing.REPRODUCED: "green",
    Standing.UNDECIDED: "yellow",
    Standing.CONTRADICTED: "red",
    Standing.IMPOSSIBLE: "red",
}
_OWNERS = {Source.PAPER: "claims of the paper", Source.OURS: "our own claims"}


def print_claims(report: Report) -> None:
    """Claim, what it asks, measured with interval, verdict; then how many have each, the paper's and ours apart, and
    what the verdicts promise together."""
    rows: list[list[str | Text]] = []
    for claim in report.claims:
        measured = [
            f"{item.what} {item.value}" + (f"  ({point_text(item.at)})" if item.at else "") for item in claim.measured
        ]
        rows.append(
            [
                _labelled(claim),
                claim.criterion,
                "\n".join(measured),
                Text("; ".join((_verdict(claim), *claim.notes)), style=_COLOURS.get(claim.standing, "")),
            ]
        )
    if rows:
        table(["claim", "asks", "measured, 95 % interval", "verdict"], rows)
    for source, text in tally_texts(report):
        line(f"{_OWNERS[source]}: {text}")
    for claim in report.claims:
        for flag in claim.flags:
            line(f"flag ({claim.section or claim.text}): {flag.text}")
    if report.claims:
        line(error_bound(report))


def _labelled(claim: Claim) -> str:
    """The statement after its section, if it has one."""
    if not claim.section:
        return claim.text
    return f"{claim.section}{' (ours)' if claim.source is Source.OURS else ''}: {claim.text}"


def _verdict(claim: Claim) -> str:
    """The verdict, and what is wrong with the metrics that it rests on."""
    return f"{claim.word} (flag: {claim.flag_kinds})" if claim.flags else claim.word


def print_warnings(report: Report) -> None:
    """Checks that do not hold, and warnings: what to look at before trusting the rest."""
    for check in report.checks:
        if not check.is_fine:
            line(f"check {check.name}: {check.text}")
    for warning in report.warnings:
        line(f"warning: {warning}")
