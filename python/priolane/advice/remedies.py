"""The gain of each missing capability: one run of one scheme for each, where no candidate meets the goals.

The capabilities are those that stand between the fabric and a shipped scheme or a ladder: sizes known, a kernel module,
a stack in user space, trimming, more queues.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from priolane._core import InputError, RunFailed
from priolane.advice.answer import Remedy
from priolane.advice.candidate import Candidate
from priolane.advice.candidates import candidates
from priolane.advice.choice import judge
from priolane.advice.fabric import HOST_FEATURES, SWITCH_FEATURES, Fabric
from priolane.advice.feasible import Feasibility, feasible, requires, shipped
from priolane.advice.request import AdviceContext
from priolane.advice.spending import Ledger, Stage, begin
from priolane.advice.training import Training
from priolane.advice.trials import hops
from priolane.advice.windows import Windows

_QUEUES = 8
_MOST = 8


def find_remedies(
    context: AdviceContext, schemes: Sequence[Feasibility], windows: Windows, training: Training, ledger: Ledger
) -> tuple[Remedy, ...]:
    """The schemes that missing capabilities would make possible, judged on the first windows of the list.

    Relative goals of `context` have the values of candidates on the whole list as their `reference`.
    """
    begin(context, ledger, Stage.REMEDIES)
    here = {candidate.name for candidate in candidates(context.fabric, schemes, training)}
    remedies: list[Remedy] = []
    for missing, scheme, fabric in richer_fabrics(context.fabric, schemes):
        richer = replace(context, fabric=fabric)
        new = [
            candidate
            for candidate in candidates(fabric, feasible(fabric, context.flows), training)
            if candidate.name not in here
        ]
        candidate = candidate_for(new, scheme)
        if candidate is None or any(candidate.name == other.judged.candidate.name for other in remedies):
            continue
        try:
            experiment = richer.experiment(f"with_{'_'.join(missing)}.toml", [candidate], windows)
            trials = experiment.trials(
                context.request.out / "runs" / "remedies" / candidate.name,
                [candidate.name],
                context.request.how,
                context.read,
            )
        except (InputError, RunFailed) as error:
            context.tell(f"{', '.join(missing)}: {candidate.name} cannot be run: {str(error).splitlines()[0]}")
            continue
        ledger.add_candidates(hops(trials) / windows.part)
        ledger.add(Stage.REMEDIES, trials)
        remedies.append(Remedy(missing, judge(richer, trials, {candidate.name: candidate})[candidate.name]))
        if len(remedies) == _MOST:
            break
    context.tell(f"missing capabilities: {len(remedies)} were tried")
    return tuple(sorted(remedies, key=lambda remedy: (not remedy.judged.surely_meets, remedy.judged.miss)))


def richer_fabrics(
    fabric: Fabric, schemes: Sequence[Feasibility]
) -> Iterator[tuple[tuple[str, ...], str | None, Fabric]]:
    """Fabrics with one more thing, or with all that one shipped scheme lacks, and that scheme."""
    if fabric.queues < _QUEUES:
        yield ("switch.queues",), None, replace(fabric, queues=_QUEUES)
    if "sizes_known" not in fabric.features:
        yield ("host.sizes_known",), None, replace(fabric, features=fabric.features | {"sizes_known"})
    known = {**dict.fromkeys(SWITCH_FEATURES, "switch"), **dict.fromkeys(HOST_FEATURES, "host")}
    seen: set[frozenset[str]] = set()
    for scheme in schemes:
        if scheme or scheme.is_bound:
            continue
        lacking = frozenset(need for need in requires(shipped()[scheme.scheme]) if need in known) - fabric.features
        if "user_stack" in lacking:
            lacking -= {"kernel_module", "congestion_module"}
        if lacking and lacking not in seen:
            seen.add(lacking)
            names = tuple(sorted(f"{known[name]}.{name}" for name in lacking))
            richer = replace(fabric, features=fabric.features | lacking, queues=max(fabric.queues, scheme.least))
            yield names, scheme.scheme, richer


def candidate_for(new: Sequence[Candidate], scheme: str | None) -> Candidate | None:
    """Returns the candidate that shows what a missing capability gives.

    For a capability that `scheme` lacks, it is the candidate of that scheme; without a scheme, it is the last ladder.

    The capabilities that a scheme lacks may make others possible, too, that lack fewer: these stand for fewer.
    """
    if scheme is None:
        ladders = [candidate for candidate in new if candidate.thresholds]
        return ladders[-1] if ladders else None
    own = [candidate for candidate in new if str(candidate.rows.get("base", candidate.name)) == scheme]
    return next((candidate for candidate in own if not candidate.thresholds), own[0] if own else None)
