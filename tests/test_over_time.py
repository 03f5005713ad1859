"""Figures over time, from series whose bins are worked out by hand."""

import re
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import factories
from priolane.plots.draw import draw_panel
from priolane.report.over_time import BINS, Bins, over_time, picoseconds
from priolane.report.write import write_report
from priolane.results.report import Panel
from priolane.results.results import Results, load

US = 10**6
Row = tuple[int, str, str, float]


def write_series(results: Results, scheme: str, seed: int, rows: list[Row], stop: int) -> None:
    """Gives the run of a scheme and seed at load 0.8 a series, sampled every 10 us, and a stop."""
    run = next(run for run in results.select(scheme, {factories.LOAD: 0.8}) if run.seed == seed)
    directory = results.directory / run.id
    names = ("t_ps", "entity", "metric", "value")
    kinds = (pa.uint64(), pa.string(), pa.string(), pa.float64())
    columns = zip(*rows, strict=True)
    table = {name: pa.array(list(values), kind) for name, kind, values in zip(names, kinds, columns, strict=True)}
    pq.write_table(pa.table(table), directory / "series.parquet")

    def sampled(record: dict[str, Any]) -> dict[str, Any]:
        merged = record["merged"] | {"sample_every": "10us"}
        return record | {"merged": merged, "stopped_at_ps": stop, "files": factories.files(directory)}

    factories.edit(directory / "run.json", sampled)


def port(at_us: int, name: str, queued: float, sent: float) -> list[Row]:
    """The rows of one port at one instant."""
    return [(at_us * US, name, "queued_bytes", queued), (at_us * US, name, "sent_bytes", sent)]


def panels(results: Results) -> dict[str, Panel]:
    report = over_time(load(results.directory))
    assert report
    return {panel.title: panel for panel in report.panels}


def values(panel: Panel, nth: int = 0) -> list[tuple[float | str, float | None, float | None]]:
    return [(mark.x, mark.estimate.mean, mark.peak) for mark in panel.series[nth].marks]


@pytest.mark.parametrize(
    ("text", "ps"),
    [("10us", 10 * US), ("2.5ns", 2500), ("1 ms", 10**9), ("3s", 3 * 10**12), ("10", None), (None, None)],
)
def test_times_are_read_as_experiments_spell_them(text: object, ps: int | None) -> None:
    assert picoseconds(text) == ps


def test_bins_are_whole_numbers_of_instants() -> None:
    # 25 ms hold the instants 10 us to 24.99 ms, 2499 of them: 25 in a bin, the last bin has 24.
    bins = Bins.covering(10 * US, 25_000 * US)
    assert (bins.per, bins.number) == (25, BINS)
    assert [bins.of(at * US) for at in (0, 10, 250, 260, 24_990)] == [0, 0, 0, 1, 99]
    assert [bins.within(nth, 25_000 * US) for nth in (0, 98, 99)] == [25, 25, 24]
    assert sum(bins.within(nth, 25_000 * US) for nth in range(BINS)) == 2499


def test_a_bin_has_mean_and_largest_and_missing_readings_are_zero(results: Results) -> None:
    # 400 instants, 4 in each of 100 bins. Bin 0: 1 kB, then 5 kB, twice nothing: mean 1.5 kB. Rate: 12,500 B in 10 us
    # are 10 Gbps; of four instants one: 2.5 Gbps.
    rows = [*port(10, "s0->h1", 1000, 0), *port(20, "s0->h1", 5000, 12_500), *port(50, "s0->h2", 0, 100)]
    write_series(results, "nos2", 1, rows, 4001 * US)
    drawn_panels = panels(results)
    assert list(drawn_panels) == ["s0->h1: bytes waiting", "s0->h1: rate of bytes sent"]
    waiting, sent = drawn_panels.values()
    assert (waiting.x_label, waiting.y_label, sent.y_label) == ("time (ms)", "waiting (kB)", "rate (Gbps)")
    assert values(waiting)[0] == pytest.approx((0.02, 1.5, 5.0))
    assert values(waiting)[1] == pytest.approx((0.06, 0.0, 0.0))
    assert values(sent)[0] == pytest.approx((0.02, 2.5, 10.0))
    assert len(values(waiting)) == 100


def test_ports_are_chosen_by_the_stated_rule_over_all_schemes(results: Results) -> None:
    # Over both schemes: s0->h1 queues 4 + 4, s0->h2 queues 7; s0->h3 sends most of the switch's. h9 is a host: it
    # queues more than any, and h8 less than h9.
    rows_of_one = [
        *port(10, "s0->h1", 4, 1),
        *port(10, "s0->h2", 7, 1),
        *port(10, "h9->s0", 90, 900),
        *port(10, "h8->s0", 80, 1),
    ]
    write_series(results, "nos2", 1, rows_of_one, 1000 * US)
    write_series(results, "pias", 1, [*port(10, "s0->h1", 4, 1), *port(10, "s0->h3", 0, 800)], 1000 * US)
    drawn_panels = panels(results)
    assert [title.partition(":")[0] for title in drawn_panels][::2] == ["s0->h1", "s0->h3", "h9->s0"]
    assert [series.scheme for series in drawn_panels["s0->h1: bytes waiting"].series] == ["nos2", "pias"]


