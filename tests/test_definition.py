"""Experiments as Python values: the same runs as files, and mistakes by name."""

import copy
import shutil
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import priolane
from priolane._core import InputError
from priolane.model.definition import as_experiment

ROOT = Path(__file__).parent.parent
FILES = sorted([*(ROOT / "experiments" / "recipes").rglob("*.toml"), *(ROOT / "study" / "ours").rglob("figure.toml")])

KEYS: dict[str, Any] = {
    "title": "Three hosts: one switch",
    "schemes": ["dctcp", "newreno"],
    "seeds": 2,
    "time": {"flows": 6, "limit": "1s"},
    "topology": {"kind": "single_switch", "hosts": 3, "host_link": {"rate": "10Gbps", "delay": "1us"}},
    "group": [
        {
            "name": "all",
            "hosts": "*",
            "app": "poisson",
            "sizes": {"csv": "sizes.csv", "interpolation": "linear"},
            "load": {"of": "host", "counts": "payload", "value": 0.5},
        }
    ],
}
SIZES = "bytes,cdf\n1000,0.5\n20000,1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sizes.csv").write_text(SIZES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name + "/" + path.stem)
def test_values_and_the_text_that_they_write_have_the_runs_of_the_file(path: Path, tmp_path: Path) -> None:
    values = priolane.Experiment(tomllib.loads(path.read_text(encoding="utf-8")), folder=path.parent)
    expected = priolane.plan(path).runs
    assert priolane.plan(values).runs == expected
    shutil.copytree(path.parent, tmp_path / "copy", ignore=shutil.ignore_patterns("*.webp"))
    assert priolane.plan(values.save(tmp_path / "copy" / "written_again.toml")).runs == expected


def test_a_mapping_runs_and_its_results_can_be_moved(folder: Path) -> None:
    results = priolane.run(KEYS)
    assert results.directory == Path("runs/three-hosts-one-switch")
    assert (results.directory / "experiment" / "sizes.csv").read_text(encoding="utf-8") == SIZES
    (folder / "sizes.csv").unlink()
    moved = shutil.move(results.directory, folder / "moved")
    again = priolane.load(moved)
    assert again.source == folder / "moved" / "experiment" / "experiment.toml"
    again.judge()
    assert not again.missing()
    assert priolane.run(again.source, out=folder / "again").runs == results.runs


def test_processes_run_a_mapping(folder: Path) -> None:
    assert not priolane.run(KEYS, out=folder / "out", jobs=2).missing()


@pytest.mark.usefixtures("folder")
def test_numbers_of_numpy_and_paths_are_values() -> None:
    keys = copy.deepcopy(KEYS)
    keys["seeds"] = np.arange(1, 3)
    keys["topology"]["hosts"] = np.int64(3)
    keys["group"][0]["load"]["value"] = np.float64(0.5)
    keys["group"][0]["sizes"] = KEYS["group"][0]["sizes"] | {"csv": Path("sizes.csv")}
    listed = KEYS | {"seeds": [1, 2]}
    assert priolane.plan(keys).runs == priolane.plan(listed).runs


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), b"text", object()])
def test_a_value_that_no_file_can_have_is_refused_by_its_name(value: object) -> None:
    keys = copy.deepcopy(KEYS)
    keys["group"][0]["load"]["value"] = value
    with pytest.raises(InputError, match=r"^group\[0\]\.load\.value: "):
        priolane.Experiment(keys)


def test_wrong_keys_are_reported_by_name_and_without_lines(folder: Path) -> None:
    keys = KEYS | {"tilte": "x", "topology": KEYS["topology"] | {"hosts": "three"}}
    with pytest.raises(InputError) as error:
        priolane.run(keys, out=folder / "out")
    assert {(mistake.key, mistake.line) for mistake in error.value.mistakes} == {
        ("tilte", None),
        ("topology.hosts", None),
    }
    assert not (folder / "out").exists()


def test_a_key_is_given_once() -> None:
    with pytest.raises(InputError, match="title: the key is given in the mapping and as an argument"):
        priolane.Experiment(KEYS, title="again")


@pytest.mark.usefixtures("folder")
def test_keywords_and_a_mapping_make_one_experiment() -> None:
    split = priolane.Experiment(
        {name: KEYS[name] for name in ("title", "schemes")},
        **{name: value for name, value in KEYS.items() if name not in ("title", "schemes")},
    )
    assert priolane.plan(split).runs == priolane.plan(KEYS).runs


def test_files_are_relative_to_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    with pytest.raises(InputError, match=r"sizes\.csv"):
        priolane.plan(KEYS)
    assert priolane.plan(priolane.Experiment(KEYS, folder=folder)).runs


def test_a_file_above_the_folder_is_refused_before_anything_runs(folder: Path) -> None:
    keys = copy.deepcopy(KEYS)
    keys["group"][0]["sizes"]["csv"] = "../sizes.csv"
    (folder / "below").mkdir()
    with pytest.raises(InputError, match="above the experiment's folder"):
        priolane.run(priolane.Experiment(keys, folder=folder / "below"), out=folder / "out")
    assert not list((folder / "out").rglob("*.parquet"))


def test_what_priolane_did_not_write_is_kept(folder: Path) -> None:
    own = folder / "out" / "experiment" / "experiment.toml"
    own.parent.mkdir(parents=True)
    own.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="did not write"):
        priolane.run(KEYS, out=folder / "out")
    with pytest.raises(InputError, match="there is a file already"):
        as_experiment(KEYS).save(own)
    assert own.read_text(encoding="utf-8") == "mine"
