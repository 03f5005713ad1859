"""Parts of `priolane advise` that need few runs or none: goals, the fabric, feasibility, blocks, the race."""

import json
import math
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import advise_world
from priolane import _core, cli
from priolane._core import InputError
from priolane.advice import fabric as fabric_module
from priolane.advice import feasible
from priolane.advice.candidate import Candidate
from priolane.advice.candidates import candidates, simplest
from priolane.advice.fabric import Fabric, read_fabric, scaled
from priolane.advice.feasible import ADMIT, ASSIGN, HOSTS, NICS, PORTS, TRANSPORTS, requires, shipped
from priolane.advice.flow_blocks import Blocks, cut, find_doubts, read_flows
from priolane.advice.goals import outcomes, ranked, read_goals, scores
from priolane.advice.racing import Race, Why, race
from priolane.advice.sensitivity import disturbances, failing_link
from priolane.advice.training import Training
from priolane.advice.trials import Experiment, Trial
from priolane.advice.tuning import moved
from priolane.experiment import plan

FABRIC = """[topology]
kind = "leaf_spine"
leaves = 3
spines = 2
hosts_per_leaf = 16
host_link = { rate = "25Gbps", delay = "1us" }
fabric_link = { rate = "100Gbps", delay = "1us" }
[switch]
buffer = { dynamic = "12MB", alpha = 1 }
queues = 3
"""
EVERYTHING = """pfc = true
int = true
trimming = true
token_limiter = true
rank_queues = true
[host]
min_rto = "1ms"
kernel_module = true
user_stack = true
sizes_known = true
"""


def _fabric(folder: Path, text: str = FABRIC) -> Path:
    path = folder / "fabric.toml"
    path.write_text(text, encoding="utf-8")
    return path


def _flows(folder: Path, rows: Sequence[Sequence[object]], header: str = "start_ns,src,dst,bytes") -> Path:
    path = folder / "flows.csv"
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _recorded(folder: Path, count: int = 400) -> Path:
    draw = random.Random(1)  # noqa: S311 - flows, not secrets
    rows = [(nth * 1000, nth % 48, (nth + 7) % 48, draw.choice((2_000, 30_000, 3_000_000))) for nth in range(count)]
    return _flows(folder, rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p99.small", "this is no goal"),
        ("p98.small < 1ms", "no metric 'p98'"),
        ("p99.small > 1ms", "write <"),
        ("p99.small < 1Gbps", "unit 'Gbps' does not fit"),
        ("goodput.bulk > 120%", "at most 100%"),
        ("p99.small < 0ms", "not a number above 0"),
    ],
)
def test_a_goal_that_cannot_be_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_goals([text])


def test_goals_have_units_a_queue_budget_and_bounds_relative_to_the_best() -> None:
    goals, queues = read_goals(["p99.small < 250us", "goodput.bulk >= 90%", "queues <= 4"])
    assert queues == 4
    assert [(goal.name, goal.is_relative) for goal in goals] == [("fct_p99.small", False), ("goodput.bulk", True)]
    assert goals[0].bound == pytest.approx(250e-6)
    # Of 20 and 10 Gbit/s, 90 % of the best are 18: the second misses it by a factor of 1.8.
    found = outcomes(
        goals,
        {"a": {"fct_p99.small": 1e-4, "goodput.bulk": 20.0}, "b": {"fct_p99.small": 5e-5, "goodput.bulk": 10.0}},
    )
    assert [outcome.met for outcome in found["a"]] == [True, True]
    assert math.exp(found["b"][1].miss) == pytest.approx(1.8)
    # Who meets all goals is before who is better by the first alone.
    assert ranked(found) == ["a", "b"]


