"""Files as public reports have them, small and made here, each with its answer worked out by hand.

Lists of HPCC with remarks below, of endless and huge flows, floats and starts out of order; its topologies with
parallel links, two uplinks, a first line of six numbers, and cut off; matrices and topologies of htsim; both directions
of a record of nfdump; missed bytes of Zeek; completion times; size tables in six forms; CSV of spreadsheets and pandas.
`advise --sizes` with such a table is in test_import_sizes.py.
"""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

import priolane
from priolane.cli import main


def imported(folder: Path, form: str, text: str, *flags: str) -> tuple[list[str], dict[str, Any]]:
    """The rows of the list that the import of `text` wrote, and its report."""
    (folder / "given").write_text(text)
    assert main(["import", form, str(folder / "given"), "-o", str(folder / "out.csv"), *flags]) == 0
    return (folder / "out.csv").read_text().splitlines()[1:], json.loads((folder / "out.report.json").read_text())


def refused(folder: Path, capsys: pytest.CaptureFixture[str], form: str, text: str, *flags: str) -> str:
    """The one line that refuses `text`, without the folder."""
    (folder / "given").write_text(text)
    capsys.readouterr()
    assert main(["import", form, str(folder / "given"), "-o", str(folder / "out.csv"), *flags]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.count("\n") == 1
    assert not (folder / "out.csv").exists()
    return error.removeprefix("priolane: error: ").replace(f"{folder}/", "")


def test_remarks_below_the_stated_flows_are_left_out(tmp_path: Path) -> None:
    text = "2\n5 1 3 100 7000 1.5\n6 1 3 101 9000 1.5025\n7 1 3 102 8000 1.6\n\ncolumns: source, destination, ...\n"
    rows, report = imported(tmp_path, "auto", text)
    assert rows == ["0,5,1,7000", "2500000,6,1,9000"]
    assert (report["format"], report["flows"], report["bytes"], report["first_start_s"]) == ("hpcc", 2, 16000, "1.5")
    assert [(drop["count"], drop["bytes"]) for drop in report["dropped"]] == [(1, 8000)]
    assert any("text after the stated number of flows" in note for note in report["notes"])


def test_flows_of_a_terabyte_are_flows(tmp_path: Path) -> None:
    rows, report = imported(tmp_path, "auto", "2\n0 9 3 80 2000000000000 0.01\n1 9 3 81 2000000000000 0.21\n")
    assert rows == ["0,0,9,2000000000000", "200000000,1,9,2000000000000"]
    assert (report["bytes"], report["hosts"]) == (4 * 10**12, 10)


def test_one_flow_is_a_list(tmp_path: Path) -> None:
    rows, report = imported(tmp_path, "auto", "1\n2 5 3 100 1500 0.25\n")
    assert rows == ["0,2,5,1500"]
    assert report["first_start_s"] == "0.25"


def test_starts_in_scientific_form_are_exact_and_bytes_are_digits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The original reads bytes as a whole number, stops at the point, and takes the rest for the start of the flow.
    error = refused(tmp_path, capsys, "auto", "2\n0 1 3 100 3000.0 3.5e-3\n1 2 3 100 3000 3.1e-3\n")
    assert error == 'given:2: "3000.0" is not a number of bytes. Use digits only.\n'
    # The second flow starts 0.4 ms before the first one of the file.
    rows, report = imported(tmp_path, "auto", "2\n0 1 3 100 3000 3.5e-3\n1 2 3 100 4000 3.1e-3\n")
    assert rows == ["0,1,2,4000", "400000,0,1,3000"]
    assert report["first_start_s"] == "0.0031"


TWO_SWITCHES = "6 2 {links}\n4 5\n0 4 40Gbps 2us 0\n1 4 40Gbps 2us 0\n2 5 40Gbps 2us 0\n3 5 40Gbps 2us 0\n"


def test_parallel_links_stay_and_carry_flows(tmp_path: Path) -> None:
    topology = TWO_SWITCHES.format(links=7) + 3 * "4 5 40Gbps 0.002ms 0\n"
    (tmp_path / "topology.txt").write_text(topology)
    flows = "".join(f"{k % 2} {2 + k % 2} 3 {100 + k} 20000 {k / 1000}\n" for k in range(60))
    rows, report = imported(tmp_path, "hpcc", f"60\n{flows}", "--topology", str(tmp_path / "topology.txt"))
    assert (len(rows), report["bytes"], rows[-1]) == (60, 1_200_000, "59000000,1,3,20000")
    network = (tmp_path / "out.topology.csv").read_text()
    assert network.count("link,s4,s5,40Gbps") == 3
    assert network.count("link,h") == 4
    (tmp_path / "x.toml").write_text(
        'title = "t"\nschemes = ["newreno"]\nseeds = 1\ntime = { flows = 60 }\n'
        'topology = { kind = "file", path = "out.topology.csv" }\n'
        'group = [{ name = "g", hosts = "*", app = "flows", list = "out.csv" }]\n'
    )
    results = priolane.run(tmp_path / "x.toml", tmp_path / "runs")
    ports = results.ports()
    sent = dict(zip(*(ports.column(name).to_pylist() for name in ("port", "packets")), strict=False))
    between = [count for port, count in sent.items() if port.startswith("s4->s5")]
    # 60 flows of 14 packets (13 x 1460 B and 1020 B), each on one of the three links.
    assert len(between) == 3
    assert all(count > 0 for count in between)


def test_two_uplinks_are_a_sum_to_one_switch_and_have_none_to_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flow = "1\n0 3 3 100 1000 0.5\n"
    (tmp_path / "topology.txt").write_text(TWO_SWITCHES.format(links=6) + "0 5 40Gbps 2us 0\n4 5 100Gbps 2us 0\n")
    topology = ["--topology", str(tmp_path / "topology.txt")]
    error = refused(tmp_path, capsys, "hpcc", flow, *topology)
    assert error.startswith("topology.txt:7: host h0 has links to s4, s5, and a host has one here")
    assert "--bond first" in error
    assert refused(tmp_path, capsys, "hpcc", flow, *topology, "--bond", "sum") == error
    imported(tmp_path, "hpcc", flow, *topology, "--bond", "first")
    network = (tmp_path / "out.topology.csv").read_text()
    assert "link,h0,s4,40Gbps" in network
    assert "h0,s5" not in network
    # Two links to the same switch add up: 80 Gbit/s.
    (tmp_path / "topology.txt").write_text(TWO_SWITCHES.format(links=6) + "0 4 40Gbps 2us 0\n4 5 100Gbps 2us 0\n")
    imported(tmp_path, "hpcc", flow, *topology, "--bond", "sum")
    assert "link,h0,s4,80000000000bps" in (tmp_path / "out.topology.csv").read_text()


def test_a_first_line_of_six_numbers_is_read_and_a_cut_file_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "4\n0 4 200Gbps 0.0015ms 0\n1 4 200Gbps 0.0015ms 0\n2 4 200Gbps 0.0015ms 0\n3 4 1400Gbps 0.002ms 0\n"
    flow = "1\n0 3 3 100 1000 0.5\n"
    topology = ["--topology", str(tmp_path / "topology.txt")]
    (tmp_path / "topology.txt").write_text(f"5 4 0 1 5 H100\n{body}")
    error = refused(tmp_path, capsys, "hpcc", flow, *topology)
    assert error == "topology.txt: the first line states 5 links, but there are 4. Check that the file is complete.\n"
    (tmp_path / "topology.txt").write_text(f"5 4 0 1 4 H100\n{body}")
    imported(tmp_path, "hpcc", flow, *topology)
    network = (tmp_path / "out.topology.csv").read_text()
    assert network.count("\nlink,") == 4
    assert "link,h3,s4,1400Gbps,0.002ms" in network


def test_topologies_are_named_by_auto(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = refused(tmp_path, capsys, "auto", TWO_SWITCHES.format(links=4))
    assert "it looks like the topology of an ns-3 RDMA simulation: give it with --topology, beside its flows" in error
    htsim = "Nodes 4\nTiers 3\nPodsize 2\n\nTier 0\nDownlink_speed_Gbps 400\nRadix_Down 2\nRadix_Up 2\n"
    error = refused(tmp_path, capsys, "auto", htsim)
    assert "it looks like a topology of htsim: give it with --topology, beside its connection matrix (.cm)" in error
    (tmp_path / "cut.topo").write_text(f"{htsim}Downlink_Latency_ns 500\n")
    matrix = "Nodes 4\nConnections 1\n0->1 start 0 size 1000\n"
    error = refused(tmp_path, capsys, "htsim", matrix, "--topology", str(tmp_path / "cut.topo"))
    assert error == "cut.topo: Tiers is 3, but there is no tier 1. Use a line Tier 1, and the keys of that tier.\n"


def test_size_zero_has_no_end_in_htsim(tmp_path: Path) -> None:
    # Fractions of microseconds are of the older form: the last flow starts after 7.25 us.
    text = "Nodes 6\nConnections 3\n1->0 start 0.000000 size 0\n4->5 start 0.000000 size 0\n"
    text += "3->2 start 7.250000 size 9000\n"
    rows, report = imported(tmp_path, "auto", text)
    assert rows == ["0,1,0,endless", "0,4,5,endless", "7250,3,2,9000"]
    assert (report["format"], report["bytes"]) == ("htsim-us", 9000)
    assert any("2 flows of size 0 have no end" in note for note in report["notes"])


NFDUMP = "ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt,obyt,in,out\n"


def test_both_directions_of_a_record_are_flows_of_payload(tmp_path: Path) -> None:
    records = (
        "2025-03-01 10:00:05,2025-03-01 10:00:07,2.0,10.1.0.1,10.1.0.2,53,4000,UDP,........,0,0,10,5000,0,0,1,2\n"
        "2025-03-01 10:00:08,2025-03-01 10:00:09,1.0,10.1.0.3,10.1.0.2,900,80,TCP,...AP.SF,0,0,20,30000,40,60000,1,2\n"
    )
    rows, report = imported(tmp_path, "auto", f"{NFDUMP}{records}Summary\nflows,bytes\n2,95000\n")
    # UDP: 5000 - 10 x 28. TCP: 30000 - 20 x 52 - 8 of the SYN, and 60000 - 40 x 52 - 8, 3 s later.
    assert sorted(rows) == ["0,0,1,4720", "3000000000,1,2,57912", "3000000000,2,1,28952"]
    assert (report["rows"], report["flows"], report["bytes"]) == (2, 3, 4720 + 28952 + 57912)
    assert report["tick_ps"] == 10**12


def test_bytes_that_zeek_missed_do_not_count(tmp_path: Path) -> None:
    fields = "ts uid id.orig_h id.orig_p id.resp_h id.resp_p proto service duration orig_bytes resp_bytes conn_state "
    fields += "missed_bytes history orig_pkts orig_ip_bytes resp_pkts resp_ip_bytes"
    # 40,000 B in 30 packets with 40 B of headers each: 38,800 B of payload were seen of 900 MB.
    record = (
        "1700000000.5 C1 10.2.0.1 4000 10.2.0.9 443 tcp ssl 9.0 2000 900000000 S1 899961200 ShADgad 20 2800 30 40000"
    )
    text = (
        "#separator \\x09\n#path\tconn\n#fields\t" + "\t".join(fields.split()) + "\n" + "\t".join(record.split()) + "\n"
    )
    rows, report = imported(tmp_path, "auto", text)
    assert sorted(rows) == ["0,0,1,2000", "0,1,0,38800"]
    assert any("899961200 bytes less (missed_bytes)" in note for note in report["notes"])


def test_completion_times_are_named_by_auto_and_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # 3 MB in 400 us where 250 us are ideal: 1.6.
    text = "0b000101 0b000301 10001 100 3000000 2000000000 400000 250000\n"
    assert "priolane import fct FILE -o theirs" in refused(tmp_path, capsys, "auto", text)
    assert main(["import", "fct", str(tmp_path / "given"), "-o", str(tmp_path / "theirs")]) == 0
    results = priolane.load(tmp_path / "theirs")
    flows = results.flows()
    assert flows.column("fct_ps").to_pylist() == [400_000_000]
    assert "1.6" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "flags", "mean", "rows"),
    [
        # Parts of one: 5 kB x 0.2 + 15 kB x 0.3 + 510 kB x 0.5.
        ("0    0\n10000 0.2\n20000 0.5\n1000000 1\n", [], 260_500, ["0,0", "10000,0.2", "20000,0.5", "1000000,1"]),
        # Per cent, the same.
        ("0 0\n10000 20\n20000 50\n1000000 100\n", [], 260_500, ["0,0", "10000,0.2", "20000,0.5", "1000000,1"]),
        # Per cent that begin below one: 25 x 0.0005 + 75 x 0.4995 + 50,050 x 0.5.
        ("0 0\n50 0.05\n100 50\n100000 100\n", [], 25_062.475, ["0,0", "50,0.0005", "100,0.5", "100000,1"]),
        # Three columns of bytes, a size twice, and a flat part: 150 x 0.3 + 200 x 0.2 + 1,000,250 x 0.5.
        ("100 1 0\n200 1 0.3\n200 1 0.5\n500 1 0.5\n2000000 1 1.0\n", [], 500_210, None),
        # Three columns of packets of 1460 B: (4 x 0.25 + 7 x 0.25 + 505 x 0.5) x 1460.
        ("4 1 0\n4 1 0.25\n10 1 0.5\n1000 1 1\n", ["--unit", "packets"], 372_665, None),
        # The mean first: sizes of the rows only. 2 x 0.1 + 10 x 0.4 + 100 x 0.5 = 54.2.
        ("54.2\n2 0.1\n10 0.5\n100 1.0\n", ["--unit", "bytes"], 54.2, None),
    ],
)
def test_size_tables_have_the_mean_of_their_rows(
    text: str, flags: list[str], mean: float, rows: list[str] | None, tmp_path: Path
) -> None:
    (tmp_path / "sizes.txt").write_text(text)
    out = tmp_path / "sizes.csv"
    assert main(["import", "sizes", str(tmp_path / "sizes.txt"), "-o", str(out), *flags]) == 0
    lines = out.read_text().splitlines()
    assert lines[1] == "bytes,cdf"
    assert rows is None or lines[2:] == rows
    points = [tuple(map(float, line.split(","))) for line in lines[2:]]
    assert sum((a + b) / 2 * (q - p) for (a, p), (b, q) in itertools.pairwise(points)) == pytest.approx(mean, rel=1e-6)
    report = json.loads((tmp_path / "sizes.report.json").read_text())
    assert report["form"]["mean_bytes"] == pytest.approx(mean, rel=1e-6)


