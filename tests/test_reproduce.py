"""Several figures in one command: what is run, what is kept, and the page of all."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from markupsafe import Markup
from test_end_to_end import ended

from adversarial import ADVERSARIAL
from fake_core import FakeCore
from priolane._core import InputError, RunFailed
from priolane.cli import main
from priolane.execution import grid
from priolane.model import experiment
from priolane.report.summary import Summary
from priolane.reproduction.index import Entry, Index, write_index
from priolane.results.report import Source, Standing
from priolane.results.results import Results, load
from priolane.study import catalogue
from rings import cases

FILE = """
title = "TITLE"
paper = "A paper"
schemes = ["dctcp", "newreno"]
seeds = 2
time = { warmup = "0ms", measure = "MEASURE", drain = DRAIN }
topology = { kind = "single_switch", hosts = 4, host_link = { rate = "10Gbps", delay = "1us" } }

[[group]]
name = "all"
hosts = "*"
app = "permutation"
size = "SIZE"

[[panel]]
title = "Completion"
kind = "bar"
metrics = ["fct.all"]

[[claim]]
section = "Fig. 1"
says = "flows take less than 0.1 ms"
bound = { of = "fct.all.dctcp", below = 1e-4 }

[[claim]]
section = "Own"
source = "ours"
says = "they take some time"
bound = { of = "fct.all.dctcp", above = 0.0 }
"""
SIZES = {"nos2/one": "10kB", "nos2/two": "1MB", "top/one": "20kB"}


def write_figure(
    directory: Path, key: str, size: str, measure: str = "1ms", drain: str = "true"
) -> catalogue.PaperFigure:
    paper, name = key.split("/")
    path = directory / f"{paper}-{name}.toml"
    text = FILE.replace("TITLE", f"About {key}").replace("SIZE", size)
    path.write_text(text.replace("MEASURE", measure).replace("DRAIN", drain), encoding="utf-8")
    return catalogue.PaperFigure(paper, name, name, f"what {key} is", path)


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[catalogue.PaperFigure]:
    """Two figures of a paper and one of another are all that there are; results go below `runs/`."""
    items = [write_figure(tmp_path, key, size) for key, size in SIZES.items()]
    monkeypatch.setattr(catalogue, "figures", lambda: iter(items))
    monkeypatch.chdir(tmp_path)
    return items


def stamps(directory: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in directory.glob("*/*/run.json")}


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("jobs", cases(["2"], ["1"]))
def test_all_figures_are_one_command_and_one_page(jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "all", "--jobs", jobs, "--record", "kept"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"3 figures, 12 runs, {jobs} at a time")
    assert set(lines[1:4]) == {
        "nos2/one: 4 runs; 1 reproduced; ours: 1 holds",
        "nos2/two: 4 runs; 1 contradicted; ours: 1 holds",
        "top/one: 4 runs; 1 reproduced; ours: 1 holds",
    }
    assert [line.split() for line in lines[4:8]] == [
        [
            *["claims", "of", "figures", "reproduced", "undecided", "contradicted"],
            *["impossible", "as", "printed", "fitted", "incomplete"],
        ],
        ["NOS2", "2", "of", "2", "1", "0", "1", "0", "0", "0"],
        ["TOP", "1", "of", "1", "1", "0", "0", "0", "0", "0"],
        ["ours,", "on", "the", "same", "figures", "3", "of", "3", "3", "0", "0", "0", "0", "0"],
    ]
    assert lines[8] == "page   runs/all.html"
    page = Path("runs/all.html").read_text(encoding="utf-8")
    links = set(re.findall(r'href="([^"]+)"', page))
    assert links == {f"{key.replace('/', '-')}/report.html" for key in SIZES}
    assert all((Path("runs") / link).is_file() for link in links)
    assert page.count('<svg class="thumbnail"') == 3
    assert "<img" not in page
    assert "3 of 3 figures are done" in page
    kept = {path.relative_to("kept").as_posix() for path in Path("kept").rglob("*.json")}
    assert kept == {f"papers/{key}/record.json" for key in SIZES}


@pytest.mark.usefixtures("three")
def test_a_paper_has_a_page_of_its_figures_and_complete_runs_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "nos2", "-o", "out", "--jobs", "2"]) == 0
    before = stamps(Path("out"))
    assert len(before) == 8
    page = Path("out/nos2.html").read_text(encoding="utf-8")
    assert "<h1>All figures of NOS2</h1>" in page
    assert "priolane reproduce nos2 -o out" in page
    assert "top/one" not in page
    capsys.readouterr()
    assert main(["reproduce", "nos2/all", "-o", "out", "--jobs", "2"]) == 0
    assert stamps(Path("out")) == before
    assert Path("out/nos2.html").read_text(encoding="utf-8") == page
    assert "nos2/two: 4 runs; 1 contradicted; ours: 1 holds" in capsys.readouterr().out


@pytest.mark.usefixtures("three")
def test_figures_side_by_side_have_the_results_of_each_alone() -> None:
    assert main(["reproduce", "all", "-o", "together", "--jobs", "2"]) == 0
    for key in SIZES:
        name = key.replace("/", "-")
        assert main(["reproduce", key, "-o", f"alone/{name}", "--jobs", "1"]) == 0
        both = [load(Path(base) / name) for base in ("together", "alone")]
        together, alone = (_contents(results) for results in both)
        assert together == alone
        assert len(alone) >= 4 * 2


def _contents(results: Results) -> dict[str, bytes]:
    paths = [path for run in results.runs for path in sorted((results.directory / run.id).iterdir())]
    return {str(path.relative_to(results.directory)): path.read_bytes() for path in paths}


def test_figures_that_have_runs_in_common_run_them_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    items = [write_figure(tmp_path, key, "10kB") for key in ("nos2/one", "top/same")]
    monkeypatch.setattr(catalogue, "figures", lambda: iter(items))
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "all", "--jobs", "1"]) == 0
    assert capsys.readouterr().out.startswith("2 figures, 4 runs")
    first, second = ({path.stat().st_ino for path in Path("runs", name).glob("*/flows.parquet")} for name in SAME)
    assert len(first) == 4
    assert first == second


SAME = ("nos2-one", "top-same")


@pytest.mark.usefixtures("core")
def test_a_figure_that_fails_leaves_the_others(
    three: list[catalogue.PaperFigure], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_plan = grid.run_plan

    def failing(planned: object, directory: Path, *rest: object) -> Results:
        if directory.name == "nos2-two":
            raise RunFailed("run 12: bytes are not conserved")
        return run_plan(planned, directory, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("priolane.reproduction.figures.run_plan", failing)
    assert main(["reproduce", "all", "--jobs", "1"]) == 1
    shown, errors = capsys.readouterr()
    assert errors == "priolane: failed: nos2/two: run 12: bytes are not conserved\n"
    assert "top/one: 16 runs;" in shown
    page = Path("runs/all.html").read_text(encoding="utf-8")
    assert "2 of 3 figures are done" in page
    assert "run 12: bytes are not conserved" in page
    assert main(["reproduce", three[1].key, "--jobs", "1"]) == 1


@pytest.mark.usefixtures("three")
def test_nothing_is_run_over_a_page_or_a_directory_of_others(
    core: FakeCore, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("runs").mkdir()
    Path("runs/all.html").write_text("<html>mine</html>", encoding="utf-8")
    assert main(["reproduce", "all", "--jobs", "1"]) == 2
    assert "runs/all.html: priolane did not write this file" in capsys.readouterr().err
    Path("runs/all.html").unlink()
    Path("runs/top-one").mkdir()
    Path("runs/top-one/notes.txt").touch()
    assert main(["reproduce", "all", "--jobs", "1"]) == 2
    assert "notes.txt" in capsys.readouterr().err
    assert core.ran == []
    assert sorted(path.name for path in Path("runs").iterdir()) == ["top-one"]


@pytest.mark.usefixtures("core")
def test_a_mistake_in_one_file_is_found_before_any_runs(
    three: list[catalogue.PaperFigure], monkeypatch: pytest.MonkeyPatch, core: FakeCore
) -> None:
    planned = experiment.plan

    def refusing(path: Path, *rest: object) -> object:
        if path == three[2].experiment:
            raise InputError(f"{path}: no such key")
        return planned(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("priolane.reproduction.figures.plan", refusing)
    assert main(["reproduce", "all", "--jobs", "1"]) == 2
    assert core.ran == []
    assert not Path("runs").exists()


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_reproduce import write_figure
from priolane.study import catalogue
from priolane.cli import main
here = Path(sys.argv[2])
items = [write_figure(here, "nos2/short", "10kB"), write_figure(here, "top/long", "100GB", "100s", "false")]
text = items[1].experiment.read_text().replace("seeds = 2", "seeds = 1")
items[1].experiment.write_text(text)
catalogue.figures = lambda: iter(items)
# The runs of the second figure leave one process for the page of the first.
sys.exit(main(["reproduce", "all", "-o", str(here / "out"), "--jobs", "3"]))
"""


