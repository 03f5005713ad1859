"""One flow list in priolane and in another simulator, in turn, from a checkout that the user has built.

Nothing of the other simulator is part of priolane: a `Simulator` says how its input is written and its output is read.
"""

import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from priolane._core import InputError, RunFailed
from priolane.execution.settings import Settings
from priolane.model.experiment import Options, plan
from priolane.simulators import ns3
from priolane.storage.parquet_table import read_parquet
from priolane.storage.run_files import RunFiles, RunPlace

VALIDATION = Path(__file__).parent.parent / "experiments" / "validation"
_SEED = 1


@dataclass(frozen=True)
class Flow:
    """A flow of the list: it starts at `start_ns`, and its bytes are whole packets."""

    start_ns: int
    src: int
    dst: int
    bytes: int


@dataclass(frozen=True)
class PreparedSimulator:
    """The way to run a simulator on a flow list, in a directory of its own."""

    command: tuple[str, ...]
    directory: Path


class Simulator(Protocol):
    """Another simulator."""

    name: str
    """As the command line and tables have it."""
    experiment: str
    """The experiment in experiments/validation that has its network and transport."""
    program: str
    """Its program in a built checkout."""
    build: str
    """The commands by which a user builds it."""
    note: str
    """The way in which its hops are counted."""
    flows: int
    """The length of its flow list."""

    def flow_list(self) -> list[Flow]:
        """The flows, in order of their start."""
        ...

    def columns(self, number: int, flow: Flow) -> dict[str, int | None]:
        """Further columns of a flow in priolane's flow list, by its number in the list."""
        ...

    def prepare(self, program: Path, flows: Sequence[Flow], directory: Path) -> PreparedSimulator:
        """Writes its input into `directory`."""
        ...

    def read(self, output: str, flows: Sequence[Flow]) -> ns3.SimulatorRun:
        """Its packet-hops and completion times; `cpu_s` is set by the caller. Raises `RunFailed` where a flow is
        missing."""
        ...


@dataclass(frozen=True)
class Pair:
    """One run of both."""

    ours: ns3.SimulatorRun
    theirs: ns3.SimulatorRun
    commands_s: tuple[float, float]
    """CPU seconds of the whole commands: priolane's, the other's."""


@dataclass(frozen=True)
class SideBySide:
    """All pairs, in the order in which they ran."""

    simulator: str
    pairs: tuple[Pair, ...]
    start_s: float
    """CPU seconds of the other program with its first flow alone; they are not in its `cpu_s`."""

    @property
    def comparison(self) -> ns3.Comparison:
        """Speed and completion times, as against any simulator."""
        return ns3.Comparison(tuple((pair.ours, pair.theirs) for pair in self.pairs))

    @property
    def command_ratios(self) -> tuple[float, float, float]:
        """CPU time of the other's command over that of priolane's: least, median and most of the pairs."""
        ratios = [theirs / ours for ours, theirs in (pair.commands_s for pair in self.pairs)]
        return min(ratios), statistics.median(ratios), max(ratios)

    def to_json(self) -> dict[str, Any]:
        """As `priolane bench --against ... --json` prints it: single flows are left out."""
        names = ("min", "median", "max")
        return {
            "simulator": self.simulator,
            "flows": len(self.pairs[0].ours.sizes),
            "ratio": dict(zip(names, self.comparison.ratios, strict=True)),
            "command_ratio": dict(zip(names, self.command_ratios, strict=True)),
            "start_s": self.start_s,
            "pairs": [
                {
                    name: {**side.speed_to_json(), "command_s": command_s}
                    for name, side, command_s in zip(
                        ("priolane", self.simulator), (pair.ours, pair.theirs), pair.commands_s, strict=True
                    )
                }
                for pair in self.pairs
            ],
            "classes": [asdict(size_class) for size_class in self.comparison.classes],
        }


def compare(
    simulator: Simulator, checkout: Path, counts: tuple[int, int], report_progress: Callable[[str], None]
) -> SideBySide:
    """Runs the first flows of the simulator's list in both, in turn. `counts` are flows and repetitions;
    `report_progress` takes a line for each step.

    Raises `InputError` where the checkout has no program, `RunFailed` where a run fails or leaves a flow unfinished.
    """
    program = find(simulator, checkout)
    count, repeat = counts
    flows = simulator.flow_list()[:count]
    if len(flows) < count:
        raise InputError(f"--flows {count}: the list for {simulator.name} has {len(flows)} flows")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        report_progress(f"{simulator.name} with its first flow alone, for the start of its program")
        _, start_s = run_simulator(simulator, program, flows[:1], directory / "start")
        pairs = []
        for turn in range(repeat):
            report_progress(f"{turn + 1} of {repeat}: priolane, then {simulator.name}")
            own, own_s = run_priolane(simulator, flows, directory / f"priolane-{turn}")
            other, other_s = run_simulator(simulator, program, flows, directory / f"other-{turn}")
            if other_s <= start_s:
                raise RunFailed(f"{len(flows)} flows take {simulator.name} no longer than one: too few to compare")
            pairs.append(Pair(own, replace(other, cpu_s=other_s - start_s), (own_s, other_s)))
    return SideBySide(simulator.name, tuple(pairs), start_s)


