"""The output of commands that are not asked for more: at most 20 lines of 100 columns, the answer first."""

import contextlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import factories
from fake_core import FakeCore
from priolane.cli import main
from priolane.cli.brief.checked import check_lines
from priolane.cli.brief.claims import claim_lines
from priolane.cli.brief.outcome import Outcome, outcome_lines
from priolane.cli.brief.screen import Screen
from priolane.cli.brief.tables import class_lines, class_of, panel_lines
from priolane.report.leading import by_weight
from priolane.report.overview import overview
from priolane.results.report import Flag, Report, Verdict
from priolane.results.results import load

MOST_LINES = 20
WIDE = Screen(100, is_utf8=True)
# Three flows on one link, in which nothing is random: what is claimed is decided by two seeds.
EXPERIMENT = """
title = "Two schemes, four claims"
schemes = ["ps", "srpt"]
seeds = 2
time = { flows = 3 }

[topology]
kind = "single_switch"
hosts = 2
host_link = { rate = "1Gbps", delay = "1us" }

[[group]]
name = "pool"
hosts = 1
app = "flows"
list = [
  { src = 0, dst = 1, size = "124900B", start = "0ns" },
  { src = 0, dst = 1, size = "374700B", start = "0ns" },
  { src = 0, dst = 1, size = "624500B", start = "0ns" },
]

[metrics]
baseline = "ps"
classes = { small = { below = "200kB" }, large = { above = "500kB" } }

[sweep]
"topology.host_link.delay" = ["1us", "1ms"]

[[claim]]
section = "ours"
says = "short flows finish sooner with SRPT"
order = ["gain.small.srpt", "gain.small.ps"]

[[claim]]
section = "ours"
says = "all flows take more than an hour"
lead = true
bound = { of = "fct.all.srpt", above = 3600.0 }

[[claim]]
section = "ours"
says = "few flows time out"
bound = { of = "timed_out.small.ps", below = 0.5 }

[[claim]]
section = "ours"
says = "completion times grow with the delay"
trend = { of = "fct.all.ps", along = "topology.host_link.delay", goes = "up" }
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The experiment, run: its directory, and what `run` printed."""
    directory = tmp_path_factory.mktemp("brief")
    (directory / "x.toml").write_text(EXPERIMENT, encoding="utf-8")
    _, shown = printed("run", directory / "x.toml", "-o", directory / "out", "--jobs", "1")
    return directory, shown


