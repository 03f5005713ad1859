"""The neutral plan between a merged experiment and a target: what the scheme asks of switches and hosts.

Two conventions are decided here and nowhere else:

    level    priolane counts queues from the best, 0; switches serve the highest number first. A queue's `level` is
             the switches' number, its place in `ExportPlan.queues` priolane's order.
    DSCP     48 to 63 carry routing protocols (CS6, CS7) and belong to no class of a scheme.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from priolane.export.quantity import Frame, Limit

Routing = Literal["own", "best"]
# Ports of `weighted` may have strict queues before the weighted ones.
Scheduler = Literal["strict", "weighted"]
Sharing = Literal["port", "queue", "push_out", "dynamic", "unbounded"]

ROUTING_DSCP = range(48, 64)
ROUTING_LEVEL = 7
# Code points of classes, the best first: the class selectors below CS6, then points between them that few others use.
# Ports have 16 queues at most, and one for other traffic follows a lossless last one.
CLASS_DSCP = (40, 32, 24, 16, 8, 4, 36, 28, 20, 12, 44, 38, 30, 22, 14, 6)
REST_DSCP = 0


@dataclass(frozen=True)
class Queue:
    """A queue of switch ports.

    `level`: the highest goes first. `classes` are the scheme's, and none for traffic that is not the scheme's. `dscp`
    leads to it; 0 stands for every code point that no queue names. `weight` is `None` for a strict queue.
    """

    level: int
    classes: tuple[int, ...]
    dscp: int
    weight: int | None = None
    lossless: bool = False

    @property
    def label(self) -> str:
        """The purpose, in words."""
        if not self.classes:
            return "traffic that is not the scheme's"
        if len(self.classes) == 1:
            return f"class {self.classes[0]}"
        first, last = self.classes[0], self.classes[-1]
        if len(self.classes) > 2 and last - first == len(self.classes) - 1:
            return f"classes {first} to {last}"
        return f"classes {', '.join(map(str, self.classes))}"


@dataclass(frozen=True)
class Threshold:
    """A marking threshold at one rate: stated, or in proportion to that of `proportion_to` (bits per second)."""

    limit: Limit
    proportion_to: int | None = None


@dataclass(frozen=True)
class Marking:
    """Thresholds above which packets are marked (ECN), by link rate in bits per second.

    With `full`, also by rate, packets are marked with a probability that grows from there to `most` at these backlogs.
    With `average`, the weight of an arrival, they are marked by an average of the backlog.
    """

    per_queue: bool
    at: Mapping[int, Limit]
    full: Mapping[int, Limit] = field(default_factory=dict)
    most: float = 1.0
    average: float | None = None

    def threshold(self, bps: int) -> Threshold:
        """That of a link: where it is not stated, in proportion to the next slower rate, or else the slowest."""
        return _at_rate(self.at, bps)

    def certain_above(self, bps: int) -> Threshold:
        """The backlog of a link above which every packet is marked: that of `full`, or the threshold itself."""
        return _at_rate(self.full, bps) if self.full else self.threshold(bps)


def _at_rate(stated: Mapping[int, Limit], bps: int) -> Threshold:
    if bps in stated:
        return Threshold(stated[bps])
    slower = [rate for rate in stated if rate < bps]
    near = max(slower) if slower else min(stated)
    return Threshold(stated[near].scaled(Fraction(bps, near)), near)


@dataclass(frozen=True)
class Buffer:
    """Room of ports.

    `sharing` says what `limit` is of: all queues of a port, each queue, or a port with push-out. `dynamic` has
    `memory` bytes for the whole switch, of which a queue may hold `alpha` times what is free.
    """

    sharing: Sharing
    limit: Limit | None = None
    at: Mapping[int, Limit] = field(default_factory=dict)
    memory: int = 0
    alpha: Fraction = Fraction(1)

    def limit_at(self, bps: int) -> Limit | None:
        """The limit at links of a rate."""
        return self.at.get(bps, self.limit)

    @property
    def alone(self) -> int:
        """Bytes that a queue may hold of a dynamic buffer if it is the only one: alpha B / (1 + alpha)."""
        return int(self.memory * self.alpha / (1 + self.alpha))


@dataclass(frozen=True)
class Watchdog:
    """The watchdog of lossless queues: a queue that was paused for `after` loses or sends its packets.

    It ends when the pause has been absent for `restore`. Both times are in picoseconds.
    """

    after: int
    restore: int
    action: str


@dataclass(frozen=True)
class Pause:
    """Lossless classes (PFC).

    A class is paused above `xoff`, a part of what is free (a fraction) or bytes (a whole number), and resumed `resume`
    bytes below. `charged`: whether headroom is taken out of the memory, as in a switch.
    """

    classes: tuple[int, ...]
    xoff: Fraction | int
    resume: int
    charged: bool
    headroom_least: int
    watchdog: Watchdog | None = None


@dataclass(frozen=True)
class Port:
    """A port of a switch: the rate of its link in bits per second; its name where the user gave one."""

    rate: int
    name: str | None = None


@dataclass(frozen=True)
class Network:
    """Totals of the network that the simulator built: hosts, switches, ports of all switches together.

    `host_rates` are those of the links of hosts in bits per second, the slowest first.
    """

    hosts: int
    switches: int
    ports: int
    host_rates: tuple[int, ...]


@dataclass(frozen=True)
class Switch:
    """Switches with the same ports: what they are called together, the name of each, the ports of one."""

    role: str
    names: tuple[str, ...]
    ports: tuple[Port, ...]

    @property
    def count(self) -> int:
        """The number of switches."""
        return len(self.names)

    @property
    def rates(self) -> tuple[int, ...]:
        """The rates of its links, the slowest first."""
        return tuple(sorted({port.rate for port in self.ports}))


@dataclass(frozen=True)
class Ladder:
    """Levels by bytes sent: level p has payload bytes from `thresholds[p - 1]` on.

    `solver` found them, if one did; `followed`: a controller moves them in the course of time. `retransmitted`: bytes
    sent again count.
    """

    thresholds: tuple[int, ...]
    solver: str | None = None
    followed: bool = False
    retransmitted: bool = False

    @property
    def levels(self) -> int:
        """The number of levels."""
        return len(self.thresholds) + 1


@dataclass(frozen=True)
class Host:
    """The tasks of hosts.

    `transport` and its `parameters` as the merged experiment has them; `congestion_control` is Linux's name of it, if
    Linux has it. `demotion` moves a flow from class to class, `own_levels` within the host. `classes_by` says in
    words where else classes come from; `groups` are groups of the experiment with the class they ask for, and
    `other_stacks` those with a transport of their own, with its name.
    """

    transport: str
    parameters: Mapping[str, Any]
    congestion_control: str | None
    demotion: Ladder | None
    own_levels: Ladder | None
    order: str
    nic: Mapping[str, Any]
    admission: Mapping[str, Any]
    assign: Mapping[str, Any]
    classes_by: str
    groups: tuple[tuple[str, int], ...]
    other_stacks: tuple[tuple[str, str], ...]
    rates: tuple[int, ...]

    @property
    def begins_by_group(self) -> bool:
        """Whether flows are demoted by bytes sent from the class of their group on, and groups have several."""
        return self.demotion is not None and any(level for _, level in self.groups)

    @property
    def sets_classes(self) -> bool:
        """Whether the transport itself chooses the class of each packet."""
        own = self.parameters.get("control_class", 0) != 0 or "cnp_class" in self.parameters
        return own or self.transport in ("homa", "phost")


@dataclass(frozen=True)
class ExportPlan:
    """One scheme of one experiment.

    `queues`, the best first. `port` is the kind of the port; `lacks` says, for each thing that only other switches
    have, what it is. `unread` are keys of the port that this version does not know. `switches` are those of the
    `network`, or the one that `--ports` names in their place.
    """

    scheme: str
    paper: str | None
    frame: Frame
    port: str
    scheduler: Scheduler
    queues: tuple[Queue, ...]
    routing: Routing
    marking: Marking | None
    buffer: Buffer
    pause: Pause | None
    lacks: tuple[str, ...]
    unread: tuple[str, ...]
    network: Network
    switches: tuple[Switch, ...]
    ports_are_named: bool
    host: Host

    @property
    def scheme_queues(self) -> tuple[Queue, ...]:
        """The queues of the scheme's own classes."""
        return tuple(queue for queue in self.queues if queue.classes)

    @property
    def strict_queues(self) -> tuple[Queue, ...]:
        """The queues under strict priority, which go before weighted ones."""
        return tuple(queue for queue in self.queues if queue.weight is None)

    @property
    def weighted_queues(self) -> tuple[Queue, ...]:
        """The queues that share by weight."""
        return tuple(queue for queue in self.queues if queue.weight is not None)

    @property
    def routing_level(self) -> int:
        """The level of routing protocols."""
        return ROUTING_LEVEL if self.routing == "own" else self.queues[0].level

    @property
    def queue_count(self) -> int:
        """Queues of a port that it takes, that of routing protocols included."""
        return len(self.queues) + (self.routing == "own")

    def level_of(self, dscp: int) -> int:
        """The level of a code point, 0 to 63."""
        if dscp in ROUTING_DSCP:
            return self.routing_level
        return next((queue.level for queue in self.queues if queue.dscp == dscp), self.queues[-1].level)
