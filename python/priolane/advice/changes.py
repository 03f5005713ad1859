"""The changes that lead from what runs today to a candidate, and the order of their cost.

A change is a step of a kind: DSCP at hosts, a queue at switches, a new stack. `ORDER` has the kinds from the cheapest;
users may order them otherwise. A candidate costs what its most expensive step does; of equals, fewer steps cost less,
and then fewer queues.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from priolane._core import InputError
from priolane.advice.candidate import TODAY, Candidate
from priolane.advice.fabric import HOST_FEATURES, SWITCH_FEATURES, Fabric
from priolane.advice.feasible import in_nics, requires, shipped
from priolane.model.keys import part


class Step(StrEnum):
    """A kind of change."""

    DSCP = "dscp"
    SWITCH_MARKING = "switch_marking"
    SWITCH_QUEUE = "switch_queue"
    HOST_PARAMETER = "host_parameter"
    HOST_QDISC = "host_qdisc"
    CONGESTION_CONTROL = "congestion_control"
    SWITCH_FEATURE = "switch_feature"
    CONGESTION_MODULE = "congestion_module"
    KERNEL_MODULE = "kernel_module"
    USER_STACK = "user_stack"

    @property
    def words(self) -> str:
        """The change in words."""
        return _WORDS[self]

    @property
    def short(self) -> str:
        """The change in few words, for tables."""
        return self.value.replace("_", " ").removeprefix("switch ").replace("dscp", "DSCP")


_WORDS = {
    Step.DSCP: "DSCP at hosts",
    Step.SWITCH_MARKING: "marking at switches",
    Step.SWITCH_QUEUE: "queues at switches",
    Step.HOST_PARAMETER: "a parameter of hosts",
    Step.HOST_QDISC: "a queueing discipline at hosts",
    Step.CONGESTION_CONTROL: "another congestion control of the kernel",
    Step.SWITCH_FEATURE: "a feature of switches",
    Step.CONGESTION_MODULE: "a congestion control as a kernel module",
    Step.KERNEL_MODULE: "a transport as a kernel module",
    Step.USER_STACK: "a transport in user space",
}
ORDER = tuple(Step)
"""The kinds of change, the cheapest first, where the user does not order them."""

Cost = tuple[int, int, int]
"""The place of the most expensive step in the order (-1 without a step), the number of steps, and queues of a port."""

_QUEUES = ("fifo", "strict", "wfq")
PLAIN_HOSTS = ("fifo", "round_robin", "own")
"""Orders of hosts that need no levels and no sizes."""
# Keys of transports that `[host]` of the fabric states for all.
_OF_HOST = ("kind", "min_rto", "initial_rto", "max_rto", "handshake")
# Keys of transports that candidates vary.
_PARAMETERS = ("init_window", "min_rto")
# Keys whose change means other queues of a port.
_OF_PORT = ("queues", "weights", "strict")


@dataclass(frozen=True)
class Today:
    """The scheme that runs now: its candidate, and the order of costs of changes."""

    candidate: Candidate
    order: tuple[Step, ...] = ORDER

    def steps(self, candidate: Candidate) -> tuple[Step, ...]:
        """The kinds of change from today to a candidate, the cheapest first."""
        if candidate.name == self.candidate.name:
            return ()
        now, then = merged(self.candidate.rows), merged(candidate.rows)
        steps = {*_of_transport(now, then), *_of_port(now, then), *_of_classes(now, then)}
        if own_parameters(self.candidate) != own_parameters(candidate):
            steps.add(Step.HOST_PARAMETER)
        marks = own_marking(self.candidate) != own_marking(candidate)
        if "ecn" in requires(then) and ("ecn" not in requires(now) or marks):
            steps.add(Step.SWITCH_MARKING)
        return tuple(step for step in self.order if step in steps)

    def cost(self, candidate: Candidate) -> Cost:
        """The cost of a candidate; smaller is cheaper."""
        steps = self.steps(candidate)
        return (self.order.index(steps[-1]) if steps else -1, len(steps), candidate.queues)

    def in_words(self, candidate: Candidate) -> str:
        """The changes in words, such as `DSCP at hosts and queues at switches`."""
        words = [_in_words(step, candidate) for step in self.steps(candidate)]
        if not words:
            return "nothing"
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _in_words(step: Step, candidate: Candidate) -> str:
    if step is Step.CONGESTION_MODULE and in_nics(merged(candidate.rows)):
        return "RoCE NICs, which run its congestion control"
    return step.words


def today(fabric: Fabric, order: Sequence[str] = ()) -> Today:
    """The scheme that runs on the fabric now.

    `order` has kinds of change, the cheapest first; those that are not named follow in their own order. Raises
    `InputError` for an unknown scheme or kind of change.
    """
    base = str(fabric.today["base"])
    if base not in shipped():
        raise InputError(f"{fabric.path}: key `today.scheme`: there is no scheme {base!r}; `priolane list schemes`")
    rows = dict(fabric.today)
    if fabric.pulls(shipped()[base]) and "host" not in rows:
        rows["host"] = {"kind": "round_robin"}
    own = merged(rows)
    if fabric.unmarked is not None and "ecn" in requires(own):
        raise InputError(
            f"{fabric.unmarked}, and {base}, which runs today, takes marks; state the code points of its flows as "
            'today.dscp, another scheme, or marks as switch.ecn = "auto" in the fabric file'
        )
    queues = int(own["port"].get("queues", 1))
    described = "what runs now" + ("" if len(fabric.today) == 1 else ", as the fabric file states it")
    return Today(Candidate(TODAY, base, f"{described}: {base}", rows, queues), read_order(order))


def with_today(fabric: Fabric) -> Fabric:
    """The fabric with the capabilities that what runs on it now takes; those of flows are none of them."""
    known = {*SWITCH_FEATURES, *HOST_FEATURES}
    taken = {need for need in requires(merged(fabric.today)) if need in known}
    return replace(fabric, features=fabric.features | taken)


def read_order(names: Sequence[str]) -> tuple[Step, ...]:
    """An order of steps from names, the cheapest first; raises `InputError` for an unknown or repeated one."""
    known = {step.value: step for step in Step}
    for name in names:
        if name not in known:
            raise InputError(f"--steps: there is no step {name!r}; one of {', '.join(known)}")
        if names.count(name) > 1:
            raise InputError(f"--steps: {name} is there twice; name each step once")
    first = [known[name] for name in names]
    return (*first, *(step for step in ORDER if step not in first))


def merged(rows: Mapping[str, Any]) -> Mapping[str, Any]:
    """All rows of a candidate: those of its base, where it has none of its own."""
    base = shipped()[str(rows["base"])]
    tables = dict(base)
    for name, own in rows.items():
        if name == "base":
            continue
        of = base.get(name)
        if isinstance(own, Mapping) and isinstance(of, Mapping) and own.get("kind", of.get("kind")) == of.get("kind"):
            tables[name] = {**of, **own}
        else:
            tables[name] = own
    return tables


def _of_transport(now: Mapping[str, Any], then: Mapping[str, Any]) -> set[Step]:
    steps = set()
    kind = then["transport"]["kind"]
    if kind != now["transport"]["kind"]:
        needs = part("transport", kind).needs
        modules = (Step.USER_STACK, Step.KERNEL_MODULE, Step.CONGESTION_MODULE)
        steps.add(next((step for step in modules if step.value in needs), Step.CONGESTION_CONTROL))
    elif _without(now["transport"], _OF_HOST) != _without(then["transport"], _OF_HOST):
        steps.add(Step.HOST_PARAMETER)
    if then["admit"]["kind"] not in ("none", now["admit"]["kind"]):
        steps.add(Step.USER_STACK)
    return steps


def _of_port(now: Mapping[str, Any], then: Mapping[str, Any]) -> set[Step]:
    steps = set()
    before, after = now["port"], then["port"]
    if after["kind"] not in _QUEUES and after["kind"] != before["kind"]:
        steps.add(Step.SWITCH_FEATURE)
    if ("int" in requires(then)) and "int" not in requires(now):
        steps.add(Step.SWITCH_FEATURE)
    if bool(after.get("pfc")) and not before.get("pfc"):
        steps.add(Step.SWITCH_FEATURE)
    taken = int(after.get("queues", 1))
    if taken > 1 and {key: before.get(key) for key in _OF_PORT} != {key: after.get(key) for key in _OF_PORT}:
        steps.add(Step.SWITCH_QUEUE)
    return steps


def _of_classes(now: Mapping[str, Any], then: Mapping[str, Any]) -> set[Step]:
    steps = set()
    marks = "dscp" in requires(then) and "dscp" not in requires(now)
    if marks or (then["assign"]["kind"] != "none" and then["assign"] != now["assign"]):
        steps.add(Step.DSCP)
    if then["host"]["kind"] not in PLAIN_HOSTS and then["host"] != now["host"]:
        steps.add(Step.HOST_QDISC)
    return steps


def own_marking(candidate: Candidate) -> Any:
    """Marking thresholds that differ from those of the fabric's switches; `None` if there are none."""
    port = candidate.rows.get("port")
    return port.get("ecn") if isinstance(port, Mapping) else None


def own_parameters(candidate: Candidate) -> dict[str, str]:
    """The first window and the smallest retransmission timeout that a candidate has in place of those of its scheme
    and of the fabric's hosts."""
    transport = candidate.rows.get("transport")
    own = transport if isinstance(transport, Mapping) else {}
    return {key: str(own[key]) for key in _PARAMETERS if key in own}


def _without(table: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in keys}
