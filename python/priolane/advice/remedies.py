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
from priolane.advice.spending import Ledger, Stage
from priolane.advice.training import Training
from priolane.advice.trials import hops
from priolane.advice.windows import Windows

_QUEUES = 8
_MOST = 8


def find_remedies(
    context: AdviceContext, found: Sequence[Feasibility], windows: Windows, training: Training, ledger: Ledger
) -> tuple[Remedy, ...]:
    """The schemes that missing capabilities would make possible, judged on the first windows of the list."""
    here = {one.name for one in candidates(context.fabric, found, training)}
    remedies: list[Remedy] = []
    for missing, fabric in _richer(context.fabric, found):
        richer = replace(context, fabric=fabric)
        new = [one for one in candidates(fabric, feasible(fabric, context.flows), training) if one.name not in here]
        chosen = _one_of(new, missing)
        if chosen is None or any(chosen.name == other.judged.candidate.name for other in remedies):
            continue
        try:
            experiment = richer.experiment(f"with_{'_'.join(missing)}.toml", [chosen], windows)
            trials = experiment.trials(
                context.request.out / "runs" / "remedies" / chosen.name,
                [chosen.name],
                context.request.how,
                context.read,
            )
        except (InputError, RunFailed) as error:
            context.tell(f"{', '.join(missing)}: {chosen.name} cannot be run: {str(error).splitlines()[0]}")
            continue
        ledger.add_candidates(hops(trials) / windows.part)
        ledger.add(Stage.REMEDIES, trials)
        remedies.append(Remedy(missing, judge(richer, trials, {chosen.name: chosen})[chosen.name]))
        if len(remedies) == _MOST:
            break
    context.tell(f"missing capabilities: {len(remedies)} were tried")
    return tuple(sorted(remedies, key=lambda one: (not one.judged.surely_meets, one.judged.miss)))


def _richer(fabric: Fabric, found: Sequence[Feasibility]) -> Iterator[tuple[tuple[str, ...], Fabric]]:
    """Fabrics with one more thing, or with all that one shipped scheme lacks."""
    if fabric.queues < _QUEUES:
        yield ("switch.queues",), replace(fabric, queues=_QUEUES)
    if "sizes_known" not in fabric.features:
        yield ("host.sizes_known",), replace(fabric, features=fabric.features | {"sizes_known"})
    known = {**dict.fromkeys(SWITCH_FEATURES, "switch"), **dict.fromkeys(HOST_FEATURES, "host")}
    seen: set[frozenset[str]] = set()
    for one in found:
        if one or one.is_bound:
            continue
        lacking = frozenset(need for need in requires(shipped()[one.scheme]) if need in known) - fabric.features
        if "user_stack" in lacking:
            lacking -= {"kernel_module", "congestion_module"}
        if lacking and lacking not in seen:
            seen.add(lacking)
            names = tuple(sorted(f"{known[name]}.{name}" for name in lacking))
            yield names, replace(fabric, features=fabric.features | lacking, queues=max(fabric.queues, one.least))


def _one_of(new: Sequence[Candidate], missing: Sequence[str]) -> Candidate | None:
    """The candidate that stands for what is missing: the last ladder for queues and sizes, else the shipped scheme."""
    ladders = [one for one in new if one.thresholds]
    plain = [one for one in new if not one.thresholds]
    if missing in (("switch.queues",), ("host.sizes_known",)):
        return ladders[-1] if ladders else None
    return plain[0] if plain else ladders[0] if ladders else None
