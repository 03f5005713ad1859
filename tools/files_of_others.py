"""Gives files of public repositories to `priolane import`, and counts those that it reads or refuses for a known limit.

`tools/files_of_others.toml` lists them by repository, commit and path. CLONES is a folder with clones of repositories
as OWNER/NAME, from which each file is read at its commit; nothing is downloaded and nothing is kept. Exits with 1 if a
file is not answered as listed.
"""

import argparse
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_suffix(".toml")
# Most characters of a message that are shown.
_SHOWN = 200


def content(clones: Path, entry: dict[str, Any]) -> bytes:
    """The file of an entry at its commit; raises `SystemExit` if there is no such clone, commit or file."""
    clone = clones / entry["repository"]
    called = subprocess.run(  # noqa: S603
        ["git", "-C", str(clone), "show", f"{entry['commit']}:{entry['path']}"],  # noqa: S607
        capture_output=True,
        check=False,
    )
    if called.returncode:
        raise SystemExit(f"{clone}: {called.stderr.decode(errors='replace').strip()}")
    return called.stdout


def imported(file: Path, entry: dict[str, Any]) -> tuple[int, str]:
    """Exit code and message of `priolane import` on a file."""
    form, *options = entry["import"]
    words = [str(file)]
    if entry.get("is_topology", False):
        # A network has no flows of its own: one goes beside it.
        flows = file.with_suffix(".flows")
        flows.write_text(entry["flows"], encoding="utf-8")
        words = [str(flows), "--topology", str(file)]
    command = [sys.executable, "-m", "priolane", "import", form, *words, "-o", str(file.with_suffix(".csv")), *options]
    called = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return called.returncode, called.stderr.strip()


def answer(clones: Path, folder: Path, entry: dict[str, Any]) -> tuple[bool, str]:
    """Whether a file is answered as listed, and how it is answered."""
    file = folder / Path(entry["path"]).name
    file.write_bytes(content(clones, entry))
    code, message = imported(file, entry)
    if code == 0:
        return "says" not in entry, "read"
    is_limit = code == 2 and "says" in entry and entry["says"] in message
    return is_limit, message.replace(str(file), file.name)[:_SHOWN]


def main() -> int:
    """Reads the list, and prints a line for each file that is refused or is not answered as listed."""
    command = argparse.ArgumentParser(description=__doc__)
    command.add_argument("clones", type=Path, metavar="CLONES", help="folder with clones as OWNER/NAME")
    command.add_argument("--list", type=Path, default=LIST, help="another list of files")
    args = command.parse_args()
    entries = tomllib.loads(args.list.read_text(encoding="utf-8"))["file"]
    counts = {"read": 0, "limit": 0, "wrong": 0}
    for entry in entries:
        with tempfile.TemporaryDirectory() as folder:
            is_right, how = answer(args.clones, Path(folder), entry)
        kind = "wrong" if not is_right else "read" if how == "read" else "limit"
        counts[kind] += 1
        if kind != "read":
            print(f"{kind}: {entry['repository']} {entry['path']}: {how}")
    repositories = len({entry["repository"] for entry in entries})
    print(
        f"{len(entries)} files of {repositories} repositories: {counts['read']} read, {counts['limit']} refused for a "
        f"stated limit, {counts['wrong']} not as listed"
    )
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
