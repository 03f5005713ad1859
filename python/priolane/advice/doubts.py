"""The reasons that make an answer uncertain whatever runs show: how flows were recorded, and how few they are."""

from collections.abc import Iterator, Sequence

import numpy as np

from priolane.advice.answer import JudgedCandidate, timeout_warnings
from priolane.advice.flow_list import EXPERIMENT, FlowList
from priolane.advice.goals import Goal
from priolane.advice.measured import Measurement
from priolane.advice.recording import read_recording, sampling_of
from priolane.advice.request import AdviceContext

# Fewer different starts than this part of the flows: a clock that ticked coarsely.
_COARSE = 0.2
# A list with fewer flows says little.
_FEW_FLOWS = 1000


def find_doubts(flows: FlowList, sampling: int | None) -> Iterator[str]:
    """The sources of uncertainty in this list: sampling, starts that are not known, few flows."""
    recording = read_recording(flows.path)
    sampled = sampling_of(flows.path, sampling)
    if sampled is not None and sampled > 1:
        yield (
            f"the flows were sampled, 1 packet in {sampled}: most small flows were not seen, and sizes are estimates; "
            "tails of small flows and thresholds may be off by far"
        )
    instants, count = len(np.unique(flows.at_ns)), len(flows)
    is_drawn = flows.path.suffix.lower() == EXPERIMENT
    if instants < _COARSE * count and not is_drawn:
        yield (
            f"starts are known at {instants} instants for {count} flows: bursts within them are made by the clock; "
            "`priolane import --spread` spreads them"
        )
    elif recording.clock is not None:
        yield recording.clock
    yield from recording.doubts
    if count < _FEW_FLOWS:
        yield f"the list has {count} flows: tails rest on few of them"


def of_list(context: AdviceContext) -> list[str]:
    """The doubts about an answer whatever runs show: the way in which it was recorded, and last that it was cut."""
    cut = [] if context.cut is None else [context.cut]
    return [*find_doubts(context.flows, context.request.sampling), *cut]


def of_check(measured: Sequence[Measurement]) -> list[str]:
    """The doubt that the network of today is not what is simulated, which touches every number."""
    off = sum(not measurement.agrees for measurement in measured)
    return [f"{off} of {len(measured)} measured values are not what is predicted for today"] if off else []


def of_runs(best: JudgedCandidate, goals: Sequence[Goal], load: float) -> list[str]:
    """The doubts that runs show, the worst first: overload makes every number doubtful."""
    doubts = []
    if load >= 1:
        doubts.append(f"hosts are offered {load:.2g} times what their links carry: nothing is steady in overload")
    return [*doubts, *timeout_warnings(best, goals)]
