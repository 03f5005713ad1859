"""Rows of SONiC's tables that a scheme has with a present configuration and without."""

from collections.abc import Iterable
from dataclasses import dataclass

from priolane.export import switching
from priolane.export.findings import Findings
from priolane.export.plan import ExportPlan, Queue, Switch, Watchdog
from priolane.export.quantity import time_text

_MOST_WEIGHT = 100
_CERTAIN = 100
_TINY = 1e-9
_PS_PER_MS = 10**9


def weights(plan: ExportPlan, findings: Findings) -> dict[int, int]:
    """Weights of queues by level as they are or, where one is above 100, in lowest terms or relative to the largest
    as 100; empty where all are strict."""
    queues: list[Queue] = [queue for queue in plan.queues if queue.weight is not None]
    stated = [queue.weight or 1 for queue in queues]
    fitting = stated
    if stated and max(stated) > _MOST_WEIGHT:
        fitting = switching.reduced(stated, _MOST_WEIGHT, findings, "SONiC")
    return {queue.level: weight for queue, weight in zip(queues, fitting, strict=True)}


@dataclass(frozen=True)
class Wred:
    """Marks of a queue: from `least` bytes on with a probability that grows to `percent` at `most`, certain above."""

    least: int
    most: int
    percent: int

    @property
    def label(self) -> str:
        """The end of the name of its row: one number for a step."""
        return str(self.least) if self.least == self.most else f"{self.least}_{self.most}_{self.percent}"

    @property
    def row(self) -> dict[str, str]:
        """The row of WRED_PROFILE, which marks packets of every colour."""
        row = {"ecn": "ecn_all"}
        for colour in ("green", "yellow", "red"):
            row |= {
                f"wred_{colour}_enable": "true",
                f"{colour}_min_threshold": str(self.least),
                f"{colour}_max_threshold": str(self.most),
                f"{colour}_drop_probability": str(self.percent),
            }
        return row


def marks(plan: ExportPlan, switch: Switch, findings: Findings) -> dict[int, Wred]:
    """The marks of a switch's queues by link rate in bits per second; empty without marking."""
    marking = plan.marking
    if marking is None:
        return {}
    switching.note_cells(plan, findings)
    switching.change_derived(plan, switch, findings)
    switching.change_drops(findings)
    if marking.average is not None:
        findings.change(
            f"marks by an average of the queue, ecn.average {marking.average:g}",
            "by the queue itself: ConfigDB has no weight, and orchagent sets SAI_WRED_ATTR_WEIGHT to 0",
        )
    percent = _percent(marking.most, findings) if marking.full else _CERTAIN
    return {
        bps: Wred(
            marking.threshold(bps).limit.stored(plan.frame),
            marking.certain_above(bps).limit.stored(plan.frame),
            percent,
        )
        for bps in switch.rates
    }


def _percent(most: float, findings: Findings) -> int:
    """The probability of a mark in whole per cent, at least 1; what it is off is listed."""
    percent = max(1, round(100 * most))
    if abs(100 * most - percent) > _TINY:
        findings.change(f"ecn.p_max {most:g} is {percent} %", "SONiC has whole per cent")
    return percent


def watchdog(dog: Watchdog, ports: Iterable[str], findings: Findings) -> dict[str, dict[str, str]]:
    """The rows of PFC_WD for ports, in whole milliseconds; a time that is no whole number of them is refused."""
    for name, time in (("after", dog.after), ("restore", dog.restore)):
        if time % _PS_PER_MS:
            findings.refuse(f"pfc.watchdog.{name} is {time_text(time)}: PFC_WD has whole milliseconds")
    row = {
        "action": dog.action,
        "detection_time": str(dog.after // _PS_PER_MS),
        "restoration_time": str(dog.restore // _PS_PER_MS),
    }
    return {port: dict(row) for port in ports}
