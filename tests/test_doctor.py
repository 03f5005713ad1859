"""`priolane doctor`: what it makes of machines that lack things, and its exit code."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from priolane._core import InputError
from priolane.cli import main
from priolane.hosts import machine as doctor
from priolane.hosts.machine import Check, Machine, examine
from priolane.simulators import ns3


class FakeMachine(Machine):
    """A machine with everything, less what a test takes away."""

    def __init__(self, **differs: Any) -> None:
        self.differs = differs
        self.ran: list[Sequence[str]] = []

    def cores(self) -> int:
        return 2

    def memory(self) -> int:
        return int(self.differs.get("memory", 8 << 30))

    def free_disk(self) -> int:
        return int(self.differs.get("free_disk", 50 << 30))

    def python(self) -> tuple[int, int, int]:
        major, minor, micro = self.differs.get("python", (3, 12, 1))
        return major, minor, micro

    def has_package(self, name: str) -> bool:
        return name not in self.differs.get("no_packages", ())

    def module(self) -> tuple[str, str, str]:
        return "9.9.9", "abc", "/x/_core.so"

    def ns_per_hop(self) -> float:
        if "broken" in self.differs:
            raise InputError("broken")
        return 123.4

    def path(self, program: str) -> str | None:
        return None if program in self.differs.get("no_programs", ()) else f"/bin/{program}"

    def ns3(self) -> str:
        if "ns3" in self.differs:
            raise ns3.SimulatorMissing("ns-3 is not installed; Debian: apt-get install x")
        return "3.37"

    def capabilities(self) -> int:
        return int(self.differs.get("capabilities", 1 << 12))

    def failure(self, command: Sequence[str]) -> str | None:
        self.ran.append(command)
        refused = self.differs.get("refused", "no such words")
        return f"{refused} refused" if refused in " ".join(command) else None

    def marking(self) -> str | None:
        refused: str | None = self.differs.get("marking")
        return refused

    def udp_option(self, option: int, value: int) -> str | None:
        assert value > 0
        refused: str | None = self.differs.get(f"udp_{option}")
        return refused


def state(**differs: Any) -> dict[str, Check]:
    return {check.name: check for check in examine(FakeMachine(**differs))}


def missing(**differs: Any) -> list[str]:
    return [name for name, check in state(**differs).items() if not check.ok]


def test_a_machine_with_everything_lacks_nothing() -> None:
    assert missing() == []
    assert "123 ns" in state()["module"].seen
    assert {check.purpose for check in state().values()} == {"experiments", "tests and bench", "real hosts"}


@pytest.mark.parametrize(
    ("differs", "lacks"),
    [
        ({"memory": 1 << 29}, ["memory"]),
        ({"free_disk": 1 << 20}, ["disk"]),
        ({"python": (3, 10, 14)}, ["python"]),
        ({"no_packages": {"numpy", "rich"}}, ["packages"]),
        ({"broken": True}, ["module"]),
        ({"no_programs": set(doctor.BROWSERS)}, ["chromium"]),
        ({"no_programs": {"chromium"}}, []),
        ({"no_programs": {"valgrind", "tshark"}}, ["valgrind", "tshark"]),
        ({"ns3": None}, ["ns-3"]),
        ({"capabilities": 1 << 11}, ["CAP_NET_ADMIN"]),
        ({"udp_103": "Protocol not available"}, ["UDP GSO"]),
        ({"udp_104": "Protocol not available"}, ["UDP GRO"]),
        ({"refused": "root htb"}, ["HTB"]),
        ({"refused": "nft add"}, ["nft"]),
        ({"refused": "bytecode"}, ["BPF clsact"]),
        ({"refused": "SCHED_FIFO"}, ["SCHED_FIFO"]),
        # Without network namespaces nothing can be tried in one.
        ({"refused": "--net"}, ["network namespaces", "HTB", "nft", "BPF clsact"]),
        ({"refused": "--user"}, ["user namespaces"]),
    ],
)
def test_what_is_missing_is_named_with_a_cure_of_one_line(differs: dict[str, Any], lacks: list[str]) -> None:
    assert missing(**differs) == lacks
    for name in lacks:
        check = state(**differs)[name]
        assert check.seen
        assert check.cure
        assert "\n" not in check.cure


def test_every_check_that_can_fail_has_a_cure() -> None:
    class Bare(FakeMachine):
        """A machine with nothing."""

        def failure(self, command: Sequence[str]) -> str | None:
            return "no"

    bare = Bare(
        memory=0,
        free_disk=0,
        python=(3, 8, 0),
        no_packages=set(doctor.PACKAGES),
        no_programs={*doctor.BROWSERS, "valgrind", "tshark"},
        capabilities=0,
        udp_103="no",
        udp_104="no",
        marking="no",
        broken=True,
        ns3=True,
    )
    checks = {check.name: check for check in examine(bare)}
    assert [name for name, check in checks.items() if check.ok] == ["cores"]
    assert [name for name, check in checks.items() if not check.ok and not check.cure] == []
    assert checks["packages"].cure == "pip install jinja2 numpy pyarrow rich"


def test_a_user_without_root_is_tried_in_a_user_namespace() -> None:
    class User(FakeMachine):
        """Plain `unshare --net` is refused."""

        def failure(self, command: Sequence[str]) -> str | None:
            self.ran.append(command)
            return "Operation not permitted" if list(command[:2]) == ["unshare", "--net"] else None

    user = User()
    assert all(check.ok for check in examine(user))
    assert ["unshare", "--user", "--map-root-user", "--net", "true"] in [list(command) for command in user.ran]


@pytest.mark.parametrize(
    ("differs", "code"),
    [({}, 0), ({"ns3": True, "udp": "no"}, 0), ({"memory": 0}, 3), ({"no_packages": {"rich"}}, 3)],
)
def test_the_exit_code_is_3_only_where_experiments_cannot_be_run(
    differs: dict[str, Any], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("priolane.cli.doctor.Machine", lambda: FakeMachine(**differs))
    assert main(["doctor"]) == code
    shown = capsys.readouterr().out
    assert shown.startswith("for experiments:\n  ok      cores")
    assert shown.count("  missing ") == len(missing(**differs))
    assert main(["doctor", "--json"]) == code
    read = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in read if not each["ok"]] == missing(**differs)


def test_this_machine_can_be_asked() -> None:
    checks = {check.name: check for check in examine(Machine())}
    assert checks["module"].ok
    assert checks["packages"].ok
    assert checks["python"].ok
    assert "packet-hop" in checks["module"].seen
