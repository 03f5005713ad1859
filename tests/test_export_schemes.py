"""Every shipped scheme for every target: it is exported, or refused for the reason that this table holds."""

from pathlib import Path

import pytest

import export_plans
from priolane._core import InputError
from priolane.export.deployment import Deployment
from priolane.export.targets import TARGETS

SWITCHES = ("sonic", "eos", "nxos", "junos", "tc", "dcb")
# Why the switch ports, or the packets, of a scheme are not to be had.
AIFO = "has no admission by quantiles of recent ranks"
PFABRIC = "has no queues that serve and drop by a rank in each packet"
PIFO = "has no queues sorted by rank (PIFO)"
RANKED = "has no queues sorted by a rank in each packet"
TELEMETRY = "has no telemetry that switches write into every packet"
TOKENS = "has no ports that limit tokens"
TRIMMING = "has no trimming as NDP has it"
BOUND = "its buffers are unbounded"
FREE = "its headroom is free"
# Why a target cannot.
BY_PORT = "it marks by the backlog of the whole port"
NINE_QUEUES = "8 queues and one for routing protocols need 9, a port has 8"
SYSTEM_QUEUE = "8 queues: EOS leaves 6"
# Eight lossless ones, ACKs, and other traffic, which must not be lossless.
ELEVEN_QUEUES = "10 queues and one for routing protocols need 11, a port has 8"
SYSTEM_QUEUE_OF_TEN = "10 queues: EOS leaves 6"
JUNOS_ECN = "Junos takes per cents of a queue's fill"
JUNOS_STRICT = "strict levels, that of routing protocols counted: Junos has one above all the rest"
NO_PFC = "lossless classes (PFC): qdiscs have none"
HEADROOM = "PFC headroom is by platform, speed and cable"
ONE_CLASS = "all its packets have one class"
OWN_CLASSES = "sets classes itself"
NO_TCP = "Linux has no congestion control"
NOT_ALONE = "no switch here has"


def everywhere(reason: str, **others: str) -> dict[str, str]:
    """One reason for all switches."""
    return dict.fromkeys(SWITCHES, reason) | others


REFUSED: dict[str, dict[str, str]] = {
    "aequitas": {"sonic": BY_PORT, "eos": BY_PORT, "nxos": BY_PORT, "junos": JUNOS_ECN},
    "aifo_swift": everywhere(AIFO, nft=NOT_ALONE, sysctl=NO_TCP),
    "cubic": {"nft": ONE_CLASS},
    "d2tcp": {"junos": JUNOS_ECN, "nft": ONE_CLASS, "sysctl": NO_TCP},
    "dcqcn": {"sonic": HEADROOM, "junos": JUNOS_ECN, "tc": NO_PFC, "nft": ONE_CLASS, "sysctl": NO_TCP},
    "dctcp": {"junos": JUNOS_ECN, "nft": ONE_CLASS},
    "es8": {
        "sonic": NINE_QUEUES,
        "eos": SYSTEM_QUEUE,
        "nxos": NINE_QUEUES,
        "junos": JUNOS_STRICT,
        "dcb": NINE_QUEUES,
    },
    "expresspass": everywhere(TOKENS, nft=NOT_ALONE, sysctl=NO_TCP),
    "firapam": {"sonic": BY_PORT, "eos": BY_PORT, "nxos": BY_PORT, "junos": JUNOS_ECN},
    "homa": {
        "sonic": NINE_QUEUES,
        "eos": SYSTEM_QUEUE,
        "nxos": NINE_QUEUES,
        "junos": JUNOS_STRICT,
        "dcb": NINE_QUEUES,
        "nft": OWN_CLASSES,
        "sysctl": NO_TCP,
    },
    "hpcc": everywhere(TELEMETRY, nft=NOT_ALONE, sysctl=NO_TCP),
    "ideal_tokens": everywhere(TOKENS, nft=NOT_ALONE, sysctl=NO_TCP),
    "ledbat": {"nft": ONE_CLASS, "sysctl": NO_TCP},
    "ndp": everywhere(TRIMMING, nft=NOT_ALONE, sysctl=NO_TCP),
    "newreno": {"nft": ONE_CLASS},
    "nos2": {"sonic": BY_PORT, "eos": BY_PORT, "nxos": BY_PORT, "junos": JUNOS_ECN},
    "ns3_dctcp": {"junos": JUNOS_ECN, "nft": ONE_CLASS},
    "nscc": everywhere(TRIMMING, nft=NOT_ALONE, sysctl=NO_TCP),
    "paccp": {"nft": ONE_CLASS, "sysctl": NO_TCP},
    "paccp_dctcp": {"junos": JUNOS_ECN, "nft": ONE_CLASS, "sysctl": NO_TCP},
    "pfabric": everywhere(PFABRIC, nft=NOT_ALONE, sysctl=NO_TCP),
    "phost": {"junos": JUNOS_STRICT, "nft": OWN_CLASSES, "sysctl": NO_TCP},
    "physical_star_swift": everywhere(FREE, nft=OWN_CLASSES, sysctl=NO_TCP),
    "physical_swift": {
        "sonic": ELEVEN_QUEUES,
        "eos": SYSTEM_QUEUE_OF_TEN,
        "nxos": ELEVEN_QUEUES,
        "junos": JUNOS_STRICT,
        "tc": NO_PFC,
        "dcb": ELEVEN_QUEUES,
        "nft": OWN_CLASSES,
        "sysctl": NO_TCP,
    },
    "pias": {
        "sonic": NINE_QUEUES,
        "eos": SYSTEM_QUEUE,
        "nxos": NINE_QUEUES,
        "junos": JUNOS_STRICT,
        "dcb": NINE_QUEUES,
    },
    "pifo_swift": everywhere(PIFO, nft=NOT_ALONE, sysctl=NO_TCP),
    "prioplus_ledbat": {"junos": JUNOS_STRICT, "nft": OWN_CLASSES, "sysctl": NO_TCP},
    "prioplus_swift": {"junos": JUNOS_STRICT, "nft": OWN_CLASSES, "sysctl": NO_TCP},
    "ps": everywhere(BOUND, nft=ONE_CLASS, sysctl=BOUND, hosts=BOUND),
    "srpt": everywhere(BOUND, nft=ONE_CLASS, sysctl=BOUND, hosts=BOUND),
    "srpt_ranked": everywhere(RANKED, nft=NOT_ALONE, sysctl=NOT_ALONE, hosts=BOUND),
    "swift": {"nft": ONE_CLASS, "sysctl": NO_TCP},
    "timely": {"sonic": HEADROOM, "junos": JUNOS_STRICT, "tc": NO_PFC, "nft": ONE_CLASS, "sysctl": NO_TCP},
    "top": everywhere(TOKENS, nft=NOT_ALONE, sysctl=NO_TCP),
}


