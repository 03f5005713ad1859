"""The targets, and what carries one out: from a plan to files on disk."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from priolane._core import InputError
from priolane.export import dcb, eos, hosts, junos, nft, nxos, sonic, sysctl, tc
from priolane.export.coverage import kind_line
from priolane.export.deployment import Deployment
from priolane.export.findings import ExportedFiles, Findings
from priolane.export.plan import ExportPlan
from priolane.storage.written_files import noted, write_files
from priolane.text.printable import printable_line

NOTES = "notes.txt"


@dataclass(frozen=True)
class Target:
    """A target, the function that makes its files, and the names that these may have."""

    about: str
    export: Callable[[ExportPlan, Deployment, Findings], Mapping[str, str]]
    names: frozenset[str]


TARGETS = {
    "sonic": Target(
        "SONiC: tables of config_db.json", sonic.export, frozenset({"config_db.json", "patch.json", "rollback.json"})
    ),
    "eos": Target("Arista EOS", eos.export, frozenset({"eos.cfg"})),
    "nxos": Target("Cisco NX-OS, Nexus 9000", nxos.export, frozenset({"nxos.cfg"})),
    "junos": Target("Juniper Junos, QFX5000", junos.export, frozenset({"junos.set"})),
    "tc": Target("Linux tc: switch ports and hosts' queues", tc.export, frozenset({"switch.sh", "host.sh"})),
    "nft": Target("Linux nftables: DSCP at hosts", nft.export, frozenset({"mark.nft"})),
    "dcb": Target("Linux DCB: traffic classes and PFC of a device", dcb.export, frozenset({"dcb.sh"})),
    "sysctl": Target("Linux TCP of hosts", sysctl.export, frozenset({"routes.sh", "sysctl.conf", "modprobe.conf"})),
    "hosts": Target("a plan for hosts: what no knob sets", hosts.export, frozenset({"hosts.md", "hosts.json"})),
}


def export(target: str, plan: ExportPlan, deployment: Deployment, *, strict: bool = False) -> ExportedFiles:
    """The files of a plan for a target.

    Raises `InputError` with a line for each reason why there is none; with `strict`, for each thing that would not be
    as the plan says.
    """
    findings = Findings()
    files = TARGETS[target].export(plan, deployment, findings)
    findings.raise_refusals(f"{plan.scheme} for {target}", strict=strict)
    findings.coverage.require_whole(plan)
    findings.note(findings.coverage.line(plan))
    if findings.coverage.switches:
        for switch in plan.switches:
            findings.note(kind_line(switch))
    return ExportedFiles(files, findings)


def write(directory: Path, exported: ExportedFiles) -> list[Path]:
    """Writes the files, and what was found as `notes.txt`, all or none; returns their paths.

    Files of an earlier export for the same target that no longer exist are removed. Raises `InputError` if a file that
    priolane did not write is in the place of one of them, if a switch has the name of a file, or if the directory has
    the files of another target: its notes and its way back would be lost.
    """
    notes = "".join(
        f"{printable_line(line)}\n" for line in [*exported.findings.lines(), *exported.findings.step_lines()]
    )
    texts = {**exported.files, NOTES: notes}
    folders = {parent.as_posix() for name in texts for parent in PurePath(name).parents}
    for name in texts:
        if name in folders:
            raise InputError(f"a switch has the name of the file {name}: give the switch another name")
    before = noted(directory)
    own = _targets(exported.files)
    for target in sorted(_targets(before) - own):
        raise InputError(
            f"{directory}: this directory has the export for {target}, whose {NOTES} this one would replace; choose "
            "another one with -o"
        )
    return write_files(directory, texts, [name for name in before if _targets([name]) <= own and name not in texts])


def _targets(names: Iterable[str]) -> set[str]:
    """The targets that files of these names are for."""
    bare = {PurePath(name).name for name in names}
    return {name for name, target in TARGETS.items() if target.names & bare}
