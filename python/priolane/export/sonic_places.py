"""The places of a scheme in a switch of SONiC: queues and traffic classes that nothing else leads to."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from priolane.export.findings import Findings
from priolane.export.plan import ROUTING_DSCP, ROUTING_LEVEL, ExportPlan, Queue
from priolane.export.present import QUEUES, Maps, Present

BGP = ROUTING_DSCP.start
"""The first code point of routing protocols (CS6)."""
_MOST_CLASSES = 16
# A queue with more code points is not one that nobody uses.
_FEW_POINTS = 8
# Expedited forwarding (RFC 3246): voice. It is freed last.
_VOICE = 46


@dataclass(frozen=True)
class Place:
    """The place of a queue of the scheme in the switch: the switch's queue, and the traffic class that leads there."""

    queue: Queue
    number: int
    traffic_class: str


@dataclass(frozen=True)
class Placement:
    """A scheme in a present configuration; `free` are code points that nobody sends, and `places` those that it takes.

    There are none where the scheme has no room.
    """

    plan: ExportPlan
    present: Present
    free: tuple[int, ...] = ()
    places: tuple[Place, ...] = field(default=())

    @property
    def own(self) -> tuple[int, ...]:
        """The code points of the scheme's queues."""
        return tuple(queue.dscp for queue in self.plan.scheme_queues)

    @property
    def is_strict(self) -> bool:
        """Whether a queue of the scheme goes before those of others: all strict ones do, but the last of all queues."""
        return any(queue.weight is None for queue in self.plan.scheme_queues[:-1])

    @property
    def strict(self) -> tuple[Place, ...]:
        """The places that go before queues of others."""
        return tuple(place for place in self.places[:-1] if place.queue.weight is None)

    def others(self, port: str) -> dict[int, str]:
        """The queues of others at a port, each with what leads to it."""
        return self.present.queues_of_others(port, (*self.own, *self.free))


def routing_queue(maps: Maps) -> int:
    """The queue of routing protocols."""
    return maps.queue_of(maps.class_of(BGP))


def has_routing_added(present: Present, port: str, maps: Maps) -> bool:
    """Whether a port has no queue for routing protocols, and gets one."""
    return not maps.are_set and present.row_of("QUEUE", port, ROUTING_LEVEL) is None


def refuse_code_points(of: Placement, findings: Findings) -> None:
    """Refuses code points that do not go where DSCP 0 goes: they are another's."""
    own, present = of.own, of.present
    taken: dict[int, str] = {}
    free = set(range(1, BGP)) - set(own)
    for port in present.switch.ports:
        maps = present.maps(port.name or "")
        free = {dscp for dscp in free if maps.class_of(dscp) == maps.class_of(0)}
        for dscp in own:
            if dscp == 0 or maps.class_of(dscp) != maps.class_of(0):
                taken.setdefault(dscp, f"{port.name} has it in traffic class {maps.class_of(dscp)}")
    if not taken:
        return
    others = iter(sorted(free, key=lambda dscp: (dscp % 8 != 0, -dscp)))
    cure = ",".join(str(next(others, "?") if dscp in taken else dscp) for dscp in own)
    says = "; ".join("DSCP 0 is other traffic's" if dscp == 0 else f"DSCP {dscp}: {taken[dscp]}" for dscp in taken)
    advice = f"--dscp {cure}, here and for hosts" if "?" not in cure else "no code point is free"
    findings.refuse(f"code points are in use ({says}), where DSCP 0 is in another: {advice}")


def find_places(of: Placement, findings: Findings) -> tuple[Place, ...]:
    """The queues and traffic classes for the scheme, the best queue the highest of those that are free everywhere."""
    used: dict[int, str] = {}
    classes: set[str] = set()
    for port in of.present.switch.ports:
        name = port.name or ""
        for number, says in of.others(name).items():
            used.setdefault(number, f"{number} ({says})")
        classes |= of.present.classes_of_others(name, (*of.own, *of.free)).keys()
    queues = of.plan.scheme_queues
    below = _queues_below_routing(of)
    free = [number for number in range(below) if number not in used]
    if len(free) < len(queues):
        has = ", ".join(map(str, free)) or "none"
        below_routing = "" if below == QUEUES else " below that of routing protocols"
        findings.refuse(
            f"it takes {len(queues)} free queues{below_routing}, and {has} of {QUEUES} "
            f"{'is' if len(free) == 1 else 'are'}; in use: {', '.join(used[number] for number in sorted(used))}. "
            f"{_cure(of, len(queues) - len(free))}"
        )
        return ()
    left = [str(number) for number in range(_MOST_CLASSES) if str(number) not in classes]
    places: list[Place] = []
    for queue, number in zip(queues, sorted(free, reverse=True), strict=False):
        if not left:
            findings.refuse(f"it takes {len(queues)} traffic classes, and fewer of {_MOST_CLASSES} are free")
            return ()
        name = str(number) if str(number) in left else left[0]
        left.remove(name)
        places.append(Place(queue, number, name))
    return tuple(places)


def _queues_below_routing(of: Placement) -> int:
    """The number of queues that a strict scheme may have, which are below that of routing protocols at every port."""
    if of.plan.routing != "own" or not of.is_strict:
        return QUEUES
    ports = of.present.switch.ports
    return min((routing_queue(of.present.maps(port.name or "")) for port in ports), default=QUEUES)


def _cure(of: Placement, lacking: int) -> str:
    """The code points that keep queues, and those that are enough to free as many as are lacking."""
    freeable = dict(_freeable(of))
    if len(freeable) < lacking:
        return "Take a scheme with fewer queues, or map other code points to the queue of DSCP 0 first"
    by_use = sorted(freeable, key=lambda number: (_VOICE in freeable[number], len(freeable[number]), number))
    points = sorted({*of.free, *(dscp for number in by_use[:lacking] for dscp in freeable[number])})
    alone = ", ".join(f"DSCP {_listed(freeable[number])} to queue {number}" for number in sorted(freeable))
    return (
        f"These code points alone lead to a queue: {alone}. If nobody sends some (`show queue counters` of their "
        f"queues stay), they can go where DSCP 0 goes: --free {','.join(map(str, points))} writes that into the patch, "
        "too"
    )


def _listed(points: list[int]) -> str:
    return " and ".join(map(str, points))


def _freeable(of: Placement) -> Iterator[tuple[int, list[int]]]:
    """The queues that would be free if nobody sent a few code points, with these."""
    maps = {port.name or "": of.present.maps(port.name or "") for port in of.present.switch.ports}
    kept = (*of.own, *of.free)
    for number in range(_queues_below_routing(of)):
        points = {dscp for of_port in maps.values() for dscp in range(64) if _leads(of_port, dscp, number)} - {*kept}
        if not points or len(points) > _FEW_POINTS or 0 in points or max(points) >= BGP:
            continue
        if all(number not in of.present.queues_of_others(name, (*kept, *points)) for name in maps):
            yield number, sorted(points)


def _leads(maps: Maps, dscp: int, number: int) -> bool:
    return maps.queue_of(maps.class_of(dscp)) == number
