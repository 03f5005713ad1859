"""The targets, and what carries one out: from a plan to files on disk."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from priolane.export import dcb, eos, hosts, junos, nft, nxos, sonic, sysctl, tc
from priolane.export.deployment import Deployment
from priolane.export.findings import ExportedFiles, Findings
from priolane.export.plan import Plan
from priolane.files import write_whole

NOTES = "notes.txt"


@dataclass(frozen=True)
class Target:
    """What a target is, and the function that makes its files."""

    about: str
    export: Callable[[Plan, Deployment, Findings], Mapping[str, str]]


TARGETS = {
    "sonic": Target("SONiC: tables of config_db.json", sonic.export),
    "eos": Target("Arista EOS", eos.export),
    "nxos": Target("Cisco NX-OS, Nexus 9000", nxos.export),
    "junos": Target("Juniper Junos, QFX5000", junos.export),
    "tc": Target("Linux tc: switch ports and hosts' queues", tc.export),
    "nft": Target("Linux nftables: DSCP at hosts", nft.export),
    "dcb": Target("Linux DCB: traffic classes and PFC of a device", dcb.export),
    "sysctl": Target("Linux TCP of hosts", sysctl.export),
    "hosts": Target("a plan for hosts: what no knob sets", hosts.export),
}


def export(target: str, plan: Plan, deployment: Deployment, *, strict: bool = False) -> ExportedFiles:
    """The files of a plan for a target.

    Raises `InputError` with a line for each reason why there is none; with `strict`, for each thing that would not be
    as the plan says.
    """
    found = Findings()
    files = TARGETS[target].export(plan, deployment, found)
    found.raise_refusals(f"{plan.scheme} for {target}", strict=strict)
    return ExportedFiles(files, found)


def write(directory: Path, exported: ExportedFiles) -> list[Path]:
    """Writes the files, and what was found as `notes.txt`; returns their paths."""
    texts = {**exported.files, NOTES: "".join(f"{line}\n" for line in exported.findings.lines())}
    for name, text in texts.items():
        write_whole(directory / name, text)
    return [directory / name for name in texts]