def test_the_first_seed_of_the_last_point_is_shown(results: Results) -> None:
    for seed, sent in ((1, 1250.0), (2, 12_500.0)):
        write_series(results, "nos2", seed, port(10, "s0->h1", 1, sent), 1000 * US)
    report = over_time(load(results.directory))
    assert report
    assert report.text.startswith("Seed 1 at load.value = 0.8, in 99 bins of 0.01 ms")
    assert values(panels(results)["s0->h1: rate of bytes sent"])[0][1] == pytest.approx(1.0)


def test_a_run_that_stopped_earlier_has_no_later_marks(results: Results) -> None:
    write_series(results, "nos2", 1, port(10, "s0->h1", 1, 1), 1000 * US)
    write_series(results, "pias", 1, port(10, "s0->h1", 1, 1), 500 * US)
    panel = panels(results)["s0->h1: bytes waiting"]
    # Instants 10 us to 990 us, and 10 us to 490 us.
    assert [len(series.marks) for series in panel.series] == [99, 49]


def test_thresholds_are_drawn_as_they_were_in_force(results: Results) -> None:
    # Bins of 10 us. Told 20 kB at 15 us and 40 kB at 32.5 us: bins that begin at 20 (20 kB), 30 (20 kB for
    # 2.5 us, 40 kB for 7.5 us: 35 kB) and later (40 kB).
    rows = [
        (15 * US, "controller", "class_threshold_1", 20_000.0),
        (32_500_000, "controller", "class_threshold_1", 40_000.0),
    ]
    write_series(results, "nos2", 1, rows, 1000 * US)
    panel = panels(results)["nos2: class thresholds"]
    assert values(panel)[:3] == [(0.025, 20.0, 20.0), (0.035, 35.0, 40.0), (0.045, 40.0, 40.0)]
    assert (panel.x_label, panel.series[0].label) == ("time (ms)", "threshold 1")


def test_every_bin_can_be_pointed_at_without_scripts(results: Results) -> None:
    write_series(results, "nos2", 1, port(10, "s0->h1", 3000, 1250), 1000 * US)
    write_series(results, "pias", 1, port(10, "s0->h1", 2000, 1250), 1000 * US)
    page = write_report(load(results.directory)).read_text(encoding="utf-8")
    traces = page[page.index("<h2>Over time</h2>") :]
    slots = traces[traces.index('<g class="slots">') : traces.index("</figure>")]
    titles = re.findall(r"<title>([^<]*)</title>", slots)
    assert len(titles) == 99
    assert titles[0] == "time 0.005 ms\nnos2: 3.00, at most 3.00\npias: 2.00, at most 2.00"
    assert "<h2>Over time</h2>" in page
    assert "s0-&gt;h1: rate of bytes sent" in page


def test_the_axis_reaches_the_largest_reading(results: Results) -> None:
    # One instant of 90 kB in a bin of 4: the line is at 22.5 kB, the shade goes up to 90.
    write_series(results, "nos2", 1, port(10, "s0->h1", 90_000, 1250), 4001 * US)
    low, high = draw_panel(panels(results)["s0->h1: bytes waiting"]).figure.axes[0].get_ylim()
    assert low == 0
    assert high == pytest.approx(1.05 * 90)


def test_results_without_samples_have_no_such_section(results: Results) -> None:
    assert over_time(results) is None
    assert "Over time" not in write_report(results).read_text(encoding="utf-8")


def test_names_of_ports_stay_text(results: Results) -> None:
    hostile = '<script>alert(1)</script>"onmouseover=]]>\u202e->h1'
    write_series(
        results, "nos2", 1, [*port(10, hostile, 1, 1), *port(10, "s0->h1", 9, 9), *port(10, "s0->h2", 9, 9)], 1000 * US
    )
    page = write_report(load(results.directory)).read_text(encoding="utf-8")
    assert page.count("<script") == page.count("<script>") == 1
    assert "&lt;script&gt;" in page


def test_the_first_seed_that_has_samples_is_shown(results: Results) -> None:
    write_series(results, "nos2", 2, [*port(10, "s0->h1", 1000, 0)], 4001 * US)
    seeds = sorted({run.seed for run in results.runs})
    assert seeds[0] < 2
    assert "Seed 2" in re.sub(r"\s+", " ", over_time_text(results))


def over_time_text(results: Results) -> str:
    report = over_time(load(results.directory))
    assert report is not None
    return report.text
