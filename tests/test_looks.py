"""Looks at the claims of a directory, as one adds seeds, and the words and flags of verdicts."""

import html
import json
import re
import shlex
from pathlib import Path

import pytest

import factories
from fake_core import FakeCore
from priolane import _core
from priolane._core import InputError
from priolane.cli import main
from priolane.execution.grid import run_grid
from priolane.execution.session import run
from priolane.execution.settings import Settings
from priolane.model.experiment import Options
from priolane.report.write import write_report
from priolane.results.report import Report, Source, Verdict, error_bound
from priolane.results.results import earlier_looks, load
from priolane.study.record import write_record

# Two tenants that nothing tells apart send to one host, and a claim says that one of them is faster.
TENANTS = """
title = "Two equal tenants"
schemes = ["newreno"]
seeds = 3
time = { warmup = "0us", measure = "2ms", drain = true }
[topology]
kind = "single_switch"
hosts = 5
host_link = { rate = "10Gbps", delay = "1us" }
[switch]
buffer = { shared = "64pkt" }
[host]
min_rto = "1ms"
initial_rto = "1ms"
handshake = "none"
[[group]]
name = "tenant_a"
hosts = "0-1"
to = "sink"
app = "poisson"
sizes = { csv = "sizes.csv", interpolation = "step" }
load = { of = "host", counts = "payload", value = 0.35 }
[[group]]
name = "tenant_b"
hosts = "2-3"
to = "sink"
app = "poisson"
sizes = { csv = "sizes.csv", interpolation = "step" }
load = { of = "host", counts = "payload", value = 0.35 }
[[group]]
name = "sink"
hosts = "4"
app = "none"
[metrics.classes]
a = { group = "tenant_a" }
b = { group = "tenant_b" }
[[claim]]
section = "order"
says = "tenant A is faster"
order = ["fct.b.newreno", "fct.a.newreno"]
[[claim]]
section = "equal"
says = "both have the same tail"
equal = { of = ["slowdown_p95.a.newreno", "slowdown_p95.b.newreno"], within = 0.0 }
[[claim]]
section = "timeouts"
says = "more flows of tenant B time out"
order = ["timed_out.b.newreno", "timed_out.a.newreno"]
"""


@pytest.fixture
def tenants(tmp_path: Path) -> Path:
    (tmp_path / "sizes.csv").write_text("bytes,cdf\n1000,0.5\n60000,1\n", encoding="utf-8")
    path = tmp_path / "tenants.toml"
    path.write_text(TENANTS, encoding="utf-8")
    return path


def shares(report: Report) -> list[tuple[int, float]]:
    return [(len(look.seeds), round(look.share, 9)) for look in report.looks]


def test_seeds_that_are_added_to_a_directory_are_looks_and_the_same_seeds_are_none(tenants: Path) -> None:
    out = tenants.parent / "out"
    first = run(tenants, out).report
    assert (shares(first), first.look) == ([(3, 0.8)], 0)
    assert "this look spends" not in error_bound(first)
    again = run(tenants, out).report
    assert again == first
    more = run(tenants, out, seeds=6).report
    assert (shares(more), more.look) == ([(3, 0.8), (6, 0.16)], 1)
    assert "number of seeds: 3" in error_bound(more)
    assert "this look spends 0.8 %" in error_bound(more)
    # What was planned from now on has equal parts of what is left.
    planned = run_grid(tenants, out, Options(seeds=9, looks=4), Settings()).report
    assert (shares(planned)[2], planned.look) == ((9, 0.02), 2)
    back = run(tenants, out).report
    assert (len(back.looks), back.look) == (3, 0)
    # The same seeds with a longer window are other runs.
    text = tenants.read_text(encoding="utf-8")
    tenants.write_text(text.replace('measure = "2ms"', 'measure = "3ms"'), encoding="utf-8")
    longer = run(tenants, out).report
    assert (len(longer.looks), longer.look) == (4, 3)
    assert longer.looks[3].share < 0.02


def page_and_its_command(directory: Path) -> tuple[str, list[str]]:
    """The page of results, and the words of the command that it prints to make them again, without their place."""
    page = html.unescape(write_report(load(directory)).read_text(encoding="utf-8"))
    command = re.search(r'<dt>Run again</dt><dd><code class="command">(.*?)</code>', page)
    assert command is not None
    words = shlex.split(command[1])
    assert (words[0], words[-2:]) == ("priolane", ["-o", str(directory)])
    return page, words[1:-2]


def test_the_command_of_a_page_gives_its_verdicts_or_the_page_says_that_looks_were_spent(tenants: Path) -> None:
    def again(words: list[str], place: str) -> Report:
        assert main([*words, "-o", str(tenants.parent / place)]) == 0
        return load(tenants.parent / place).report

    spent = "In an empty directory, this command judges"
    # Planned looks: the command carries the plan, and the first look of an empty directory has the share of this one.
    out = tenants.parent / "planned"
    for seeds in (2, 3):
        planned = run_grid(tenants, out, Options(seeds=seeds, looks=4), Settings()).report
    page, words = page_and_its_command(out)
    fresh = again(words, "planned again")
    assert spent not in page
    assert fresh.claims == planned.claims
    # Without a plan, the second look has a fifth of what the first one of an empty directory has.
    out = tenants.parent / "unplanned"
    for seeds in (2, 3):
        unplanned = run(tenants, out, seeds=seeds).report
    page, words = page_and_its_command(out)
    fresh = again(words, "unplanned again")
    assert (fresh.looks[fresh.look].share, round(unplanned.looks[unplanned.look].share, 9)) == (0.8, 0.16)
    assert f"{spent} the claims with 4 % instead of 0.8 %" in page
    # A record has the verdicts of its command.
    with pytest.raises(InputError, match=r"judged before without a plan.*-o DIR --looks 2"):
        write_record(tenants.parent, "nos2/fig6", [load(out)], "priolane reproduce nos2/fig6 --seeds 3")
    planned_results = load(tenants.parent / "planned")
    assert write_record(tenants.parent, "nos2/fig6", [planned_results], "priolane reproduce nos2/fig6").is_file()


