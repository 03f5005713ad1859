"""The record of reproducing a figure, as it is kept in the repository: record.json in the folder of the figure.

The record of all readings of a paper is readings.json beside it.

A file holds no time and nothing of the machine, in an order that does not change, so that the difference of two of its
versions is what has changed. Numbers have six digits.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from priolane import _core
from priolane._core import InputError
from priolane.model.folders import STUDY, folder
from priolane.results.estimate import Estimate
from priolane.results.report import Claim, MeasuredQuantity, Report, Source, Standing, Verdict, tally_text
from priolane.results.results import Results
from priolane.storage.files import MOST_JSON_BYTES, WriteError, parse_json, read_regular, write_whole
from priolane.study.outcomes import standing

RECORD = "record.json"
"""The name of the record in the folder of a figure."""
READINGS = "readings.json"
"""The name of the record of all readings of a paper."""

_RESULTS = re.compile(r"\+results\.(\d+)")


@dataclass(frozen=True)
class Record:
    """The record of a figure. `grids` are what was run: one, or one for each reading, the leading one first."""

    figure: str
    title: str
    command: str
    results: int
    grids: tuple[Mapping[str, Any], ...]

    @property
    def claims(self) -> Sequence[Mapping[str, Any]]:
        """The claims of the leading reading."""
        claims: Sequence[Mapping[str, Any]] = self.grids[0]["claims"]
        return claims

    @property
    def size(self) -> str:
        """Size and number of seeds: `quick, 3 seeds`."""
        seeds = len(self.grids[0]["seeds"])
        return f"{self.grids[0]['size']}, {seeds} seed{'' if seeds == 1 else 's'}"

    @property
    def is_older(self) -> bool:
        """Whether an older version of results made it."""
        return self.results < results_version()

    def is_of(self, results: Results) -> bool:
        """Whether it was made with the size and the seeds of these results."""
        grid = self.grids[0]
        return bool(grid["size"] == results.options.size and grid["seeds"] == list(results.report.seeds))

    def agrees_with(self, results: Results) -> bool:
        """Whether these results have the same claims with the same verdicts."""
        recorded = [(claim["says"], Verdict(claim["verdict"])) for claim in self.claims]
        return recorded == [(claim.text, claim.verdict) for claim in results.report.claims]

    def standings(self) -> dict[Source, Counter[Standing]]:
        """The number of claims that stand so, those of the paper and ours apart."""
        counted: dict[Source, Counter[Standing]] = {source: Counter() for source in Source}
        for claim in self.claims:
            counted[Source(claim["source"])][standing(claim)] += 1
        return counted


def counts_text(counts: Mapping[Source, Mapping[Standing, int]]) -> str:
    """Verdicts with their numbers, ours apart: `4 reproduced, 8 undecided; ours: 1 holds`."""
    texts = {source: tally_text(source, of) for source, of in counts.items()}
    paper, ours = texts.get(Source.PAPER, ""), texts.get(Source.OURS, "")
    return "; ".join(part for part in (paper, f"ours: {ours}" if ours else "") if part) or "none"


def write_record(directory: Path, figure: str, grids: Sequence[Results], command: str) -> Path:
    """Writes the record of a figure (`nos2/fig6`) into its folder of the study in `directory` and returns its path.

    Several grids are those of readings. `command` is what made it, without places on this machine. Raises
    `InputError` if verdicts are stricter than those of the command in an empty directory, and `WriteError` if the file
    cannot be written.
    """
    content = {
        "figure": figure,
        "title": grids[0].report.title,
        "command": command,
        "results": results_version(),
        "grids": [_grid(results, _claim if len(grids) == 1 else _brief_claim) for results in grids],
    }
    path = _path(directory, figure, RECORD if len(grids) == 1 else READINGS)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(path, error) from error
    write_whole(path, (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())
    return path


def read_record(figure: str, directory: Path = STUDY, file: str = RECORD) -> Record | None:
    """The record of a figure; `None` if there is none. Raises `InputError` if the file is no record."""
    path = _path(directory, figure, file)
    try:
        read = parse_json(read_regular(path, MOST_JSON_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a record ({error}); record {figure} again") from error
    try:
        record = Record(
            figure=read["figure"],
            title=read["title"],
            command=read["command"],
            results=read["results"],
            grids=tuple(read["grids"]),
        )
        record.standings()
        str(record.size)
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not a record of this version ({error!r}); record {figure} again") from error
    return record


def records(figures: Sequence[str], directory: Path = STUDY, file: str = RECORD) -> Iterator[Record]:
    """The records that there are of these figures, in their order."""
    for figure in figures:
        record = read_record(figure, directory, file)
        if record is not None:
            yield record


def _path(directory: Path, figure: str, file: str) -> Path:
    return folder(directory, figure) / file


def results_version() -> int:
    """The version of results that this version of priolane makes."""
    match = _RESULTS.search(_core.version())
    if match is None:
        raise RuntimeError(f"{_core.version()} does not state a version of results")
    return int(match[1])


def _require_verdicts_of_command(directory: Path, report: Report) -> None:
    """Raises `InputError` if earlier looks left this one less of the error probability than its command gives."""
    share = report.looks[report.look].share
    if share < _core.first_share(_looks(report)) - 1e-9:
        raise InputError(
            f"{directory}: its claims were judged before without a plan, so verdicts are stricter than those "
            f"of the command; record into an empty directory with -o DIR --looks {_looks(report)}"
        )


def _looks(report: Report) -> int:
    return max(report.planned_looks, len(report.looks))


def _grid(results: Results, as_json: Callable[[Claim], dict[str, Any]]) -> dict[str, Any]:
    report, options = results.report, results.options
    _require_verdicts_of_command(results.directory, report)
    leading = next((reading.name for reading in results.readings if reading.leads), None)
    return {
        "reading": options.reading or leading,
        "size": options.size,
        "seeds": list(report.seeds),
        "looks": _looks(report),
        "runs": len(results.runs),
        "digest": report.digest,
        "claims": [as_json(claim) for claim in report.claims],
    }


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "section": claim.section,
        "says": claim.text,
        "source": claim.source.value,
        "asked": claim.criterion,
        "test": {key: _digits(value) for key, value in claim.test.items()},
        "verdict": claim.verdict.value,
        "alone": claim.uncorrected_verdict.value,
        "direction": claim.direction.value,
        "reason": claim.reason,
        "reason_code": claim.reason_code,
        "seeds_needed": claim.seeds_needed,
        "lead": claim.leads,
        **_stated(claim),
        "flags": [{"kind": flag.kind, "says": flag.text} for flag in claim.flags],
        "measured": [_measured(item) for item in claim.measured],
        "compared": [_compared(item) for item in claim.contrasts],
    }


def _stated(claim: Claim) -> dict[str, Any]:
    """The cause of a claim and the parameter that was fitted to it, of these what its experiment states."""
    cause = {} if claim.cause is None else {"cause": claim.cause.as_json()}
    return cause | ({"fitted": claim.fitted} if claim.fitted else {})


def _brief_claim(claim: Claim) -> dict[str, Any]:
    """The parts of a claim that are compared between readings, with its value if it has one only."""
    value = ("unit", "mean", "low", "high", "seeds")
    compared = [_measured(item) for item in claim.contrasts]
    return {
        "section": claim.section,
        "says": claim.text,
        "source": claim.source.value,
        "asked": claim.criterion,
        "verdict": claim.verdict.value,
        "compared": [{key: compared[0][key] for key in value}] if len(compared) == 1 else [],
    }


def _measured(item: MeasuredQuantity) -> dict[str, Any]:
    estimate: Estimate = item.estimate
    return {
        "what": item.what,
        "at": dict(item.at),
        "unit": item.unit,
        "average": estimate.average.value,
        "mean": _digits(estimate.mean),
        "low": _digits(estimate.low),
        "high": _digits(estimate.high),
        "seeds": estimate.seeds,
    }


def _compared(item: MeasuredQuantity) -> dict[str, Any]:
    sides = [
        {"quantity": side.quantity, "class": side.of_class, "scheme": side.scheme, "at": dict(side.at)}
        for side in item.sides
    ]
    return _measured(item) | {"verdict": item.verdict, "sides": sides}


def _digits(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value
