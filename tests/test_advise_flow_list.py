"""The flow lists that `priolane advise` reads, and those that it writes for runs."""

import csv
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import advise_world
from advise_files import FABRIC, write_fabric, write_flows, write_recorded
from priolane._core import InputError
from priolane.advice.fabric import read_fabric
from priolane.advice.flow_list import read_flows
from priolane.advice.sensitivity import disturbances
from priolane.advice.windows import Windows


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_list_is_written_from_its_first_start_whole_or_squeezed(tmp_path: Path) -> None:
    rows = [(5000 + nth * 100, nth % 4, nth % 4 + 1, 1000 + nth) for nth in range(960)]
    flows = read_flows(write_flows(tmp_path, rows))
    assert (len(flows), flows.begins_ns, flows.span_ns) == (960, 5000, 95_901)
    flows.write(tmp_path / "flows")
    whole = _read(tmp_path / "flows" / "all.csv")
    assert [(int(row["start_ns"]), int(row["src"]), int(row["dst"]), int(row["bytes"])) for row in whole] == [
        (start - 5000, *others) for start, *others in rows
    ]
    # Twice the load: the same flows in half the time.
    flows.write(tmp_path / "squeezed", squeeze=2.0)
    squeezed = _read(tmp_path / "squeezed" / "all.csv")
    assert [row["bytes"] for row in squeezed] == [row["bytes"] for row in whole]
    assert [int(row["start_ns"]) for row in squeezed] == [nth * 50 for nth in range(960)]
    assert flows.entries("flows") == [{"name": "all", "hosts": "*", "app": "flows", "list": "flows/all.csv"}]


def test_the_beginning_of_a_list_has_what_starts_in_it(tmp_path: Path) -> None:
    rows = [(7 + nth * 100, nth % 4, nth % 4 + 1, 1000 + nth) for nth in range(200)]
    flows = read_flows(write_flows(tmp_path, rows))
    half = flows.beginning(0.5)
    assert half.sizes.tolist() == list(range(1000, 1100))
    assert half.span_ns == 99 * 100 + 1
    assert flows.starting(1000).sum() == 10


def test_groups_have_lists_of_their_own(tmp_path: Path) -> None:
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
    flows = read_flows(write_flows(tmp_path, rows, "start_ns,src,dst,bytes,group,deadline_ns,after"))
    assert flows.groups == ("web", "mail")
    assert flows.in_class({"group": "mail", "below": "1005B"}).sum() == 2
    flows.write(tmp_path / "flows")
    lists = {name: _read(tmp_path / "flows" / f"{name}.csv") for name in flows.groups}
    assert [entry["name"] for entry in flows.entries("flows")] == ["web", "mail"]
    assert sorted(int(row["bytes"]) for own in lists.values() for row in own) == list(range(1000, 1960))
    for own in lists.values():
        assert "group" not in own[0]
        # A deadline is as far from its start as before. Whom a flow waits for is in its list.
        assert {int(row["deadline_ns"]) - int(row["start_ns"]) for row in own} == {5000}
        assert [row["after"] for row in own[1:]] == [str(nth) for nth in range(len(own) - 1)]
    fabric = read_fabric(write_fabric(tmp_path))
    burst = next(
        disturbance for disturbance in disturbances(fabric, Windows.over(flows, 5)) if disturbance.name == "burst"
    )
    assert burst.group is not None
    assert burst.group["name"] == "burst"
    # Twice the load leaves deadlines as long.
    flows.write(tmp_path / "squeezed", squeeze=2.0)
    squeezed = _read(tmp_path / "squeezed" / "web.csv")
    assert {int(row["deadline_ns"]) - int(row["start_ns"]) for row in squeezed} == {5000}


