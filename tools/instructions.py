"""Counts instructions per packet-hop under callgrind and compares them with kept numbers.

`python tools/instructions.py` compares, `--keep` writes the numbers of now to tools/instructions.toml. Numbers are kept
of two builds: `--profile release`, which is what users have, and `--profile ci`, which `make test` has compiled anyway.
`--transports` and `--grid` print tables of docs/performance.md, which take minutes and are not kept.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "tools" / "instructions.toml"
# Scenarios and how many of their flows: short under callgrind.
SCENARIOS: dict[str, int | None] = {"dctcp_leafspine144": 20, "small_128x1": None, "small_128x16": None}
BAND = 0.05
PROFILES = ("release", "ci")
# The flows of the leaf-spine under each transport, DCTCP first.
TRANSPORTS = ["dctcp", "ndp", "pfabric", "homa", "phost", "hpcc", "expresspass", "top"]
TRANSPORT_FLOWS = 60
# Flows a host, packets of a flow and microseconds of a link.
GRID = ((1, 8, 32), (10, 50, 250), (1, 4, 16))


class Incomparable(Exception):
    """The reason why there is nothing to compare here."""


@dataclass(frozen=True)
class Counts:
    """Instructions per packet-hop by scenario, and the compiler that made the program."""

    rustc: str
    per_hop: dict[str, float]


Kept = dict[str, Counts]


def read_kept(text: str) -> Kept:
    """The kept numbers by profile, from TOML."""
    return {
        profile: Counts(str(counts["rustc"]), {name: float(count) for name, count in counts["per_hop"].items()})
        for profile, counts in tomllib.loads(text).items()
    }


def to_toml(kept: Kept) -> str:
    """As they are kept."""
    lines = ["# Instructions per packet-hop under callgrind; written by `python tools/instructions.py --keep`."]
    for profile, counts in kept.items():
        lines += ["", f"[{profile}]", f'rustc = "{counts.rustc}"', "", f"[{profile}.per_hop]"]
        lines += [f"{name} = {count:.1f}" for name, count in counts.per_hop.items()]
    return "\n".join(lines) + "\n"


def outside_band(kept: Counts, now: Counts) -> list[str]:
    """One line for each scenario that is out of the band of 5 %, in either direction, or was not counted."""
    lines = []
    for name, before in kept.per_hop.items():
        if name not in now.per_hop:
            lines.append(f"{name}: not counted")
            continue
        change = now.per_hop[name] / before - 1
        if abs(change) > BAND:
            lines.append(
                f"{name}: {now.per_hop[name]:.1f} instructions per packet-hop, kept {before:.1f} "
                f"({change * 100:+.1f} %)"
            )
    return lines + [f"{name}: not kept" for name in now.per_hop.keys() - kept.per_hop.keys()]


def instructions(output: str) -> int:
    """The count that callgrind tells on standard error; ValueError if it tells none."""
    match = re.search(r"^==\d+== Collected : (\d+)$", output, re.MULTILINE)
    if match is None:
        raise ValueError(f"callgrind told no count: {output[-300:]!r}")
    return int(match[1])


def rustc_version() -> str:
    """The release of the compiler, as `1.95.0`; raises `Incomparable` where there is none."""
    if shutil.which("rustc") is None:
        raise Incomparable("there is no rustc")
    return _output(["rustc", "--version"]).split()[1]


def comparable(kept: Counts) -> None:
    """Raises `Incomparable` where valgrind is missing or the compiler is another one."""
    if shutil.which("valgrind") is None:
        raise Incomparable("there is no valgrind (Debian: apt-get install valgrind)")
    version = rustc_version()
    if version != kept.rustc:
        raise Incomparable(f"rustc is {version}, the kept counts are of {kept.rustc}")


def count(profile: str) -> Counts:
    """Builds priolane-bench and counts each scenario."""
    program = build(profile)
    return Counts(rustc_version(), {name: per_hop(program, name, flows) for name, flows in SCENARIOS.items()})


def build(profile: str = "release") -> Path:
    """priolane-bench, built with a profile of Cargo.toml."""
    # With the Python module among the packages its dependencies have the features that they have there, and are not
    # compiled a second time.
    packages = ["-p", "priolane-bench", "-p", "priolane-py"]
    command = ["cargo", "build", "--profile", profile, "--quiet", *packages, "--bin", "priolane-bench"]
    for line in _output([*command, "--message-format=json"]).splitlines():
        made = json.loads(line)
        if made.get("executable") and made["target"]["name"] == "priolane-bench":
            return Path(made["executable"])
    raise RuntimeError("cargo named no priolane-bench")


@dataclass(frozen=True)
class Run:
    """The cost and the work of one run."""

    instructions: int
    packet_hops: int
    delivered: int

    def outside_band(self, start: "Run") -> "Run":
        """Without what a run takes that hardly does anything."""
        return Run(
            self.instructions - start.instructions,
            self.packet_hops - start.packet_hops,
            self.delivered - start.delivered,
        )


def per_hop(program: Path, scenario: str, flows: int | None) -> float:
    """Instructions of one run, start of the program included, over its packet-hops."""
    run = counted(program, scenario, flows)
    return run.instructions / run.packet_hops


def without_start(program: Path, scenario: str, flows: int | None) -> Run:
    """A run less one of its first flow alone, with which go the start of the program and the making of the network."""
    return counted(program, scenario, flows).outside_band(counted(program, scenario, 1))


def counted(program: Path, scenario: str, flows: int | None) -> Run:
    """One run under callgrind."""
    bench = [str(program), "--raw", "--repeat", "1", "--scenario", scenario]
    some = [] if flows is None else ["--flows", str(flows)]
    done = subprocess.run(  # noqa: S603
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *bench, *some],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{scenario} under callgrind: {done.stderr[-300:]}")
    output = json.loads(done.stdout)
    return Run(instructions(done.stderr), output["packet_hops"], output["delivered"])


def transport_table(program: Path) -> Iterator[str]:
    """Instructions per packet-hop and per packet delivered, each also over DCTCP's."""
    yield "| | instructions per packet-hop | over DCTCP | per packet delivered | over DCTCP |"
    yield "|---|---|---|---|---|"
    first: tuple[float, float] | None = None
    for name in TRANSPORTS:
        run = without_start(program, f"{name}_leafspine144", TRANSPORT_FLOWS)
        hop, packet = run.instructions / run.packet_hops, run.instructions / run.delivered
        first = first or (hop, packet)
        yield f"| `{name}` | {hop:,.0f} | {hop / first[0]:.2f} | {packet:,.0f} | {packet / first[1]:.2f} |"


