"""Results that somebody else made, with valid checksums: each command reads them, or refuses them in lines of text."""

import copy
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import factories
from priolane import _core
from priolane.cli import main
from priolane.results.results import load
from priolane.storage.directory import read_record
from priolane.storage.files import parse_json
from rings import cases

DEEP: list[Any] = []
for _ in range(100):
    DEEP = [DEEP]
VALUES: list[Any] = [
    *(None, True, 0, -1, 1e308, -0.0, 5e-324, 2**63, 2**64, 10**30, 10**400),
    *("", "x", "../../x", "/etc/passwd", "\0", "\u202e\x1b[31m", "y" * 10_000, "0" * 16, "-x", "1e999s", "=cmd|x"),
    *([], {}, [None], [[1, 2], 3], {"a": None}, DEEP, [1] * 500),
]
Place = tuple[str | int, ...]


def places(value: Any, place: Place = ()) -> list[Place]:
    """The values that contain others, with the first item of each list."""
    inner: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value[:2]))
    return [result for key, item in inner for result in ((*place, key), *places(item, (*place, key)))]


def mutant(value: Any, draw: random.Random) -> Any:
    """The value with one member replaced, removed, or under another name."""
    changed = copy.deepcopy(value)
    *way, last = draw.choice(places(changed))
    parent = changed
    for key in way:
        parent = parent[key]
    kind = draw.random()
    if kind < 0.15:
        del parent[last]
    elif kind < 0.25 and isinstance(parent, dict):
        parent[draw.choice(["../x", "", "y" * 300, f"{last}x"])] = parent.pop(last)
    else:
        parent[last] = copy.deepcopy(draw.choice(VALUES))
    return changed


def write(path: Path, value: Any) -> bool:
    """Writes JSON with its checksum; whether it can have one."""
    try:
        path.write_text(_core.with_checksum(json.dumps(value)), encoding="utf-8")
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("many", cases([45], [1500]))
def test_results_of_any_shape_are_read_or_refused(
    tmp_path: Path, many: int, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(7)  # noqa: S311 - no secret
    good = factories.make_results(tmp_path / "good", panels=2)
    run = "0" * 16
    names = ["grid.json", "report.json", f"{run}/run.json"]
    for nth in range(many):
        spoiled = tmp_path / "spoiled"
        shutil.rmtree(spoiled, ignore_errors=True)
        shutil.copytree(good, spoiled)
        name = names[nth % len(names)]
        value = json.loads((good / name).read_text(encoding="utf-8"))
        value.pop("file_sha256")
        changed = mutant(value, draw)
        if not write(spoiled / name, changed):
            continue
        commands = [["report", spoiled]]
        if name != "report.json":
            commands = [["results", spoiled], ["compare", spoiled, good], ["compare", good, spoiled, "--json"]]
        for words in commands:
            code = main([str(word) for word in words])
            printed = capsys.readouterr()
            assert code in (0, 1, 2), (name, changed)
            assert code != 2 or printed.err.startswith("priolane: error: "), (name, printed.err)


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": -Infinity}', "[" * 100_000, "{", "9" * 5000])
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def _other_columns() -> pa.Table:
    return pa.table({"x": [1]})


def _series(**columns: Any) -> pa.Table:
    good = {"t_ps": [1, 2], "entity": ["a->b", "a->b"], "metric": ["queued_bytes", "sent_bytes"], "value": [1.0, 2.0]}
    return pa.table(good | columns)


SERIES: dict[str, Callable[[], pa.Table | bytes]] = {
    "no table": lambda: b"PAR1 and nothing",
    "empty": lambda: b"",
    "other columns": _other_columns,
    "later than the end": lambda: _series(t_ps=[1, 2**62]),
    "before the start": lambda: _series(t_ps=[1, -5]),
    "texts as times": lambda: _series(t_ps=["1", "2"]),
    "texts as values": lambda: _series(value=["1", "2"]),
    "lists as names": lambda: _series(entity=[["a"], ["b"]]),
    "not a number": lambda: _series(value=[float("nan"), 1.0]),
    "infinite": lambda: _series(value=[float("inf"), 1.0]),
    "missing": lambda: _series(value=[None, 1.0]),
}


@pytest.mark.parametrize("make", SERIES.values(), ids=SERIES)
def test_a_series_of_any_form_is_refused_in_one_line(
    tmp_path: Path, make: Callable[[], pa.Table | bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    results = factories.make_results(tmp_path / "results", panels=1)
    run = results / ("0" * 16)
    content = make()
    if isinstance(content, bytes):
        (run / "series.parquet").write_bytes(content)
    else:
        pq.write_table(content, run / "series.parquet")
    factories.edit(run / "run.json", lambda record: record | {"files": factories.files(run)})
    assert main(["report", str(results)]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "series.parquet: damaged: " in printed


def test_records_and_notes_of_priolane_have_their_shapes(tmp_path: Path) -> None:
    results = load(factories.make_results(tmp_path / "results"))
    assert len(results.records) == len(results.runs)
    assert read_record(results.place(results.runs[0].id).file("run.json"))["digest"]
    assert results.report.claims
