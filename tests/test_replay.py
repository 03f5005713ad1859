"""The content of a replay page: marks, places, clocks, columns that are read back, and its description of itself."""

import base64
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import made_recording as made
from made_recording import US
from priolane import cli
from priolane.replay.backlog import missing_packets
from priolane.replay.columns import NEVER_TICK, Clock, pack
from priolane.replay.content import content
from priolane.replay.marks import AGAIN, DEMOTED, DROPPED, LOST, MARKED, TIMEOUT, marks_of
from priolane.replay.page import notes, page
from priolane.replay.places import places
from priolane.replay.recording import Part


def unpacked(text: str, columns: list[tuple[str, str, int, bool]]) -> dict[str, Any]:
    """Columns as the page's script reads them."""
    raw = zlib.decompress(base64.b64decode(text))
    by_name: dict[str, Any] = {}
    begin = 0
    for name, kind, count, differences in columns:
        size = np.dtype(kind).itemsize
        planes = np.frombuffer(raw[begin : begin + size * count], dtype=np.uint8).reshape(size, count)
        values = np.ascontiguousarray(planes.T).view(kind).reshape(count)
        by_name[name] = np.cumsum(values, dtype=values.dtype) if differences else values
        begin += size * count
    assert begin == len(raw)
    return by_name


def test_columns_are_read_back_whole() -> None:
    columns = {
        "rising": np.array([3, 70_000, 70_000, 4_000_000_000]),
        "small": np.array([7, 0, 255]),
        "wide": np.array([NEVER_TICK, 1, 2]),
        "real": np.array([0.1, -1e300, 14_600.0]),
        "none": np.zeros(0, dtype=np.int64),
    }
    packed = pack(columns)
    assert [(name, kind) for name, kind, *_ in packed.columns] == [
        ("rising", "uint32"),
        ("small", "uint8"),
        ("wide", "uint32"),
        ("real", "float64"),
        ("none", "uint8"),
    ]
    read = unpacked(packed.text, packed.columns)
    for name, column in columns.items():
        assert read[name].tolist() == column.tolist()


