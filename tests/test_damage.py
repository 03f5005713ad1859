"""Damaged results: `report` refuses them in one line, and Python raises `InputError`, whatever is damaged.

`results` and `compare` leave damaged runs out, name them and fail.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

import factories
from priolane._core import InputError, read_checked
from priolane.cli import main
from priolane.results.results import Results, load

FIRST = f"{0:016x}"


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def digit(path: Path) -> None:
    """Changes a digit and leaves valid JSON."""
    text = path.read_text(encoding="utf-8")
    at = next(nth for nth, sign in enumerate(text) if sign in "12345678")
    path.write_text(f"{text[:at]}{int(text[at]) + 1}{text[at + 1 :]}", encoding="utf-8")


def truncate(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def null(path: Path) -> None:
    path.write_bytes(b"null")


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def remove(path: Path) -> None:
    path.unlink()


DAMAGES = (flip, digit, truncate, empty, null, zero)
RECORDS = ("grid.json", "report.json", f"{FIRST}/run.json")
TABLES = (f"{FIRST}/flows.parquet", f"{FIRST}/ports.parquet")
CASES = [(name, damage) for name in RECORDS for damage in DAMAGES] + [
    (name, damage) for name in TABLES for damage in (flip, truncate, empty, null, zero, remove)
]


@pytest.mark.parametrize(("name", "damage"), CASES, ids=[f"{name}-{damage.__name__}" for name, damage in CASES])
def test_damage_is_one_line(
    results: Results, tmp_path: Path, name: str, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    other = factories.make_results(tmp_path / "other")
    damage(results.directory / name)
    page = results.directory / "report.html"
    assert main(["report", str(results.directory)]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert str(results.directory / name) in printed
    assert not page.exists(), "nothing is drawn from damaged results"
    if name == "report.json":
        return
    commands = [["compare", *pair] for pair in ((results.directory, other), (other, results.directory))]
    # The table of results is made of records alone.
    if name not in TABLES:
        commands.append(["results", results.directory])
    left_out = name.startswith(FIRST)
    for words in commands:
        assert main([*map(str, words)]) == (1 if left_out else 2)
        out, err = capsys.readouterr()
        assert bool(out) == left_out, "what is left is printed"
        assert err.count("\n") == 1
        assert str(results.directory / name) in err
        assert err.endswith("; the run is left out\n") == left_out


def test_results_without_a_damaged_run_have_all_others(results: Results) -> None:
    flip(results.directory / FIRST / "flows.parquet")
    assert results.without_damaged().missing() == []
    left = results.without_damaged(with_tables=True)
    assert [run.id for run in left.missing()] == [FIRST]
    assert len(left.records) == 15
    assert set(left.flows()["run"].to_pylist()) == {run.id for run in left.runs} - {FIRST}


def test_tables_are_checked_as_they_are_read(results: Results) -> None:
    flip(results.directory / FIRST / "flows.parquet")
    with pytest.raises(InputError, match=r"flows\.parquet: damaged"):
        results.flows()
    assert results.ports().num_rows == 16
    flip(results.directory / FIRST / "run.json")
    with pytest.raises(InputError, match=r"run\.json: damaged"):
        load(results.directory).summary()


def test_a_record_that_differs_under_one_digest_is_not_identical(
    results: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = factories.make_results(tmp_path / "other")
    factories.edit(other / FIRST / "run.json", lambda record: record | {"stopped_at_ps": 7})
    assert main(["compare", str(results.directory), str(other), "-v"]) == 0
    printed = capsys.readouterr().out
    assert "identical:" not in printed
    assert "16 runs in both, 15 of them identical to the bit" in printed
    assert "dctcp seed 1: the tables are the same, the record is not: `stopped_at_ps` is 2050000000000 and 7" in printed


def test_a_file_that_is_not_there_is_no_damage(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_checked(tmp_path / "none.json")
