"""`switch.system` of a fabric: what `export` would refuse is refused before anything is simulated."""

from pathlib import Path

import pytest

from advise_files import FABRIC, write_fabric, write_recorded
from priolane import _core
from priolane.advice.candidate import Candidate, strict
from priolane.advice.candidates import simplest
from priolane.advice.exportable import keep_exportable
from priolane.advice.fabric import SYSTEMS, read_fabric
from priolane.advice.feasible import feasible
from priolane.advice.flow_list import read_flows
from priolane.advice.trials import FLOWS, Experiment
from priolane.advice.windows import Windows
from priolane.export.targets import TARGETS


def _ladder(name: str, queues: int) -> Candidate:
    """A ladder by bytes sent on DCTCP with so many strict queues."""
    thresholds = [f"{number + 1}00kB" for number in range(queues - 1)]
    rows = {
        "base": "dctcp",
        "port": strict(queues),
        "assign": {"kind": "bytes_sent", "levels": queues, "thresholds": thresholds},
        "host": {"kind": "round_robin"},
    }
    return Candidate(name, "ladder", name, rows, queues)


def _experiment(folder: Path, system: str | None, choice: list[Candidate]) -> Experiment:
    stated = "" if system is None else f'system = "{system}"\n'
    fabric = read_fabric(write_fabric(folder, FABRIC + stated), queues=8)
    flows = read_flows(write_recorded(folder))
    flows.write(folder / FLOWS)
    made = Experiment(
        path=folder / "race.toml",
        title="All",
        fabric=fabric,
        flows=flows,
        windows=Windows.over(flows, 6),
        simple=simplest(fabric),
        candidates={candidate.name: candidate for candidate in choice},
    )
    made.write()
    return made


# How many of the ladders with 2, 6, 7 and 8 queues a system has, that of routing protocols counted: SONiC, NX-OS and
# DCB have 8 in all, EOS leaves 6; Junos has one strict queue and no threshold in bytes; qdiscs have 16.
@pytest.mark.parametrize(
    ("system", "kept"),
    [
        (None, [2, 6, 7, 8]),
        ("sonic", [2, 6, 7]),
        ("nxos", [2, 6, 7]),
        ("dcb", [2, 6, 7]),
        ("eos", [2, 6]),
        ("junos", []),
        ("tc", [2, 6, 7, 8]),
    ],
)
def test_what_the_system_cannot_have_does_not_race(system: str | None, kept: list[int], tmp_path: Path) -> None:
    ladders = [_ladder(f"sent{queues}", queues) for queues in (2, 6, 7, 8)]
    experiment = _experiment(tmp_path, system, ladders)
    result = list(feasible(experiment.fabric, experiment.flows))
    left, schemes = keep_exportable(experiment, ladders, result)
    assert [candidate.queues for candidate in left] == kept
    reasons = {scheme.scheme: scheme.reasons for scheme in schemes}
    if kept:
        assert schemes == result
    else:
        assert [reason for reason in reasons["dctcp"] if "Junos has one above all the rest" in reason]
        assert all(reason.startswith("switch.system junos: ") for reason in reasons["dctcp"])


def test_a_system_is_a_target_of_export(tmp_path: Path) -> None:
    assert set(SYSTEMS) <= set(TARGETS)
    with pytest.raises(_core.InputError, match=r"key `switch.system`: 'sonik' is none of sonic, eos, nxos"):
        read_fabric(write_fabric(tmp_path, FABRIC + 'system = "sonik"\n'))
