"""Judges claims in which nothing may be found: that a host's number decides, and that groups with swapped hosts differ.

`python tools/null_claims.py trials` judges the claim of each experiment in experiments/validation/null `--trials N`
times (default 400), each time on seeds of its own. Every verdict is false. At a probability of 5 %, 400 trials have
more than 29 verdicts with a probability of 2 %; the exit status is then 1.

`python tools/null_claims.py swap [FILE ...]` runs experiments at their quick size with the hosts of two groups swapped:
of all shipped ones up to `--hops N` packet-hops, or of those named. Hosts are swapped where both groups have as many
hosts in each rack, so that only numbers change. `--seeds N` gives each experiment N seeds (default 6): with few seeds a
verdict near its limit changes by chance. The control shows how many do: it is the same experiment, not swapped, on N
other seeds. The exit status is 1 if more verdicts change than 5 % and than in the control (Fisher's exact test at 5 %),
or if one turns from reproduced to contradicted. Both commands print the processor time of their runs.
"""

import argparse
import itertools
import json
import math
import os
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import stats

from priolane import _core
from priolane.execution.grid import run_grid
from priolane.execution.session import run
from priolane.execution.settings import Settings
from priolane.model.definition import Experiment
from priolane.model.experiment import Options

ROOT = Path(__file__).parent.parent
TRIALS = ROOT / "experiments" / "validation" / "null"
LEVEL = 0.05
SEEDS = 6
MOST_HOPS = 1e9
"""Seeds of a trial, and by default of an experiment with swapped hosts."""

UNFIT = "load"
"""In place of a verdict: the flows of these seeds offer another load than the experiment asks for."""

Verdicts = dict[tuple[str, str], str]
"""The verdict of each claim, by its section and its sentence."""


def judged(path: Path, options: Options, directory: Path) -> Verdicts:
    """The verdicts of the claims of the experiment `path` on the results in `directory`, which nobody has looked at."""
    report = json.loads(_core.verdicts(path, options.to_json(), directory, "[]"))
    return {(claim["section"], claim["says"]): _verdict(claim) for claim in report["claims"]}


def _verdict(claim: dict[str, Any]) -> str:
    because: str | None = (claim.get("undecided") or {}).get("because")
    return UNFIT if because == "load" else str(claim["verdict"])


def trials(path: Path, count: int) -> Counter[str]:
    """The number of times that the claim of a null experiment gets each verdict, of `count` trials on seeds of their
    own."""
    with tempfile.TemporaryDirectory() as folder:
        results = run(path, Path(folder) / "out", seeds=SEEDS * count, jobs=os.cpu_count() or 1)
        verdicts: Counter[str] = Counter()
        for nth in range(count):
            seeds = tuple(range(SEEDS * nth + 1, SEEDS * (nth + 1) + 1))
            verdicts.update(judged(path, Options(seeds=seeds), results.directory).values())
    return verdicts


def most_false(count: int) -> int:
    """The largest number of false verdicts of `count` whose exact 95 % interval begins at 5 % or below."""
    return next(k for k in itertools.count() if stats.beta.ppf(LEVEL / 2, k + 1, count - k) > LEVEL)


@dataclass(frozen=True)
class Swap:
    """Two groups of an experiment, and the values of their keys `hosts`."""

    one: str
    other: str
    hosts_of_one: str
    hosts_of_other: str

    @property
    def sets(self) -> tuple[tuple[str, str], ...]:
        """The settings that give each group the hosts of the other one."""
        return (
            (f"group.{self.one}.hosts", json.dumps(self.hosts_of_other)),
            (f"group.{self.other}.hosts", json.dumps(self.hosts_of_one)),
        )


def numbers(hosts: str) -> list[int]:
    """The numbers that a value of the key `hosts` lists."""
    spans = (part.partition("-") for part in hosts.split(","))
    return [host for first, _, last in spans for host in range(int(first), int(last or first) + 1)]


