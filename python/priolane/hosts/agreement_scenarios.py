"""The scenarios of `priolane linux agree all`: a scheme and the ports of switches, with the flows of a shipped file."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from priolane._core import InputError

_HERE = Path(__file__).parent
GROUP = "agreement"
"""The prefix of the name of a scenario on the command line, and of its results below `runs`."""
ALL = "all"


@dataclass(frozen=True)
class Scenario:
    """One of them: its name, the file with its flows, and how it is measured.

    `switch` and `scale` are those of `linux agree`; `ports` says in words what ports its scheme has.
    """

    name: str
    file: str
    scheme: str
    switch: str
    scale: int
    ports: str

    @property
    def path(self) -> Path:
        """Its experiment."""
        return _HERE.parent / "experiments" / GROUP / f"{self.file}.toml"


def scenarios() -> list[Scenario]:
    """All, in the order in which they are measured."""
    read = tomllib.loads((_HERE / "agreement.toml").read_text(encoding="utf-8"))
    return [Scenario(**entry) for entry in read["scenario"]]


def named(name: str) -> list[Scenario]:
    """Those that `all`, `agreement` or `agreement/NAME` names; none if it is no such name.

    Raises `InputError` for a name that no scenario has.
    """
    if name in (ALL, GROUP, f"{GROUP}/{ALL}"):
        return scenarios()
    group, _, wanted = name.partition("/")
    if group != GROUP:
        return []
    matching = [scenario for scenario in scenarios() if scenario.name == wanted]
    if not matching:
        known = ", ".join(scenario.name for scenario in scenarios())
        raise InputError(f"`{name}`: there is no such scenario; there are {known}, and all")
    return matching
