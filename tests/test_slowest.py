"""The slowest flows of a page, against all flows of the files, and their commands."""

import random
import shlex
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import factories
from priolane._core import InputError
from priolane.cli import main
from priolane.model.experiment import Options
from priolane.model.toml import inline
from priolane.report.slowest import SlowFlow, slow_flows, slowest, trace_command
from priolane.report.write import write_report
from priolane.results.results import Results, load

EXPERIMENT = """
title = "Two flows"
schemes = ["ps", "srpt"]
seeds = 1
time = { flows = 2 }
topology = { kind = "single_switch", hosts = 2, host_link = { rate = "1Gbps", delay = "1us" } }

[[group]]
name = "pool"
hosts = 1
app = "flows"
list = [
  { src = 0, dst = 1, size = "124900B", start = "0ns" },
  { src = 0, dst = 1, size = "374700B", start = "0ns" },
]

[sweep]
"topology.host_link.delay" = ["1us", "1ms"]
"""


def refresh(directory: Path) -> None:
    """Writes down the hashes of the tables of a run."""
    factories.edit(directory / "run.json", lambda record: record | {"files": factories.files(directory)})


def write_random(results: Results) -> dict[str, list[tuple[float, int, int]]]:
    """Gives each run at load 0.8 forty flows; the measured ones that finished are (slowdown, seed, flow) by scheme."""
    draw = random.Random(7)  # noqa: S311 - the same flows each time
    every: dict[str, list[tuple[float, int, int]]] = {}
    for run in results.runs:
        if run.point != {factories.LOAD: 0.8}:
            continue
        rows = []
        for flow in range(40):
            # Few values, so that some are equal.
            slowdown = draw.choice([None, *(1 + nth / 4 for nth in range(30))])
            measured = draw.random() < 0.8
            bare = 1_000_000
            fct = None if slowdown is None else round(slowdown * bare)
            rows.append((flow, flow % 7, flow % 5, 1000 + flow, fct, bare, slowdown, flow % 3, measured))
            if measured and slowdown is not None:
                every.setdefault(run.scheme, []).append((-slowdown, run.seed, flow))
        names = ("flow", "src", "dst", "bytes", "fct_ps", "bare_fct_ps", "slowdown", "timeouts", "measured")
        kinds = (*[pa.uint32()] * 3, *[pa.uint64()] * 3, pa.float64(), pa.uint32(), pa.bool_())
        columns = zip(names, kinds, zip(*rows, strict=True), strict=True)
        directory = results.directory / run.id
        pq.write_table(pa.table({name: pa.array(of, kind) for name, kind, of in columns}), directory / "flows.parquet")
        refresh(directory)
    return every


def test_they_are_the_ones_that_sorting_all_flows_finds(tmp_path: Path) -> None:
    results = load(factories.make_results(tmp_path / "grid", panels=1))
    every = write_random(results)
    results = load(results.directory)
    slowest_flows = slowest(results)
    assert slowest_flows.place == "load 0.8"
    assert list(slowest_flows.by_scheme) == list(factories.SCHEMES)
    for scheme, rows in slowest_flows.by_scheme.items():
        wanted = sorted(every[scheme])[:5]
        words = [shlex.split(row.command) for row in rows]
        found_flows = [(int(w[w.index("--seed") + 1]), int(w[w.index("--flow") + 1])) for w in words]
        assert found_flows == [(seed, flow) for _, seed, flow in wanted]
        assert [row.slowdown for row in rows] == [f"{-minus:#.3g}" for minus, _, _ in wanted]
    page = write_report(results).read_text(encoding="utf-8")
    assert page.count('<code class="copied">priolane trace ') == 20


def test_a_slowdown_that_is_no_number_is_refused(tmp_path: Path) -> None:
    results = load(factories.make_results(tmp_path / "grid", panels=1))
    write_random(results)
    run = next(run for run in results.runs if run.point == {factories.LOAD: 0.8})
    path = results.directory / run.id / "flows.parquet"
    table = pq.read_table(path)
    spoiled = pa.array([float("nan")] * table.num_rows, pa.float64())
    pq.write_table(table.set_column(table.column_names.index("slowdown"), "slowdown", spoiled), path)
    refresh(path.parent)
    with pytest.raises(InputError, match="'slowdown' has a value that no flow has"):
        slow_flows(load(results.directory), run)


def test_the_command_says_how_the_results_were_made(results: Results) -> None:
    flow = SlowFlow(seed=3, flow=12, src=0, dst=1, size=1, fct_s=1.0, slowdown=2.0, timeouts=0)
    results = replace(results, options=Options(sets=(("time.measure", '"2s"'),), size="quick", reading="late"))
    words = shlex.split(trace_command(results, "-a b", {"group.x": {"rate": "7Gbps", "w": [1, 2.5]}}, flow))
    assert words[:2] == ["priolane", "trace"]
    assert words[3:] == [
        *("--set", 'time.measure="2s"', "--reading", "late", "--quick", "--scheme=-a b", "--seed", "3"),
        *("--point", 'group.x={ rate = "7Gbps", w = [1, 2.5] }', "--flow", "12", "--page", "flow-12.html"),
    ]
    assert inline('a"b\\') == '"a\\"b\\\\"'


def test_the_command_of_a_page_traces_that_flow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "two.toml").write_text(EXPERIMENT, encoding="utf-8")
    assert main(["run", str(tmp_path / "two.toml"), "-o", str(tmp_path / "out"), "--jobs", "1"]) == 0
    slowest_flows = slowest(load(tmp_path / "out"))
    monkeypatch.chdir(tmp_path)
    first = slowest_flows.by_scheme["ps"][0]
    capsys.readouterr()
    assert main(shlex.split(first.command)[1:]) == 0
    shown = capsys.readouterr().out
    assert "host 0 to host 1, 124,900 B" in shown
    assert "topology.host_link.delay" not in shown or "1ms" in shown
    assert (tmp_path / "flow-0.html").is_file()
