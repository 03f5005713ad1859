"""Rows of SONiC's tables that a scheme has with a present configuration and without."""

from priolane.export import switching
from priolane.export.findings import Findings
from priolane.export.plan import Plan, Queue

_MOST_WEIGHT = 100


def weights(plan: Plan, found: Findings) -> dict[int, int]:
    """Weights of queues by level as they are, or as parts of 100 where one is above that; empty where all are
    strict."""
    queues: list[Queue] = [queue for queue in plan.queues if queue.weight is not None]
    stated = [queue.weight or 1 for queue in queues]
    fitting = stated
    if stated and max(stated) > _MOST_WEIGHT:
        fitting = switching.percents(stated, found, "SONiC")
    return {queue.level: weight for queue, weight in zip(queues, fitting, strict=True)}


def wred_step(threshold: int) -> dict[str, str]:
    """A row of WRED_PROFILE that marks packets of every colour above a threshold in bytes."""
    row = {"ecn": "ecn_all"}
    for colour in ("green", "yellow", "red"):
        row |= {
            f"wred_{colour}_enable": "true",
            f"{colour}_min_threshold": str(threshold),
            f"{colour}_max_threshold": str(threshold),
            f"{colour}_drop_probability": "100",
        }
    return row
