"""A list of two tenants, with coflows and deadlines, and runs of candidates on it."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from advise_files import write_fabric, write_flows
from priolane.advice.candidate import Candidate, strict
from priolane.advice.candidates import simplest
from priolane.advice.fabric import Fabric, read_fabric
from priolane.advice.flow_list import FlowList, read_flows
from priolane.advice.goals import QUANTITIES, Goal, read_goals
from priolane.advice.trials import Experiment, RunOptions
from priolane.advice.windows import Windows
from priolane.execution.grid import Watcher
from priolane.execution.settings import Settings
from priolane.results.results import Results

HOW = RunOptions(Settings(jobs=1), Watcher())
WINDOWS = 6
FABRIC = """[topology]
kind = "single_switch"
hosts = 8
host_link = { rate = "10Gbps", delay = "1us" }
[switch]
buffer = { per_queue = "40pkt" }
queues = 3
[host]
min_rto = "300us"
[metrics.classes]
small = { below = "30kB" }
bulk = { above = "100kB" }
web = { group = "web", to = "40kB" }
"""
CANDIDATES = {
    "dctcp": Candidate("dctcp", "dctcp", "", {"base": "dctcp", "host": {"kind": "round_robin"}}, 1),
    "newreno": Candidate("newreno", "newreno", "", {"base": "newreno", "host": {"kind": "round_robin"}}, 1),
    "tenants": Candidate(
        "tenants",
        "by tenant",
        "",
        {
            "base": "dctcp",
            "assign": {"kind": "group", "classes": [0, 1]},
            "port": strict(2),
            "host": {"kind": "round_robin"},
        },
        2,
    ),
}


@dataclass(frozen=True)
class World:
    """The list, its fabric, and the folder of both."""

    folder: Path
    fabric: Fabric
    flows: FlowList

    def experiment(self, name: str, windows: Windows) -> Experiment:
        """The experiment of all candidates on so many windows."""
        made = Experiment(
            self.folder / f"{name}.toml",
            name,
            self.fabric,
            self.flows,
            windows,
            simplest(self.fabric),
            dict(CANDIDATES),
        )
        made.write()
        return made

    def run(self, name: str, windows: Windows, schemes: Sequence[str]) -> Results:
        """The results of some candidates."""
        return self.experiment(name, windows).run(self.folder / name, schemes, HOW)


def goals(classes: Sequence[str]) -> tuple[Goal, ...]:
    """A goal of each metric in each class, with a bound that says nothing."""
    texts = []
    for name, quantity in QUANTITIES.items():
        unit = {"s": "ms", "Gbit/s": "Gbps", "1": "", "part": "%"}[quantity.unit]
        texts += [f"{name}.{of} {'>' if quantity.is_large_good else '<'} 1{unit}" for of in classes]
    return read_goals(texts)[0]


def world(folder: Path) -> World:
    """Writes the list: tenant `web` has answers with deadlines and coflows of four flows, `batch` has bulk flows."""
    draw = random.Random(8)  # noqa: S311 - flows, not secrets
    rows: list[Sequence[object]] = []
    for nth in range(150):
        at, dst = draw.randrange(6_000_000), draw.randrange(8)
        senders = [host for host in range(8) if host != dst]
        rows += [
            (at, src, dst, draw.choice((4_000, 12_000, 35_000)), "web", at + 60_000, nth)
            for src in draw.sample(senders, 4)
        ]
    for _ in range(60):
        at, (src, dst) = draw.randrange(6_000_000), draw.sample(range(8), 2)
        rows.append((at, src, dst, draw.choice((150_000, 400_000)), "batch", "", ""))
    rows.sort(key=lambda row: int(str(row[0])))
    flows = read_flows(write_flows(folder, rows, "start_ns,src,dst,bytes,group,deadline_ns,coflow"))
    flows.write(folder / "flows")
    return World(folder, read_fabric(write_fabric(folder, FABRIC)), flows)


def summaries(results: Results, scheme: str) -> Mapping[str, Mapping[str, float]]:
    """The summary of one run by class."""
    (own,) = [run for run in results.runs if run.scheme == scheme]
    result: Mapping[str, Mapping[str, float]] = results.records[own.id]["summary"]
    return result
