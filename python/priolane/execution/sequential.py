"""Seeds added until every claim is decided.

Claims are judged at looks: first with the seeds that are asked for, then with twice as many, and so on, at most
`LOOKS` times. Whoever looks often enough at random numbers sees what they want: each look therefore has a `LOOKS`-th of
the probability of a false verdict that one alone would have (Bonferroni). The bound holds wherever the looks end, by
decision, budget or Ctrl-C, and for any dependence of the looks. Boundaries that are closer (Pocock 1977, O'Brien and
Fleming 1979) take means of normal values with a known variance, which those of three seeds are not. The verdicts are
those of the last look.

All schemes and sweep points get the same seeds, so that they stay paired. Runs that are there are not repeated.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice

from priolane._core import InputError
from priolane.execution.budget import LOOKS, Budget
from priolane.model.experiment import Options
from priolane.results.report import Claim, Verdict
from priolane.results.results import Results

_MOST_SEEDS = 10_000
# Reasons that more seeds do not remove.
_STAYS = ("no_ratio", "edge")
_UNSTEADY = "steady_state"
_SEEDS_DO_NOT_HELP = (
    "the runs are in no steady state with twice the seeds either, so more seeds do not help: measure longer "
    "(`time.measure`) or offer less load"
)


@dataclass(frozen=True)
class Look:
    """The claims after one look, and why it is the last one; `None` if more seeds follow."""

    number: int
    results: Results
    stop_reason: str | None

    def __str__(self) -> str:
        """The look in a line."""
        report = self.results.report
        left = len(_undecided(report.claims))
        seeds = len(_seeds(self.results))
        line = f"look {self.number} of {LOOKS}, {seeds} seed{'' if seeds == 1 else 's'}: "
        line += f"{left} of {len(report.claims)} claims undecided"
        return line if self.stop_reason is None else f"{line}; {self.stop_reason}"


def run_until_decided(
    execute: Callable[[Options], Results], options: Options, budget: Budget, on_look: Callable[[Look], None]
) -> Results:
    """Looks until there is a reason to end, and returns the results of the last look.

    `execute` runs a grid and judges its claims; `on_look` is called for each look. The first look, with the seeds of
    `options`, is carried out whatever it takes. Raises what `execute` does.
    """
    began = spent = _cpu_s()
    with_looks = replace(options, looks=LOOKS)
    results = execute(with_looks)
    first, before, was_unsteady = _seeds(results), 0, False
    for number in range(1, LOOKS + 1):
        now = _cpu_s()
        reasons = {claim.reason_code for claim in _undecided(results.report.claims)}
        is_unsteady = _UNSTEADY in reasons and reasons <= {_UNSTEADY, *_STAYS}
        stop_reason = _stop_reason(results, number, _BudgetUse(budget, before, now - spent, now - began))
        if stop_reason is None and is_unsteady and was_unsteady:
            stop_reason = _SEEDS_DO_NOT_HELP
        was_unsteady = is_unsteady
        on_look(Look(number, results, stop_reason))
        if stop_reason is not None:
            break
        spent, before = now, len(results.runs)
        results = execute(replace(with_looks, seeds=_next_seeds(first, len(first) * 2**number)))
    return results


@dataclass(frozen=True)
class _BudgetUse:
    """The data and the cost so far: runs before this look, CPU time of this look and of all."""

    budget: Budget
    runs_before: int
    look_s: float
    all_s: float

    def would_exceed(self, results: Results) -> bool:
        """Whether the next look, which doubles the runs, is predicted to go beyond the budget."""
        runs = len(results.runs)
        match self.budget.unit:
            case "runs":
                return 2 * runs > self.budget.amount
            case "hops":
                hops: int = sum(record["counters"]["packet_hops"] for record in results.records.values())
                return 2 * hops > self.budget.amount
            case "s":
                next_s = self.look_s * runs / (runs - self.runs_before)
                return self.all_s + next_s > self.budget.amount


def _stop_reason(results: Results, number: int, budget_use: _BudgetUse) -> str | None:
    """The reason why no more seeds are added; `None` if some are."""
    claims = results.report.claims
    undecided = _undecided(claims)
    if not undecided:
        return "none is left that seeds could decide"
    if all(claim.reason_code in _STAYS for claim in undecided):
        return "no number of seeds decides these"
    if number == LOOKS:
        return "this was the last look"
    if 2 * len(_seeds(results)) > _MOST_SEEDS:
        return f"{_MOST_SEEDS} seeds are the most"
    if budget_use.would_exceed(results):
        return f"the next look would go beyond the budget of {budget_use.budget}"
    return None


def _undecided(claims: Sequence[Claim]) -> list[Claim]:
    return [claim for claim in claims if claim.verdict is Verdict.UNDECIDED]


def _seeds(results: Results) -> list[int]:
    return list(dict.fromkeys(run.seed for run in results.runs))


def _next_seeds(first: Sequence[int], number: int) -> int | tuple[int, ...]:
    """As many seeds, `first` the first of them: the seeds 1 to `number`, or those that were listed and the next."""
    if list(first) == list(range(1, len(first) + 1)):
        return number
    if max(first) + number >= 2**63:
        raise InputError(f"seeds after {max(first)} are beyond the largest; list smaller ones with --seed-list")
    return (*first, *islice(count(max(first) + 1), number - len(first)))


def _cpu_s() -> float:
    """CPU time of this process and of its workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