def find(simulator: Simulator, checkout: Path) -> Path:
    """The program of a checkout; raises `InputError`, which says how it is built."""
    program = checkout.absolute() / simulator.program
    if not program.is_file() or not os.access(program, os.X_OK):
        raise InputError(f"--checkout {checkout}: there is no program {simulator.program}; build it: {simulator.build}")
    return program


def run_simulator(
    simulator: Simulator, program: Path, flows: Sequence[Flow], directory: Path
) -> tuple[ns3.SimulatorRun, float]:
    """One run of the other simulator, and the CPU seconds of its process."""
    directory.mkdir()
    prepared = simulator.prepare(program, flows, directory)
    output, cpu_s = timed(prepared.command, prepared.directory)
    return replace(simulator.read(output, flows), cpu_s=cpu_s), cpu_s


def run_priolane(simulator: Simulator, flows: Sequence[Flow], directory: Path) -> tuple[ns3.SimulatorRun, float]:
    """One run of priolane in this process, timed alone, and the CPU seconds of `priolane run` for the same."""
    directory.mkdir()
    experiment = write_experiment(simulator, flows, directory)
    sets = (("time.flows", str(len(flows))),)
    grid = plan(experiment, Options(sets=sets, seeds=(_SEED,)))
    opened = grid.core.open(directory / "run", Settings().to_json())
    before = time.thread_time()
    opened.run(grid.runs[0].id)
    cpu_s = time.thread_time() - before
    command = (sys.executable, "-m", "priolane.cli", "run", str(experiment), "-o", "command", "--jobs", "1")
    _, command_s = timed((*command, "--seed-list", str(_SEED), "--set", f"time.flows={len(flows)}"), directory)
    return replace(read_run(RunFiles(directory / "run").place(grid.runs[0].id)), cpu_s=cpu_s), command_s


def write_experiment(simulator: Simulator, flows: Sequence[Flow], directory: Path) -> Path:
    """Writes the simulator's experiment with this flow list, without panels and claims; returns the file."""
    text = (VALIDATION / simulator.experiment).read_text(encoding="utf-8")
    head = text.partition("[[panel]]")[0].partition("[[claim]]")[0]
    lists = [line for line in head.splitlines() if line.startswith("list = ")]
    (flow_list,) = lists
    path = directory / simulator.experiment
    path.write_text(head.replace(flow_list, 'list = "flows.csv"'), encoding="utf-8")
    rows: list[dict[str, int | None]] = []
    for number, flow in enumerate(flows):
        rows.append({"start_ns": flow.start_ns, "src": flow.src, "dst": flow.dst, "bytes": flow.bytes})
        rows[-1].update(simulator.columns(number, flow))
    with (directory / "flows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def read_run(run: RunPlace) -> ns3.SimulatorRun:
    """Packet-hops, sizes and times to the last ACK of a run of priolane; `cpu_s` is set by the caller."""
    flows = read_parquet(run.file("flows.parquet"), ["bytes", "fct_acked_ps"]).to_pydict()
    packets = read_parquet(run.file("ports.parquet"), ["packets"]).to_pydict()["packets"]
    if None in flows["fct_acked_ps"]:
        raise RunFailed("priolane left a flow unfinished")
    times = tuple(ps * 1e-12 for ps in flows["fct_acked_ps"])
    return ns3.SimulatorRun(sum(packets), 0.0, tuple(flows["bytes"]), times)


def timed(command: Sequence[str], directory: Path) -> tuple[str, float]:
    """The output of a command, run in `directory`, and its CPU seconds; raises `RunFailed` if it fails."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, cwd=directory, stdout=out, stderr=err)  # noqa: S603
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text, errors = (file.read().decode("utf-8", "replace") for file in (out, err))
    if process.returncode != 0:
        words = " | ".join((errors or text).strip().splitlines()[-5:])
        raise RunFailed(f"{command[0]} ended with {process.returncode}: {words}")
    return text, usage.ru_utime + usage.ru_stime


def require_all_flows(rows: dict[int, float], flows: Sequence[Flow], name: str) -> tuple[float, ...]:
    """Completion times in the order of the list; raises `RunFailed` if one is missing."""
    missing = [number for number in range(len(flows)) if number not in rows]
    if missing:
        raise RunFailed(
            f"{name} told no end of {len(missing)} of {len(flows)} flows, the first of them flow {missing[0]}"
        )
    return tuple(rows[number] for number in range(len(flows)))
