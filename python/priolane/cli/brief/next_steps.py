"""The next commands to type, after a command that has made or read results."""

from dataclasses import replace
from pathlib import Path

from priolane.results.report import Standing
from priolane.results.results import Results
from priolane.storage.object_store import display_name
from priolane.text.command_line import command_line, option, path_word

_ONE_SEED = "one_seed"
_UNSTEADY = "steady_state"
# Reasons that more seeds remedy.
_SEEDS_DECIDE = ("interval", "claims", "same_count")
# The budget of `--until decided`, in runs of the grid as it is.
_TIMES = 8


def _near(path: Path) -> Path:
    """A path as one types it here: from the current directory if it is below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path


def after_run(results: Results) -> list[str]:
    """More seeds where claims are undecided that seeds decide; where runs are not steady, the window that they want;
    else the whole table of results."""
    place = path_word(display_name(results.directory))
    undecided = [claim for claim in results.report.claims if claim.standing is Standing.UNDECIDED]
    reasons = {claim.reason_code for claim in undecided}
    again = replace(results.options, looks=1)
    if _ONE_SEED in reasons:
        more = [*replace(again, seeds=None).arguments(), "--seeds", "5"]
    elif reasons & set(_SEEDS_DECIDE):
        more = [*again.arguments(), "--until", "decided", *option("--budget", f"{_TIMES * len(results.runs)}runs")]
    elif _UNSTEADY in reasons:
        return [command_line("priolane", "check", path_word(_near(results.source)), *again.arguments())]
    else:
        return [command_line("priolane", "results", place)]
    return [command_line("priolane", "run", path_word(_near(results.source)), *more, "-o", place)]
