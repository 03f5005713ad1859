"""The panel and the claims of the experiment file that an answer leaves: `priolane run` draws and weighs them again."""

from collections.abc import Sequence

from priolane.advice.answer import JudgedCandidate
from priolane.advice.candidate import TODAY
from priolane.advice.goals import Goal
from priolane.model.toml import toml_text


def claims_and_panel(
    ranking: Sequence[JudgedCandidate], advised: JudgedCandidate, goals: Sequence[Goal], shown: Sequence[Goal]
) -> str:
    """TOML: a scatter of the first two metrics, a table of all, and a claim for each goal of the chosen candidate."""
    lines: list[str] = []
    metrics = [goal.name for goal in (*goals, *shown)]
    if len(metrics) > 1:
        lines += _table("panel", {"title": "Trade-off", "kind": "scatter", "metrics": metrics[:2]})
    lines += _table("panel", {"title": "All metrics", "kind": "table", "metrics": metrics})
    for goal in goals:
        lines += _table("claim", _claim(goal, ranking, advised))
    return "\n".join(lines)


def _claim(goal: Goal, ranking: Sequence[JudgedCandidate], advised: JudgedCandidate) -> dict[str, object]:
    best = advised.candidate.name
    # Of metrics that should be small, the bound is an upper one.
    side = "above" if goal.quantity.is_large_good else "below"
    test: dict[str, object] = {"of": f"{goal.name}.{best}", side: goal.bound}
    if goal.against == TODAY:
        test = {"of": f"{goal.name}.{best}", "over": f"{goal.name}.{TODAY}", side: goal.bound}
    elif goal.is_relative:
        means = {
            judged.candidate.name: mean for judged in ranking if (mean := judged.estimates[goal.name].mean) is not None
        }
        leader = (max if goal.quantity.is_large_good else min)(means, key=lambda name: means[name], default=best)
        test = {"of": f"{goal.name}.{best}", "over": f"{goal.name}.{leader}", side: goal.bound}
    return {"section": "goal", "says": goal.text, "source": "ours", "bound": test}


def _table(name: str, keys: dict[str, object]) -> list[str]:
    return [f"[[{name}]]", *(f"{key} = {toml_text(value)}" for key, value in keys.items())]
