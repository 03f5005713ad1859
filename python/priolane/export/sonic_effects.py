"""The effects of a scheme's queues on those of others in a switch of SONiC, and what to do with the patch."""

from collections.abc import Mapping

from priolane.export import sonic_rows
from priolane.export.deployment import Deployment
from priolane.export.findings import Findings
from priolane.export.present import Present
from priolane.export.sonic_places import BGP, Placement, has_routing_added, routing_queue
from priolane.results.numbers import short
from priolane.text.command_line import command_line

PATCH, ROLLBACK = "patch.json", "rollback.json"
_KEPT = ("DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "SCHEDULER")
# The time without packets after which bytes count from zero, as `advise` writes it.
_IDLE = ("--idle", "1s")


def _waits(present: Present, port: str, number: int, strict: int) -> bool:
    """Whether a queue of a port waits for the queue `strict`, which is strict.

    A strict queue goes before all queues with a weight, whatever their numbers, and before strict ones below it.
    """
    return present.scheduler_of(port, number).get("type") != "STRICT" or number < strict


def refuse_starving(of: Placement, findings: Findings) -> None:
    """Refuses strict queues above routing protocols, and a last queue that a strict one of DSCP 0 would starve."""
    plan, present = of.plan, of.present
    for port in present.switch.ports:
        name = port.name or ""
        maps = present.maps(name)
        routing, rest = routing_queue(maps), maps.queue_of(maps.class_of(0))
        if plan.scheduler == "strict" and present.scheduler_of(name, rest).get("type") == "STRICT":
            findings.refuse(
                f"DSCP 0 is in queue {rest}, which is strict: the last class of the scheme would starve it, or starve "
                "below it. Give that queue a scheduler with a weight (DWRR) first"
            )
        if has_routing_added(present, name, maps):
            continue
        if not any(_waits(present, name, routing, place.number) for place in of.strict):
            continue
        if plan.routing == "own":
            findings.refuse(
                f"routing protocols (DSCP {BGP}) are in queue {routing}, which is served by weight: the scheme's "
                "strict queues would go first. Give that queue a STRICT scheduler first, or --routing best if they "
                "may wait"
            )
        else:
            findings.change(
                f"routing protocols (DSCP {BGP}) stay in queue {routing}", "they wait for the scheme's strict queues"
            )


def say_what_others_lose(of: Placement, findings: Findings) -> None:
    """Lists the queues of others that a strict queue of the scheme goes before, and shares by weight that shrink."""
    for port in of.present.switch.ports:
        name = port.name or ""
        others = of.others(name)
        for place in of.strict:
            behind = [number for number in sorted(others) if _waits(of.present, name, number, place.number)]
            if behind:
                listed = ", ".join(f"{number} ({others[number]})" for number in behind)
                findings.change(
                    f"{place.queue.label} is strict in queue {place.number}",
                    f"it goes before all that queues {listed} hold: while it fills the line, they get nothing",
                )
        _say_shares(of, name, others, findings)


def _say_shares(of: Placement, name: str, others: Mapping[int, str], findings: Findings) -> None:
    """Lists the queues of others at a port whose part by weight shrinks as queues of the scheme share with them."""
    present, plan = of.present, of.plan
    served = {number: present.scheduler_of(name, number) for number in others}
    weights = {number: int(row.get("weight", "1")) for number, row in served.items() if row.get("type") != "STRICT"}
    rest = present.maps(name).queue_of(present.maps(name).class_of(0))
    scale = sonic_rows.weights(plan, findings)
    added = sum(scale[place.queue.level] for place in of.places if place.queue.weight is not None)
    if plan.scheduler == "strict":
        added += weights.get(rest, 1)
    before, after = sum(weights.values()), sum(weights.values()) + added
    for number in sorted(weights):
        if number != rest and added:
            was, is_now = (short(100 * weights[number] / total) for total in (before, after))
            findings.change(
                f"queue {number} ({others[number]}) keeps its weight",
                f"its part of what strict queues leave falls from {was} % to {is_now} %, if all queues are busy",
            )


def note(of: Placement, deployment: Deployment, findings: Findings) -> None:
    """Says what is set, and what is kept, and what to do."""
    for place in of.places:
        findings.note(
            f"sets: {place.queue.label} is DSCP {place.queue.dscp}, traffic class {place.traffic_class}, queue "
            f"{place.number}, in place of those of DSCP 0"
        )
    if of.free:
        findings.note(
            f"sets: DSCP {', '.join(map(str, of.free))} go where DSCP 0 goes: their queues are the scheme's now"
        )
    _note_hosts(of, deployment, findings)
    used: dict[int, str] = {}
    for port in of.present.switch.ports:
        used |= of.others(port.name or "")
    kept = "; ".join(f"{number}: {used[number]}" for number in sorted(used))
    findings.note(f"keeps: queues of others with their DSCPs, maps, profiles and schedulers ({kept})")
    names = {table: ", ".join(sorted(of.present.table(table))) for table in _KEPT}
    for table, rows in names.items():
        if rows:
            findings.note(f"keeps: {table} {rows}")
    _list_steps(of, findings)


def _note_hosts(of: Placement, deployment: Deployment, findings: Findings) -> None:
    """Says which export makes hosts mark the code points, those beside the switch's own."""
    host = of.plan.host
    is_marked = len(of.own) > 1 and not host.sets_classes
    words = ["priolane", "export", "nft" if is_marked else "hosts", *(deployment.scheme or ("FILE.toml",))]
    words += _IDLE if is_marked and host.demotion is not None else ()
    words += ["--dscp", ",".join(map(str, of.own))]
    if is_marked and host.begins_by_group:
        words += ["--group", host.groups[0][0]]
    others = ", ".join(f"--group {name}" for name, _ in host.groups[1:])
    more = f", and again with {others}" if "--group" in words and others else ""
    findings.note(f"hosts have to mark these code points, the last one too: {command_line(*words)}{more}")


def _list_steps(of: Placement, findings: Findings) -> None:
    findings.do("load", "sudo config checkpoint before-priolane")
    findings.do("load", f"sudo config apply-patch --dry-run {PATCH}")
    findings.do("load", f"sudo config apply-patch {PATCH}")
    findings.do("verify", "show runningconfiguration all")
    findings.do("verify", counters([(place.queue.label, place.number) for place in of.places]))
    findings.do("verify", "sudo config save -y, when all is as it should be: until then a reboot goes back")
    findings.do("roll back", f"sudo config apply-patch {ROLLBACK}, or sudo config rollback before-priolane")


def counters(queues: list[tuple[str, int]]) -> str:
    """The step that compares counters: the queues of classes by label and number, which have to count."""
    grow = ", ".join(f"UC{number} ({label})" for label, number in queues)
    return f"show queue counters, twice while hosts send: {grow} must grow at ports that the flows leave by"
