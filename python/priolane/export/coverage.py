"""The coverage of an export, counted in the finished texts and compared with the network that the simulator built."""

import re
from dataclasses import dataclass

from priolane._core import RunFailed
from priolane.export.plan import ExportPlan, Network, Switch

_MOST_NAMES = 8
# What separates words in all languages of exports; names of ports have none of these characters.
_BETWEEN_WORDS = re.compile(r"[^A-Za-z0-9_.:/-]+")


@dataclass
class Coverage:
    """Filled by a target while it writes its files.

    `switches` and `ports` are those that have a configuration; `hosts` tells whether files are for the hosts.
    """

    switches: int = 0
    ports: int = 0
    hosts: bool = False

    def add(self, switch: Switch, names: list[str], text: str) -> None:
        """Counts the switches of a kind, and those of its ports whose `names` are words of its finished `text`."""
        words = set(_BETWEEN_WORDS.split(_without_comments(text)))
        self.switches += switch.count
        self.ports += switch.count * sum(name in words for name in names)

    def line(self, plan: ExportPlan) -> str:
        """The coverage, in a sentence."""
        network = plan.network
        parts: list[str] = []
        if self.switches and plan.ports_are_named:
            parts.append(
                f"{_many(self.switches, 'switch', 'switches')} with {_many(self.ports, 'port')} (as they are named)"
            )
        elif self.switches:
            parts.append(f"{_many(self.switches, 'switch', 'switches')} with {_many(self.ports, 'port')} in all")
        if self.hosts:
            parts.append(_many(network.hosts, "host"))
        covered = f"covers {' and '.join(parts)}" if parts else "covers a device, whichever it is loaded into"
        return f"{covered}; the simulated network has {_whole(network)}"

    def require_whole(self, plan: ExportPlan) -> None:
        """Raises `RunFailed` if switches or ports are missing or counted twice.

        The ports of `--ports` replace those of the network.
        """
        if not self.switches:
            return
        expected = (plan.network.switches, plan.network.ports)
        if plan.ports_are_named:
            expected = (1, len(plan.switches[0].ports))
        if (self.switches, self.ports) != expected:
            raise RunFailed(
                f"the export has {_many(self.switches, 'switch', 'switches')} with {_many(self.ports, 'port')}, "
                f"and should have {expected[0]} with {expected[1]}; nothing was written. "
                "This is a fault of priolane: please report it"
            )


def kind_line(switch: Switch) -> str:
    """The switches that a configuration is for, and the number of ports of each.

    All names stand there where the switches of one role have several configurations.
    """
    names = switch.names
    if len(names) > _MOST_NAMES and switch.role == switch.role.rstrip("0123456789"):
        names = (*names[: _MOST_NAMES - 1], "...", names[-1])
    ports = _many(len(switch.ports), "port")
    each = f"{_many(switch.count, 'switch', 'switches')} with {ports}{' each' if switch.count > 1 else ''}"
    return f"{switch.role}: {each} ({', '.join(names)})"


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("#", "!")))


def _whole(network: Network) -> str:
    switches = _many(network.switches, "switch", "switches")
    return f"{switches} with {_many(network.ports, 'port')} and {_many(network.hosts, 'host')}"


def _many(count: int, singular: str, plural: str | None = None) -> str:
    return f"{count} {singular if count == 1 else plural or singular + 's'}"
