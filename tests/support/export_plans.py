"""An experiment on which every shipped scheme runs, and what `priolane export` makes of it."""

from ipaddress import ip_network
from pathlib import Path

from priolane.export.deployment import Deployment, Headroom
from priolane.export.findings import ExportedFiles
from priolane.export.plan import ExportPlan, Routing
from priolane.export.read import read_plan
from priolane.export.targets import export
from priolane.model.experiment import Options

SCHEMES = sorted(path.stem for path in (Path(__file__).parents[2] / "schemes").glob("*.toml"))
TOPOLOGY = """
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
host_link = { rate = "10Gbps", delay = "1us" }
fabric_link = { rate = "40Gbps", delay = "1us" }
"""
EXPERIMENT = """
title = "What to load"
schemes = ["nos2"]
seeds = 1
time = { warmup = "1ms", measure = "1ms", drain = true }
%s
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
deadline = "2ms"
load = { of = "host", counts = "payload", value = 0.6 }
"""
PER_QUEUE = ("scheme.%s.port.ecn.per", '"queue"')
PREFIXES = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))
# Two rows of the table of a platform that does not exist, xon below xoff.
HEADROOM = {10_000: Headroom(50_000, 19_000, 31_000, None), 40_000: Headroom(55_000, 19_000, 36_000, 2_000)}


def write_experiment(directory: Path, topology: str = TOPOLOGY) -> Path:
    """The experiment, with 10G hosts on two leaves below two spines unless another topology is given."""
    path = directory / "load.toml"
    path.write_text(EXPERIMENT % topology, encoding="utf-8")
    return path


def make(
    path: Path,
    scheme: str,
    sets: tuple[tuple[str, str], ...] = (),
    *,
    routing: Routing = "own",
    named: str | None = None,
) -> ExportPlan:
    """The plan of a scheme, with keys set as by `--set`; `%s` in a key is the scheme."""
    filled = tuple((key.replace("%s", scheme), value) for key, value in sets)
    return read_plan(path, Options(sets=filled, schemes=(scheme,), seeds=1), routing=routing, named=named)


def run(target: str, plan: ExportPlan, deployment: Deployment | None = None) -> ExportedFiles:
    """The files of a plan for a target."""
    return export(target, plan, deployment or Deployment(prefixes=PREFIXES))
