"""The gain of missing capabilities: each one stands for a scheme that lacks it and nothing else."""

from pathlib import Path

import numpy as np
import pytest

from advise_files import FABRIC, write_fabric, write_recorded
from priolane.advice.candidates import candidates
from priolane.advice.fabric import HOST_FEATURES, SWITCH_FEATURES, read_fabric
from priolane.advice.feasible import feasible, requires, shipped
from priolane.advice.flow_list import read_flows
from priolane.advice.remedies import candidate_for, richer_fabrics
from priolane.advice.training import Training

MODULES = {"kernel_module", "congestion_module"}


@pytest.mark.parametrize("queues", [1, 3])
def test_the_capabilities_named_are_those_that_the_scheme_itself_lacks(queues: int, tmp_path: Path) -> None:
    fabric = read_fabric(write_fabric(tmp_path, FABRIC), queues=queues)
    flows = read_flows(write_recorded(tmp_path))
    training = Training(flows.path, np.sort(flows.sizes), 0.5)
    named = 0
    for missing, scheme, richer in richer_fabrics(fabric, feasible(fabric, flows)):
        choice = candidate_for(candidates(richer, feasible(richer, flows), training), scheme)
        if scheme is None or choice is None:
            continue
        base = str(choice.rows.get("base", choice.name))
        lacks = {need for need in requires(shipped()[base]) if need in {*SWITCH_FEATURES, *HOST_FEATURES}}
        lacks -= fabric.features
        lacks -= MODULES if "user_stack" in lacks else set()
        assert {name.partition(".")[2] for name in missing} == lacks, choice.name
        named += 1
    assert named >= 2