@contextlib.contextmanager
def long_command(directory: Path) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(directory)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - no threads here
        env={**os.environ, "MPLBACKEND": "agg"},
    )
    with child:
        try:
            yield child
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.soak
def test_ctrl_c_ends_all_figures_and_keeps_what_is_done(tmp_path: Path) -> None:
    with long_command(tmp_path) as child:
        page = tmp_path / "out" / "all.html"
        wait_until(page.exists)
        assert child.poll() is None
        request = time.monotonic()
        os.killpg(child.pid, signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        # Workers that do not stop are killed after three seconds.
        assert time.monotonic() - request < 20
        ended(child.pid)
    assert child.returncode == 130
    *lines, last = errors.splitlines()
    # Where it takes 10 s, a line of the log says how far it is.
    assert all(line.startswith("priolane: all: ") for line in lines)
    assert last == "priolane: interrupted: complete runs are kept, the same command continues"
    assert load(tmp_path / "out" / "nos2-short").missing() == []
    text = page.read_text(encoding="utf-8")
    assert "1 of 2 figures are done" in text
    assert text.count("not done") == 1


@pytest.mark.parametrize("text", ADVERSARIAL)
def test_no_text_of_a_figure_adds_an_element_to_the_page(tmp_path: Path, text: str) -> None:
    pages = []
    for label in ("name", text):
        item = catalogue.PaperFigure("nos2", "fig1", label, label, None)
        counts = {source: Counter({Standing.REPRODUCED: 1}) for source in Source}
        done = Entry(item, tmp_path / "a b" / "report.html", Summary(label, 3, 2, counts, (label,), Markup()))
        failed = Entry(item, tmp_path / "c" / "report.html", failure=label)
        write_index(tmp_path / "all.html", Index(label, [done, failed], label))
        pages.append((tmp_path / "all.html").read_text(encoding="utf-8"))
    tags = [Counter(re.findall(r"<(/?[a-zA-Z!]+)", page)) for page in pages]
    assert tags[0] == tags[1]
    assert 'href="a%20b/report.html"' in pages[1]


def test_quick_figures_have_seeds_that_can_decide() -> None:
    # Two seeds have an interval that is wider than most differences, and one has none.
    few = {}
    for figure in catalogue.find("all"):
        assert figure.experiment is not None
        quick = tomllib.loads(figure.experiment.read_text(encoding="utf-8")).get("quick", {})
        seeds = quick.get("seeds", [])
        count = len(seeds) if isinstance(seeds, list) else seeds
        # Figures whose `[quick]` is the whole figure decide as it does.
        if quick and count < 3 and quick != {"seeds": count}:
            few[figure.key] = seeds
    assert few == {}


def test_several_figures_are_reproduced_by_name(
    core: FakeCore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    names = ["nos2/fig6", "nos2/fig7", "nos2/fig6"]
    assert main(["reproduce", *names, "--quick", "-o", str(out), "--jobs", "1"]) == 0
    shown = capsys.readouterr().out
    # Each once.
    assert shown.startswith("2 figures, ")
    assert {"figures.html", "nos2-fig6", "nos2-fig7"} <= {path.name for path in out.iterdir()}
    page = (out / "figures.html").read_text(encoding="utf-8")
    assert "Several figures" in page
    assert "priolane reproduce nos2/fig6 nos2/fig7 nos2/fig6 --quick" in page
    assert core.ran


def test_a_wrong_name_among_several_is_refused_before_anything_runs(core: FakeCore, tmp_path: Path) -> None:
    assert main(["reproduce", "nos2/fig6", "nos2/fig99", "-o", str(tmp_path / "out")]) == 2
    assert core.ran == []
