import json
from pathlib import Path

import pytest

import priolane
from priolane import _core
from priolane.cli import main

SAMPLES = Path(__file__).parent.parent / "crates" / "priolane-workload" / "tests" / "import_samples"

EXPERIMENT = """title = "Imported"
schemes = ["newreno"]
time = { flows = 2 }
topology = { kind = "file", path = "flows.topology.csv" }
group = [{ name = "a", hosts = "*", app = "flows", list = "flows.csv" }]
"""


def test_an_imported_simulation_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "flows.csv"
    topology = str(SAMPLES / "hpcc_topology.txt")
    # 200 MB would take long: the first flow is cut to 20 kB.
    flows = tmp_path / "flow.txt"
    flows.write_text((SAMPLES / "hpcc_flow.txt").read_text().replace("200000000", "20000"))
    assert main(["import", "auto", str(flows), "-o", str(out), "--topology", topology]) == 0
    shown, errors = capsys.readouterr()
    assert errors == ""
    assert "format: hpcc, guessed from a number of flows" in shown
    assert "5 rows, 2 flows, 21000 bytes, 0 records merged" in shown
    assert "dropped 1: source and destination are the same host (5000 bytes)" in shown
    assert "the first was 2 s on the file's clock" in shown
    assert out.read_text() == "start_ns,src,dst,bytes\n0,1,0,20000\n1000,0,1,1000\n"
    assert (tmp_path / "flows.hosts.csv").read_text() == "name,host\n1,0\n2,1\n3,2\n4,3\n"
    (tmp_path / "x.toml").write_text(EXPERIMENT)
    results = priolane.run(tmp_path / "x.toml", tmp_path / "runs")
    assert len(results.runs) == 1


def test_the_report_is_printed_as_it_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "c.csv"
    sizes = tmp_path / "sizes.csv"
    command = ["import", "coflow", str(SAMPLES / "coflow.txt"), "-o", str(out), "--hosts", "2", "--json"]
    assert main([*command, "--sizes", str(sizes), "--megabyte", "1000000", "--start", "1ms"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "new" / "c.report.json").read_text())
    # 10.00001 MB and 2^20: a decimal megabyte makes halves of 500000, a quarter of 250000, and 4 + 3 bytes of 10.
    assert printed["bytes"] == 500_000 + 250_000 + 4 + 3
    assert printed["fold"] == {"from": 4, "to": 2, "factor": 2.0}
    assert out.read_text().splitlines()[:2] == ["start_ns,src,dst,bytes,coflow", "1000000,1,0,500000,1"]
    assert sizes.read_text().splitlines()[1:3] == ["bytes,cdf", "3,0.25"]


def test_a_folded_or_waiting_list_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "c.csv")
    assert main(["import", "auto", str(SAMPLES / "coflow.txt"), "-o", out, "--hosts", "2"]) == 0
    assert "folded 4 hosts onto 2: 2 each" in capsys.readouterr().out
    assert main(["import", "htsim", str(SAMPLES / "htsim.cm"), "-o", out]) == 0
    assert "flows that wait for others: 3" in capsys.readouterr().out


def test_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = ["hpcc", "htsim", "htsim-us", "yaps", "aequitas", "coflow", "nfdump", "zeek", "vpc"]
    names += ["goflow2", "sflow", "tshark", "goal", "chakra"]
    assert [line.split()[0] for line in lines] == ["format", *names, "sizes", "fct", "switch"]
    assert [entry["name"] for entry in json.loads(_core.catalogue())["formats"]] == names