def test_a_report_that_cannot_be_read_is_one_look(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    assert earlier_looks(path) == []
    path.write_text("{", encoding="utf-8")
    assert earlier_looks(path) == [{"seeds": [], "runs": "", "share": 0.8}]
    # One of a version that did not count looks in directories.
    path.write_text(_core.with_checksum('{"looks": 6}'), encoding="utf-8")
    assert earlier_looks(path) == [{"seeds": [], "runs": "", "share": 0.8}]
    looks = [{"seeds": [1, 2], "runs": "ab", "share": 0.8}]
    path.write_text(_core.with_checksum(json.dumps({"looks": looks})), encoding="utf-8")
    assert earlier_looks(path) == looks


def test_claims_of_ones_own_hold_or_do_not_hold() -> None:
    words = [Source.OURS.word(verdict) for verdict in (Verdict.REPRODUCED, Verdict.CONTRADICTED, Verdict.UNDECIDED)]
    assert words == ["holds", "does not hold", "undecided"]
    assert Source.OURS.word(Verdict.REPRODUCED, 2) == "hold"
    assert Source.PAPER.word(Verdict.REPRODUCED, 2) == "reproduced"


def test_an_experiment_without_a_paper_never_speaks_of_reproduction(
    tenants: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tenants.parent / "own.toml"
    claims = TENANTS.index("[[claim]]")
    bounds = ("above = 0.0", "below = 0.0")
    text = TENANTS[:claims] + "".join(
        f'[[claim]]\nsection = "s"\nsays = "{bound}"\nbound = {{ of = "fct.a.newreno", {bound} }}\n' for bound in bounds
    )
    path.write_text(text, encoding="utf-8")
    out = tenants.parent / "own"
    assert main(["run", str(path), "-o", str(out), "--seeds", "8", "-v"]) == 0
    shown = capsys.readouterr().out
    assert "our own claims: 1 holds, 1 does not hold\n" in shown
    page = (out / "report.html").read_text(encoding="utf-8")
    text = shown + re.sub(r"<[^>]*>", " ", page[page.index("<body>") :])
    assert not [word for word in ("reproduced", "contradicted") if word in text]
    assert main(["run", str(path), "-o", str(out), "--seeds", "8", "--json"]) == 0
    assert [claim["verdict"] for claim in json.loads(capsys.readouterr().out)["claims"]] == ["holds", "does not hold"]


def test_a_flag_stands_at_the_verdict_and_in_the_line(
    core: FakeCore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = factories.make_results(tmp_path / "grid")
    says = "flows of class `mice` of `pias` that timed out hold 79 % of its completion times"

    def flagged(report: dict[str, list[dict[str, object]]]) -> dict[str, list[dict[str, object]]]:
        numbers = {"scheme": "pias", "class": "mice", "measured": 0.79, "limit": 0.1}
        flags = [{"kind": "timeouts", "says": says}, {"kind": "few_flows", "says": "few"}]
        report["claims"][0]["flags"] = [flag | numbers for flag in flags]
        return report

    factories.edit(directory / "report.json", flagged)
    page = write_report(load(directory)).read_text(encoding="utf-8")
    assert '<span class="flag"><span aria-hidden="true">⚑</span> timeouts, few flows</span>' in page
    in_code = "flows of class <code>mice</code> of <code>pias</code> that timed out hold 79 % of its completion times"
    assert in_code in page
    core.panels = 0
    assert main(["results", str(directory)]) == 0
    claim = load(directory).report.claims[0]
    assert claim.flag_kinds == "timeouts, few flows"
    from priolane.cli.claims import print_claims  # noqa: PLC0415

    capsys.readouterr()
    print_claims(load(directory).report)
    shown = " ".join(capsys.readouterr().out.split())
    assert "(flag: timeouts, few flows)" in shown
    assert f"flag ({claim.section}): {says}" in shown


def false_verdicts(tenants: Path, experiments: int, planned: int) -> int:
    """The number of experiments, of `experiments` of 24 seeds each, with a verdict at some look. Each is false."""
    out = tenants.parent / "null"
    results = run(tenants, out, seeds=24 * experiments, jobs=2)
    count = 0
    for nth in range(experiments):
        looks: list[dict[str, object]] = []
        result = False
        for seeds in (3, 6, 12, 24):
            listed = tuple(range(24 * nth + 1, 24 * nth + seeds + 1))
            options = Options(seeds=listed, looks=planned)
            report = json.loads(_core.verdicts(tenants, options.to_json(), results.directory, json.dumps(looks)))
            looks = report["looks"]
            result = result or any(claim["verdict"] != "undecided" for claim in report["claims"])
        count += result
    return count


def test_networks_in_which_nothing_is_to_be_found_have_no_verdict(tenants: Path) -> None:
    # Nothing tells the tenants apart, so that each verdict is false: 5 % of 4 and 2 % that there are 2 or more.
    assert false_verdicts(tenants, 4, 6) <= 1


@pytest.mark.soak
def test_of_many_networks_in_which_nothing_is_to_be_found_5_percent_have_a_verdict_at_most(tenants: Path) -> None:
    by_name = {planned: false_verdicts(tenants, 100, planned) for planned in (1, 6)}
    # More than 10 of 100 would have a probability of 1 %.
    assert max(by_name.values()) <= 10
