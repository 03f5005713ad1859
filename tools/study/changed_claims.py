"""The claims that were removed or changed: tables of study/claims-changed.md, and shares over both lists of claims.

changed_claims.toml states them. `make ledger` writes the page, and tests/test_changed_claims.py compares it with the
records.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from priolane.results.report import Source
from priolane.study.outcomes import Outcome, tally
from priolane.study.record import Record

FILE = Path(__file__).parent / "changed_claims.toml"
PAGE = Path(__file__).parent.parent.parent / "study" / "claims-changed.md"
_OUTCOMES = {
    "reproduced": Outcome.REPRODUCED,
    "reading": Outcome.UNDER_A_READING,
    "impossible": Outcome.IMPOSSIBLE,
    "fails": Outcome.FAILS,
    "undecided": Outcome.UNDECIDED,
}
# The last column of each table; averages have one reason, which the page states.
_COLUMNS = {"average": "", "twice": "asked by", "no_quantity": "reason", "changed": "change"}


def stated() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The changes of the file, by their kind."""
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return tables


def before(total: Mapping[Outcome, int], records: Sequence[Record]) -> Counter[Outcome]:
    """The outcomes over the claims as they were: those of today without what asks it now, and with what was asked.

    Raises `SystemExit` if a claim that the file names is in no record, or in several.
    """
    old = Counter(total)
    for changes in stated().values():
        for change in changes:
            old.update({_OUTCOMES[name]: count for name, count in change["was"].items()})
            old.subtract(tally(claim for now in change.get("now", ()) for claim in _asking(now, records)))
    return old


def _asking(now: str | Mapping[str, Any], records: Sequence[Record]) -> Iterator[Mapping[str, Any]]:
    """The claims of the papers that ask a changed quantity today."""
    figure = now if isinstance(now, str) else now["figure"]
    claims = [
        claim
        for record in records
        if record.figure == figure
        for claim in record.claims
        if claim["source"] == Source.PAPER.value
    ]
    if isinstance(now, str):
        yield from claims
        return
    for begin in now["says"]:
        named = [claim for claim in claims if claim["says"].startswith(begin)]
        if len(named) != 1:
            raise SystemExit(f"{FILE.name}: {len(named)} recorded claims of {figure} begin with `{begin}`")
        yield named[0]


def page(text: str, sentences: str) -> str:
    """The page with its tables and with sentences on the shares, each between two marks."""
    for kind, changes in stated().items():
        text = _between(text, kind, _table(kind, changes))
    return _between(text, "shares", sentences)


def _table(kind: str, changes: Sequence[Mapping[str, Any]]) -> str:
    last = _COLUMNS[kind]
    columns = ["figure", "claims", "last outcomes", *([last] if last else [])]
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    for change in changes:
        figures = ", ".join(f"`{figure}`" for figure in change["figures"])
        own = [f"{change['ours']} of ours"] if "ours" in change else []
        was = ", ".join(f"{count} {_OUTCOMES[name].value}" for name, count in change["was"].items())
        cells = [figures, change["claims"], "; ".join([was, *own] if was else own), *([change["why"]] if last else [])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _between(text: str, name: str, content: str) -> str:
    begin, end = f"<!-- {name}: make ledger -->\n", f"<!-- end of {name} -->\n"
    head, _, rest = text.partition(begin)
    _, mark, tail = rest.partition(end)
    if not mark:
        raise SystemExit(f"{PAGE.name} has no lines {begin.strip()} and {end.strip()}")
    return f"{head}{begin}\n{content}\n{end}{tail}"
