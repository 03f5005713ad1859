"""The candidates that are compared with what runs today: raced, composed of those that lead, and tuned."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from priolane._core import InputError
from priolane.advice import choice, stages
from priolane.advice.candidate import Candidate
from priolane.advice.candidates import candidates
from priolane.advice.composition import compose, is_timeout, leading, together, with_shorter_timeouts
from priolane.advice.exportable import keep_exportable
from priolane.advice.feasible import Feasibility
from priolane.advice.measured import Measurement
from priolane.advice.racing import Race
from priolane.advice.request import AdviceContext
from priolane.advice.spending import Ledger
from priolane.advice.training import Training
from priolane.advice.trials import Trials, timed_out_parts
from priolane.advice.windows import Windows


@dataclass(frozen=True)
class Frame:
    """The values that all candidates share: the windows of the whole list and those of its beginnings, the account of
    packet-hops, the load of hosts' links, which schemes are feasible, and what was measured of today's network."""

    windows: Windows
    prefixes: Windows
    ledger: Ledger
    load: float
    schemes: tuple[Feasibility, ...]
    measured: tuple[Measurement, ...]


@dataclass(frozen=True)
class Compared:
    """The candidates beside today's scheme: who is judged, and how the race went. Without a race there are none."""

    candidates: tuple[Candidate, ...] = ()
    finalists: tuple[Candidate, ...] = ()
    raced: Race = field(default_factory=Race)
    training: Training | None = None
    infeasible: tuple[Feasibility, ...] = ()


def compete(context: AdviceContext, frame: Frame, now: Trials) -> Compared:
    """Races candidates, composes new ones of those that lead, and tunes thresholds."""
    windows, ledger = frame.prefixes, frame.ledger
    rounds = stages.race_windows(context, windows)
    training = stages.make_training(context, windows.first(rounds[-1]), frame.load)
    entrants = wanted(context, candidates(context.fabric, frame.schemes, training))
    if is_timeout(timed_out_parts(now), context.goals):
        entrants += _changes(context, list(with_shorter_timeouts(context.today.candidate, context.fabric)))
    entrants, schemes = _possible(context, "race.toml", entrants, frame)
    context.tell(
        f"{len(entrants)} candidates of {sum(map(bool, schemes))} schemes that are possible here, {len(schemes)} "
        "shipped"
    )
    raced = stages.run_race(context, entrants, windows, ledger)
    by_name = {candidate.name: candidate for candidate in entrants}
    order = [by_name[name] for name in raced.order]
    leader = leading(order)
    late = {candidate.name for candidate in order if is_timeout(raced.timed_out[candidate.name], context.goals)}
    made = compose(order, context.fabric, frame.schemes, late)
    raced = _enter(context, "composed", made, frame, raced, by_name)
    if leader is not None and stages.has_room_for_one(raced, windows, ledger):
        made = together(leader, [by_name[name] for name in raced.order], context.fabric)
        raced = _enter(context, "together", made, frame, raced, by_name)
    tuned = stages.run_tuning(context, by_name, raced, windows, ledger)
    by_name |= {tuned.best.name: tuned.best}
    room = stages.room_for_finalists(context, ledger)
    return Compared(
        candidates=tuple(by_name.values()),
        finalists=tuple(choice.choose_finalists(context, raced, by_name, tuned.best, room)),
        raced=raced,
        training=training,
        infeasible=tuple(scheme for scheme in schemes if not scheme),
    )


def _possible(
    context: AdviceContext, name: str, entrants: Sequence[Candidate], frame: Frame
) -> tuple[list[Candidate], list[Feasibility]]:
    """The candidates that run and that the switches can have, and schemes with the reasons of those that do not.

    `name` is the file of their experiment.
    """
    kept, schemes = stages.keep_runnable(context, name, entrants, frame.schemes, frame.prefixes)
    return keep_exportable(context.experiment(name, kept, frame.prefixes), kept, schemes)


def _enter(
    context: AdviceContext,
    name: str,
    made: Sequence[Candidate],
    frame: Frame,
    raced: Race,
    by_name: dict[str, Candidate],
) -> Race:
    """The race with one more round for those of `made` that are wanted and possible, which `by_name` gets, too.

    `name` is that of their experiment.
    """
    changes = _changes(context, made)
    kept, _ = _possible(context, f"{name}.toml", changes, frame) if changes else ([], [])
    if not kept:
        return raced
    by_name |= {candidate.name: candidate for candidate in kept}
    return stages.run_composed(context, name, kept, raced, frame.prefixes, frame.ledger)


def wanted(context: AdviceContext, entrants: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that the user did not exclude; raises `InputError` for a name that excludes none."""
    unwanted = context.request.preferences.without
    for name in unwanted:
        # What is composed of a candidate has its name first.
        if not any(name in _names(candidate) or name.startswith(f"{candidate.name}_") for candidate in entrants):
            known = ", ".join(dict.fromkeys(candidate.name for candidate in entrants))
            raise InputError(f"--without {name}: there is no such candidate here; one of {known}")
    return _changes(context, entrants)


def _changes(context: AdviceContext, entrants: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that the user did not exclude, without what runs today, which has no step."""
    unwanted = set(context.request.preferences.without)
    return [candidate for candidate in entrants if context.today.steps(candidate) and not _names(candidate) & unwanted]


def _names(candidate: Candidate) -> set[str]:
    return {candidate.name, str(candidate.rows.get("base", candidate.name))}
