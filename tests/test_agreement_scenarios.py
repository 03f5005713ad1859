"""The scenarios of `priolane linux agree all`, and the page with both curves."""

import json
from pathlib import Path

import pytest
from test_linux import namespaces, need_testbeds

import priolane
from priolane._core import InputError
from priolane.cli import main
from priolane.hosts import agreement
from priolane.hosts.agreement_page import Section, write_agreement
from priolane.hosts.agreement_scenarios import named, scenarios
from priolane.model.experiment import Options, PlannedRun, plan


def test_there_are_twenty_pairs_of_a_transport_and_ports_and_all_can_be_planned() -> None:
    every = scenarios()
    assert len(every) == len({scenario.name for scenario in every}) == 20
    assert len({(scenario.file, scenario.scheme, scenario.switch) for scenario in every}) == 20
    for scenario in every:
        grid = plan(scenario.path, Options(schemes=(scenario.scheme,)))
        request = json.dumps({"name": "t", "scale": scenario.scale, "switch": scenario.switch})
        # It raises if such a testbed cannot be.
        jobs = [json.loads(grid.core.linux_job(run.id, request)) for run in grid.runs]
        assert [job["scale"] for job in jobs] == [scenario.scale]
        assert sum(job["at_most_s"] for job in jobs) <= 20
    # Whatever the files have is measured.
    measured = {(scenario.file, scenario.scheme) for scenario in every}
    files = scenarios()[0].path.parent.glob("*.toml")
    assert {(path.stem, run.scheme) for path in files for run in plan(path, Options()).runs} == measured


def test_names_mean_all_or_one_of_them() -> None:
    assert named("all") == named("agreement") == named("agreement/all") == scenarios()
    assert [scenario.name for scenario in named("agreement/paid")] == ["paid"]
    assert named("top/fig11") == named("star.toml") == []
    with pytest.raises(InputError, match="`agreement/none`: there is no such scenario; there are mix_dctcp, "):
        named("agreement/none")


@pytest.mark.parametrize(
    "own", [["--scale", "10"], ["--switch", "user"], ["--scheme", "dctcp"], ["--seeds", "2"], ["--set", "seeds=2"]]
)
def test_what_scenarios_have_of_their_own_is_refused(own: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["linux", "agree", "all", *own]) == 2
    assert f"{own[0]}: scenarios have their own; leave it out" in capsys.readouterr().err


def test_the_page_has_both_curves_in_each_figure_and_says_what_differs(tmp_path: Path) -> None:
    scenario = named("agreement/paid")[0]
    results = priolane.run(scenario.path, tmp_path / "runs")
    (run,) = results.runs
    rows = [
        agreement.Row(PlannedRun(id=run.id, scheme="dctcp", seed=1), "median FCT (s)", 1.0, 2.0, "15 %", agrees=False),
        agreement.Row(PlannedRun(id=run.id, scheme="dctcp", seed=1), "p99 FCT (s)", 1.0, 1.1, "30 %", agrees=True),
    ]
    pair = (results.place(run.id), results.place(run.id))
    sections = [
        Section("mix<b>", "about", rows, [pair]),
        Section("other", "about", failure="host 0: it ended"),
    ]
    path = tmp_path / "agreement.html"
    write_agreement(path, sections, "priolane linux agree all")
    page = path.read_text(encoding="utf-8")
    # One figure in two widths.
    assert page.count("<svg") == 2
    # Both are in the legend of the one figure.
    svg = page[page.index("<svg") : page.index("</svg>")]
    assert "simulated" in svg
    assert "measured" in svg
    assert "mix&lt;b&gt;" in page
    assert '<td class="number">1 of 2</td><td>median FCT (s)</td>' in page
    assert "✗ failed</span> host 0: it ended" in page
    # Two flows of 14.6 MB share 10 Gbit/s: the last ends after more than 23.36 ms, and who pays before.
    paid, free = sorted(agreement.completion_times(pair[0]))
    assert 0.0117 < paid < 0.0234 < free < 0.026
    assert agreement.rates_over_time(pair[0]) == []


@pytest.mark.xdist_group("namespaces")
def test_a_scenario_is_simulated_and_measured_with_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need_testbeds()
    before, out = namespaces(), tmp_path / "out"
    # How far both are apart depends on what else the machine does.
    assert main(["linux", "agree", "agreement/mix_dctcp_user", "-o", str(out), "--json"]) in (0, 1)
    shown = capsys.readouterr()
    assert "mix_dctcp_user: " in shown.err
    rows = {row["quantity"]: row for row in json.loads(shown.out)["quantities"]}
    assert rows["flows that complete"]["measured"] == 8
    # Two flows of 1,000 packets meet: packets wait, and no more than the port has room for.
    assert 10 < rows["longest queue (packets)"]["measured"] <= 240
    assert namespaces() == before
    page = (out / "agreement.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert "agreement/mix_dctcp_user" in page
