"""The report of an import on its list as a recording, and its effect on an answer."""

from dataclasses import dataclass
from pathlib import Path

from priolane.results.numbers import fitting
from priolane.storage.files import MOST_JSON_BYTES, parse_json, read_regular

# Formats of recordings: those of simulators know their flows.
_RECORDED = frozenset({"nfdump", "zeek", "vpc", "sflow", "tshark"})
_PS_PER_S = 1e12
# Starts that are known to so much or less exactly are in doubt: most flows are shorter.
_COARSE_S = 1e-3


@dataclass(frozen=True)
class Recording:
    """A list as its recording shows it.

    One packet in `sampling` was seen; starts are known to `tick_s` seconds, may be `late_s` late, and were spread over
    `spread_s`; `midstream` of `flows` began before the recording. `None` and 0: nothing is said.
    """

    recorded: bool = False
    flows: int = 0
    sampling: int | None = None
    midstream: int | None = None
    tick_s: float = 0.0
    late_s: float = 0.0
    spread_s: float = 0.0

    @property
    def assumed(self) -> tuple[str, ...]:
        """The assumptions about flows that the recording does not show."""
        sentences = []
        if self.spread_s:
            sentences.append(
                f"flows that start at one instant of the recording start evenly over {_span(self.spread_s)}, as "
                "`priolane import --spread` placed them: bursts within that time are not in the list"
            )
        if self.recorded and self.midstream is None:
            sentences.append(
                "flows begin where the recording shows them first, and have the size that it shows: it does not say "
                "which of them began before it"
            )
        return tuple(sentences)

    @property
    def clock(self) -> str | None:
        """The uncertainty from a clock with coarse ticks; `None` if the ticks are fine, or if starts were spread."""
        if not self.recorded or self.tick_s < _COARSE_S or self.spread_s:
            return None
        return (
            f"starts are known to {_span(self.tick_s)} only: which flows meet in a queue is made by that clock, and so "
            f"are tails; `priolane import --spread {_span(self.tick_s, '')}` spreads them"
        )

    @property
    def doubts(self) -> tuple[str, ...]:
        """The sources of uncertainty besides sampling and the clock: late starts, flows without a beginning."""
        sentences = []
        if self.late_s:
            sentences.append(
                f"the recording states starts up to {_span(self.late_s)} late, each by its own delay: flows that met "
                "in the network may not meet here, and tails may be too low"
            )
        if self.midstream:
            part = 100 * self.midstream / max(self.flows, self.midstream)
            sentences.append(
                f"{self.midstream} flows ({part:.2g} %) began before the recording: their sizes lack what was sent "
                "before, and their starts are late; thresholds by bytes sent may be too low"
            )
        return tuple(sentences)


# Counts of a report fit into 64 bits.
_MOST = 1 << 64


def read_recording(path: Path) -> Recording:
    """The report beside the list at `path`; nothing if there is none that can be read."""
    try:
        report = parse_json(read_regular(path.with_suffix(".report.json"), MOST_JSON_BYTES))
    except (OSError, ValueError):
        return Recording()
    if not isinstance(report, dict):
        return Recording()

    def count(key: str) -> int | None:
        value = report.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else None

    return Recording(
        recorded=str(report.get("format")) in _RECORDED,
        flows=count("flows") or 0,
        sampling=count("sampling"),
        midstream=count("midstream"),
        tick_s=(count("tick_ps") or 0) / _PS_PER_S,
        late_s=(count("late_ps") or 0) / _PS_PER_S,
        spread_s=(count("spread_ps") or 0) / _PS_PER_S,
    )


def sampling_of(path: Path, stated: int | None) -> int | None:
    """The number of packets of which one was seen: the stated one, or that of the report beside the list at `path`."""
    return stated if stated is not None else read_recording(path).sampling


def _span(seconds: float, space: str = " ") -> str:
    """A time in the unit that fits it."""
    unit, many = fitting(seconds, "s")
    return f"{seconds * many:g}{space}{unit}"
