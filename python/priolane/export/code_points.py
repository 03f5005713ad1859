"""The code points (DSCP) of a scheme's queues, as the user states them or beside those of other traffic."""

import re
from dataclasses import replace

from priolane._core import InputError
from priolane.export.plan import CLASS_DSCP, REST_DSCP, ROUTING_DSCP, ExportPlan

_NUMBER = re.compile("[0-9]{1,2}")
_MOST = 63
_LARGEST = 99


def _numbers(option: str, text: str, cure: str, most: int = _LARGEST) -> tuple[int, ...]:
    """The numbers of a list with commas; raises `InputError` with `cure` for another text, or for one above `most`."""
    parts = [part.strip() for part in text.split(",")]
    if not all(map(_NUMBER.fullmatch, parts)) or any(int(part) > most for part in parts):
        raise InputError(f"{option} {text}: {cure}")
    return tuple(map(int, parts))


def read(text: str) -> tuple[int, ...]:
    """The code points of `--dscp`, such as `40,32`; raises `InputError` for any that no class may have, or twice."""
    points = _numbers("--dscp", text, "write numbers with commas between them, the best queue first, such as 40,32")
    for point in points:
        if point >= ROUTING_DSCP.start:
            raise InputError(f"--dscp {text}: {point} is not from 0 to 47; 48 to 63 are those of routing protocols")
        if points.count(point) > 1:
            raise InputError(f"--dscp {text}: {point} is there twice; each queue has a code point of its own")
    if REST_DSCP in points[:-1]:
        raise InputError(f"--dscp {text}: 0 is other traffic's, so that only the last queue may have it")
    return points


def read_free(text: str) -> tuple[int, ...]:
    """The code points of `--free`, such as `5,8`; raises `InputError` for any that has to keep its queue, or twice."""
    points = _numbers("--free", text, "write numbers with commas between them, such as 5,8")
    for point in points:
        if point == REST_DSCP or point >= ROUTING_DSCP.start:
            raise InputError(f"--free {text}: {point} is not from 1 to 47; 0 and those of routing protocols are sent")
        if points.count(point) > 1:
            raise InputError(f"--free {text}: {point} is there twice; state each code point once")
    return points


def beside_others(plan: ExportPlan) -> tuple[int, ...]:
    """A code point for each queue of the scheme where 0 stays with other traffic."""
    return tuple(sorted(CLASS_DSCP[: len(plan.scheme_queues)], reverse=True))


def with_points(plan: ExportPlan, points: tuple[int, ...]) -> ExportPlan:
    """The plan with other code points, one for each queue of its classes, the best first.

    Raises `InputError` if there are more or fewer.
    """
    own = plan.scheme_queues
    if len(points) != len(own):
        raise InputError(f"--dscp: {len(points)} stated; {plan.scheme} takes {len(own)}, one for each of its queues")
    of = dict(zip((queue.level for queue in own), points, strict=True))
    return replace(plan, queues=tuple(replace(queue, dscp=of.get(queue.level, queue.dscp)) for queue in plan.queues))


def read_classes(text: str) -> tuple[int, ...]:
    """The code points of simulated traffic, class 0 first; raises `InputError` for any that is none, or twice."""
    cure = f"write numbers from 0 to {_MOST} with commas between them, such as 26,0"
    points = _numbers("--dscp", text, cure, _MOST)
    twice = next((point for point in points if points.count(point) > 1), None)
    if twice is not None:
        raise InputError(f"--dscp {text}: {twice} is there twice; each class has a code point of its own")
    if len(points) > len(CLASS_DSCP):
        raise InputError(f"--dscp {text}: {len(points)} classes; state at most {len(CLASS_DSCP)}")
    return points
