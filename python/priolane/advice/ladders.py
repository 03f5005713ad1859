"""The reason why the thresholds of an answer are those of `priolane thresholds`, or others."""

from priolane.advice.answer import Advice, Judging
from priolane.advice.candidate import Candidate
from priolane.advice.changes import merged
from priolane.advice.outcomes import estimates
from priolane.results.estimate import Estimate

_BY_BYTES = "bytes_sent"


def why_these(advice: Advice) -> str | None:
    """A sentence that compares the thresholds of the answer with those that `priolane thresholds` names to use; `None`
    where no flow is demoted by bytes sent."""
    advised, judging = advice.advised, advice.judging
    if advised is None or judging is None or merged(advised.rows)["assign"]["kind"] != _BY_BYTES:
        return None
    levels = len(advised.thresholds) + 1
    command = f"`priolane thresholds --levels {levels}`"
    model = next((candidate for candidate in judging.candidates if candidate.name == f"sent{levels}_opt"), None)
    if model is None:
        return None
    if model.thresholds == advised.thresholds:
        return f"thresholds are those that {command} names for these flows and this load"
    goal = advice.goals[0]
    values = [_value(advice, judging, candidate) for candidate in (model, advised)]
    if None in values:
        compared = ""
    else:
        theirs, ours = (str(value.format(goal.quantity.unit)) for value in values if value is not None)
        compared = f": simulated, {goal.asked} is {theirs} there and {ours} here"
    at = ", ".join(f"{threshold}B" for threshold in model.thresholds)
    return (
        f"thresholds are not the {at} that {command} names, which is the optimum of a model of one link without goals"
        f"{compared}"
    )


def _value(advice: Advice, judging: Judging, candidate: Candidate) -> Estimate | None:
    """The first goal's metric: on the whole list where a candidate was judged, else where it raced."""
    goal = advice.goals[0]
    judged = next((row for row in judging.ranking if row.candidate.name == candidate.name), None)
    if judged is not None:
        return judged.estimates[goal.name]
    raced = judging.race.values.get(candidate.name)
    return None if raced is None else estimates([goal], raced)[goal.name]