def test_a_clock_is_as_fine_as_32_bits_allow() -> None:
    assert Clock.spanning(5, 5 + 10**9) == Clock(5, 1)
    # 10 ms are 10^10 ps: ticks of 3 ps.
    clock = Clock.spanning(0, 10**10)
    assert clock.tick_ps == 3
    assert clock.ticks(np.array([0, 10**10, -1])).tolist() == [0, 10**10 // 3, NEVER_TICK]


# Two packets of flow 4 to h1: the second is demoted, waits, is marked, and is lost; sent again, it is dropped.
ROWS: list[dict[str, Any]] = [
    {
        "packet": 0,
        "made_ps": 10 * US,
        "queued_ps": 10 * US,
        "start_ps": 10 * US,
        "end_ps": 11 * US,
        "arrived_ps": 12 * US,
    },
    {
        "packet": 1,
        "class": 1,
        "made_ps": 11 * US,
        "queued_ps": 11 * US,
        "start_ps": 13 * US,
        "end_ps": 14 * US,
        "fate": "lost",
        "marked": True,
        "ahead_packets": 1,
        "offset": 1460,
    },
    {
        "packet": 2,
        "class": 1,
        "made_ps": 20 * US,
        "queued_ps": 20 * US,
        "removed_ps": 20 * US,
        "fate": "dropped",
        "again": True,
        "offset": 1460,
    },
]
STATE = [
    (4, 10 * US, "cwnd_bytes", 14_600.0),
    (4, 10 * US, "timeouts", 0.0),
    (4, 20 * US, "timeouts", 1.0),
    (4, 20 * US, "cwnd_bytes", 1_460.0),
]


def test_marks_are_what_happened_when_it_happened() -> None:
    marks = marks_of(made.recording(ROWS, STATE))
    results = list(zip(marks.t_ps.tolist(), marks.row.tolist(), marks.flow.tolist(), marks.hop.tolist(), strict=True))
    assert sorted(results) == sorted(
        [
            (11 * US, DEMOTED, 4, 1),
            (11 * US, MARKED, 4, 1),
            (13 * US, LOST, 4, 1),
            (20 * US, DROPPED, 4, 2),
            (20 * US, AGAIN, 4, 2),
            (20 * US, TIMEOUT, 4, -1),
        ]
    )
    assert marks.t_ps.tolist() == sorted(marks.t_ps.tolist())


def test_columns_of_the_page_say_what_the_tables_say() -> None:
    made_content = content(made.recording(ROWS, STATE))
    head, read = made_content.head, unpacked(made_content.packed.text, made_content.packed.columns)
    assert (head["from_ps"], head["tick_ps"], head["ends"], head["sent"]) == (5 * US, 1, 45 * US, 2)
    assert read["hop_queued"].tolist() == [5 * US, 6 * US, 15 * US]
    # Sent ones leave when they are sent, the dropped one when it is dropped.
    assert read["hop_leaves"].tolist() == [5 * US, 8 * US, 15 * US]
    # The lost one is on its link as long as any: 1 us of sending and 1 us of propagation.
    assert read["hop_flying"].tolist() == [2 * US, 2 * US, 0]
    assert [head["fates"][fate] for fate in read["hop_fate"]] == ["arrived", "lost", "dropped"]
    by_row = {head["rows"][row]: hop for row, hop in zip(read["mark_row"], read["mark_hop"], strict=True)}
    assert by_row["timeout of a sender"] == 0
    assert by_row["lost on a link"] == 2
    assert by_row["dropped in a port"] == 3
    series = {curve["metric"]: curve for curve in head["series"]}
    begin = series["cwnd_bytes"]["begin"]
    assert read["reading_value"][begin : begin + 2].tolist() == [14_600.0, 1_460.0]


def test_packets_that_a_recording_lacks_are_counted() -> None:
    whole = made.recording(ROWS, STATE)
    # The second packet found one packet in its port: the recording has none there.
    assert missing_packets(whole).tolist() == [0, 1, 0]
    assert any("1 packets found packets in ports" in note for note in notes(whole))
    rows = [{**ROWS[0], "start_ps": 12 * US}, ROWS[1], ROWS[2]]
    assert missing_packets(made.recording(rows, STATE)).tolist() == [0, 0, 0]
    assert missing_packets(made.large(2_000)).sum() == 0


def test_a_full_recording_says_where_it_ends() -> None:
    full = replace(made.recording(ROWS, STATE), full_ps=30 * US)
    assert full.ends_ps == 30 * US
    assert "The page ends at 30.000 us, at 1,000 hops" in notes(full)[-1] or "at 1,000 hops" in notes(full)[0]
    assert content(full).head["ends"] == 25 * US


def test_hosts_stand_by_racks_below_their_switches() -> None:
    large = made.large(100)
    placed = places(large.nodes, large.links, set())
    assert set(placed) == set(range(len(large.nodes)))
    hosts = [placed[host][0] for host in range(made.HOSTS)]
    assert hosts == sorted(hosts)
    leaf = placed[made.HOSTS]
    assert leaf[0] == pytest.approx(sum(hosts[:4]) / 4)
    assert (placed[0][1], leaf[1], placed[made.HOSTS + made.LEAVES][1]) == (0.0, 0.5, 1.0)
    # Both spines are over the middle of all leaves: they are put side by side.
    assert placed[made.HOSTS + made.LEAVES][0] < placed[made.HOSTS + made.LEAVES + 1][0]


def test_of_many_hosts_only_busy_ones_are_drawn() -> None:
    hosts = 100
    nodes = [{"name": f"h{n}", "tier": 0} for n in range(hosts)] + [{"name": "s0", "tier": 1}]
    links = [link for n in range(hosts) for link in ({"from": n, "to": hosts}, {"from": hosts, "to": n})]
    placed = places(nodes, links, {3, 77, hosts})
    assert set(placed) == {3, 77, hosts}


def test_no_text_of_an_experiment_becomes_markup() -> None:
    hostile = "</script><script>alert(1)</script>"
    nodes = [{"name": hostile, "tier": 0}, *made.recording(ROWS, STATE).nodes[1:]]
    text = page(made.recording(ROWS, STATE, nodes=nodes, scheme=hostile), hostile)
    assert text.count("<script") == 13
    assert "<script>alert" not in text
    head = re.search(r'<script type="application/json" id="head">(.*?)</script>', text, re.DOTALL)
    assert head is not None
    assert json.loads(head[1])["nodes"][0]["name"] == hostile


EXPERIMENT = """
title = "Two senders, one receiver"
schemes = ["dctcp"]
time = { flows = 2 }
seeds = [1]
[topology]
kind = "single_switch"
hosts = 3
host_link = { rate = "10Gbps", delay = "1us", loss = 0.01 }
[[group]]
name = "list"
hosts = "*"
app = "flows"
list = "flows.csv"
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "flows.csv").write_text("start_ns,src,dst,bytes\n0,0,2,438000\n0,1,2,438000\n")
    path = tmp_path / "x.toml"
    path.write_text(EXPERIMENT)
    return path


def head_of(text: str) -> dict[str, Any]:
    match = re.search(r'id="head">(.*?)</script>', text, re.DOTALL)
    assert match is not None
    read: dict[str, Any] = json.loads(match[1])
    return read


def test_the_command_writes_a_page_of_the_run(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = tmp_path / "pages" / "replay.html"
    out = tmp_path / "out"
    arguments = ["trace", str(experiment), "--flow", "0", "--flow", "1", "--page", str(to), "-o", str(out), "--json"]
    assert cli.main(arguments) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["files"][-1] == str(to)
    assert answer["files"][-3:-1] == [str(out / "trace-network.parquet"), str(out / "trace-network-state.parquet")]
    head = head_of(to.read_text())
    assert head["chosen"] == [0, 1]
    assert [node["name"] for node in head["nodes"]] == ["h0", "h1", "h2", "s0"]
    assert {curve["metric"] for curve in head["series"]} >= {"cwnd_bytes", "in_flight_bytes", "timeouts", "alpha"}
    text = re.search(r'id="columns">(.*?)</script>', to.read_text(), re.DOTALL)
    assert text is not None
    read = unpacked(text[1], head["columns"])
    # 300 data packets of each flow, and acknowledgements.
    assert len(read["packet_flow"]) > 600
    assert head["sent"] + int((read["hop_leaves"] == NEVER_TICK).sum()) <= len(read["hop_packet"])
    # The page's run is the traced one: what the flow's own trace counts is on the page.
    own = [hop for hop in read["hop_packet"] if head["flows"][read["packet_flow"][hop]]["id"] == 0]
    assert len(own) == answer["seen"]["hops"]
    losses = (read["mark_row"] == LOST) & (read["mark_flow"] == 0)
    assert int(losses.sum()) == answer["seen"]["lost"] > 0


def test_the_page_of_the_documents_example_is_light(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parent.parent
    text = (root / "docs" / "tracing.md").read_text(encoding="utf-8")
    command = re.search(r"^priolane (trace experiments/.*--page replay.html)$", text, re.MULTILINE)
    assert command is not None
    words = command[1].split()
    words[1] = str(root / words[1])
    monkeypatch.chdir(tmp_path)
    assert cli.main([*words, "-o", "out"]) == 0
    assert (tmp_path / "replay.html").stat().st_size < 400_000


def test_a_page_of_a_part_begins_and_ends_where_it_is_told(experiment: Path, tmp_path: Path) -> None:
    to = tmp_path / "replay.html"
    part = ["--from", "100us", "--until", "200us", "--most-hops", "50"]
    assert (
        cli.main(["trace", str(experiment), "--flow", "0", "--page", str(to), "-o", str(tmp_path / "out"), *part]) == 0
    )
    head = head_of(to.read_text())
    assert head["from_ps"] == 100 * US
    assert head["full"] is True
    assert head["ends"] * head["tick_ps"] < 100 * US
    assert "at 50 hops" in to.read_text()
    assert "were sent before the page begins" in to.read_text()


def test_a_page_without_room_for_what_was_before_begins_with_the_flow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Flow 1 starts at 300 us and takes more than 1.6 ms: a tenth of that holds hundreds of hops of flow 0.
    (tmp_path / "flows.csv").write_text("start_ns,src,dst,bytes\n0,0,2,4000000\n300000,1,2,2000000\n")
    (tmp_path / "x.toml").write_text(EXPERIMENT)
    to = tmp_path / "replay.html"
    arguments = ["trace", str(tmp_path / "x.toml"), "--flow", "1", "--page", str(to), "-o", str(tmp_path / "out")]
    assert cli.main([*arguments, "--most-hops", "100"]) == 0
    head = head_of(to.read_text())
    assert head["from_ps"] == 300 * US
    # The command of the page makes the same page.
    assert f"--from {300 * US}ps" in to.read_text()
    text = re.search(r'id="columns">(.*?)</script>', to.read_text(), re.DOTALL)
    assert text is not None
    read = unpacked(text[1], head["columns"])
    assert 1 in {head["flows"][flow]["id"] for flow in read["packet_flow"]}
    # The page ends long before the flow: the terminal says so, as the page does.
    assert "note: The page ends at " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (["--from", "1us"], "--from needs --page FILE.html"),
        (["--most-hops", "9"], "--most-hops needs --page FILE.html"),
        (["--flow", "1"], "--flow: several flows are drawn on a page. Add --page FILE.html"),
        (["--page", "x.html", "--flow", "0"], "--flow: flow 0 is named twice"),
        (["--page", "x.html", "--from", "2us", "--until", "1us"], "--until: it is not after --from"),
        (["--page", "x.html", "--from", "20s"], "--from: it is after the end of the page"),
        (["--page", "x.html", "--flow", "7"], "--flow: the run has no flow 7. Use a flow from 0 to 1"),
    ],
)
def test_bad_input_is_a_line_and_exit_2(
    experiment: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["trace", str(experiment), "--flow", "0", "-o", str(tmp_path / "out"), *change]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert says in errors
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize("change", [["--page", "x.toml"], ["--page", ""], ["--page", "x.html", "--from", "soon"]])
def test_what_is_no_page_or_no_time_is_refused(experiment: Path, change: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["trace", str(experiment), "--flow", "0", *change])
    assert ended.value.code == 2


def test_a_part_is_what_the_compiled_module_is_asked() -> None:
    answer = json.loads(Part((3,), 1, 2, 9, 4, (("a.b", "1"),)).to_json())
    assert answer == {"senders": [3], "from_ps": 1, "until_ps": 2, "most_hops": 9, "seed": 4, "point": [["a.b", "1"]]}
