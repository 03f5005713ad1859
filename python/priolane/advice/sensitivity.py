"""The best two where things are not as recorded: more and less load, a burst, a failed link, twice the noise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from priolane._core import InputError
from priolane.advice.fabric import Fabric
from priolane.advice.flow_blocks import Blocks
from priolane.advice.goals import Goal, Outcome, outcomes, score_difference
from priolane.advice.trials import FLOWS, Experiment, RunOptions, Trial, means, trials, values

_NOISE = {"trace": "host", "scale": 1.0}


@dataclass(frozen=True)
class Disturbance:
    """A change of the experiment. `squeeze` brings flows closer together."""

    name: str
    description: str
    squeeze: float = 1.0
    changes: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Finding:
    """The effect of a disturbance on the best: its outcomes by goal, the runner-up's, and the paired difference of
    scores (runner-up less best) with its interval. `refused` says why it could not be run."""

    disturbance: Disturbance
    best: tuple[Outcome, ...] = ()
    second: tuple[Outcome, ...] = ()
    difference: tuple[float, float, float] | None = None
    refused: str | None = None
    hops: int = 0

    @property
    def order(self) -> str:
        """Whether the best stays first."""
        if self.difference is None:
            return "-"
        _, low, high = self.difference
        return "still first" if low > 0 else "second now" if high < 0 else "no significant difference"


def disturbances(fabric: Fabric, blocks: Blocks) -> tuple[Disturbance, ...]:
    """All that are tried on this fabric."""
    found = [
        Disturbance("load_up", "20 % more load", squeeze=1.2),
        Disturbance("load_down", "20 % less load", squeeze=0.8),
        Disturbance("burst", "a burst: up to 16 hosts send 64 kB each to one at once", changes=_burst(fabric, blocks)),
    ]
    link = failing_link(fabric.topology)
    if link is not None:
        at = f"{blocks.warm_ns + blocks.length_ns // 4}ns"
        until = f"{blocks.warm_ns + blocks.length_ns * 3 // 4}ns"
        event = {"at": at, "fail": link, "until": until, "reconvergence": f"{max(1, blocks.length_ns // 50)}ns"}
        description = f"{link} fails for half of the time"
        found.append(Disturbance("failed_link", description, changes={"event": [event]}))
    noise = fabric.experiment.get("delay_noise", _NOISE)
    table = noise if isinstance(noise, Mapping) else {"trace": noise}
    twice = {**table, "scale": 2 * float(table.get("scale", 1))}
    found.append(Disturbance("noise", "twice the noise of measured delays", changes={"delay_noise": twice}))
    return tuple(found)


def failing_link(topology: Mapping[str, Any]) -> str | None:
    """A link between switches whose loss leaves every two hosts a path; `None` if none is known."""
    kind = topology.get("kind")
    key, least, link = _LINKS.get(str(kind), ("", 0, ""))
    count = topology.get(key)
    return link if isinstance(count, int) and count >= least and link else None


# By kind: the key that says how many paths there are, how many it takes, and the link.
_LINKS = {
    "leaf_spine": ("spines", 2, "link:leaf0-spine0"),
    "three_tier": ("aggs_per_pod", 2, "link:leaf0-0-agg0-0"),
    "fat_tree": ("k", 4, "link:edge0-agg0"),
}


def _burst(fabric: Fabric, blocks: Blocks) -> dict[str, Any]:
    # One epoch, in the middle of the measured part.
    at = blocks.warm_ns + blocks.length_ns // 2
    return {
        "group": [
            *blocks.groups(FLOWS),
            {
                "name": "burst",
                "hosts": "*",
                "app": "incast",
                "period": f"{blocks.length_ns + blocks.warm_ns}ns",
                "start": f"{at}ns",
                "fan_in": burst_width(fabric.topology),
                "size": "64kB",
            },
        ]
    }


def burst_width(topology: Mapping[str, Any]) -> int:
    """Senders of a burst: 16, or fewer where there are fewer hosts."""
    per_leaf, leaves = topology.get("hosts_per_leaf"), topology.get("leaves")
    if isinstance(per_leaf, int) and isinstance(leaves, int):
        return max(1, min(16, per_leaf * leaves - 1))
    hosts = topology.get("hosts")
    return max(1, min(16, hosts - 1)) if isinstance(hosts, int) else 8


@dataclass(frozen=True)
class Pair:
    """The best two, and what they are judged by."""

    best: str
    second: str | None
    goals: tuple[Goal, ...]

    @property
    def names(self) -> list[str]:
        """Both names, or one."""
        return [self.best] if self.second is None else [self.best, self.second]


def examine(base: Experiment, pair: Pair, seeds: Sequence[int], how: RunOptions, budget: float) -> tuple[Finding, ...]:
    """Runs the pair under every disturbance that the budget of packet-hops has room for."""
    found: list[Finding] = []
    spent = 0
    for one in disturbances(base.fabric, base.blocks):
        # The next takes about what the largest before it took.
        if spent + max((finding.hops for finding in found), default=0) > budget:
            found.append(Finding(one, refused="not looked at: the budget was spent"))
            continue
        try:
            found.append(_examine(base, one, pair, seeds, how))
        except InputError as error:
            found.append(Finding(one, refused=str(error).splitlines()[0]))
        spent += found[-1].hops
    return tuple(found)


def as_recorded(pair: Pair, found: Mapping[str, Mapping[int, Trial]], seeds: Sequence[int]) -> Finding:
    """The pair without a disturbance, on the blocks that are disturbed: what the others are compared with."""
    own = {name: {seed: found[name][seed] for seed in seeds} for name in pair.names}
    return replace(_finding(Disturbance("none", "nothing else: as recorded, on these blocks"), pair, own), hops=0)


def _examine(base: Experiment, one: Disturbance, pair: Pair, seeds: Sequence[int], how: RunOptions) -> Finding:
    folder = base.path.parent
    experiment = replace(
        base,
        path=folder / f"sensitivity_{one.name}.toml",
        title=f"{base.title}: {one.description}",
        candidates={name: base.candidates[name] for name in pair.names},
        seeds=seeds,
        changes=dict(one.changes or {}),
        tail="",
        squeeze=one.squeeze,
    )
    if one.squeeze != 1.0:
        experiment.lists = f"flows_{one.name}"
        base.blocks.write(folder / experiment.lists, seeds, one.squeeze)
    experiment.write()
    results = experiment.run(folder / "runs" / one.name, pair.names, seeds, how)
    return _finding(one, pair, trials(results, pair.goals))


def _finding(one: Disturbance, pair: Pair, found: Mapping[str, Mapping[int, Trial]]) -> Finding:
    by_name = outcomes(pair.goals, means(found, pair.goals))
    hops = sum(trial.hops for of in found.values() for trial in of.values())
    if pair.second is None:
        return Finding(one, by_name[pair.best], hops=hops)
    difference = score_difference(pair.goals, values(found), pair.best, pair.second)
    return Finding(one, by_name[pair.best], by_name[pair.second], difference, hops=hops)