def printed(*words: object, encoding: str = "utf-8") -> tuple[int, str]:
    """The standard output of a command with that encoding, in a pipe."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
    with contextlib.redirect_stdout(stream):
        code = main([str(word) for word in words])
        stream.flush()
    return code, raw.getvalue().decode(encoding)


def size(text: str) -> tuple[int, int]:
    lines = text.splitlines()
    return len(lines), max(map(len, lines))


def require_brief(text: str, columns: int = 100) -> None:
    """At most 20 lines, none of which is wider; commands to be copied are on lines of their own."""
    lines, widest = size(text)
    assert lines <= MOST_LINES, text
    assert widest <= columns, text


@pytest.fixture(autouse=True)
def no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def test_run_says_what_ran_then_the_claims_then_a_table_then_what_to_do(ran: tuple[Path, str]) -> None:
    directory, shown = ran
    require_brief(shown.replace(str(directory), "runs"))
    lines = shown.splitlines()
    assert lines[0].startswith("Two schemes, four claims: 8 runs (2 schemes, 2 points, 2 seeds) in ")
    # The claim that leads comes first; it is contradicted.
    assert lines[2].startswith("✗ does not hold  All flows take more than an hour: ")
    assert "asked: above 3600 s." in " ".join(shown.split())
    report = load(directory / "out").report
    assert [claim.leads for claim in report.claims] == [False, True, False, False]
    order = [shown.index(text) for text in ("✗ does not hold", "Ours: ", "mean FCT", "page  ", "next  priolane ")]
    assert order == sorted(order)
    assert f"page  {directory / 'out' / 'report.html'}" in lines
    verbose = printed("report", directory / "out", "-v")[1]
    assert "our own claims: " in verbose
    assert f"digest {report.digest}" in verbose
    assert size(verbose)[0] > MOST_LINES


def test_each_command_is_brief_and_says_more_when_asked(ran: tuple[Path, str]) -> None:
    directory, _ = ran
    out, again = directory / "out", directory / "again"
    assert (
        printed("run", directory / "x.toml", "-o", again, "--jobs", "1", "--set", 'topology.host_link.rate="2Gbps"')[0]
        == 0
    )
    commands: Sequence[Sequence[object]] = (
        ("report", out),
        ("results", out),
        ("compare", out, "--schemes", "srpt", "ps"),
        ("compare", out, again),
        ("check", directory / "x.toml"),
    )
    for words in commands:
        code, text = printed(*words)
        assert code == 0
        require_brief(text.replace(str(directory), "runs"))
        assert size(printed(*words, "-v")[1])[0] > size(text)[0], words


def test_check_answers_and_prints_the_merged_file_when_asked(
    ran: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, _ = ran
    monkeypatch.chdir(directory)
    text = printed("check", "x.toml")[1]
    assert text.splitlines()[0].startswith("x.toml is valid: 8 runs (2 schemes, 2 points, 2 seeds)")
    assert "next     priolane run " in text
    merged = printed("check", directory / "x.toml", "--merged")[1]
    assert merged.startswith("{")
    assert "is valid" not in merged


def test_a_figure_is_brief_and_leads_with_its_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, text = printed("reproduce", "nos2/fig1", "-o", "demo", "--jobs", "1")
    assert code == 0
    require_brief(text)
    # 1, 4 and 9 ms are 4.67 ms in the mean; the paper prints 5.
    assert text.splitlines()[2].startswith("✗ impossible as printed  Short flows first: an average")
    assert "ms here, 5.00 ms in the paper; asked: within 2 %." in " ".join(text.split())
    assert "2 impossible as printed. Ours: 1 holds." in text
    assert "ps, paper    3.00" in text
    assert text.splitlines()[-3:-1] == ["page  demo/report.html", "next  priolane reproduce prioplus/starts --quick"]


def test_another_size_than_the_recorded_one_shows_the_recorded_verdicts(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = printed("reproduce", "nos2/fig6", "--quick", "-o", "out", "--jobs", "1")[1]
    require_brief(text)
    assert core.ran
    # The made-up report has other claims than the figure, whose record is of 4 seeds at the default size.
    assert "Recorded (default, 4 seeds): 9 reproduced, 7 undecided, 1 contradicted, 1 impossible as printed." in text


def test_signs_are_ascii_where_output_is_not_utf_8(ran: tuple[Path, str]) -> None:
    directory, _ = ran
    text = printed("report", directory / "out", encoding="latin-1")[1]
    assert "[no] does not hold  All flows take" in text
    assert text.isascii()
    assert "\\x" not in text
    require_brief(text.replace(str(directory), "runs"))


@pytest.mark.parametrize("columns", [60, 80])
def test_a_narrow_terminal_has_narrow_lines(
    ran: tuple[Path, str], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, _ = ran
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.chdir(directory)
    for words in (
        ("results", "out"),
        ("report", "out"),
        ("check", "x.toml"),
        ("compare", "out", "--schemes", "srpt", "ps"),
    ):
        text = printed(*words)[1]
        assert size(text)[1] <= columns, text


def changed(report: Report, **claims: Any) -> Report:
    """The report with each claim changed."""
    return replace(report, claims=tuple(replace(claim, **claims) for claim in report.claims))


def test_the_claims_that_matter_come_first_and_at_most_six(tmp_path: Path) -> None:
    report = load(factories.make_results(tmp_path / "grid", panels=1)).report
    order = [claim.verdict for claim in by_weight(report)]
    # The first claim leads where the file names none.
    assert by_weight(report)[0] is report.claims[0]
    assert order == [
        Verdict.REPRODUCED,
        Verdict.CONTRADICTED,
        Verdict.UNDECIDED,
        Verdict.UNDECIDED,
        Verdict.REPRODUCED,
    ]
    many = replace(report, claims=report.claims * 3)
    for room in range(2, 20):
        lines, shown = claim_lines(WIDE, many, room, {})
        assert len(lines) <= room
        # Each of these claims takes one line or two.
        assert min(6, (room - 1) // 2) <= len(shown) <= min(6, room - 1)
        assert lines[-1].startswith(f"{15 - len(shown)} more: -v. Paper: ")


def test_a_flag_and_a_recorded_verdict_stand_at_the_end_of_the_line(tmp_path: Path) -> None:
    report = load(factories.make_results(tmp_path / "grid", panels=1)).report
    flag = Flag("few_flows", "class `mice` of `pias` has 3 flows a run", "pias", "mice", 3.0, 500.0)
    flagged = changed(report, flags=(flag,))
    lines, shown = claim_lines(WIDE, flagged, 12, {shown.text: "holds" for shown in report.claims})
    assert lines[0].endswith("recorded: holds  ⚑ few flows")
    assert len(lines[0]) == 100
    assert len(shown) == 5


@pytest.mark.parametrize("warnings", [0, 1, 9])
@pytest.mark.parametrize("claims", [0, 1, 40])
def test_an_outcome_is_brief_whatever_there_is_to_tell(
    tmp_path: Path, claims: int, warnings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = load(factories.make_results(tmp_path / "grid", panels=1))
    report = results.report
    many = replace(report, claims=(report.claims * 8)[:claims], warnings=(("a long warning " * 30).strip(),) * warnings)
    monkeypatch.setattr(type(results), "report", property(lambda _: many))
    for screen in (WIDE, Screen(60, is_utf8=False)):
        lines = outcome_lines(screen, Outcome(results, 3.0, ("priolane results x", "priolane list")))
        require_brief("\n".join(line for line in lines if not line.startswith("page")), screen.columns)
        assert len(lines) <= MOST_LINES
        assert any(line.startswith("page  ") for line in lines)


def test_a_table_keeps_what_there_is_room_for(tmp_path: Path) -> None:
    results = load(factories.make_results(tmp_path / "grid", panels=1))
    section = class_of(overview(results), "mice")
    assert section is not None
    wide = class_lines(WIDE, section, ("fct", "fct_p99", "slowdown"), 9)
    # Means over two seeds at load 0.5: 4 ms / 9 x 1.5 x sqrt(1.01 x 1.02) is 0.677 ms.
    assert wide[0].startswith("mice")
    assert wide[2].split()[:2] == ["dctcp", "680"]
    narrow = class_lines(Screen(40, is_utf8=True), section, ("fct", "fct_p99", "slowdown"), 9)
    assert max(map(len, narrow)) <= 40
    assert "p99 FCT" not in narrow[0]
    assert class_lines(WIDE, section, ("fct",), 2)[-1] == "2 more schemes: -v"
    # The line that would say that one is left out has it.
    assert len(class_lines(WIDE, section, ("fct",), 3)) == len(wide) == 6
    assert class_lines(WIDE, section, ("nothing",), 3) == []


def test_a_panel_is_a_table_of_its_series(tmp_path: Path) -> None:
    report = load(factories.make_results(tmp_path / "grid")).report
    tables = {panel.kind: panel_lines(WIDE, panel, 6) for panel in report.panels}
    shown = [lines for lines in tables.values() if lines]
    assert shown
    for lines in shown:
        assert max(map(len, lines)) <= 100
        assert len(lines) <= 8


def found(**more: Any) -> Mapping[str, Any]:
    """The findings of `check` on an experiment of one scheme."""
    base = {
        "runs": 1,
        "alone": 0,
        "schemes": 1,
        "points": 1,
        "seeds": 1,
        "packet_hops": 12345.0,
        "seconds": 3.0,
        "bytes": 2e6,
    }
    return {**base, "command_seconds": 2.0, "loads": [], **more}


def test_check_warns_of_a_link_that_is_offered_too_much() -> None:
    tiers = [{"tier": "hosts", "mean": 0.9, "busiest": 1.77}, {"tier": "racks", "mean": 0.3, "busiest": 0.4}]
    loads = [{"point": {"group.all.load.value": 0.8}, "seconds": 0.04, "tiers": tiers, "steady": []}]
    lines = check_lines(WIDE, found(loads=loads), ("x.toml", "priolane run x.toml"), [])
    assert lines[0] == "x.toml is valid: 1 run (1 scheme, 1 seed), 1.2e+04 packet-hops"
    warned = " ".join(" ".join(lines).split())
    assert "the busiest link of `hosts` is offered 1.77 times its capacity in the window. That can be chance" in warned
    # Beyond what is chance.
    tiers[0]["mean"] = 1.2
    lines = check_lines(WIDE, found(loads=loads), ("x.toml", "priolane run x.toml"), [])
    assert "chance" not in " ".join(lines)
    tiers[0] |= {"busiest": 0.95, "mean": 0.9}
    lines = check_lines(WIDE, found(loads=loads), ("x.toml", "priolane run x.toml"), [])
    assert not any("capacity" in line and "busiest" in line and "warning" in line for line in lines)


def test_check_says_what_a_steady_state_wants_in_time() -> None:
    group = {
        "group": "all",
        "wanted_warmup_s": 0.0145,
        "warm_start_s": 0.007,
        "warm_start": "warm",
        "largest_s": 0.024,
        "window": 4.17,
    }
    more = group | {"wanted_warmup_s": 0.02}
    loads = [
        {"point": {"group.all.load.value": load}, "seconds": 0.1, "tiers": [], "steady": [claims]}
        for load, claims in ((0.5, group), (0.8, more))
    ]
    lines = check_lines(WIDE, found(loads=loads), ("x.toml", "priolane run x.toml"), [])
    shown = " ".join(" ".join(lines).split())
    # The point that wants most; four times the largest flow alone.
    assert (
        'steady a steady state wants a warm-up of 20.0 ms or more (7.00 ms with time.start = "warm"), and a window'
        in shown
    )
    assert "of 96.0 ms or more" in shown
    assert not any(line.startswith("steady") for line in check_lines(WIDE, found(), ("x.toml", "run"), []))


def test_check_counts_the_warnings_that_it_has_no_room_for() -> None:
    warnings = [f"warning number {number} of many, which is {'rather ' * 12}long" for number in range(30)]
    lines = check_lines(WIDE, found(), ("x.toml", "priolane run x.toml"), warnings)
    assert len(lines) <= MOST_LINES
    shown = sum("warning number" in line for line in lines)
    assert f"warning  {30 - shown} more: -v" in lines


def test_text_is_cut_between_words() -> None:
    screen = Screen(40, is_utf8=False)
    assert screen.cut("an interval [0.72, 0.84] and more that does not fit") == "an interval [0.72, 0.84] and more ..."
    assert screen.wrapped("one two three", 1, "> ") == ["> one two three"]
    lines = screen.wrapped("word " * 40, 2, "> ", "  ")
    assert len(lines) == 2
    assert lines[1].endswith("word ...")
    assert screen.command("priolane run x.toml --set 'a.b=\"c\"' --seeds 3", "next  ", "      ")[0].endswith(" \\")
