"""The common parts of targets for switch ports: refusals, thresholds by rate, weights in parts of a hundred."""

from fractions import Fraction
from math import gcd

from priolane.export.findings import Findings
from priolane.export.plan import ExportPlan, Switch
from priolane.export.quantity import rate_text

QUEUES = 8
# Ethernet of a packet and what a chip counts of it: Juniper's QFX5K paper has cells of 208 B (QFX5200).
_CELLS = (
    "switches count cells, not bytes: thresholds are full packets of {stored} B, and a chip with cells of 208 to 256 B "
    "may mark up to 17 % early"
)


def is_refused(plan: ExportPlan, findings: Findings, target: str) -> bool:
    """Refuses what no switch port has, and lists keys that are not known; whether there is no use in going on."""
    for what in plan.lacks:
        findings.refuse(f"{target} has no {what}")
    refuse_unbounded(plan, findings)
    if plan.buffer.sharing == "push_out":
        findings.refuse(f'{target} has no push-out buffer; simulate with buffer = {{ shared = "..." }} and export that')
    if plan.pause is not None and not plan.pause.charged:
        findings.refuse('its headroom is free: idealised, no switch has it; simulate with pfc.headroom = "charged"')
    for key in plan.unread:
        findings.omit(f"{key}: not known to export")
    return bool(findings.refusals)


def refuse_unbounded(plan: ExportPlan, findings: Findings) -> None:
    """Refuses buffers without a limit."""
    if plan.buffer.sharing == "unbounded":
        findings.refuse("its buffers are unbounded: the scheme is a bound to compare with, not something to configure")


def refuse_queues(plan: ExportPlan, findings: Findings, most: int = QUEUES) -> None:
    """Refuses more queues than a port has."""
    if plan.queue_count <= most:
        return
    own = " and one for routing protocols" if plan.routing == "own" else ""
    cures = ["fewer queues"]
    if plan.routing == "own" and len(plan.queues) <= most:
        cures.append("or --routing best, which puts DSCP 48 to 63 into the best queue")
    findings.refuse(f"{len(plan.queues)} queues{own} need {plan.queue_count}, a port has {most}: {', '.join(cures)}")


def refuse_marking_per_port(plan: ExportPlan, findings: Findings, target: str) -> None:
    """Refuses thresholds that count all queues of a port, where there are several."""
    if plan.marking is not None and not plan.marking.per_queue and len(plan.scheme_queues) > 1:
        key = f"scheme.{plan.scheme}.port.ecn.per"
        findings.refuse(
            f"it marks by the backlog of the whole port, {target} by that of a queue: "
            f"simulate with --set '{key}=\"queue\"' and export that with the same --set"
        )


def note_queues(plan: ExportPlan, findings: Findings) -> None:
    """Says what queues it takes and where other traffic goes."""
    queues = "1 queue" if len(plan.queues) == 1 else f"{len(plan.queues)} queues"
    if plan.routing == "own":
        findings.note(f"{queues} and one more: DSCP 48 to 63 (routing protocols) keep a strict queue above them all")
    else:
        findings.change(
            "routing protocols (DSCP 48 to 63) share the best queue",
            "they wait behind its packets; simulated without them",
        )
    findings.note(f"every other DSCP goes to the last queue ({plan.queues[-1].label})")
    if plan.scheduler == "weighted":
        findings.note(
            "weighted fair queueing is served in rounds (DWRR): the shares are the same, not the order in a round"
        )


def note_hosts(findings: Findings) -> None:
    """Says where the other half is."""
    findings.note("hosts are not in here: export nft, sysctl, tc and hosts")


def thresholds(plan: ExportPlan, switch: Switch, findings: Findings) -> dict[int, int]:
    """Marking thresholds of a switch in bytes that it counts, by rate; empty without marking."""
    if plan.marking is None:
        return {}
    note_cells(plan, findings)
    change_proportions(plan, switch, findings)
    return {bps: plan.marking.threshold(bps).limit.stored(plan.frame) for bps in switch.rates}


def note_cells(plan: ExportPlan, findings: Findings) -> None:
    """Says that chips count cells where thresholds are bytes."""
    findings.note(_CELLS.format(stored=plan.frame.stored))


def change_proportions(plan: ExportPlan, switch: Switch, findings: Findings) -> None:
    """Lists thresholds of rates for which the scheme states none, and a probability that the target lacks."""
    if plan.marking is None:
        return
    if plan.marking.full:
        findings.change(
            f"marks with a probability that grows to {plan.marking.most} at ecn.full", "certain marks above ecn.at"
        )
    change_derived(plan, switch, findings)


def change_derived(plan: ExportPlan, switch: Switch, findings: Findings) -> None:
    """Lists thresholds of rates for which the scheme states none."""
    if plan.marking is None:
        return
    for bps in switch.rates:
        threshold = plan.marking.threshold(bps)
        if threshold.proportion_to is not None:
            stated = f"{plan.marking.at[threshold.proportion_to]} at {rate_text(threshold.proportion_to)}"
            findings.change(
                f"ECN threshold at {rate_text(bps)}", f"{threshold.limit}, in proportion to {stated}, not simulated"
            )


