"""The requirements of a scheme for switches and hosts, read from its parts."""

from collections.abc import Mapping, Sequence
from typing import Any

from priolane.model.keys import Part, part

# Rules of ranking that read the sizes of flows.
_BY_SIZE = ("size", "exact_remaining", "exact_size", "exact_coflow")


def queues(scheme: Mapping[str, Any]) -> int:
    """Queues of a switch port: those of the discipline."""
    port = scheme["port"]
    kind = port["kind"]
    if kind == "tokens":
        # A queue for each class of tokens, one for data and one for signals.
        return int(port.get("classes", 6)) + int(port.get("data_queues", 1)) + 1
    if kind == "trimming":
        return 2
    counts = (key.default for key in part("port", kind).keys if key.name == "queues")
    return int(port.get("queues", next(counts, 1)))


def switches(scheme: Mapping[str, Any]) -> list[str]:
    """The requirements for a switch port: the discipline, marking, lossless classes, telemetry."""
    port = scheme["port"]
    clauses = [_service(scheme)]
    if "ecn" in port:
        clauses.append("mark packets (ECN)")
    if "pfc" in port:
        lossless = len(port["pfc"]["classes"])
        clauses.append(f"pause {lossless} class{'es' if lossless > 1 else ''} (PFC)")
    if "push_out" in _table(port.get("buffer")):
        clauses.append("push out worse packets")
    if "int" in part("transport", scheme["transport"]["kind"]).needs:
        clauses.append("write queue and rate into packets (INT)")
    return clauses


def _service(scheme: Mapping[str, Any]) -> str:
    """The queues of a switch port and their service; the catalogue has that of ports whose queues are of one kind."""
    port, count = scheme["port"], queues(scheme)
    strict = int(port.get("strict", 0))
    if strict:
        return f"have {strict} strict queue{'s' if strict > 1 else ''} before {count - strict} that share by weight"
    return part("port", port["kind"]).serves.format(queues=count)


def hosts(scheme: Mapping[str, Any], parts: Sequence[Part]) -> list[str]:
    """The requirements for a host: those of its parts for the NIC, the levels of its scheduler, admission."""
    clauses = [clause for part in parts if part.row == "host" for clause in part.requires]
    clauses += [clause for part in parts if part.row == "transport" for clause in part.requires if "NIC" in clause]
    if scheme["host"]["kind"] == "mlfq":
        clauses.append(f"a scheduler with {scheme['host']['levels']} levels")
    if _table(scheme.get("admit")).get("kind", "none") != "none":
        clauses.append("admission control")
    return clauses or ["nothing beside the transport"]


def sizes(scheme: Mapping[str, Any]) -> str:
    """Whether flow sizes must be known: `each flow`, `distribution`, or `no`."""
    ranks = set(part("port", scheme["port"]["kind"]).requires) & set(part("transport", "pfabric").provides)
    # Flows without a deadline are in the order of their sizes, unless all of them share a class.
    others = _table(scheme.get("assign"))
    if others.get("kind") == "deadlines_first" and others["thresholds"]:
        return "each flow"
    if ranks or ("sizes_known" in _needs(scheme) and _priority(scheme) in ("", *_BY_SIZE)):
        return "each flow"
    solved = any("solver" in _table(_table(scheme.get(row)).get("thresholds")) for row in ("assign", "host"))
    return "distribution" if solved else "no"


def deadlines(scheme: Mapping[str, Any]) -> str:
    """Whether deadlines of flows must be known."""
    return "yes" if "deadlines" in _needs(scheme) or "deadline" in _priority(scheme) else "no"


def _needs(scheme: Mapping[str, Any]) -> set[str]:
    """The needs that the parts of the rows declare."""
    kinds = {row: _table(scheme.get(row)).get("kind", "none") for row in ("transport", "assign", "admit", "host")}
    return {need for row, kind in kinds.items() for need in part(row, kind).needs}


def _priority(scheme: Mapping[str, Any]) -> str:
    """The rule by which a transport ranks flows itself; empty for one that does not."""
    transport = scheme["transport"]
    has_rule = any(key.name == "priority" for key in part("transport", transport["kind"]).keys)
    return str(transport.get("priority", "size")) if has_rule else ""


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
