"""Plants each fault of tools/planted_faults.toml in a copy of the tree and shows that its test goes red.

`python tools/planted_faults.py` plants all, with arguments only those whose name or file holds one of them. Without the
fault the test must be green. The exit code is 1 if a test stays green, does not exist, or does not compile. Faults in
Python want the compiled module, which `make build` makes. The work tree is read only: what is planted is planted in
target/planted/tree, which the next call mends if this one is killed.
"""

import argparse
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
FAULTS = ROOT / "tools" / "planted_faults.toml"
WORK = ROOT / "target" / "planted"
# A fault may make a test wait for ever.
LONGEST_S = 600
# Dependencies are those of `make test`; crates of the tree compile soonest, and soonest again after a change of a file.
QUICK = ["profile.ci.incremental=true"]
QUICK += [f"profile.ci.package.priolane-{crate}.opt-level=0" for crate in ("core", "sim", "workload")]
PROFILE = ["--profile", "ci", *(part for config in QUICK for part in ("--config", config))]


@dataclass(frozen=True)
class Fault:
    """One fault: in `file`, `old`, which stands there once, becomes `new`, and `test` goes red.

    `test` is a path of pytest (`tests/test_grid.py::test_x`), which may have several cases, or a package, a target and
    a test of cargo (`priolane-core lib ring::tests::x`), where the target is `lib` or the name of an integration test.
    """

    name: str
    file: str
    old: str
    new: str
    test: str

    def planted(self, text: str) -> str:
        """The text of the file with the fault; ValueError if there is no one place for it."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.file} has {text.count(self.old)} times, not once: {self.old}")
        return text.replace(self.old, self.new)

    def command(self) -> list[str]:
        """The command that runs the test."""
        if self.test.startswith("tests/"):
            return [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", self.test]
        package, target, test = self.test.split()
        where = ["--lib"] if target == "lib" else ["--test", target]
        return ["cargo", "test", "--quiet", *PROFILE, "-p", package, *where, "--", "--exact", test]


def read(text: str) -> list[Fault]:
    """The faults of a TOML text."""
    return [Fault(**fault) for fault in tomllib.loads(text)["fault"]]


def outcome(fault: Fault, tree: Path) -> str:
    """The result of the test of a fault in a tree: `green`, `red`, or `broken: ` and why there is no test that
    ended."""
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(ROOT / "target"),
        "PYTHONPATH": str(tree / "python"),
        # Two versions of a file may have one size and one second.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    # A process group of its own: a test may leave processes behind, and all are killed together.
    running = subprocess.Popen(  # noqa: S603
        fault.command(),
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, errors = running.communicate(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        return "red"
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
    return classify(running.returncode, out, errors)


def classify(code: int, out: str, errors: str) -> str:
    """The outcome of a test run with this exit code and output, be it that of cargo or of pytest."""
    if code == 0:
        return "green" if re.search(r"\b[1-9]\d* passed", out) else "broken: there is no such test"
    return "red" if re.search(r"\b1 failed", out) else f"broken: {(errors or out)[-2000:]}"


def copy_tree(tree: Path) -> None:
    """Copies the files that git knows or would add, and the compiled module, where they differ: cargo compares
    times."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    modules = [str(path.relative_to(ROOT)) for path in (ROOT / "python" / "priolane").glob("_core*.so")]
    wanted = {tree / name for name in [*listed, *modules] if (ROOT / name).is_file() or (ROOT / name).is_symlink()}
    for directory, _, names in os.walk(tree):
        for left in {Path(directory, name) for name in names} - wanted:
            left.unlink()
    for target in sorted(wanted):
        source = ROOT / target.relative_to(tree)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.unlink(missing_ok=True)
            target.symlink_to(source.readlink())
        elif not (target.is_file() and target.read_bytes() == source.read_bytes()):
            shutil.copyfile(source, target)


def plant(fault: Fault, tree: Path) -> str:
    """The outcome with the fault, which is taken out again."""
    path = (tree / fault.file).resolve()
    assert path.is_relative_to(tree.resolve()), f"{fault.file} is outside of the copy"
    sound = path.read_text("utf-8")
    path.write_text(fault.planted(sound), "utf-8")
    try:
        return outcome(fault, tree)
    finally:
        path.write_text(sound, "utf-8")


def missed(faults: Iterable[Fault], tree: Path) -> list[str]:
    """One line for each fault whose test is not green without it or not red with it."""
    missed_faults = []
    without: dict[str, str] = {}
    for fault in faults:
        start = time.monotonic()
        if fault.test not in without:
            without[fault.test] = outcome(fault, tree)
        with_it = plant(fault, tree) if without[fault.test] == "green" else "not planted"
        if (without[fault.test], with_it) != ("green", "red"):
            missed_faults.append(f"{fault.name}: {fault.test} is {without[fault.test]} without it, {with_it} with it")
        print(f"{with_it:6} {time.monotonic() - start:4.0f} s  {fault.name}: {fault.test}", flush=True)
    return missed_faults


def main() -> int:
    """Plants the faults that are asked for."""
    command = argparse.ArgumentParser(description=__doc__)
    command.add_argument("names", nargs="*", help="parts of names of faults or of their files")
    names: list[str] = command.parse_args().names
    faults = [
        fault
        for fault in read(FAULTS.read_text("utf-8"))
        if not names or any(name in fault.name or name in fault.file for name in names)
    ]
    # Ended by a signal, the test ends too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    WORK.mkdir(parents=True, exist_ok=True)
    with (WORK / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tree = WORK / "tree"
        copy_tree(tree)
        missed_faults = missed(faults, tree)
    print("\n".join(missed_faults) or f"{len(faults)} faults, each of them caught")
    return 1 if missed_faults or not faults else 0


if __name__ == "__main__":
    sys.exit(main())