def test_coflows_of_two_groups_are_two_though_their_numbers_are_one(tmp_path: Path) -> None:
    rows = [(nth * 100, 0, 1, 1000 + nth, "ab"[nth % 2], nth // 4) for nth in range(80)]
    flows = read_flows(write_flows(tmp_path, rows, "start_ns,src,dst,bytes,group,coflow"))
    by_hand: dict[tuple[str, int], int] = {}
    for _, _, _, size, group, coflow in rows:
        by_hand[group, coflow] = by_hand.get((group, coflow), 0) + size
    assert flows.coflow_bytes.tolist() == sorted(by_hand.values())


def test_gaps_of_optional_columns_stay_gaps(tmp_path: Path) -> None:
    rows = [
        (nth * 100, 0, 1, 1000, nth * 100 + 900 if nth % 2 else "", "" if nth % 3 else nth // 3) for nth in range(90)
    ]
    flows = read_flows(write_flows(tmp_path, rows, "start_ns,src,dst,bytes,deadline_ns,coflow"))
    flows.write(tmp_path / "flows")
    own = _read(tmp_path / "flows" / "all.csv")
    assert [row["deadline_ns"] for row in own] == [str(row[4]) for row in rows]
    assert [row["coflow"] for row in own] == [str(row[5]) for row in rows]
    assert np.isnan(flows.columns["deadline_ns"]).sum() == 45


@pytest.mark.parametrize(
    ("column", "values", "is_named"), [("class", (0, 2), True), ("class", (0, 0), False), ("path", (1, 0), True)]
)
def test_columns_that_are_not_used_are_named(
    tmp_path: Path,
    column: str,
    values: Sequence[int],
    is_named: bool,  # noqa: FBT001
) -> None:
    rows = [(nth * 100, 0, 1, 1000, values[nth % 2]) for nth in range(90)]
    flows = read_flows(write_flows(tmp_path, rows, f"start_ns,src,dst,bytes,{column}"))
    assert any(f"column `{column}`" in line for line in flows.unused) is is_named


def test_columns_that_no_flow_list_has_are_named_with_the_nearest_that_it_has(tmp_path: Path) -> None:
    rows = [(nth * 100, 0, 1, 1000, 5, 1) for nth in range(90)]
    result = read_flows(write_flows(tmp_path, rows, "start_ns,src,dst,bytes,deadline,prio")).unused
    assert [line.partition(": ")[2] for line in result] == [
        "column 'deadline' is not used, as no flow list has it; did you mean `deadline_ns`?",
        "column 'prio' is not used, as no flow list has it",
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "line 3: `group` is no name"), ("a b", "line 3: `group` is no name. Use letters, digits, _ and -")],
)
def test_a_group_needs_a_name(tmp_path: Path, name: str, message: str) -> None:
    rows = [(nth, 0, 1, 1000, name if nth == 1 else "web") for nth in range(100)]
    with pytest.raises(InputError, match=message):
        read_flows(write_flows(tmp_path, rows, "start_ns,src,dst,bytes,group"))


def test_more_groups_than_experiments_have_are_refused(tmp_path: Path) -> None:
    rows = [(nth, 0, 1, 1000, f"g{nth % 17}") for nth in range(100)]
    with pytest.raises(InputError, match=r"17 names in the column `group`\. Use at most 16"):
        read_flows(write_flows(tmp_path, rows, "start_ns,src,dst,bytes,group"))


def test_flows_that_wait_are_placed_after_what_they_wait_for(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [(nth * 1000, 0, 1, 1000, "", "") for nth in range(100)]
    rows.append((0, 1, 2, 1000, "90", 5000))
    rows.append((0, 2, 3, 1000, "100+3", 0))
    rows.append((0, 3, 4, 1000, "5", 84_500))
    flows = read_flows(write_flows(tmp_path, rows, "start_ns,src,dst,bytes,after,delay_ns"))
    assert flows.waits
    assert flows.at_ns[100:].tolist() == [95_000, 95_000, 89_500]
    flows.write(tmp_path / "flows")
    own = _read(tmp_path / "flows" / "all.csv")
    # Runs start them themselves: the list has their own starts, delays and the rows that they wait for.
    assert [(row["start_ns"], row["after"], row["delay_ns"]) for row in own[100:]] == [
        ("0", "90", "5000"),
        ("0", "100+3", "0"),
        ("0", "5", "84500"),
    ]


def test_flows_that_wait_for_another_group_are_named(tmp_path: Path) -> None:
    rows = [(nth * 100, 0, 1, 1000, "ab"[nth % 2], nth - 1 if nth in (5, 7) else "") for nth in range(90)]
    flows = read_flows(write_flows(tmp_path, rows, "start_ns,src,dst,bytes,group,after"))
    assert any("2 flows that wait for flows of another group start by themselves" in line for line in flows.unused)


@pytest.mark.parametrize("after", ["-1", "200", "x", "3+", "3 4"])
def test_a_flow_that_waits_for_no_row_is_refused(tmp_path: Path, after: str) -> None:
    rows = [(nth * 1000, 0, 1, 1000, after if nth == 7 else "") for nth in range(100)]
    with pytest.raises(InputError, match=r"row 7: `after` = .* must name rows of the list"):
        read_flows(write_flows(tmp_path, rows, "start_ns,src,dst,bytes,after"))


def test_flows_in_a_circle_are_refused(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [(nth * 1000, 0, 1, 1000, "", 0) for nth in range(100)]
    rows += [(0, 1, 2, 1000, "101", 10), (0, 2, 3, 1000, "100", 10)]
    with pytest.raises(InputError, match="in a circle"):
        read_flows(write_flows(tmp_path, rows, "start_ns,src,dst,bytes,after,delay_ns"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is not a CSV file"),
        ("start_ns,src,dst\n1,2,3\n", "no column bytes"),
        ("time,source,destination,size\n1,2,3,4\n", "`priolane import auto` says of it: the format cannot be detected"),
        ("start_ns,src,dst,bytes\n1,2,3,4\n", "1 flows are too few"),
        ("start_ns,src,dst,bytes\n1,2,3,4\n1,2,x,4\n", "line 3: `dst` is not a number"),
        ("start_ns,src,dst,bytes\n1,2,3,4\n1,2,,4\n", "line 3: `dst` is not a number"),
        ("start_ns,src,dst,bytes\n1,2,3,4\ninf,2,3,4\n", "line 3: `start_ns` is not a number"),
        ("start_ns,src,dst,bytes\n1,2,3,4\n-1,2,3,4\n", "line 3: `start_ns` is not a number"),
        ("start_ns,src,dst,bytes,delay_ns\n1,2,3,4,\n1,2,3,4,x\n", "line 3: `delay_ns` is not a number"),
        ("start_ns,src,dst,bytes\n" + "5,2,3,4\n" * 100, "start at one instant"),
    ],
)
def test_a_list_that_cannot_be_used_says_why(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "flows.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_flows(path)


def test_a_capture_is_to_be_imported_first(tmp_path: Path) -> None:
    path = tmp_path / "cap.pcap"
    # The first bytes of a capture.
    path.write_bytes(b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + bytes(16))
    with pytest.raises(InputError, match=r"cap\.pcap: this is not a CSV file .* the file is a packet capture"):
        read_flows(path)


def test_a_list_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.csv: cannot read this file"):
        read_flows(tmp_path / "absent.csv")


def test_every_kind_of_link_and_switch_fails_before_the_first_window_that_is_read(tmp_path: Path) -> None:
    link = 'rate = "10Gbps", delay = "1us"'
    topology = f'[topology]\nkind = "fat_tree"\nk = 4\nhost_link = {{ {link} }}\nfabric_link = {{ {link} }}\n'
    fabric = read_fabric(write_fabric(tmp_path, topology + FABRIC[FABRIC.index("[switch]") :]))
    windows = Windows(length_ns=1_000_000, count=5, all=5)
    disturbed = disturbances(fabric, windows)
    events = [event for disturbance in disturbed for event in disturbance.changes.get("event", ())]
    links, switches = (
        [event["fail"] for event in events if event["fail"].startswith(kind)] for kind in ("link:", "switch:")
    )
    assert links == ["link:edge0-agg0", "link:agg0-core0"]
    assert switches == [f"switch:{tier}{nth}" for tier in ("agg", "core") for nth in range(3)]
    # Window 0, which ends after 1,000,000 ns, is not read.
    assert {(event["at"], event["reconvergence"]) for event in events} == {("500000ns", "20000ns")}
    # 16 hosts: 15 send to the other one.
    burst = next(disturbance for disturbance in disturbed if disturbance.name == "burst")
    assert burst.group is not None
    assert burst.group["fan_in"] == 15
    assert len({disturbance.name for disturbance in disturbed}) == len(disturbed)


def test_the_world_of_the_study_is_what_it_says(tmp_path: Path) -> None:
    path, _ = advise_world.write(tmp_path, 3, 600)
    flows = read_flows(path)
    small = flows.sizes <= max(advise_world.SMALL)
    capacity = advise_world.LINE_BPS * 2 * flows.span_s / 8
    assert flows.sizes[small].sum() / capacity == pytest.approx(advise_world.SMALL_LOAD, rel=0.15)
    assert flows.sizes.sum() / capacity == pytest.approx(advise_world.SMALL_LOAD + advise_world.BULK_LOAD, rel=0.2)
    senders = flows.columns["src"]
    assert not {*senders[small].tolist()} & {*senders[~small].tolist()}


@pytest.mark.parametrize(("separator", "command"), [(";", "tr ';' ','"), ("\t", "tr '\\t' ','"), ("|", "tr '|' ','")])
def test_a_list_with_other_separators_is_met_with_the_command_that_makes_commas(
    separator: str, command: str, tmp_path: Path
) -> None:
    path = write_recorded(tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(",", separator), encoding="utf-8")
    with pytest.raises(InputError, match="columns are separated by ") as refused:
        read_flows(path)
    assert f"{command} < {path} > flows.csv" in str(refused.value)
    assert "no column" not in str(refused.value)
    # The command does what it says.
    made = subprocess.run(["sh", "-c", f"{command} < {path}"], capture_output=True, check=True, text=True)
    assert made.stdout == text
