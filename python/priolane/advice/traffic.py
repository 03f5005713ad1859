"""The flows of an answer: a recorded list, or flows that are drawn, from an experiment or from sizes and a load."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

from priolane._core import InputError
from priolane.advice.fabric import Fabric
from priolane.advice.flow_list import EXPERIMENT, GROUP, FlowList, flow_list, read_flows
from priolane.advice.goals import Goal
from priolane.advice.recording import read_recording
from priolane.advice.windows import MOST, TIMES_LONGEST
from priolane.model.definition import VALUES, Experiment
from priolane.model.experiment import Options, check
from priolane.model.quantity import picoseconds
from priolane.model.toml import toml_text
from priolane.results.numbers import format_value

SIZES = "web_search"
LOAD = 0.5
"""The values of both that are assumed where no flows are given."""

# Flows that are drawn to see how many are of each class.
_FIRST = 2_000
# Flows that are drawn at most.
_MOST = 400_000
# The same where completion times under load ask for a longer list.
_MOST_LONGER = 2_000_000
# The span of drawn flows, in times that the largest of a goal takes alone: completions take some times as long.
_SPAN = 3 * TIMES_LONGEST * (MOST + 1)
# The same for the largest flow of all, of a goal or not.
_STEADY = 36
_PS_PER_NS = 1000
# How long they may take to start: the number of flows ends the list.
_LIMIT_S = 10_000


@dataclass(frozen=True)
class Traffic:
    """The source of flows: a list or an experiment file, or sizes from which they are drawn at a load of hosts' links.

    Of the three at least one is `None`: a file, or sizes and load, which have defaults.
    """

    file: Path | None = None
    sizes: str | None = None
    load: float | None = None

    def __post_init__(self) -> None:
        """Raises `InputError` for a file beside sizes or a load, and for a load that is none."""
        if self.file is not None and (self.sizes is not None or self.load is not None):
            key = "--sizes" if self.sizes is not None else "--load"
            raise InputError(f"{key}: the flows are those of {self.file}. Use the file, or --sizes and --load.")
        if self.load is not None and not 0 < self.load <= 1:
            raise InputError(f"--load {self.load:g}: the load must be above 0 and at most 1.")

    @property
    def name(self) -> str:
        """The name of the traffic in titles and names of directories."""
        if self.file is not None:
            return self.file.stem
        return f"{Path(self.sizes or SIZES).stem}-{self.load or LOAD:g}"

    @property
    def assumed(self) -> tuple[str, ...]:
        """The values that were assumed because they were not stated, and those that are not recorded, in words."""
        if self.file is not None:
            return read_recording(self.file).assumed
        sentences = []
        if self.sizes is None:
            sentences.append(
                f"sizes are those published of {SIZES} (DCTCP, SIGCOMM 2010): no flows and no --sizes are given"
            )
        if self.load is None:
            sentences.append(f"hosts are offered {LOAD:g} of what their links carry: no --load is given")
        sentences.append(
            "flows start at random, independently of each other (Poisson), between hosts drawn evenly: they are drawn, "
            "not recorded, and have no bursts beyond that"
        )
        return tuple(sentences)

    @property
    def is_drawn(self) -> bool:
        """Whether flows are drawn, and not recorded."""
        return self.file is None or self.file.suffix.lower() == EXPERIMENT

    def flows(self, fabric: Fabric, goals: Sequence[Goal]) -> FlowList:
        """The flows; raises `InputError` for what is wrong in files, sizes or load."""
        if self.file is None:
            return self._from_sizes(fabric, goals)
        if self.file.suffix.lower() != EXPERIMENT:
            return read_flows(self.file)
        first = self._of_experiment(self.file, Options())
        factor = _needed(first, fabric, goals) / len(first)
        stated = check(self.file)["merged"]["time"].get("measure")
        if factor <= 1 or stated is None:
            return first
        longer = f"{math.ceil(factor * picoseconds(str(stated)) / _PS_PER_NS)}ns"
        drawn_flows = self._of_experiment(self.file, Options(sets=(("time.measure", toml_text(longer)),)))
        if len(drawn_flows) <= len(first):
            return first
        span = format_value(drawn_flows.span_s, "s")
        drawn = f"{self.file}: flows are drawn for {span}, longer than the file's `time.measure`: goals need as many"
        return replace(drawn_flows, unused=(*drawn_flows.unused, drawn))

    def longer(self, flows: FlowList, fabric: Fabric, span_s: float) -> FlowList:
        """Draws a list of the stated length, at most the longest that is drawn. It begins with the same flows."""
        if self.file is None:
            count = math.ceil(len(flows) * span_s / flows.span_s)
            return self._draw(fabric, min(count, _MOST_LONGER))
        most_s = flows.span_s * _MOST_LONGER / len(flows)
        measure = f"{math.ceil(min(span_s, most_s) * 1e9)}ns"
        return replace(
            self._of_experiment(self.file, Options(sets=(("time.measure", toml_text(measure)),))), unused=flows.unused
        )

    @staticmethod
    def _of_experiment(file: Path, options: Options) -> FlowList:
        text = Experiment.load(file).core.drawn(options.to_json())
        names = [group["name"] for group in check(file, options)["merged"]["group"]]
        return flow_list(file, BytesIO(text.encode()), names)

    def _from_sizes(self, fabric: Fabric, goals: Sequence[Goal]) -> FlowList:
        """As many flows as the classes of the goals need, and windows that are long enough."""
        return self._draw(fabric, _needed(self._draw(fabric, _FIRST), fabric, goals))

    def _draw(self, fabric: Fabric, count: int) -> FlowList:
        sizes = self.sizes or SIZES
        group = {
            "name": GROUP,
            "hosts": "*",
            "app": "poisson",
            "sizes": _sizes(sizes),
            "load": {"of": "host", "counts": "payload", "value": self.load or LOAD},
        }
        keys = {
            "title": self.name,
            "schemes": ["newreno"],
            "seeds": [1],
            "time": {"flows": count, "limit": f"{_LIMIT_S}s"},
            "topology": fabric.experiment["topology"],
            "group": [group],
        }
        try:
            text = Experiment(keys).core.drawn(Options().to_json())
        except InputError as error:
            raise InputError(_about(str(error), sizes, fabric)) from None
        return flow_list(Path(f"{self.name}.csv"), BytesIO(text.encode()), [GROUP])


def _sizes(name: str) -> object:
    """The sizes of a shipped table, or of a file, which is found from the current directory."""
    if "." in name or "/" in name or Path(name).is_file():
        return {"csv": str(Path(name).resolve()), "interpolation": "linear"}
    return name


def _needed(first: FlowList, fabric: Fabric, goals: Sequence[Goal]) -> int:
    """The number of flows, of which `first` are some, that classes of goals need and that take long enough to start."""
    needed = len(first)
    largest = 0.0
    for goal in goals:
        mask = first.in_class(fabric.classes.get(goal.size_class, {}))
        if mask.any():
            needed = max(needed, round((MOST + 1) * goal.quantity.least / mask.mean()))
            largest = max(largest, float(first.sizes[mask].max()))
    if fabric.host_rate is not None:
        # Flows of goals have windows that are long enough, and the network is steady: its largest flows end in it.
        times = max(_SPAN * largest, _STEADY * float(first.sizes.max()))
        needed = max(needed, round(len(first) * times * 8e9 / fabric.host_rate / first.span_ns))
    return min(needed, _MOST)


def _about(message: str, sizes: str, fabric: Fabric) -> str:
    """A mistake of the experiment that was made here, as one of the sizes or of the fabric."""
    lines = []
    for line in message.splitlines():
        place, _, rest = line.partition(": ")
        if place != VALUES:
            lines.append(line)
        elif ".sizes" in rest.split(": ")[0]:
            lines.append(f"--sizes {sizes}: {rest.partition(': ')[2]}")
        else:
            lines.append(f"{fabric.path}: {rest}")
    return "\n".join(lines)