def grid_table(program: Path) -> Iterator[str]:
    """Instructions per packet-hop of TOP by flows, packets and delays."""
    flows, packets, delays = GRID
    yield "| flows | packets each | " + " | ".join(f"{delay} us a link" for delay in delays) + " |"
    yield "|---" * (2 + len(delays)) + "|"
    for many in flows:
        for long in packets:
            runs = [without_start(program, f"top_{many}x{long}_{delay}us", None) for delay in delays]
            cells = " | ".join(f"{run.instructions / run.packet_hops:,.0f}" for run in runs)
            yield f"| {32 * many:,} | {long} | {cells} |"


def _output(command: list[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return done.stdout


def main() -> int:
    """Compares or keeps; the exit code is 1 if a count is out of its band."""
    command = argparse.ArgumentParser(description=__doc__)
    command.add_argument("--keep", action="store_true", help="keep the counts of now")
    command.add_argument("--profile", choices=PROFILES, default="release", help="the build that is counted")
    command.add_argument("--transports", action="store_true", help="print the table of transports")
    command.add_argument("--grid", action="store_true", help="print TOP's table by flows, packets and delays")
    args = command.parse_args()
    tables = [table for table, wanted in ((transport_table, args.transports), (grid_table, args.grid)) if wanted]
    for table in tables:
        for line in table(build()):
            print(line, flush=True)
    if tables:
        return 0
    all_kept = read_kept(KEPT.read_text("utf-8"))
    if args.keep:
        all_kept[args.profile] = count(args.profile)
        KEPT.write_text(to_toml(all_kept), encoding="utf-8")
        print(KEPT.read_text("utf-8"), end="")
        return 0
    kept = all_kept[args.profile]
    try:
        comparable(kept)
    except Incomparable as why:
        print(f"skipped: {why}")
        return 0
    now = count(args.profile)
    messages = outside_band(kept, now)
    print("\n".join([*(f"{name} {per:.1f}" for name, per in now.per_hop.items()), *messages]))
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
