"""The claims of a figure under each reading of its paper.

The grid of the leading reading is in the directory of the figure, those of the others below `readings/` in it. Those
that are complete are shown side by side.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from priolane._core import InputError
from priolane.model.experiment import Reading
from priolane.results.report import Claim
from priolane.results.results import Results, load

ALL = "all"
"""The value of `--reading` for every reading."""

AS_STATED = Reading(name="as stated", evidence="", decides="", leads=True)
"""The file as it stands, where it does not describe its leading reading."""


def directory_of(directory: Path, name: str) -> Path:
    """The directory of the grid of the reading `name` of the figure in `directory`."""
    return directory / "readings" / name


@dataclass(frozen=True)
class ByReading:
    """The readings that were run, the leading one first, and each claim under each of them."""

    readings: tuple[Reading, ...]
    # `None` where a reading does not have the claim.
    claims: tuple[tuple[Claim | None, ...], ...]


def by_reading(results: Results) -> ByReading | None:
    """The claims of `results`, of the leading reading, under each reading; `None` if no other reading was run."""
    if results.options.reading not in (None, *(reading.name for reading in results.readings if reading.leads)):
        return None
    leading = next((reading for reading in results.readings if reading.leads), AS_STATED)
    others = list(_others(results))
    if not others:
        return None
    columns = [{_key(claim): claim for claim in report} for _, report in others]
    claims = tuple((claim, *(column.get(_key(claim)) for column in columns)) for claim in results.report.claims)
    return ByReading(readings=(leading, *(reading for reading, _ in others)), claims=claims)


def _others(results: Results) -> Iterator[tuple[Reading, tuple[Claim, ...]]]:
    for reading in results.readings:
        directory = directory_of(results.directory, reading.name)
        if reading.leads or not directory.is_dir():
            continue
        try:
            yield reading, load(directory).report.claims
        except InputError:
            # An interrupted grid: `reproduce --reading all` completes it.
            continue


def _key(claim: Claim) -> tuple[str, str]:
    return claim.section, claim.text
