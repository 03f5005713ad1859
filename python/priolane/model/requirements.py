"""The requirements of a scheme for switches and hosts, read from its parts."""

from collections.abc import Mapping, Sequence
from typing import Any

from priolane.model.keys import Part

# Transports whose switches write into packets; no capability of the parts says so.
_TELEMETRY = {"hpcc"}
_BY_SIZE = {"size", "coflow_size", "flow_fraction", "equal_bytes", "power_law", "demand_rate", "deadlines_first"}
_REMAINING = {"pfabric", "phost", "homa"}
_DEADLINES = {"deadline", "deadline_rank", "deadlines_first", "demand_rate"}
_SERVES = {
    "fifo": "have one queue",
    "strict": "have {queues} strict priorities",
    "wfq": "have {queues} weighted queues",
    "trimming": "trim packets to headers, headers first",
    "tokens": "limit the tokens of all classes together and discard old ones",
    "ranked": "sort packets by a rank",
    "pifo": "sort packets by class and drop the worst",
    "aifo": "admit packets by quantiles of recent ranks",
    "pfabric": "serve and drop by the rank of a flow",
    "sp_pifo": "have {queues} strict priorities whose bounds follow ranks",
}


def queues(scheme: Mapping[str, Any]) -> int:
    """Queues of a switch port: those of the discipline."""
    port = scheme["port"]
    kind = port["kind"]
    if kind == "tokens":
        # A queue for each class of tokens, one for data and one for signals.
        return int(port.get("classes", 6)) + int(port.get("data_queues", 1)) + 1
    if kind == "trimming":
        return 2
    if kind in ("strict", "wfq", "sp_pifo"):
        return int(port.get("queues", 8))
    return 1


def switches(scheme: Mapping[str, Any], parts: Sequence[Part]) -> list[str]:
    """The requirements for a switch port: the discipline, marking, lossless classes, telemetry."""
    port = scheme["port"]
    kind = port["kind"]
    found = [_SERVES[kind].format(queues=queues(scheme))]
    if "ecn" in port:
        found.append("mark packets (ECN)")
    if "pfc" in port:
        lossless = len(port["pfc"]["classes"])
        found.append(f"pause {lossless} class{'es' if lossless > 1 else ''} (PFC)")
    if "push_out" in _table(port.get("buffer")):
        found.append("push out worse packets")
    if any(part.row == "transport" and part.name in _TELEMETRY for part in parts):
        found.append("write queue and rate into packets (INT)")
    return found


def hosts(scheme: Mapping[str, Any], parts: Sequence[Part]) -> list[str]:
    """The requirements for a host: those of its parts for the NIC, the levels of its scheduler, admission."""
    found = [clause for part in parts if part.row == "host" for clause in part.requires]
    found += [clause for part in parts if part.row == "transport" for clause in part.requires if "NIC" in clause]
    if scheme["host"]["kind"] == "mlfq":
        found.append(f"a scheduler with {scheme['host']['levels']} levels")
    if _table(scheme.get("admit")).get("kind", "none") != "none":
        found.append("admission control")
    return found or ["nothing beside the transport"]


def sizes(scheme: Mapping[str, Any]) -> str:
    """Whether flow sizes must be known: `each flow`, `distribution`, or `no`."""
    transport, assign = scheme["transport"], _table(scheme.get("assign"))
    priority = str(transport.get("priority", "size")) if transport["kind"] == "top" else ""
    by_size = (
        transport["kind"] in _REMAINING
        or priority in ("size", "exact_remaining", "exact_size", "exact_coflow")
        or assign.get("kind") in _BY_SIZE
        or scheme["host"]["kind"] == "srpt"
        or scheme["port"]["kind"] in ("ranked", "pfabric")
    )
    if by_size:
        return "each flow"
    solved = any("solver" in _table(_table(scheme.get(row)).get("thresholds")) for row in ("assign", "host"))
    return "distribution" if solved else "no"


def deadlines(scheme: Mapping[str, Any]) -> str:
    """Whether deadlines of flows must be known."""
    by_deadline = (
        scheme["transport"]["kind"] == "d2tcp"
        or "deadline" in str(scheme["transport"].get("priority", ""))
        or _table(scheme.get("assign")).get("kind") in _DEADLINES
        or _table(scheme.get("admit")).get("kind") in ("firapam", "pase")
    )
    return "yes" if by_deadline else "no"


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
