"""The candidates that the user's switches can be configured for (`switch.system`), as `priolane export` would say it.

The limits of each system stand in its target of `priolane.export` and nowhere else: each candidate is exported, and
those that are refused do not race.
"""

from collections.abc import Sequence
from dataclasses import replace

from priolane._core import InputError
from priolane.advice.candidate import Candidate
from priolane.advice.feasible import Feasibility
from priolane.advice.trials import Experiment
from priolane.export.deployment import Deployment, Headroom
from priolane.export.plan import ExportPlan
from priolane.export.read import read_plan
from priolane.export.targets import export
from priolane.model.experiment import Options

# The platform's headroom is what an export asks for, and no limit of the system: any will do here.
_HEADROOM = Headroom(size=3, xon=1, xoff=2, xon_offset=None)


def keep_exportable(
    experiment: Experiment, candidates: Sequence[Candidate], feasibilities: Sequence[Feasibility]
) -> tuple[list[Candidate], list[Feasibility]]:
    """The candidates that the switches of the fabric can have, and schemes with the reasons of those that they cannot.

    `experiment` has all of them, and is written. A refused candidate whose scheme has another one that is kept gives no
    reason.
    """
    system = experiment.fabric.system
    if system is None:
        return list(candidates), list(feasibilities)
    refused: dict[str, str] = {}
    kept: list[Candidate] = []
    for candidate in candidates:
        reason = why_not(experiment, candidate.name, system)
        if reason is None:
            kept.append(candidate)
        else:
            refused.setdefault(str(candidate.rows.get("base", candidate.name)), reason)
    bases = {str(candidate.rows.get("base", candidate.name)) for candidate in kept}
    schemes = [
        replace(scheme, reasons=(*scheme.reasons, refused[scheme.scheme]))
        if scheme and scheme.scheme in refused and scheme.scheme not in bases
        else scheme
        for scheme in feasibilities
    ]
    return kept, schemes


def why_not(experiment: Experiment, name: str, system: str) -> str | None:
    """The reasons of a system to refuse a scheme of an experiment, as a sentence; `None` if it takes it."""
    plan = read_plan(experiment.path, Options(schemes=(name,), seeds=1), routing="own", named=None)
    try:
        export(system, plan, Deployment(qdisc="ets", headroom=_headroom(plan)))
    except InputError as error:
        reasons = [line.removeprefix(f"{name} for {system}: ") for line in str(error).splitlines()]
        return f"switch.system {system}: {'; '.join(reasons)}"
    return None


def _headroom(plan: ExportPlan) -> dict[int, Headroom]:
    return {bps // 10**6: _HEADROOM for switch in plan.switches for bps in switch.rates}