def test_the_table_has_every_scheme() -> None:
    assert sorted(REFUSED) == export_plans.SCHEMES


@pytest.mark.parametrize("scheme", export_plans.SCHEMES)
def test_every_scheme_is_exported_or_refused_for_a_reason(scheme: str, tmp_path: Path) -> None:
    plan = export_plans.make(export_plans.write_experiment(tmp_path), scheme)
    for target in TARGETS:
        reason = REFUSED[scheme].get(target)
        if reason is None:
            files = export_plans.run(target, plan).files
            assert files, target
            assert all(text.endswith("\n") and len(text) > 40 for text in files.values()), target
            continue
        with pytest.raises(InputError) as refused:
            export_plans.run(target, plan)
        assert reason in str(refused.value), target
        assert all(line.startswith(f"{scheme} for {target}: ") for line in str(refused.value).splitlines())


@pytest.mark.parametrize("scheme", ["nos2", "aequitas", "firapam"])
@pytest.mark.parametrize("target", ["sonic", "eos", "nxos"])
def test_a_scheme_that_marks_by_queue_is_exported(scheme: str, target: str, tmp_path: Path) -> None:
    plan = export_plans.make(export_plans.write_experiment(tmp_path), scheme, (export_plans.PER_QUEUE,))
    assert sorted(export_plans.run(target, plan).files) == sorted(export_plans.run(target, plan).files)
    assert len(export_plans.run(target, plan).files) == 2


@pytest.mark.parametrize("scheme", ["pias", "es8", "homa"])
@pytest.mark.parametrize("target", ["sonic", "nxos", "dcb"])
def test_eight_queues_go_where_routing_protocols_share_the_best(scheme: str, target: str, tmp_path: Path) -> None:
    sets = () if scheme == "homa" else (export_plans.PER_QUEUE,)
    plan = export_plans.make(export_plans.write_experiment(tmp_path), scheme, sets, routing="best")
    result = export_plans.run(target, plan).findings
    assert any("share the best queue" in str(change) for change in result.changed)


def test_lossless_classes_go_to_sonic_with_the_headroom_of_a_platform(tmp_path: Path) -> None:
    plan = export_plans.make(export_plans.write_experiment(tmp_path), "timely")
    deployment = Deployment(cable="40m", headroom=export_plans.HEADROOM)
    assert len(export_plans.run("sonic", plan, deployment).files) == 2
    with pytest.raises(InputError, match="no row for 40000 Mbit/s and --cable 40m"):
        export_plans.run("sonic", plan, Deployment(cable="40m", headroom={10_000: export_plans.HEADROOM[10_000]}))


def test_acks_in_the_class_of_their_data_are_left_to_hosts_of_the_scheme(tmp_path: Path) -> None:
    of_flows = (("scheme.%s.transport.control_class", '"flow"'),)
    plan = export_plans.make(export_plans.write_experiment(tmp_path), "physical_swift", of_flows)
    assert sorted(number for queue in plan.queues for number in queue.classes if number < 8) == list(range(8))
    with pytest.raises(InputError, match=OWN_CLASSES):
        export_plans.run("nft", plan)
    assert export_plans.run("hosts", plan).files