def test_missed_deadlines_are_a_part_that_may_be_none() -> None:
    goals, _ = read_goals(["deadline_missed.answers < 5%", "mean.all < 1.2x best"])
    missed = goals[0]
    assert (missed.name, missed.bound, missed.is_relative) == ("deadline_miss_rate.answers", 0.05, False)
    # 10 % are twice the bound; none at all is as good as it gets, and no infinity.
    assert [missed.miss(value, 0.05) for value in (0.1, 0.05, 0.0)] == pytest.approx([1.0, 0.0, -1.0])
    assert (missed.format(0.043), missed.format(0.0)) == ("4.30 %", "0 %")
    means = {"a": {missed.name: 0.0, "fct.all": 1e-3}, "b": {missed.name: 0.1, "fct.all": 1e-3}}
    found = outcomes(goals, means)
    assert ranked(found) == ["a", "b"]
    assert "10.0 %, 2.00 times off the bound of 5.00 %" in str(found["b"][0])
    with pytest.raises(InputError, match="should be small; write <"):
        read_goals(["deadline_missed.answers > 5%"])


def test_flows_that_did_not_finish_make_a_score_infinite() -> None:
    goals, _ = read_goals(["p99.small < 1ms"])
    found = scores(goals, {"a": {1: {"fct_p99.small": 1e-3}}, "b": {1: {"fct_p99.small": None}}})
    assert found == {"a": {1: 0.0}, "b": {1: math.inf}}


def test_a_block_without_flows_of_the_first_goal_has_no_score() -> None:
    goals, _ = read_goals(["p99.small < 1ms"])
    found = scores(goals, {"a": {1: {"fct_p99.small": 1e-3}, 2: {"fct_p99.small": None}}})
    assert list(found["a"]) == [1]


def test_without_pandas_a_flow_list_is_refused_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _recorded(tmp_path)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"advise needs pandas.*; pip install pandas"):
        read_flows(path)