def test_a_table_that_may_be_bytes_or_packets_needs_its_unit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = refused(tmp_path, capsys, "sizes", "4 1 0\n4 1 0.25\n10 1 0.5\n1000 1 1\n")
    # 255.25 packets.
    assert "sizes may be bytes (mean 255.25 B) or packets of 1460 bytes (mean 372.6650 kB)" in error
    assert "Use --unit bytes or --unit packets" in error


EXPERIMENT = """title = "t"
schemes = ["newreno"]
seeds = 1
time = { flows = 2 }
topology = { kind = "single_switch", hosts = 4, host_link = { rate = "10Gbps", delay = "1us" } }
group = [{ name = "g", hosts = "*", app = "flows", list = "list.csv" }]
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xef\xbb\xbfstart_ns,src,dst,bytes\n0,0,1,3000\n500,1,2,4000\n", None),
        (b"start_ns,src,dst,bytes\r\n0,0,1,3000\r\n500,1,2,4000\r\n", None),
        (b"start_ns,src,dst,bytes\n0.0,0,1,3000.0\n500.0,1,2,4000.0\n", None),
        (b"start_ns,src,dst,bytes\n0,0,1,3000\n5e2,1,2,4000\n", 'list.csv:3: start_ns: "5e2" is not a time.'),
        (b",start_ns,src,dst,bytes\n0,0,0,1,3000\n", "list.csv:1: a column has no name, such as the index that pandas"),
        (b"start_ns;src;dst;bytes\n0;0;1;3000\n", "list.csv:1: cells are separated by ';' and not by commas."),
    ],
)
def test_lists_of_spreadsheets_and_pandas_are_read_or_say_what_to_write(
    text: bytes, message: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list.csv").write_bytes(text)
    (tmp_path / "x.toml").write_text(EXPERIMENT)
    code = main(["run", str(tmp_path / "x.toml"), "-o", str(tmp_path / "out")])
    error = capsys.readouterr().err
    if message is None:
        assert code == 0
        flows = priolane.load(tmp_path / "out").flows()
        assert sorted(flows.column("bytes").to_pylist()) == [3000, 4000]
        assert sorted(flows.column("start_ps").to_pylist()) == [0, 500_000]
    else:
        assert code == 2
        assert message in error
        assert error.count("\n") == 1
