"""Sums what the recorded runs take: a sentence of docs/ledger.md, which `make ledger` writes.

The packet-hops of a record are those that `priolane check` predicts for its command, seeds, and size.
"""

import re
import shlex
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from priolane.model.experiment import Options, check
from priolane.study import catalogue
from priolane.study.record import Record, results_version

PAGE = Path(__file__).parent.parent.parent / "docs" / "ledger.md"
_SENTENCE = re.compile(r"^`check` predicts .*\n", re.MULTILINE)
NS_PER_HOP = 70
"""The mean time of a packet-hop in all recorded runs on one core, so that machines do not change the sentence."""


def sets(command: str) -> tuple[tuple[str, str], ...]:
    """The keys that a command of a record sets, with their values."""
    pairs = (value.partition("=") for option, value in pairwise(shlex.split(command)) if option == "--set")
    return tuple((key, value) for key, _, value in pairs)


def packet_hops(record: Record) -> float:
    """The packet-hops of the runs of the leading reading of a record, as its figure is today."""
    grid = record.grids[0]
    options = Options(sets=sets(record.command), seeds=tuple(grid["seeds"]), size=grid["size"])
    experiment = {item.key: item.experiment for item in catalogue.figures()}[record.figure]
    if experiment is None:
        raise SystemExit(f"{record.figure} has a record and no experiment")
    return float(check(experiment, options)["packet_hops"])


def sentence(records: Sequence[Record], hops: Sequence[float]) -> str:
    """The sum for figures of this version of results, and of what the others would take."""
    hours = [of_record * NS_PER_HOP * 1e-9 / 3600 for of_record in hops]
    new = [one for one, record in zip(hours, records, strict=True) if not record.is_older]
    older = [one for one, record in zip(hours, records, strict=True) if record.is_older]
    others = f", and {sum(older):.2g} for the other {len(older)}" if older else ""
    version = f"the {len(new)} figures of results {results_version()}"
    return f"`check` predicts {sum(new):.2g} core-hours for {version}{others}.\n"


def page(text: str, content: str) -> str:
    """The page with the sentence in place of the one that it has. Raises `SystemExit` if it has none."""
    if not _SENTENCE.search(text):
        raise SystemExit(f"{PAGE.name} has no sentence that begins with `check` predicts")
    return _SENTENCE.sub(lambda _: content, text)
