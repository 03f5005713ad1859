"""priolane: who goes first in a datacenter network, simulated packet by packet.

    import priolane

    results = priolane.run("experiment.toml", out="runs/first", jobs=2)
    results.summary()

`run` carries out the whole grid of an experiment file and continues where an earlier call stopped; `load` opens
what is already there. See docs/python.md.
"""

from importlib.metadata import version as _version

from priolane._core import InputError, RunFailed, Stopped
from priolane.experiment import Options, Plan, PlannedRun, check, plan
from priolane.grid import run
from priolane.results import Results, load

__version__ = _version("priolane")

__all__ = [
    "InputError",
    "Options",
    "Plan",
    "PlannedRun",
    "Results",
    "RunFailed",
    "Stopped",
    "check",
    "load",
    "plan",
    "run",
]
