"""Two hosts on one wire, each a network namespace, for tests of what is loaded into Linux."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

TEST_NAMESPACE = f"priolane-{os.getpid()}"
COMMANDS = ("ip", "tc", "nft")


def run(*command: str, stdin: str | None = None, check: bool = True) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, input=stdin, check=check, timeout=60)


def unavailable() -> str | None:
    """The reason why there are no namespaces here; `None` if there are."""
    missing = [name for name in COMMANDS if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} not installed (apt-get install iproute2 nftables)"
    if os.geteuid() != 0:
        return "namespaces take root"
    made = run("ip", "netns", "add", f"{TEST_NAMESPACE}-try", check=False)
    run("ip", "netns", "del", f"{TEST_NAMESPACE}-try", check=False)
    return f"no network namespaces: {made.stderr.strip()}" if made.returncode else None


@dataclass(frozen=True)
class Hosts:
    """Two hosts on one wire: `eth0` of each, 10.79.0.1 and 10.79.0.2."""

    first: str
    second: str

    def run(self, *command: str, stdin: str | None = None, check: bool = True) -> "subprocess.CompletedProcess[str]":
        """A command at the first."""
        return run("ip", "netns", "exec", self.first, *command, stdin=stdin, check=check)

    def at_second(self, *command: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        """A command at the second."""
        return run("ip", "netns", "exec", self.second, *command, stdin=stdin)


def two_hosts() -> Iterator[Hosts]:
    """The two hosts, which are removed when the iterator ends."""
    names = (f"{TEST_NAMESPACE}-a", f"{TEST_NAMESPACE}-b")
    for name in names:
        run("ip", "netns", "add", name)
    try:
        run("ip", "-n", names[0], "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", names[1])
        for number, name in enumerate(names, 1):
            run("ip", "-n", name, "addr", "add", f"10.79.0.{number}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "gso_max_segs", "1")
            run("ip", "-n", name, "link", "set", "eth0", "up")
        yield Hosts(*names)
    finally:
        for name in names:
            run("ip", "netns", "del", name)


WHY_NOT = unavailable()
MARKS = [
    pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "available"),
    pytest.mark.xdist_group("namespaces"),
]
"""The marks of tests that take namespaces."""