def test_a_recording_says_what_it_shows_less_exactly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "c.csv")
    assert main(["import", "auto", str(SAMPLES / "vpc_header.txt"), "-o", out]) == 0
    shown = capsys.readouterr().out
    assert "format: vpc, guessed from a header with fields of flow logs" in shown
    assert "all starts are multiples of 1 s" in shown
    assert "starts may be up to 60 s late" in shown
    assert "flows that began before the file: 1" in shown
    assert "sampled" not in shown
    assert main(["import", "auto", str(SAMPLES / "sflow.csv"), "-o", out]) == 0
    shown = capsys.readouterr().out
    assert "sampled: 1 packet in 200" in shown
    assert "starts may be up to 1 s late" in shown
    assert "multiples" not in shown
    assert main(["import", "auto", str(SAMPLES / "tshark.csv"), "-o", out]) == 0
    shown = capsys.readouterr().out
    assert "flows that began before the file: 2" in shown
    assert "late" not in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["auto", "none.txt"], "cannot be read"),
        (["pcap", "hpcc_flow.txt"], "unknown format"),
        (["auto", "hpcc_topology.txt"], "give it with --topology"),
        (["zeek", "hpcc_flow.txt"], "there is no #fields line"),
        (["vpc", "hpcc_flow.txt"], "no header names the 1 fields"),
        (["sflow", "hpcc_flow.txt"], "Run sflowtool -L unixSecondsUTC"),
        (["tshark", "hpcc_flow.txt"], "with -E header=y"),
        (["vpc", "vpc_header.txt", "--sampling", "5"], "--sampling has no meaning for the format vpc"),
        (["yaps", "yaps_nine.txt", "--gap", "1s"], "--gap has no meaning for the format yaps"),
        (["yaps", "yaps_nine.txt", "--start", "soon"], "Use a time"),
        (["yaps", "yaps_nine.txt", "--hosts", "70000"], "2 to 65536"),
        (["yaps", "yaps_nine.txt", "--unit", "bytes"], "--unit has no meaning for the format yaps"),
        (["sizes", "yaps_nine.txt", "--gap", "1s"], "--gap has no meaning for the format sizes"),
        (["sizes", "yaps_nine.txt"], "the row has 9 columns"),
        (["hpcc", "hpcc_flow.txt", "--bond", "sum"], "--bond has no meaning without --topology"),
        ([], "import what?"),
    ],
)
def test_bad_input_is_one_line_exit_2_and_no_file(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if arguments:
        arguments = [arguments[0], str(SAMPLES / arguments[1]), *arguments[2:]]
    assert main(["import", *arguments, "-o", str(tmp_path / "out.csv")]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert message in errors
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    command = ["import", "yaps", str(SAMPLES / "yaps_nine.txt"), "-o", str(tmp_path / "file" / "out.csv")]
    assert main(command) == 1
    assert "cannot be written" in capsys.readouterr().err


SCHEDULE = """num_ranks 3
rank 0 {
a: calc 50000
s: send 100000b to 1
s requires a
}
rank 1 {
r: recv 100000b from 0
c: calc 20000
c requires r
s: send 5000b to 2
s requires c
}
rank 2 {
r: recv 5000b from 1
}
"""

JOB = """title = "A job"
schemes = ["dctcp"]
seeds = 1
time = { flows = 2 }
topology = { kind = "single_switch", hosts = 8, host_link = { rate = "10Gbps", delay = "1us" } }
metrics.classes = { job = { group = "job" } }
group = [{ name = "job", hosts = "*", app = "flows", list = "job.csv" }]
"""


def test_a_schedule_becomes_a_job_with_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.goal").write_text(SCHEDULE)
    out = tmp_path / "job.csv"
    command = ["import", "goal", str(tmp_path / "job.goal"), "-o", str(out), "--hosts", "8"]
    assert main([*command, "--place", "round_robin", "--rack", "4"]) == 0
    shown = capsys.readouterr().out
    assert "3 ranks: 2 sends, 2 receives, 2 computations, 0 collectives; 2 steps beside the flows" in shown
    assert "the job takes 7e-05 s if messages take no time" in shown
    # Ranks 0, 1 and 2 are on hosts 0, 4 and 1.
    rows = ["0,0,0,0,,50000", "0,0,4,100000,0,", "0,4,4,0,1,20000", "0,4,1,5000,2,"]
    assert out.read_text() == "\n".join(["start_ns,src,dst,bytes,after,delay_ns", *rows, ""])
    assert (tmp_path / "job.hosts.csv").read_text() == "name,host\n0,0\n1,4\n2,1\n"
    (tmp_path / "x.toml").write_text(JOB)
    results = priolane.run(tmp_path / "x.toml", tmp_path / "runs")
    record = results.records[results.runs[0].id]
    job = record["jobs"]["job"]
    # 105 kB take at least 84 us at 10 Gbit/s; the handshakes and links add some microseconds.
    assert 0.070 + 0.084 < job["time_s"] * 1e3 < 0.070 + 0.120
    assert job["time_s"] - job["exposed_s"] == pytest.approx(70e-6, abs=1e-15)
    assert job["ranks"] == 3


def test_orders_of_ranks_that_make_no_sense_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.goal").write_text(SCHEDULE)
    command = ["import", "auto", str(tmp_path / "job.goal"), "-o", str(tmp_path / "job.csv")]
    for flags, expected in [
        (["--place", "round_robin"], "--rack with the hosts of a rack"),
        (["--place", "packed", "--seed", "2"], "--rack is for round_robin, and --seed for random"),
        (["--place", "alphabetical"], "packed, round_robin or random"),
        (["--collectives", "ring"], "--collectives has no meaning for the format goal"),
        (["--start", "5ms"], "--start and --spread have no meaning for a job"),
        (["--hosts", "4", "--first", "4"], "--first 4 leaves none of them"),
    ]:
        assert main([*command, *flags]) == 2
        assert expected in capsys.readouterr().err
    assert not (tmp_path / "job.csv").exists()
