"""Counts instructions per packet-hop under callgrind and compares them with kept numbers.

`python tools/instructions.py` compares, `--keep` writes the numbers of now to tools/instructions.toml.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "tools" / "instructions.toml"
# Scenarios and how many of their flows: short under callgrind.
SCENARIOS: dict[str, int | None] = {"dctcp_leafspine144": 20, "small_128x1": None, "small_128x16": None}
BAND = 0.05


class Incomparable(Exception):
    """Why there is nothing to compare here."""


@dataclass(frozen=True)
class Counts:
    """Instructions per packet-hop by scenario, and the compiler that made the program."""

    rustc: str
    per_hop: dict[str, float]


def read_kept(text: str) -> Counts:
    """The kept numbers, from TOML."""
    found = tomllib.loads(text)
    return Counts(str(found["rustc"]), {name: float(count) for name, count in found["per_hop"].items()})


def to_toml(counts: Counts) -> str:
    """As they are kept."""
    lines = [
        "# Instructions per packet-hop under callgrind; written by `python tools/instructions.py --keep`.",
        f'rustc = "{counts.rustc}"',
        "",
        "[per_hop]",
        *(f"{name} = {count:.1f}" for name, count in counts.per_hop.items()),
    ]
    return "\n".join(lines) + "\n"


def beyond(kept: Counts, now: Counts) -> list[str]:
    """One line for each scenario that is out of the band of 5 %, in either direction, or was not counted."""
    lines = []
    for name, before in kept.per_hop.items():
        if name not in now.per_hop:
            lines.append(f"{name}: not counted")
            continue
        change = now.per_hop[name] / before - 1
        if abs(change) > BAND:
            lines.append(
                f"{name}: {now.per_hop[name]:.1f} instructions per packet-hop, kept {before:.1f} ({change:+.1%})"
            )
    return lines + [f"{name}: not kept" for name in now.per_hop.keys() - kept.per_hop.keys()]


def instructions(told: str) -> int:
    """The count that callgrind tells on standard error; ValueError if it tells none."""
    found = re.search(r"^==\d+== Collected : (\d+)$", told, re.MULTILINE)
    if found is None:
        raise ValueError(f"callgrind told no count: {told[-300:]!r}")
    return int(found[1])


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


def count() -> Counts:
    """Builds priolane-bench and counts each scenario."""
    program = build()
    return Counts(rustc_version(), {name: per_hop(program, name, flows) for name, flows in SCENARIOS.items()})


def build() -> Path:
    """The release build of priolane-bench."""
    # With the Python module among the packages its dependencies have the features that they have there, and are not
    # compiled a second time.
    packages = ["-p", "priolane-lab", "-p", "priolane-py"]
    command = ["cargo", "build", "--release", "--quiet", *packages, "--bin", "priolane-bench"]
    for line in _output([*command, "--message-format=json"]).splitlines():
        made = json.loads(line)
        if made.get("executable") and made["target"]["name"] == "priolane-bench":
            return Path(made["executable"])
    raise RuntimeError("cargo named no priolane-bench")


def per_hop(program: Path, scenario: str, flows: int | None) -> float:
    """Instructions of one run, start of the program included, over its packet-hops."""
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
    hops: int = json.loads(done.stdout)["packet_hops"]
    return instructions(done.stderr) / hops


def _output(command: list[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return done.stdout


def main() -> int:
    """Compares or keeps; the exit code is 1 if a count is out of its band."""
    command = argparse.ArgumentParser(description=__doc__)
    command.add_argument("--keep", action="store_true", help="keep the counts of now")
    if command.parse_args().keep:
        KEPT.write_text(to_toml(count()), encoding="utf-8")
        print(KEPT.read_text("utf-8"), end="")
        return 0
    kept = read_kept(KEPT.read_text("utf-8"))
    try:
        comparable(kept)
    except Incomparable as why:
        print(f"skipped: {why}")
        return 0
    now = count()
    found = beyond(kept, now)
    print("\n".join([*(f"{name} {per:.1f}" for name, per in now.per_hop.items()), *found]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