def test_every_mistake_of_a_fabric_has_a_line(tmp_path: Path) -> None:
    wrong = '[switch]\nqueues = 40\nint = "yes"\nspeed = 3\n[hots]\n'
    with pytest.raises(InputError) as error:
        read_fabric(_fabric(tmp_path, wrong))
    lines = str(error.value).splitlines()
    keys = ["hots", "switch.buffer", "switch.int", "switch.queues", "switch.speed", "topology"]
    assert [line.split("`")[1] for line in lines] == keys
    assert all(line.startswith(str(tmp_path)) for line in lines)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ("switch = 3", "key `switch`: this is not a table"),
        ("[metrics]\nclasses = 3", "key `metrics.classes`: this is not a table"),
        (
            '[switch]\nbuffer = { per_queue = "240pkt" }\nqueues = 2\necn = { at = { "10Gbps" = 65 } }',
            "key `switch.ecn`",
        ),
    ],
)
def test_what_is_no_table_or_no_text_is_a_mistake(tmp_path: Path, stated: str, message: str) -> None:
    path = tmp_path / "fabric.toml"
    path.write_text(f'{stated}\n[topology]\nkind = "single_switch"\n', encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_fabric(path)
    other = tmp_path / "switch.toml"
    other.write_text("host = 3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"switch\.toml: key `host`: this is not a table"):
        read_fabric(_fabric(tmp_path), other)
    with pytest.raises(InputError, match="queues: 0 is not a number from 1 to 16"):
        read_fabric(_fabric(tmp_path), queues=0)


def test_a_fabric_names_what_was_not_stated_and_marks_at_every_rate(tmp_path: Path) -> None:
    fabric = read_fabric(_fabric(tmp_path), queues=2)
    assert fabric.queues == 2
    assert fabric.ecn == "auto"
    # 65 packets at 10 Gbit/s are 162.5 at 25; DCTCP's file has 650 at 100.
    assert fabric.marking == {"per": "queue", "at": {"25Gbps": "163pkt", "100Gbps": "650pkt"}}
    assert any("200ms" in text for text in fabric.assumed)
    assert any("no pfc, int, trimming" in text for text in fabric.assumed)
    stated = FABRIC + 'ecn = { at = { "25Gbps" = "100pkt" } }\n[host]\nmin_rto = "5ms"\n'
    fabric = read_fabric(_fabric(tmp_path, stated))
    # What the table omits is the scheme's own, as in any experiment.
    assert fabric.marking == {"per": "port", "at": {"25Gbps": "100pkt", "100Gbps": "650pkt"}}
    assert not read_fabric(_fabric(tmp_path, FABRIC + "ecn = false\n")).marking
    assert not any("200ms" in text for text in fabric.assumed)


def test_a_switch_file_replaces_what_the_fabric_says(tmp_path: Path) -> None:
    switch = tmp_path / "switch.toml"
    switch.write_text("[switch]\nqueues = 7\nint = true\n[host]\nuser_stack = true\n", encoding="utf-8")
    fabric = read_fabric(_fabric(tmp_path), switch)
    assert fabric.queues == 7
    assert {"int", "user_stack"} <= fabric.features
    switch.write_text("[topology]\nqueues = 7\n", encoding="utf-8")
    with pytest.raises(InputError, match="only \\[switch\\] and \\[host\\] belong here"):
        read_fabric(_fabric(tmp_path), switch)


def test_the_fabric_file_of_the_page_reads(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "advise.md").read_text(encoding="utf-8")
    text = page.split("```toml\n")[1].split("```")[0]
    fabric = read_fabric(_fabric(tmp_path, text))
    assert fabric.queues == 3
    assert set(fabric.features) == {"ecn", "dscp", "congestion_control"}
    # Every key that may be stated is in the tables of the page.
    keys = {*fabric_module.SWITCH_FEATURES, *fabric_module.HOST_FEATURES}
    assert not [key for key in keys if f".{key}`" not in page]


def test_many_moved_thresholds_have_a_name_that_files_take() -> None:
    leader = Candidate("pias", "by bytes sent", "", {"base": "dctcp", "assign": {}}, 8, (), ("assign",))
    assert moved(leader, (20_000,)).name == "pias_at_20000"
    long = [moved(leader, (*range(331_785, 331_791), last)).name for last in (3_626_640, 3_626_641)]
    assert all(name.startswith("pias_at_331785_") and len(name) <= 60 for name in long)
    assert long[0] != long[1]


def test_limits_scale_in_whole_packets_or_bytes() -> None:
    assert [scaled("65pkt", 2.5), scaled("97.5kB", 0.5)] == ["163pkt", "48750B"]
    with pytest.raises(InputError, match="is not a number of bytes"):
        scaled("many", 2)


def test_every_kind_of_row_says_what_it_requires() -> None:
    catalogue = json.loads(_core.catalogue())
    tables = {
        "transports": TRANSPORTS,
        "ports": PORTS,
        "assign": ASSIGN,
        "host": HOSTS,
        "nic": NICS,
        "admit": ADMIT,
    }
    for row, table in tables.items():
        kinds = {entry["name"] for entry in catalogue[row]}
        missing = kinds - table.keys()
        assert not missing, f"{row}: what do {missing} require?"


def test_what_is_possible_follows_what_switches_hosts_and_flows_have(tmp_path: Path) -> None:
    table = read_flows(_recorded(tmp_path))
    found = {one.scheme: one for one in feasible.feasible(read_fabric(_fabric(tmp_path)), table)}
    assert set(found) == {entry["name"] for entry in json.loads(_core.catalogue())["schemes"]}
    assert {name for name, one in found.items() if one} == {"newreno", "dctcp", "nos2", "pias", "es8"}
    assert found["hpcc"].reasons[0].startswith("no switch here writes telemetry")
    assert any("takes 8 queues" in reason for reason in found["top"].reasons)
    assert found["srpt"].is_bound
    everything = read_fabric(_fabric(tmp_path, FABRIC.replace("queues = 3", "queues = 9") + EVERYTHING))
    able = {one.scheme for one in feasible.feasible(everything, table) if one}
    assert {"hpcc", "top", "ndp", "homa", "pfabric", "physical_swift", "prioplus_swift"} <= able
    # What a list of flows does not say, no equipment replaces.
    assert not {"paccp", "d2tcp", "aequitas", "firapam"} & able


def test_a_column_of_the_list_makes_schemes_possible(tmp_path: Path) -> None:
    rows = [(nth * 1000, nth % 48, (nth + 7) % 48, 2000, nth % 3, 10**9) for nth in range(100)]
    table = read_flows(_flows(tmp_path, rows, "start_ns,src,dst,bytes,class,deadline_ns"))
    fabric = read_fabric(_fabric(tmp_path, FABRIC + EVERYTHING))
    able = {one.scheme for one in feasible.feasible(fabric, table) if one}
    assert "d2tcp" in able
    assert not {"aequitas", "firapam"} & able


STANDS_FOR = {"nos2": "nos2", "pias": "pias", "es8": "sent8_es"}
"""The candidate whose thresholds are solved: the one that is the scheme with its levels."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Fabric, Blocks, Training]:
    """Recorded flows of classes and deadlines on 25G and 100G, and switches and hosts that have everything."""
    folder = tmp_path_factory.mktemp("recorded")
    text = FABRIC.replace("12MB", "64MB").replace("queues = 3", "queues = 16") + EVERYTHING
    draw = random.Random(1)  # noqa: S311 - flows, not secrets
    rows = [
        (nth * 1000, nth % 48, (nth + 7) % 48, round(draw.paretovariate(0.8) * 1500), nth % 3, nth * 1000 + 10**9)
        for nth in range(400)
    ]
    blocks = cut(read_flows(_flows(folder, rows, "start_ns,src,dst,bytes,class,deadline_ns")), 6)
    blocks.write(folder / "flows", blocks.numbers)
    return read_fabric(_fabric(folder, text)), blocks, _training(folder, blocks)


def _training(folder: Path, blocks: Blocks) -> Training:
    rows = blocks.measured(blocks.training)
    rows.to_csv(folder / "training.csv", index=False)
    return Training(folder / "training.csv", rows["bytes"].sort_values().to_numpy(dtype=float), 0.5)


@pytest.mark.parametrize("scheme", [entry["name"] for entry in json.loads(_core.catalogue())["schemes"]])
def test_no_shipped_scheme_is_refused_for_want_of_a_number(
    recorded: tuple[Fabric, Blocks, Training], scheme: str
) -> None:
    fabric, blocks, training = recorded
    rows = shipped()[scheme]
    queues = int(rows["port"].get("queues", 1))
    made = candidates(fabric, [feasible.Feasibility(scheme, (), queues, queues)], training)
    own = [one for one in made if one.name == STANDS_FOR.get(scheme) or one.rows["base"] == scheme]
    assert own
    folder = training.flows.parent
    named = {one.name: one for one in own}
    experiment = Experiment(folder / f"{scheme}.toml", scheme, fabric, blocks, simplest(fabric), named, seeds=[1])
    experiment.write()
    planned = {run.scheme for run in plan(experiment.path).runs}
    assert planned == {simplest(fabric).name, *named}


def test_blocks_part_the_list_and_warm_up_on_what_came_before(tmp_path: Path) -> None:
    table = read_flows(_flows(tmp_path, [(nth * 100, nth % 4, nth % 4 + 1, 1000 + nth) for nth in range(960)]))
    blocks = cut(table, 12)
    assert len(blocks.numbers) == 12
    assert blocks.judged == (3, 6, 9, 12)
    assert sorted((*blocks.judged, *blocks.training)) == list(blocks.numbers)
    own = [blocks.measured([number]) for number in blocks.numbers]
    assert sum(map(len, own)) == 960
    assert pd.concat(own)["bytes"].tolist() == table.rows["bytes"].tolist()
    fifth = blocks.rows(5)
    measured = fifth[fifth["start_ns"] >= blocks.warm_ns]
    assert measured["bytes"].tolist() == own[4]["bytes"].tolist()
    assert len(fifth) - len(measured) == pytest.approx(len(measured) / 4, abs=1)
    # Twice the load: the same flows in half the time.
    squeezed = blocks.rows(5, squeeze=2.0)
    assert squeezed["bytes"].tolist() == fifth["bytes"].tolist()
    assert squeezed["start_ns"].max() == pytest.approx(fifth["start_ns"].max() / 2, abs=1)


def test_groups_of_flows_have_lists_of_their_own_in_a_block(tmp_path: Path) -> None:
    rows = [
        (
            nth * 100,
            nth % 4,
            nth % 4 + 1,
            1000 + nth,
            ("web", "mail")[nth % 2],
            nth * 100 + 5000,
            nth - 2 if nth > 1 else "",
        )
        for nth in range(960)
    ]
    table = read_flows(_flows(tmp_path, rows, "start_ns,src,dst,bytes,group,deadline_ns,after"))
    assert table.groups == ("web", "mail")
    assert table.in_class({"group": "mail", "below": "1005B"}).sum() == 2
    blocks = cut(table, 12)
    blocks.write(tmp_path, [5])
    lists = [pd.read_csv(tmp_path / group["list"].format(seed=5)) for group in blocks.groups(".")]
    assert [group["name"] for group in blocks.groups(".")] == ["web", "mail"]
    assert sorted(pd.concat(lists)["bytes"]) == sorted(blocks.rows(5)["bytes"])
    for own in lists:
        assert "group" not in own
        # A deadline is as far from its start as before. Whom a flow waits for is in its list.
        assert set(own["deadline_ns"] - own["start_ns"]) == {5000}
        assert own["after"].tolist()[1:] == list(range(len(own) - 1))
    burst = next(one for one in disturbances(read_fabric(_fabric(tmp_path)), blocks) if one.name == "burst")
    assert [group["name"] for group in (burst.changes or {})["group"]] == ["web", "mail", "burst"]
    # Twice the load leaves deadlines as long.
    squeezed = blocks.rows(5, squeeze=2.0)
    assert set(squeezed["deadline_ns"] - squeezed["start_ns"]) == {5000}


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "line 3: `group` is no name"), ("a b", "line 3: `group` is no name. Use letters, digits, _ and -")],
)
def test_a_group_needs_a_name(tmp_path: Path, name: str, message: str) -> None:
    rows = [(nth, 0, 1, 1000, name if nth == 1 else "web") for nth in range(100)]
    with pytest.raises(InputError, match=message):
        read_flows(_flows(tmp_path, rows, "start_ns,src,dst,bytes,group"))


def test_tenants_deadlines_and_coflows_have_queues_of_their_own(tmp_path: Path) -> None:
    fabric = read_fabric(_fabric(tmp_path, FABRIC + "[host]\nsizes_known = true\n"))
    table = read_flows(_recorded(tmp_path))
    training = _training(tmp_path, cut(table, 6))
    schemes = [one for one in feasible.feasible(fabric, table) if one]
    plain = {one.name for one in candidates(fabric, schemes, training)}
    # Of five tenants the goals name the third, then the first; three queues are free.
    known = replace(training, coflows=np.array([1e3, 2e3, 2e3, 3e3]), tenants=(2, 0, 1, 3, 4), has_deadlines=True)
    made = {one.name: one for one in candidates(fabric, schemes, known)}
    new = {"deadlines", "tenants3", "tenants3_wfq1", "tenants3_wfq4", "coflow2", "coflow2_es"}
    assert made.keys() - plain == new
    assert made["tenants3"].rows["assign"] == {"kind": "group", "classes": [1, 2, 0, 2, 2]}
    assert made["tenants3_wfq4"].rows["port"]["weights"] == [16, 4, 1]
    # Half of the coflows have at most 2 kB, and half of the 8 kB are sent by those of at most 2 kB.
    assert made["coflow2_es"].thresholds == made["coflow2"].thresholds == (2000,)
    # The list has no deadlines.
    able = {name: made[name] for name in new - {"deadlines"}}
    experiment = Experiment(tmp_path / "all.toml", "All", fabric, cut(table, 6), simplest(fabric), able, [1])
    experiment.blocks.write(tmp_path / "flows", [1])
    experiment.write()
    assert {run.scheme for run in plan(experiment.path).runs} == {"dctcp", *able}


def test_shortened_blocks_keep_their_beginnings(tmp_path: Path) -> None:
    table = read_flows(_flows(tmp_path, [(nth * 100, nth % 4, nth % 4 + 1, 1000 + nth) for nth in range(960)]))
    whole = cut(table, 12)
    half = whole.shortened(0.5)
    assert half.part == pytest.approx(0.5, abs=0.01)
    assert half.numbers == whole.numbers
    for number in (1, 7, 12):
        sizes = whole.measured([number])["bytes"].tolist()
        assert half.measured([number])["bytes"].tolist() == sizes[:40]
        rows = half.rows(number)
        assert rows[rows["start_ns"] >= half.warm_ns]["bytes"].tolist() == sizes[:40]


def test_flows_that_wait_are_placed_after_what_they_wait_for(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [(nth * 1000, 0, 1, 1000, "", "") for nth in range(100)]
    rows.append((0, 1, 2, 1000, "90", 5000))
    rows.append((0, 2, 3, 1000, "100", 0))
    rows.append((0, 3, 4, 1000, "5", 84_500))
    table = read_flows(_flows(tmp_path, rows, "start_ns,src,dst,bytes,after,delay_ns"))
    assert table.at_ns[100:].tolist() == [95_000, 95_000, 89_500]
    blocks = cut(table, 10)
    last = blocks.rows(10)
    waiting = last[last["after"].notna()]
    # The first waits for a row of the same block, which has another place there; so does the second.
    assert [last["bytes"].iloc[int(text)] for text in waiting["after"]] == [1000, 1000]
    assert int(waiting["after"].iloc[1]) == len(last) - 3
    # The third waits for a row of another block: it starts by itself, without a delay.
    assert (len(waiting), last["delay_ns"].isna().iloc[-1]) == (2, True)


def test_flows_in_a_circle_are_refused(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [(nth * 1000, 0, 1, 1000, "", 0) for nth in range(100)]
    rows += [(0, 1, 2, 1000, "101", 10), (0, 2, 3, 1000, "100", 10)]
    with pytest.raises(InputError, match="in a circle"):
        read_flows(_flows(tmp_path, rows, "start_ns,src,dst,bytes,after,delay_ns"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("start_ns,src,dst\n1,2,3\n", "no column bytes"),
        ("time,source,destination,size\n1,2,3,4\n", "Import a log or a capture first: priolane import auto FILE"),
        ("start_ns,src,dst,bytes\n1,2,3,4\n", "1 flows are too few"),
        ("start_ns,src,dst,bytes\n1,2,3,4\n1,2,x,4\n", "line 3: `dst` is not a number"),
        ("start_ns,src,dst,bytes\n1,2,3,4\ninf,2,3,4\n", "line 3: `start_ns` is not a number"),
        ("start_ns,src,dst,bytes,delay_ns\n1,2,3,4,\n1,2,3,4,x\n", "line 3: `delay_ns` is not a number"),
        ("start_ns,src,dst,bytes\n" + "5,2,3,4\n" * 100, "start at one instant"),
    ],
)
def test_a_list_that_cannot_be_used_says_why(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "flows.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_flows(path)


def test_a_sampled_list_and_coarse_starts_are_doubted(tmp_path: Path) -> None:
    header = "ts,te,td,sa,da,sp,dp,pr,flg,ipkt,ibyt"
    rows = [
        f"2024-01-01 00:00:{nth % 10:02d}.000,2024-01-01 00:00:{nth % 10:02d}.500,0.5,10.0.0.{nth % 7 + 1},"
        f"10.0.1.{nth % 5 + 1},{1000 + nth},80,TCP,.AP.SF,{nth % 9 + 2},{(nth % 9 + 2) * 900}"
        for nth in range(1200)
    ]
    record = tmp_path / "netflow.csv"
    record.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    flows = tmp_path / "flows.csv"
    assert cli.main(["import", "nfdump", str(record), "--sampling", "1000", "-o", str(flows)]) == 0
    table = read_flows(flows)
    found = find_doubts(table, None)
    assert any("1 packet in 1000" in doubt for doubt in found)
    assert any("10 instants" in doubt for doubt in found)
    # The same list without a word of its sampling, unless the user says it.
    (tmp_path / "flows.report.json").unlink()
    assert not any("sampled" in doubt for doubt in find_doubts(table, None))
    assert any("1 packet in 50" in doubt for doubt in find_doubts(table, 50))


def test_a_link_fails_only_where_another_path_is_left() -> None:
    assert failing_link({"kind": "leaf_spine", "spines": 2}) == "link:leaf0-spine0"
    assert failing_link({"kind": "leaf_spine", "spines": 1}) is None
    assert failing_link({"kind": "single_switch", "hosts": 4}) is None


TAIL = "fct_p99.small"


def _world(seed: int, names: Sequence[str], noise: float = 0.08) -> tuple[dict[str, dict[int, Trial]], str]:
    """Candidates whose tails differ by known factors, with noise that blocks and candidates have."""
    draw = random.Random(seed)  # noqa: S311 - noise, not secrets
    order = list(names)
    draw.shuffle(order)
    # The best by 30 %, then steps.
    factor = {name: 1.0 if place == 0 else 1.3 + 0.15 * place for place, name in enumerate(order)}
    shared = {block: draw.gauss(0, 0.4) for block in range(1, 33)}
    trials = {
        name: {
            block: Trial(
                values={TAIL: 1e-3 * factor[name] * math.exp(shared[block] + draw.gauss(0, noise))},
                hops=100,
                flows={},
                unfinished={},
                timed_out={},
                offered=0.5,
            )
            for block in shared
        }
        for name in names
    }
    return trials, order[0]


def _raced(trials: Mapping[str, Mapping[int, Trial]], budget: float) -> Race:
    goals, _ = read_goals(["p99.small < 1ms"])
    ran: set[tuple[str, int]] = set()

    def evaluate(names: Sequence[str], blocks: Sequence[int]) -> dict[str, dict[int, Trial]]:
        ran.update((name, block) for name in names for block in blocks)
        return {name: {block: trials[name][block] for block in blocks} for name in names}

    done = race(list(trials), list(range(1, 33)), goals, evaluate, budget, lambda _: None)
    # What is counted is what was run.
    assert done.hops == 100 * len(ran)
    return done


def test_the_best_wins_20_of_20_races_within_a_fifth_of_the_grid() -> None:
    names = [f"c{nth}" for nth in range(20)]
    for seed in range(20):
        trials, best = _world(seed, names)
        done = _raced(trials, budget=20 * 32 * 100 / 5)
        assert done.full_hops == 20 * 32 * 100
        assert done.hops <= done.full_hops / 5
        assert done.left[0] == best


def test_what_the_budget_ends_is_not_called_worse() -> None:
    trials, _ = _world(1, [f"c{nth}" for nth in range(20)], noise=0.5)
    # Room for the first round and two candidates more: noise as large as differences leaves many.
    done = _raced(trials, budget=20 * 4 * 100 + 2 * 4 * 100)
    why = {how.why for how in done.ended.values()}
    assert Why.BUDGET in why
    assert done.hops <= 20 * 4 * 100 + 2 * 4 * 100
    for how in done.ended.values():
        if how.why is Why.EXCLUDED:
            assert how.difference is not None
            assert how.difference[1] > 0


def test_twins_and_the_unfinished_end_in_the_first_round() -> None:
    trials, _ = _world(2, ["a", "b", "c"])
    stuck = {block: Trial({TAIL: None}, 100, {}, {}, {}, 0.5) for block in range(1, 33)}
    done = _raced({"a": trials["a"], "twin": trials["a"], "stuck": stuck}, budget=1e9)
    assert done.ended["twin"].why is Why.SAME
    assert done.ended["twin"].against == "a"
    assert done.ended["stuck"].why is Why.STUCK
    assert done.left == ("a",)


def test_the_world_of_the_study_is_what_it_says(tmp_path: Path) -> None:
    flows, _ = advise_world.write(tmp_path, 3, 600)
    rows = read_flows(flows).rows
    small = rows[rows["bytes"] <= max(advise_world.SMALL)]
    span_s = (rows["start_ns"].max() - rows["start_ns"].min()) * 1e-9
    capacity = advise_world.LINE_BPS * 2 * span_s / 8
    assert small["bytes"].sum() / capacity == pytest.approx(advise_world.SMALL_LOAD, rel=0.15)
    assert rows["bytes"].sum() / capacity == pytest.approx(advise_world.SMALL_LOAD + advise_world.BULK_LOAD, rel=0.2)
    assert not set(small["src"]) & set(rows[rows["bytes"] > 20_000]["src"])


def test_requirements_are_read_from_rows() -> None:
    assert requires(shipped()["hpcc"]) == ("int", "kernel_module", "pfc")
    assert requires(shipped()["newreno"]) == ()


def test_a_capture_is_to_be_imported_first(tmp_path: Path) -> None:
    path = tmp_path / "cap.pcap"
    # The first bytes of a capture.
    path.write_bytes(b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + bytes(16))
    with pytest.raises(InputError, match=r"cap\.pcap: this is not a CSV file .* Import a log or a capture first"):
        read_flows(path)
