"""The capabilities of this machine: each thing that priolane takes or can use, whether it is there, and its cure.

A check asks a `Machine`, so that tests can make one up.
"""

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from priolane import _core
from priolane.model.experiment import check
from priolane.results.numbers import format_value
from priolane.simulators import ns3

Purpose = Literal["experiments", "tests and bench", "real hosts"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGES = ("jinja2", "numpy", "pyarrow", "rich")
OLDEST_PYTHON = (3, 11)
LEAST_MEMORY = 1 << 30
LEAST_DISK = 1 << 30
_CAP_NET_ADMIN = 12
_UDP_SEGMENT, _UDP_GRO = 103, 104
_SECONDS = 10.0
_EXAMPLE = Path(__file__).parent.parent / "experiments" / "recipes" / "first.toml"
# A classic BPF program of one instruction, `return -1`.
_BYTECODE = "1,6 0 0 4294967295"


@dataclass(frozen=True)
class Check:
    """One thing: whether it is there, what was seen, and what to do where it is not.

    `needed`: no experiment runs without it.
    """

    name: str
    purpose: Purpose
    ok: bool
    seen: str
    cure: str = ""
    needed: bool = False


class Machine:
    """The machine that checks ask; this one is the machine that priolane runs on."""

    def cores(self) -> int:
        """Cores that this process may use."""
        return len(os.sched_getaffinity(0))

    def memory(self) -> int:
        """Bytes of memory."""
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    def free_disk(self) -> int:
        """Bytes that are free where results go: in the current directory."""
        return shutil.disk_usage(Path.cwd()).free

    def python(self) -> tuple[int, int, int]:
        """The version of Python."""
        return sys.version_info[:3]

    def has_package(self, name: str) -> bool:
        """Whether a package of Python can be imported."""
        return importlib.util.find_spec(name) is not None

    def module(self) -> tuple[str, str, str]:
        """The compiled module: its version, its build, and its file."""
        return _core.version(), _core.BUILD, str(_core.__file__)

    def ns_per_hop(self) -> float:
        """The time of a packet-hop of a small experiment, measured for a moment."""
        return float(check(_EXAMPLE)["ns_per_hop"])

    def path(self, program: str) -> str | None:
        """The path of a program."""
        return shutil.which(program)

    def ns3(self) -> str:
        """The version of ns-3; raises `ns3.SimulatorMissing`."""
        return ns3.ns3_version()

    def capabilities(self) -> int:
        """The effective capabilities of this process, as bits."""
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("CapEff:"):
                return int(line.split()[1], 16)
        return 0

    def failure(self, command: Sequence[str]) -> str | None:
        """Runs a command: `None` if it succeeds, else its last words."""
        try:
            ran = subprocess.run(  # noqa: S603
                command, capture_output=True, text=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        words = (ran.stderr or ran.stdout).strip().splitlines()
        return None if ran.returncode == 0 else (words[-1] if words else f"exit code {ran.returncode}")

    def udp_option(self, option: int, value: int) -> str | None:
        """Whether the kernel takes an option of UDP sockets: `None`, or why not."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.setsockopt(socket.IPPROTO_UDP, option, value)
            except OSError as error:
                return str(error)
        return None

    def marking(self) -> str | None:
        """Whether a program of ours can mark packets at a queue: `None`, or why not."""
        tried = {
            capability["name"]: capability["missing"]
            for capability in json.loads(_core.linux_machine())["capabilities"]
        }
        return next((why for name, why in tried.items() if name.startswith("marks by a BPF program")), "not tried")


def examine(machine: Machine) -> list[Check]:
    """All checks, by purpose."""
    return [make(machine) for make in _CHECKS]


def _cores(machine: Machine) -> Check:
    cores = machine.cores()
    seen = f"{cores}: runs go side by side, one on each (--jobs)"
    return Check("cores", "experiments", ok=True, seen=seen, needed=True)


def _memory(machine: Machine) -> Check:
    memory = machine.memory()
    cure = "smaller experiments: `priolane check` predicts what a run takes"
    return Check("memory", "experiments", memory >= LEAST_MEMORY, format_value(memory, "B"), cure, needed=True)


def _disk(machine: Machine) -> Check:
    free = machine.free_disk()
    cure = "free some, or let results go elsewhere with -o"
    return Check("disk", "experiments", free >= LEAST_DISK, f"{format_value(free, 'B')} free here", cure, needed=True)


def _python(machine: Machine) -> Check:
    version = machine.python()
    oldest = ".".join(map(str, OLDEST_PYTHON))
    cure = f"install Python {oldest} or later, and priolane for it"
    return Check("python", "experiments", version >= OLDEST_PYTHON, ".".join(map(str, version)), cure, needed=True)


def _packages(machine: Machine) -> Check:
    missing = [name for name in PACKAGES if not machine.has_package(name)]
    seen = f"{', '.join(missing)} missing" if missing else ", ".join(PACKAGES)
    return Check("packages", "experiments", not missing, seen, f"pip install {' '.join(missing)}", needed=True)


def _module(machine: Machine) -> Check:
    version, build, path = machine.module()
    seen = f"{version}, build {build}, {path}"
    try:
        seen += (
            f"; {machine.ns_per_hop():.0f} ns for a packet-hop now (the build for tests takes several times as long)"
        )
    except _core.InputError as error:
        cure = "install it again: pip install --force-reinstall priolane, or make build"
        seen += f"; it does not work: {error}"
        return Check("module", "experiments", ok=False, seen=seen, cure=cure, needed=True)
    return Check("module", "experiments", ok=True, seen=seen, needed=True)


def _browser(machine: Machine) -> Check:
    path = next(filter(None, map(machine.path, BROWSERS)), None)
    return Check(
        "chromium",
        "tests and bench",
        path is not None,
        path or "not there",
        "apt-get install chromium, for tests of pages",
    )


def _program(name: str, cure: str) -> Callable[[Machine], Check]:
    def make(machine: Machine) -> Check:
        path = machine.path(name)
        return Check(name, "tests and bench", path is not None, path or "not there", cure)

    return make


def _ns3(machine: Machine) -> Check:
    cure = f"apt-get install {ns3.PACKAGES}, for `priolane bench --against ns3`"
    try:
        return Check("ns-3", "tests and bench", ok=True, seen=machine.ns3())
    except ns3.SimulatorMissing as error:
        return Check("ns-3", "tests and bench", ok=False, seen=str(error).partition(";")[0], cure=cure)


def _namespace(name: str, command: Sequence[str], cure: str) -> Callable[[Machine], Check]:
    """A check that runs a command in a network namespace of its own."""

    def make(machine: Machine) -> Check:
        failure = machine.failure(["unshare", "--net", *command])
        if failure is not None:
            failure = machine.failure(["unshare", "--user", "--map-root-user", "--net", *command])
        return Check(name, "real hosts", failure is None, failure or "there", cure)

    return make


def _command(name: str, command: Sequence[str], cure: str) -> Callable[[Machine], Check]:
    def make(machine: Machine) -> Check:
        failure = machine.failure(command)
        return Check(name, "real hosts", failure is None, failure or "there", cure)

    return make


def _net_admin(machine: Machine) -> Check:
    ok = bool(machine.capabilities() >> _CAP_NET_ADMIN & 1)
    cure = "run as root, or give it: setcap cap_net_admin+ep PROGRAM"
    return Check("CAP_NET_ADMIN", "real hosts", ok, "there" if ok else "not there", cure)


def _udp_segmentation(machine: Machine) -> Check:
    failure = machine.udp_option(_UDP_SEGMENT, 1400)
    cure = "Linux 4.18 or later; without it every packet takes a system call"
    return Check("UDP GSO", "real hosts", failure is None, failure or "there", cure)


def _udp_receive_offload(machine: Machine) -> Check:
    failure = machine.udp_option(_UDP_GRO, 1)
    cure = "Linux 5.0 or later; without it datagrams come to hosts one by one"
    return Check("UDP GRO", "real hosts", failure is None, failure or "there", cure)


def _marking(machine: Machine) -> Check:
    failure = machine.marking()
    cure = "root, a kernel with CONFIG_DEBUG_INFO_BTF, and a tc with libbpf; or modprobe sch_red, which marks by queues"
    return Check("ECN by queue length", "real hosts", failure is None, failure or "there", cure)


_CLSACT = f"ip link set lo up; tc qdisc add dev lo clsact && tc filter add dev lo egress bpf da bytecode '{_BYTECODE}'"
_FIFO = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"

_CHECKS: tuple[Callable[[Machine], Check], ...] = (
    _cores,
    _memory,
    _disk,
    _python,
    _packages,
    _module,
    _browser,
    _program("valgrind", "apt-get install valgrind, for the test that counts instructions"),
    _program("tshark", "apt-get install tshark, for tests of captures"),
    _ns3,
    _namespace("network namespaces", ["true"], "run as root, or allow user namespaces (next line)"),
    _command(
        "user namespaces",
        ["unshare", "--user", "--map-root-user", "true"],
        "sysctl -w user.max_user_namespaces=15000; on Ubuntu also kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    _namespace(
        "HTB",
        ["tc", "qdisc", "add", "dev", "lo", "root", "htb"],
        "apt-get install iproute2; a kernel with CONFIG_NET_SCH_HTB (modprobe sch_htb)",
    ),
    _namespace(
        "nft",
        ["nft", "add", "table", "inet", "priolane"],
        "apt-get install nftables; a kernel with CONFIG_NF_TABLES_INET (modprobe nf_tables)",
    ),
    _namespace(
        "BPF clsact",
        ["sh", "-c", _CLSACT],
        "a kernel with CONFIG_NET_CLS_BPF and CONFIG_NET_SCH_INGRESS (modprobe cls_bpf sch_ingress)",
    ),
    _marking,
    _command(
        "SCHED_FIFO",
        [sys.executable, "-c", _FIFO],
        "run as root, or raise rtprio in /etc/security/limits.conf (ulimit -r)",
    ),
    _net_admin,
    _udp_segmentation,
    _udp_receive_offload,
)
