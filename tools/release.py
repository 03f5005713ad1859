"""The release checklist.

python tools/release.py version 0.2.0   writes the version wherever it stands, and dates the section of CHANGELOG.md
python tools/release.py check           carries out every check, in order, and stops at the first that fails
python tools/release.py check --from N  the same from check N on
python tools/release.py list            prints the checks, and what is left to do by hand after them
"""

import argparse
import datetime
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSION = re.compile(r"\d+\.\d+\.\d+")
MAN_PAGE = "packaging/wheel/data/share/man/man1/priolane.1"


@dataclass(frozen=True)
class Place:
    """A file that states the version, and the pattern of the text before and after it, on one line."""

    path: str
    before: str
    after: str = ""

    def pattern(self) -> re.Pattern[str]:
        """Matches the version, between the text before and after it."""
        return re.compile(f"({self.before}){VERSION.pattern}({self.after})", re.MULTILINE)


PLACES = (
    Place("Cargo.toml", r'^version = "', '"$'),
    Place("Cargo.toml", r'^priolane-[a-z]+ = \{ version = "', '"'),
    Place("CITATION.cff", "^version: ", "$"),
    Place(MAN_PAGE, r'^\.TH PRIOLANE "1" "" "priolane ', '"'),
)


@dataclass(frozen=True)
class Check:
    """A command that must succeed before a release."""

    about: str
    command: str


CHECKS = (
    Check("nothing is uncommitted", "git diff --quiet HEAD"),
    Check("formats, lints, types", "make lint"),
    Check("every test", "make test"),
    Check("long tests, all kept digests, planted faults", "make soak"),
    Check("the wheel, installed without Rust, and the one made from the sdist", "make check-wheel"),
    Check("the wheel for aarch64", "make wheel-aarch64"),
    Check("its digests under qemu", "make check-wheel-aarch64"),
    Check("the crates, compiled from what would be published", "cargo publish --workspace --dry-run"),
    Check("man page and completions are those of the parser", "make manual"),
    Check("nothing was changed by the checks", "git diff --quiet HEAD"),
)
BY_HAND = (
    "git tag -s v{version} && git push origin v{version}",
    "cargo publish --workspace",
    ".venv/bin/maturin upload dist/priolane-{version}*",
    "podman build -t priolane:{version} .",
)


class ReleaseError(Exception):
    """The release cannot go on; says why."""


def current_version(root: Path) -> str:
    """The version of the workspace."""
    text = (root / "Cargo.toml").read_text(encoding="utf-8")
    (version,) = re.findall(f'^version = "({VERSION.pattern})"$', text, re.MULTILINE)
    return str(version)


def set_version(root: Path, version: str, today: datetime.date) -> list[str]:
    """Writes `version` wherever it stands and begins its section of the change log; returns the files."""
    if not VERSION.fullmatch(version):
        raise ReleaseError(f"{version!r} is no version; write one such as 0.2.0")
    texts: dict[str, str] = {}
    for place in PLACES:
        text = texts.get(place.path) or (root / place.path).read_text(encoding="utf-8")
        texts[place.path], places = place.pattern().subn(rf"\g<1>{version}\g<2>", text)
        if places == 0:
            raise ReleaseError(f"{place.path} does not state the version: nothing there matches {place.before!r}")
    log = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if log.count("\n## Unreleased\n") != 1:
        raise ReleaseError("CHANGELOG.md needs one heading `## Unreleased`")
    texts["CHANGELOG.md"] = log.replace("\n## Unreleased\n", f"\n## Unreleased\n\n## {version} ({today.isoformat()})\n")
    for path, text in texts.items():
        (root / path).write_text(text, encoding="utf-8")
    return list(texts)


def numbered() -> Iterator[tuple[int, Check]]:
    """The checks, counted from 1."""
    return enumerate(CHECKS, 1)


def run_checks(root: Path, first: int) -> None:
    """Runs the checks from `first` on."""
    version = current_version(root)
    if f"\n## {version} (" not in (root / "CHANGELOG.md").read_text(encoding="utf-8"):
        raise ReleaseError(f"CHANGELOG.md has no section {version}; run `python tools/release.py version {version}`")
    for number, check in numbered():
        if number < first:
            continue
        print(f"{number}/{len(CHECKS)} {check.about}: {check.command}", flush=True)
        if subprocess.run(shlex.split(check.command), cwd=root, check=False).returncode != 0:  # noqa: S603
            raise ReleaseError(f"check {number} failed; mend it, then: python tools/release.py check --from {number}")
    print("ready; what is left:", *after(version), sep="\n  ")


def after(version: str) -> list[str]:
    """The commands that publish, which nothing takes back."""
    return [command.format(version=version) for command in BY_HAND]


def main() -> int:
    """The command line; returns its exit code."""
    parser = argparse.ArgumentParser(description="The release checklist.")
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("version", help="write the version everywhere").add_argument("version")
    actions.add_parser("check", help="carry out the checks").add_argument("--from", dest="first", type=int, default=1)
    actions.add_parser("list", help="print the checks")
    args = parser.parse_args()
    try:
        if args.action == "version":
            print(*set_version(ROOT, args.version, datetime.datetime.now(tz=datetime.UTC).date()), sep="\n")
            subprocess.run(["cargo", "update", "--workspace", "--offline", "--quiet"], cwd=ROOT, check=True)  # noqa: S607
        elif args.action == "check":
            run_checks(ROOT, args.first)
        else:
            print(*(f"{number}. {check.about}: {check.command}" for number, check in numbered()), sep="\n")
            print("by hand:", *after(current_version(ROOT)), sep="\n  ")
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
