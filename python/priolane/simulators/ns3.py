"""Side by side with ns-3: one flow list, both simulators in turn, their speed and what they say of the flows."""

import hashlib
import json
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Any

from priolane import _core
from priolane.storage.files import cache

SOURCES = Path(__file__).parent.parent / "peers" / "ns3"
PACKAGES = "libns3-dev g++ make pkg-config"
BUILD_NOTE = (
    "Debian's ns-3 has its log statements compiled in; an optimised build of one's own is about 1.4 times as fast "
    "(docs/performance.md#against-ns-3)."
)

RESULT_KEYS = ("packet_hops", "cpu_s", "flow_bytes", "fct_s")
"""The keys that both programs print, in the order of the fields of `SimulatorRun`."""

# Sizes in bytes: from, to (the end included).
CLASSES = {"below 100 kB": (0, 99_999), "100 kB to 10 MB": (100_000, 10_000_000), "above 10 MB": (10_000_001, 2**63)}


class SimulatorMissing(Exception):
    """The peer cannot be built here; says which packages it takes."""


@dataclass(frozen=True)
class SimulatorRun:
    """One run of one simulator."""

    packet_hops: int
    cpu_s: float
    sizes: tuple[int, ...]
    """Payload bytes of each flow."""
    fct_s: tuple[float, ...]
    """Completion time of each flow, in seconds, in the order of the list."""

    @property
    def hops_per_s(self) -> float:
        """Packet-hops per second of CPU time."""
        return self.packet_hops / self.cpu_s

    def speed_to_json(self) -> dict[str, float]:
        """The parts of its speed."""
        return {"packet_hops": self.packet_hops, "cpu_s": self.cpu_s}


@dataclass(frozen=True)
class SizeClass:
    """Completion times of the flows of one class of sizes, in seconds."""

    name: str
    flows: int
    mean_s: tuple[float, float]
    """Of priolane, of the peer."""
    p99_s: tuple[float, float]
    """Of priolane, of the peer; the nearest rank."""


@dataclass(frozen=True)
class Comparison:
    """All runs of both, pair by pair."""

    pairs: tuple[tuple[SimulatorRun, SimulatorRun], ...]
    """Priolane and the peer, in the order in which they ran."""

    @property
    def ratios(self) -> tuple[float, float, float]:
        """Packet-hops per CPU-second of priolane over those of the peer: least, median and most of the pairs."""
        ratios = [ours.hops_per_s / peer.hops_per_s for ours, peer in self.pairs]
        return min(ratios), statistics.median(ratios), max(ratios)

    @property
    def classes(self) -> list[SizeClass]:
        """Completion times by class of sizes; classes without flows are left out."""
        ours, peer = self.pairs[0]
        classes_of = []
        for name, (least, most) in CLASSES.items():
            flows = [at for at, size in enumerate(ours.sizes) if least <= size <= most]
            if flows:
                both = [[side.fct_s[at] for at in flows] for side in (ours, peer)]
                mean, p99 = ((of(both[0]), of(both[1])) for of in (statistics.fmean, _p99))
                classes_of.append(SizeClass(name, len(flows), mean, p99))
        return classes_of

    def to_json(self) -> dict[str, Any]:
        """As `priolane bench --against ns3 --json` prints it: single flows are left out."""
        sides = ("priolane", "ns3")
        least, median, most = self.ratios
        return {
            "flows": len(self.pairs[0][0].sizes),
            "ratio": {"min": least, "median": median, "max": most},
            "pairs": [
                {
                    name: {"packet_hops": side.packet_hops, "cpu_s": side.cpu_s}
                    for name, side in zip(sides, pair, strict=True)
                }
                for pair in self.pairs
            ],
            "classes": [asdict(size_class) for size_class in self.classes],
        }


def _p99(values: Sequence[float]) -> float:
    return sorted(values)[ceil(0.99 * len(values)) - 1]


def read_side(text: str) -> SimulatorRun:
    """Reads what one run printed: a JSON object with at least the keys `RESULT_KEYS`.

    Raises `RunFailed` if it is something else.
    """
    try:
        answer = json.loads(text)
        hops, cpu_s, sizes, fct_s = (answer[key] for key in RESULT_KEYS)
        side = SimulatorRun(int(hops), float(cpu_s), tuple(sizes), tuple(fct_s))
    except (ValueError, KeyError, TypeError) as error:
        raise _core.RunFailed(f"not what a run prints ({error!r}): {text[:200]!r}") from error
    if len(side.sizes) != len(side.fct_s) or not side.sizes or side.cpu_s <= 0:
        raise _core.RunFailed(f"{len(side.fct_s)} completion times for {len(side.sizes)} flows in {side.cpu_s} s")
    return side


def compare(flows: int, repeat: int, report_progress: Callable[[str], None]) -> Comparison:
    """Runs the first `flows` flows of the list in both, in turn, `repeat` times; `report_progress` takes a line per
    step.

    Raises `SimulatorMissing` if ns-3 or a compiler is missing, `RunFailed` if it does not build or run, or if it runs
    other flows.
    """
    program = build(report_progress)
    pairs = []
    with tempfile.TemporaryDirectory() as directory:
        flow_list = Path(directory) / "flows.csv"
        flow_list.write_text(_core.bench_flow_list(flows), encoding="utf-8")
        for turn in range(repeat):
            report_progress(f"{turn + 1} of {repeat}: priolane, then ns-3")
            ours = read_side(_core.bench_side(flows))
            peer = read_side(_output([str(program), f"--flows={flow_list}"]))
            if ours.sizes != peer.sizes:
                raise _core.RunFailed("ns-3 did not run the flows of the list")
            pairs.append((ours, peer))
    return Comparison(tuple(pairs))


def build(report_progress: Callable[[str], None]) -> Path:
    """Builds the ns-3 program below the user's cache, unless it is there; raises as `compare`."""
    version = ns3_version()
    sources = b"".join(path.read_bytes() for path in sorted(SOURCES.iterdir()) if path.is_file())
    mark = hashlib.sha256(sources + version.encode()).hexdigest()[:12]
    directory = cache() / f"ns3-{mark}"
    program = directory / "leafspine"
    if not program.exists():
        report_progress(f"building the ns-3.{version.removeprefix('3.')} side in {directory}")
        _output(["make", "-C", str(SOURCES), f"OUT={directory}"])
    return program


def ns3_version() -> str:
    """The version of ns-3 that is installed for development; raises `SimulatorMissing`."""
    tools = [name for name in ("pkg-config", "make", "c++") if shutil.which(name) is None]
    if tools:
        raise SimulatorMissing(f"there is no {tools[0]}; Debian: apt-get install {PACKAGES}")
    process = subprocess.run(
        ["pkg-config", "--modversion", "ns3-core"],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode != 0:
        raise SimulatorMissing(f"ns-3 is not installed; Debian: apt-get install {PACKAGES}")
    return process.stdout.strip()


def _output(command: list[str]) -> str:
    """The output of a command; raises `RunFailed` with its last words if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        words = " | ".join((done.stderr or done.stdout).strip().splitlines()[-5:])
        raise _core.RunFailed(f"{command[0]} ended with {done.returncode}: {words}")
    return done.stdout