def average_exponent(plan: ExportPlan, findings: Findings, most: int) -> int:
    """The n of the weight 2^-n in the average that packets are marked by, at most `most`; 0 without an average.

    Another weight than the scheme's is listed.
    """
    average = plan.marking.average if plan.marking is not None else None
    if average is None:
        return 0
    exponent = -power_of_two(Fraction(str(average)), findings, "ecn.average")
    if exponent > most:
        findings.change(f"ecn.average {average:g}", f"2^-{most}, the least that there is")
    return min(exponent, most)


def change_drops(findings: Findings) -> None:
    """Says what a marking threshold does to packets that cannot be marked, where it is one of WRED."""
    findings.change(
        "one threshold marks packets that can be marked and drops those that cannot",
        "above K it drops SYN, and what is sent again by hosts that do not call it capable; the simulator queues both",
    )


def percents(weights: list[int], findings: Findings, target: str) -> list[int]:
    """Weights as whole parts of 100 that add up to 100, each at least 1; what the shares are off is listed."""
    total = sum(weights)
    shares = [max(1, round(Fraction(100 * weight, total))) for weight in weights]
    shares[shares.index(max(shares))] += 100 - sum(shares)
    _change_shares(weights, shares, findings, f"per cent in {target}")
    return shares


def reduced(weights: list[int], most: int, findings: Findings, target: str) -> list[int]:
    """Weights from 1 to `most` in the same ratios; where there are none, the largest is `most`, and what the shares
    are off is listed."""
    divisor = gcd(*weights)
    largest = max(weights)
    if largest // divisor <= most:
        return [weight // divisor for weight in weights]
    scaled = [max(1, round(Fraction(most * weight, largest))) for weight in weights]
    _change_shares(weights, scaled, findings, f"in {target}")
    return scaled


def _change_shares(weights: list[int], written: list[int], findings: Findings, where: str) -> None:
    """Lists what the shares of written weights are off, relative to those of the scheme."""
    ratio = Fraction(sum(weights), sum(written))
    off = max(abs(ratio * share / weight - 1) for share, weight in zip(written, weights, strict=True))
    if off:
        findings.change(
            f"weights {':'.join(map(str, weights))} are {':'.join(map(str, written))} {where}",
            f"a share is off by up to {float(off) * 100:.1f} %",
        )


def weighted_shares(plan: ExportPlan, findings: Findings, target: str) -> dict[int, int]:
    """Parts of a hundred of weighted queues by level; empty where all queues are strict."""
    if plan.scheduler == "strict":
        return {}
    queues = plan.weighted_queues
    shares = percents([queue.weight or 1 for queue in queues], findings, target)
    return {queue.level: share for queue, share in zip(queues, shares, strict=True)}


def remaining_shares(plan: ExportPlan, findings: Findings, target: str) -> dict[int, int]:
    """Parts of a hundred of what strict queues leave, by level."""
    return weighted_shares(plan, findings, target) or {plan.queues[-1].level: 100}


def alpha_exponent(plan: ExportPlan, findings: Findings, target: str, setting: str, exponents: range) -> int | None:
    """The exponent of alpha as a power of two, for a target that shares the memory of the switch.

    `None`, and listed, where the buffer is not dynamic or the target's `setting` has no such power.
    """
    if plan.buffer.sharing != "dynamic":
        omit_port_room(plan, findings, target)
        return None
    findings.omit(f"a buffer of {plan.buffer.memory} B: {target} shares the memory that the switch has")
    exponent = power_of_two(plan.buffer.alpha, findings, "alpha")
    if exponent not in exponents:
        least, most = (Fraction(2) ** end for end in (exponents[0], exponents[-1]))
        findings.omit(f"alpha {plan.buffer.alpha}: {setting} has {least} to {most}")
        return None
    return exponent


def omit_port_room(plan: ExportPlan, findings: Findings, target: str) -> None:
    """Lists room that is stated for a port or a queue, where the target has no such limit."""
    buffer = plan.buffer
    if buffer.sharing not in ("port", "queue") or buffer.limit is None:
        return
    what = "port" if buffer.sharing == "port" else "queue"
    rates = sorted({bps for switch in plan.switches for bps in switch.rates})
    rooms = {bps: limit.stored(plan.frame) for bps in rates if (limit := buffer.limit_at(bps)) is not None}
    text = ", ".join(f"{room} B at {rate_text(bps)}" for bps, room in rooms.items())
    findings.omit(f"room of a {what} ({text}): {target} keeps the buffer that it has")


def power_of_two(value: Fraction, findings: Findings, what: str) -> int:
    """The exponent of the power of two that is nearest to a fraction in ratio; what it is off is listed."""
    exponent = 0
    while Fraction(2) ** (exponent + 1) <= value:
        exponent += 1
    while Fraction(2) ** exponent > value:
        exponent -= 1
    low, high = Fraction(2) ** exponent, Fraction(2) ** (exponent + 1)
    if value * value > low * high:
        exponent, low = exponent + 1, high
    if low != value:
        off = float(low / value - 1) * 100
        findings.change(f"{what} {value} is {low}: switches have powers of two", f"off by {off:+.1f} %")
    return exponent
