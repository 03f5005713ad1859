"""The commands that lead from an answer to switches and hosts: an export for each step that the answer takes.

Every export is made once for the answer, without its files. What a target refuses has no command, but its reason.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from priolane._core import InputError
from priolane.advice.candidate import Candidate
from priolane.advice.changes import Step, Today, merged
from priolane.advice.configured_switch import SYSTEM
from priolane.advice.connections import IDLE_S
from priolane.advice.fabric import SYSTEMS
from priolane.advice.trials import Experiment
from priolane.export import code_points
from priolane.export.deployment import Deployment
from priolane.export.match import read_networks
from priolane.export.plan import Routing
from priolane.export.present import Present, read_present
from priolane.export.read import read_plan
from priolane.export.targets import export
from priolane.model.experiment import Options
from priolane.text.command_line import command_line, path_word

# Stands for the addresses of a datacenter: the user has to put theirs in its place.
_PREFIX = "10.0.0.0/8,fd00::/8"
_OF_SWITCHES = {Step.SWITCH_QUEUE, Step.SWITCH_MARKING, Step.SWITCH_FEATURE}
_OF_TCP = {Step.HOST_PARAMETER, Step.CONGESTION_CONTROL}
_OF_STACKS = {Step.CONGESTION_MODULE, Step.KERNEL_MODULE, Step.USER_STACK}
# How hosts learn the class of a packet where the kernel counts it.
_COUNTED = ("bytes_sent",)


@dataclass(frozen=True)
class ExportCommand:
    """One export. `command` is the line to type; it is `None` where the target refuses, for the reasons in `says`."""

    target: str
    command: str | None
    says: str


def commands(
    experiment: Experiment, today: Today, advised: Candidate, switch: Path | None = None
) -> tuple[ExportCommand, ...]:
    """The exports of all that `advised` changes, in the order in which they are loaded: switches first.

    `experiment` is that of the answer, as it is written; each export gets a directory beside it. Where the fabric does
    not state what its switches are configured by, the first system that takes the scheme is named. `switch` is the
    present configuration of a switch: only what differs from it is exported.
    """
    steps = set(today.steps(advised))
    system = experiment.fabric.system
    into = switch if system == SYSTEM else None
    made = _Made(experiment.path, advised.name, into, None if into is None else read_present(into))
    exports: list[ExportCommand] = []
    if steps & _OF_SWITCHES:
        exports.append(made.first(SYSTEMS if system is None else (system,)))
    exports += [made.one(target, *words) for target, *words in _of_hosts(steps, advised)]
    return tuple(exports)


def _of_hosts(steps: set[Step], advised: Candidate) -> Iterator[tuple[str, ...]]:
    """The targets of hosts, each with the options that it needs."""
    rows = merged(advised.rows)
    counted = rows["assign"]["kind"] in _COUNTED or rows["host"]["kind"] == "mlfq"
    if steps & _OF_TCP:
        yield ("sysctl", "--prefix", _PREFIX)
    if Step.DSCP in steps or (Step.HOST_QDISC in steps and counted):
        idle = ("--idle", f"{IDLE_S}s") if counted else ()
        # Where each tenant begins in a class of its own, each has a file of marks.
        for group in rows["assign"].get("first") or (None,):
            yield ("nft", *idle, *(() if group is None else ("--group", group)))
    if Step.HOST_QDISC in steps:
        yield ("tc",)
    if steps & _OF_STACKS or (Step.DSCP in steps and not counted):
        yield ("hosts",)


@dataclass(frozen=True)
class _Made:
    """The common part of the exports of an answer: its experiment, the advised scheme, and the present configuration of
    a switch with its file."""

    experiment: Path
    scheme: str
    into: Path | None
    present: Present | None

    def first(self, targets: Sequence[str]) -> ExportCommand:
        """The first of the targets that takes the scheme, with a queue for routing protocols.

        Where no target has that many queues, routing protocols share the best queue. If no target takes the scheme, the
        result has the reasons of the first one.
        """
        for options in ((), ("--routing", "best")):
            tried = [self.one(target, *options) for target in targets]
            taken = [export for export in tried if export.command is not None]
            if taken:
                others = ", ".join(export.target for export in taken[1:])
                return replace(taken[0], says=f"{taken[0].says}{f'; {others} can have it, too' if others else ''}")
        return self.one(targets[0])

    def one(self, target: str, *options: str) -> ExportCommand:
        """One export, which is tried."""
        routing: Routing = "best" if "best" in options else "own"
        prefixes = read_networks("--prefix", _PREFIX) if "--prefix" in options else ()
        present = self.present if target == SYSTEM else None
        group = options[options.index("--group") + 1] if "--group" in options else None
        idle = IDLE_S if "--idle" in options else None
        deployment = Deployment(prefixes=prefixes, group=group, idle=idle, present=present)
        plan = read_plan(self.experiment, Options(schemes=(self.scheme,), seeds=1), routing=routing, named=None)
        # Beside a present configuration, 0 stays with other traffic, and hosts mark what the switch was given.
        points = code_points.beside_others(plan) if self.into is not None and target in _MARKING else None
        try:
            export(target, deployment.placed(plan, points), deployment)
        except InputError as error:
            head = f"{self.scheme} for {target}: "
            return ExportCommand(target, None, "; ".join(line.removeprefix(head) for line in str(error).splitlines()))
        words = ("priolane", "export", target, path_word(self.experiment), "--scheme", self.scheme, *options)
        words += () if self.into is None or present is None else ("--into", path_word(self.into))
        words += () if points is None else ("--dscp", ",".join(map(str, points)))
        name = target if group is None else f"{target}-{group}"
        words += ("-o", path_word(self.experiment.parent / f"export-{name}"))
        says = _INTO if present is not None else _SAYS[target]
        says += "" if group is None else f"; of `{group}` alone, so name its flows by --match where a host has others"
        return ExportCommand(target, command_line(*words), says)


# The targets that mark packets by their class.
_MARKING = ("nft", "hosts")
_INTO = (
    "switches: the difference to the present one, and the way back; if it names other code points, nft and hosts take "
    "them by --dscp"
)
_SAYS = {
    "sonic": "switches: tables for an unused switch. With `--into config_db.json`, it writes only the difference to "
    "the switch's present tables, and notes.txt has the commands for hosts: use those in place of the next ones",
    "eos": "switches",
    "nxos": "switches",
    "junos": "switches",
    "dcb": "switches: traffic classes of a device",
    "tc": "queues of Linux: switch.sh for ports of switches, host.sh for hosts",
    "nft": "hosts: DSCP of everything that they send, voice and storage included; --match port=, address= or cgroup= "
    "limits it to flows",
    "sysctl": "hosts: TCP of the routes to --prefix, in place of which your datacenter's addresses belong",
    "hosts": "hosts: what applications and transports have to do, as no setting of the kernel does it",
}
