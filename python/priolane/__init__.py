"""priolane: who goes first in a datacenter network, simulated packet by packet.

    import priolane

    results = priolane.run("experiment.toml", out="runs/first", jobs=2)
    results.summary()

`run` carries out the whole grid of an experiment, a file or an `Experiment` of Python values, and continues where an
earlier call stopped; `load` opens what is already there. See docs/python.md.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from priolane._core import InputError, RunFailed, Stopped
    from priolane.advice import Advice, advise
    from priolane.comparison.results import Comparison, compare
    from priolane.execution.flow_trace import Trace, trace
    from priolane.execution.prediction import check
    from priolane.execution.session import run
    from priolane.model.definition import Experiment
    from priolane.model.experiment import Options, Plan, PlannedRun, plan
    from priolane.model.solvers import Thresholds, thresholds
    from priolane.results.results import Results, load

    __version__: str

__all__ = [
    "Advice",
    "Comparison",
    "Experiment",
    "InputError",
    "Options",
    "Plan",
    "PlannedRun",
    "Results",
    "RunFailed",
    "Stopped",
    "Thresholds",
    "Trace",
    "advise",
    "check",
    "compare",
    "load",
    "plan",
    "run",
    "thresholds",
    "trace",
]

_MODULES = {
    "_core": ("InputError", "RunFailed", "Stopped"),
    "advice": ("Advice", "advise"),
    "comparison.results": ("Comparison", "compare"),
    "model.definition": ("Experiment",),
    "model.experiment": ("Options", "Plan", "PlannedRun", "plan"),
    "execution.flow_trace": ("Trace", "trace"),
    "execution.session": ("run",),
    "execution.prediction": ("check",),
    "results.results": ("Results", "load"),
    "model.solvers": ("Thresholds", "thresholds"),
}


if _own := os.environ.get("PRIOLANE_CORE"):
    try:
        import_module(_own)
    except ImportError as error:
        message = f"PRIOLANE_CORE names {_own}, a core with transports of its own, which cannot be imported: {error}"
        raise ImportError(message) from error


if not TYPE_CHECKING:
    # Type checkers refuse names that the package does not have.
    def __getattr__(name: str) -> Any:
        """Imports what is asked for: the command line handles signals before its slow imports begin."""
        if name == "__version__":
            return import_module("priolane._core").version().partition("+")[0]
        for module, names in _MODULES.items():
            if name in names:
                return getattr(import_module(f"priolane.{module}"), name)
        raise AttributeError(f"module 'priolane' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names of `__all__` beside those that are loaded."""
    return sorted({*globals(), *__all__})