def swaps(merged: dict[str, Any]) -> Iterator[Swap]:
    """Disjoint pairs of groups with as many hosts in each rack, in the order of the file."""
    topology = merged["topology"]
    per_rack = topology.get("hosts_per_leaf") or topology.get("hosts_per_tor") or topology.get("hosts", 1)
    racks: dict[tuple[tuple[int, int], ...], list[tuple[str, str]]] = {}
    for group in merged["group"]:
        hosts, pairs = group.get("hosts", "*"), group.get("pairs")
        # Groups that list their pairs by host, or whose hosts take part in others, would not be the same afterwards.
        if hosts == "*" or not isinstance(hosts, str) or isinstance(pairs, list) or group["app"] in {"flows", "none"}:
            continue
        shape = tuple(sorted(Counter(host // per_rack for host in numbers(hosts)).items()))
        racks.setdefault(shape, []).append((group["name"], hosts))
    for groups in racks.values():
        for (first_name, first), (second_name, second) in zip(groups[::2], groups[1::2], strict=False):
            if not set(numbers(first)) & set(numbers(second)):
                yield Swap(first_name, second_name, first, second)


@dataclass(frozen=True)
class Swapped:
    """The verdicts of an experiment on some seeds, with its hosts swapped, and on other seeds."""

    plain: Verdicts
    swapped: Verdicts
    control: Verdicts


def swapped(path: Path, seeds: int, hops: float = math.inf) -> Swapped | None:
    """The verdicts of a shipped experiment at its quick size with this many seeds.

    There are none if the experiment has no groups to swap, or if the first six seeds take more than `hops` packet-hops.
    """
    checked = json.loads(Experiment.load(path).core.check(Options(size="quick", seeds=SEEDS).to_json()))
    merged = checked["merged"]
    sets = tuple(pair for swap in swaps(merged) for pair in swap.sets)
    if not sets or not merged.get("claim") or checked["packet_hops"] > hops:
        return None
    first, others = tuple(range(1, seeds + 1)), tuple(range(seeds + 1, 2 * seeds + 1))
    return Swapped(
        plain=_fresh(path, Options(size="quick", seeds=first)),
        swapped=_fresh(path, Options(size="quick", seeds=first, sets=sets)),
        control=_fresh(path, Options(size="quick", seeds=others)),
    )


def _fresh(path: Path, options: Options) -> Verdicts:
    """The verdicts of an experiment that is run into a directory of its own."""
    with tempfile.TemporaryDirectory() as folder:
        results = run_grid(path, Path(folder) / "out", options, Settings(jobs=os.cpu_count() or 1))
        return judged(path, options, results.directory)


def changes(before: Verdicts, after: Verdicts) -> tuple[int, int, int]:
    """The number of verdicts decided before or after, of those that changed, and of those that turned round.

    Claims that either seeds are unfit for are not counted.
    """
    pairs = [(before[claim], after[claim]) for claim in before]
    decided = [pair for pair in pairs if set(pair) != {"undecided"} and UNFIT not in pair]
    turned = sum("undecided" not in pair and pair[0] != pair[1] for pair in decided)
    return len(decided), sum(old != new for old, new in decided), turned


def run_trials(count: int) -> int:
    """Prints how many trials of each null experiment found something; the exit status."""
    status = 0
    for path in sorted(TRIALS.glob("*.toml")):
        verdicts = trials(path, count)
        false = count - verdicts["undecided"]
        print(
            f"{path.stem}: {false} of {count} trials have a verdict, {most_false(count)} allowed: {dict(verdicts)}",
            flush=True,
        )
        status |= false > most_false(count)
    print(f"{cpu_minutes():.1f} minutes of processor time")
    return status


def run_swaps(paths: Sequence[Path], seeds: int, hops: float) -> int:
    """Prints what swapped hosts change in each experiment, and what other seeds change; the exit status."""
    sums, controls = (0, 0, 0), (0, 0, 0)
    for path in paths:
        swapped_verdicts = swapped(path, seeds, hops)
        if swapped_verdicts is None:
            continue
        changed, by_seeds = (
            changes(swapped_verdicts.plain, swapped_verdicts.swapped),
            changes(swapped_verdicts.plain, swapped_verdicts.control),
        )
        sums, controls = _sum(sums, changed), _sum(controls, by_seeds)
        print(f"{path.parent.name}/{path.stem}: {_words(changed)}; with other seeds {_words(by_seeds)}", flush=True)
        for claim, old in swapped_verdicts.plain.items():
            if old != swapped_verdicts.swapped[claim]:
                print(f"  {claim[0]}: {claim[1]}: {old}, then {swapped_verdicts.swapped[claim]}", flush=True)
    print(f"in all {_words(sums)}; with other seeds {_words(controls)}; {cpu_minutes():.1f} minutes of processor time")
    return int(changes_more(sums, controls) or sums[2] > 0)


def changes_more(swapped: tuple[int, int, int], control: tuple[int, int, int]) -> bool:
    """Whether swapped hosts change more than 5 % of the verdicts, and more than other seeds do beyond chance."""
    table = [[swapped[1], swapped[0] - swapped[1]], [control[1], control[0] - control[1]]]
    return swapped[1] > LEVEL * swapped[0] and float(stats.fisher_exact(table, "greater").pvalue) <= LEVEL


def cpu_minutes() -> float:
    """The processor time of this process and of those that it waited for, in minutes."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used) / 60


def _sum(left: tuple[int, int, int], right: tuple[int, int, int]) -> tuple[int, int, int]:
    return left[0] + right[0], left[1] + right[1], left[2] + right[2]


def _words(counts: tuple[int, int, int]) -> str:
    return f"{counts[0]} decided, {counts[1]} change, {counts[2]} turn round"


def main() -> int:
    """Reads the arguments and runs what they ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("trials").add_argument("--trials", type=int, default=400)
    swap = commands.add_parser("swap")
    swap.add_argument("files", nargs="*", type=Path)
    swap.add_argument("--hops", type=float, default=MOST_HOPS)
    swap.add_argument("--seeds", type=int, default=SEEDS)
    options = parser.parse_args()
    if options.command == "trials":
        return run_trials(options.trials)
    if options.files:
        return run_swaps(options.files, options.seeds, math.inf)
    return run_swaps(shipped(), options.seeds, options.hops)


def shipped() -> list[Path]:
    """The experiment files of all figures."""
    study = ROOT / "study"
    return [*sorted(study.glob("papers/**/figure.toml")), *sorted(study.glob("ours/*/figure.toml"))]


if __name__ == "__main__":
    sys.exit(main())
