"""Comparisons of results whose numbers are worked out by hand."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import factories
from priolane import InputError, _core, load
from priolane.cli import main
from priolane.comparison.results import Change, Comparison, Design, Finding, compare

Values = Mapping[int, Mapping[str, float | None]]


def make(directory: Path, values: Values, scheme: str = "nos2", **merged: Any) -> Path:
    """Results of one scheme at load 0.8: per seed, the metrics of the size class `all`."""
    runs: list[dict[str, Any]] = [
        {"id": f"{seed:016x}", "scheme": scheme, "point": {factories.LOAD: 0.8}, "seed": seed} for seed in values
    ]
    directory.mkdir(parents=True)
    note = {
        "source": "fig6.toml",
        "title": "t",
        "options": {"sets": [], "seeds": None, "schemes": None, "size": "default"},
        "runs": runs,
        "warnings": [],
    }
    factories.write(directory / "grid.json", note)
    for run in runs:
        record = factories.record(run)
        record["summary"] = {"all": dict(values[run["seed"]])}
        record["counters"] = {}
        record["merged"].update(merged)
        record["digest"] = json.dumps(record["summary"])
        (directory / run["id"]).mkdir()
        factories.write(directory / run["id"] / "run.json", record | {"files": []})
    return directory


def compared(tmp_path: Path, first: Values, second: Values) -> Comparison:
    return compare(load(make(tmp_path / "first", first)), load(make(tmp_path / "second", second)))


def only(result: Comparison) -> Change:
    assert len(result.changes) == 1
    return result.changes[0]


def test_tests_need_two_values() -> None:
    with pytest.raises(ValueError, match="two values"):
        _core.paired([1.0])
    with pytest.raises(ValueError, match="two values"):
        _core.welch([1.0, 2.0], [1.0])


def test_a_change_is_paired_by_seed(tmp_path: Path) -> None:
    # The seeds differ by a factor of ten, which pairing takes out: 1.1 and 1.2 have the geometric mean sqrt(1.32), and
    # half of the interval of logarithms is 12.7062 x ln(1.2 / 1.1) / 2 = 0.55281.
    result = compared(
        tmp_path, {1: {"mean_fct_s": 1.0}, 2: {"mean_fct_s": 10.0}}, {1: {"mean_fct_s": 1.1}, 2: {"mean_fct_s": 12.0}}
    )
    change = only(result)
    assert (change.design, change.relative, change.finding) == (Design.PAIRED, True, Finding.WITHIN)
    assert (change.first, change.second) == pytest.approx((math.sqrt(10), math.sqrt(13.2)))
    middle, half = math.log(1.32) / 2, 12.7062047 * math.log(1.2 / 1.1) / 2
    expected = [math.expm1(end) for end in (middle, middle - half, middle + half)]
    assert (change.change, change.low, change.high) == pytest.approx(expected, abs=1e-5)


def test_other_seeds_are_compared_by_their_means(tmp_path: Path) -> None:
    first = {seed: {"mean_fct_s": float(seed)} for seed in (1, 2, 3)}
    second = {seed + 10: {"mean_fct_s": 2.0 * seed} for seed in (1, 2, 3, 4)}
    result = compared(tmp_path, first, second)
    change = only(result)
    assert (change.design, change.seeds, change.shared, result.runs) == (Design.UNPAIRED, (3, 4), 0, 0)
    # Geometric means 6^(1/3) and 2 x 24^(1/4). Variances of logarithms over n: 0.30835 / 3 and 0.36145 / 4, error
    # 0.4395, 4.66 degrees of freedom: t is between the tables' 2.776 and 2.571 for 4 and 5.
    assert change.low is not None
    assert change.high is not None
    middle, low, high = (math.log1p(end) for end in (change.change, change.low, change.high))
    assert middle == pytest.approx(math.log(2 * 24**0.25 / 6 ** (1 / 3)))
    assert high - middle == pytest.approx(middle - low)
    assert 2.571 < (high - middle) / 0.4395 < 2.776
    assert (len(result.only_first), len(result.only_second)) == (3, 4)


def test_one_seed_has_a_change_and_no_interval(tmp_path: Path) -> None:
    result = compared(tmp_path, {1: {"p99_fct_s": 2.0}, 2: {"p99_fct_s": 9.0}}, {1: {"p99_fct_s": 3.0}})
    change = only(result)
    assert (change.design, change.finding, change.low, change.p) == (Design.UNTESTED, Finding.UNTESTED, None, None)
    assert change.change == pytest.approx(0.5)
    assert result.tested == 0


def test_a_change_from_nothing_is_a_difference(tmp_path: Path) -> None:
    result = compared(
        tmp_path, {1: {"unfinished": 0}, 2: {"unfinished": 4}}, {1: {"unfinished": 2}, 2: {"unfinished": 4}}
    )
    change = only(result)
    assert (change.relative, change.change) == (False, 1.0)


def test_what_no_side_or_one_side_knows_is_counted(tmp_path: Path) -> None:
    result = compared(tmp_path, {1: {"a": None, "b": 1.0}}, {1: {"a": 2.0, "b": 1.0}})
    assert result.unknown == 1
    assert only(result).finding is Finding.SAME


def noisy(seeds: int, metrics: Mapping[str, tuple[float, float]]) -> tuple[Values, Values]:
    """Per metric a relative change and its spread: seeds deviate by it to one side and the other in turn."""
    first = {seed: dict.fromkeys(metrics, 1.0) for seed in range(seeds)}
    second = {
        seed: {name: 1 + change + spread * (-1) ** seed for name, (change, spread) in metrics.items()}
        for seed in range(seeds)
    }
    return first, second


def test_many_metrics_are_corrected_for_and_sorted(tmp_path: Path) -> None:
    # Of 6 seeds whose logarithms deviate by w to both sides in turn, s = w sqrt(6/5) and t = change / (w sqrt(6/5) /
    # sqrt(6)) = change sqrt(5) / w, 5 degrees of freedom. `edge`, ln 1.085 and ln 1.015, has t = 0.048234 sqrt(5) /
    # 0.033346 = 3.234, p = 0.0231: alone it would pass, after correction for the 22 it does not. `small` and `large`
    # have t above 18: p below 1e-5, times 22.
    metrics = {"small": (0.01, 0.001), "edge": (0.05, 0.035), "large": (-0.3, 0.03)}
    metrics |= {f"quiet{nth}": (0.001, 0.5) for nth in range(19)}
    result = compared(tmp_path, *noisy(6, metrics))
    assert result.tested == 22
    assert [change.metric for change in result.changes[:3]] == ["large", "small", "edge"]
    assert [change.metric for change in result.found(Finding.MOVED)] == ["large", "small"]
    (edge,) = result.found(Finding.SUGGESTED)
    assert edge.p == pytest.approx(0.0231, abs=5e-5)
    assert edge.corrected == pytest.approx(20 * 0.0231, abs=5e-3)
    assert len(result.found(Finding.WITHIN)) == 19


def test_luck_alone_moves_nothing_after_correction(tmp_path: Path) -> None:
    # 400 metrics of pure noise from a fixed generator (Lehmer's): some intervals exclude 0, none survives.
    state = 20_000

    def uniform() -> float:
        nonlocal state
        state = state * 48_271 % 2_147_483_647
        return state / 2_147_483_647

    sides = [{seed: {f"m{nth}": 1 + 0.1 * uniform() for nth in range(400)} for seed in range(5)} for _ in range(2)]
    result = compared(tmp_path, sides[0], sides[1])
    assert result.tested == 400
    # 20 expected; outside 7 to 36 only once in 2000 draws.
    assert 7 <= len(result.found(Finding.SUGGESTED)) <= 36
    assert result.found(Finding.MOVED) == []


def test_keys_that_differ_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = make(tmp_path / "first", {1: {"a": 1.0}})
    group = [{"name": "all", "app": "poisson", "sizes": "data_mining", "load": {"value": 0.8}}]
    second = make(tmp_path / "second", {1: {"a": 2.0}}, group=group, host_delay="1us")
    comparison = compare(load(first), load(second))
    assert [(item.key, item.first, item.second) for item in comparison.settings] == [
        ("group.all.sizes", "web_search", "data_mining"),
        ("host_delay", None, "1us"),
    ]
    assert main(["compare", str(first), str(second), "-v"]) == 0
    printed = capsys.readouterr().out
    assert "experiments differ in 2 values of the merged experiment:" in printed
    assert "1 metric changed, of one seed and without interval" in printed
    assert "+100 %" in printed


def test_identical_results_are_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (str(factories.make_results(tmp_path / name)) for name in "ab")
    assert main(["compare", first, second]) == 0
    assert capsys.readouterr().out == "identical: 16 runs, every digest and every record the same\n"


def test_runs_and_versions_of_one_side_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (factories.make_results(tmp_path / name) for name in "ab")
    gone = second / load(second).runs[0].id / "run.json"
    gone.unlink()
    other = second / load(second).runs[1].id / "run.json"
    factories.edit(other, lambda record: record | {"version": "0.2.0+fedcba9876543210"})
    assert main(["compare", str(first), str(second), "-v"]) == 0
    printed = capsys.readouterr().out
    assert "versions differ: 0.1.0+0123456789abcdef and 0.1.0+0123456789abcdef, 0.2.0+fedcba9876543210" in printed
    assert f"only in {first}: 1 run (dctcp seed 1)" in printed
    assert f"{second} is not whole: 1 run of its grid missing" in printed
    assert "15 runs in both, 15 of them identical to the bit" in printed


def test_json_has_every_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = noisy(6, {"small": (0.01, 0.001), "quiet": (0.001, 0.5)})
    directories = [str(make(tmp_path / name, side)) for name, side in (("a", first), ("b", second))]
    assert main(["compare", *directories, "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["identical"], read["tested"], read["expected_by_luck"]) == (False, 2, pytest.approx(0.1))
    assert [change["finding"] for change in read["changes"]] == ["moved", "within noise"]
    assert read["changes"][0]["change"] == pytest.approx(0.01, rel=1e-4)


def test_nothing_in_common_and_spoilt_records_are_bad_input(tmp_path: Path) -> None:
    first = make(tmp_path / "first", {1: {"a": 1.0}})
    other = make(tmp_path / "other", {1: {"a": 1.0}}, scheme="pias")
    with pytest.raises(InputError, match="no run in common"):
        compare(load(first), load(other))
    for text in ("{", "[]", '{"digest": 3}', "null"):
        (first / f"{1:016x}" / "run.json").write_text(text)
        assert main(["compare", str(first), str(first)]) == 2
