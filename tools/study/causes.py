"""Brings the causes of claims from experiment files into the records: part of `make ledger`.

A cause is what is known about a verdict. It is found after the runs, and changes without them, so that a record takes
it from the file of its figure.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from priolane.model import folders
from priolane.results.cause import Cause
from priolane.storage.files import write_whole
from priolane.study import catalogue
from priolane.study.record import RECORD

_STATED = ("cause", "fitted")
_BEFORE = "flags"
"""The member of a recorded claim before which those of an experiment file stand."""


def with_causes(record: Mapping[str, Any], file: Mapping[str, Any]) -> dict[str, Any]:
    """A record with the causes that the experiment file states for its claims; claims of other versions have none."""
    stated = {(claim["section"], claim["says"]): claim for claim in file.get("claim", [])}
    grid = {
        **record["grids"][0],
        "claims": [
            _with_cause(claim, stated.get((claim["section"], claim["says"]), {}))
            for claim in record["grids"][0]["claims"]
        ],
    }
    return {**record, "grids": [grid, *record["grids"][1:]]}


def _with_cause(claim: Mapping[str, Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    cause = Cause.of(stated.get("cause"))
    added: dict[str, Any] = {} if cause is None else {"cause": cause.as_json()}
    added |= {"fitted": stated["fitted"]} if stated.get("fitted") else {}
    filled: dict[str, Any] = {}
    for key, value in claim.items():
        if key == _BEFORE:
            filled |= added
        if key not in _STATED:
            filled[key] = value
    return filled


def refresh(study: Path = folders.STUDY) -> list[str]:
    """Rewrites the records whose causes differ from those of the files; returns their figures."""
    changed = []
    for item in catalogue.figures(study):
        path = folders.folder(study, item.key) / RECORD
        if item.experiment is None or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        content = with_causes(json.loads(text), item.stated)
        again = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        if again != text:
            write_whole(path, again.encode())
            changed.append(item.key)
    return changed
