"""Every rule of `assign` for every target: the plan has a queue for each class that packets carry in a simulation."""

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import export_plans
from priolane._core import InputError
from priolane.cli import main
from priolane.export.deployment import Deployment
from priolane.export.plan import ExportPlan
from priolane.export.targets import TARGETS
from priolane.model.keys import parts

# A row for each rule and the number of classes that it gives, as docs/experiments.md counts them.
RULES: dict[str, tuple[str, int]] = {
    "none": ('kind = "none"', 2),
    "group": ('kind = "group", classes = [0, 2, 1]', 3),
    "bytes_sent": ('kind = "bytes_sent", levels = 2, thresholds = ["20kB"]', 3),
    "size": ('kind = "size", thresholds = ["20kB", "1MB"]', 3),
    "coflow_size": ('kind = "coflow_size", thresholds = ["20kB"]', 2),
    "flow_fraction": ('kind = "flow_fraction", fractions = [0.5, 0.5]', 2),
    "equal_bytes": ('kind = "equal_bytes", levels = 3', 3),
    "random_fraction": ('kind = "random_fraction", fractions = [0.5, 0.5]', 2),
    "deadlines_first": ('kind = "deadlines_first", thresholds = ["20kB"]', 3),
    "deadline": ('kind = "deadline", thresholds = ["1ms"]', 2),
    "deadline_rank": ('kind = "deadline_rank", fractions = [0.5, 0.5]', 2),
    "demand_rate": ('kind = "demand_rate", thresholds = ["100Mbps"]', 2),
    "power_law": ('kind = "power_law", levels = 2, of = "size", scale = "10MB", exponent = -0.5', 2),
    "paid_weight": ('kind = "paid_weight", weights = [2]', 2),
}
# Rules of a user's class, whose number of classes is a key.
NOT_HERE = {"python"}
EXPERIMENT = """
title = "Rules"
schemes = [%s]
seeds = 1
time = { flows = 60 }
topology = { kind = "single_switch", hosts = 4, host_link = { rate = "25Gbps", delay = "1us" } }
switch = { buffer = { dynamic = "4MB", alpha = 1 }, ecn = "auto" }
%s
%s
"""
# The third has no flows, and the rule `group` counts it: classes 0, 2, and the last one, 1, for the fourth.
GROUPS = "".join(
    f"""
[[group]]
name = "{name}"
hosts = "*"
{app}
"""
    for name, app in (
        ("web", 'app = "poisson"\nsizes = "web_search"\ndeadline = "2ms"\nload = 0.2'),
        ("batch", 'app = "poisson"\nsizes = "web_search"\nload = 0.2\nclass = 1'),
        ("idle", 'app = "none"'),
        ("more", 'app = "poisson"\nsizes = "web_search"\nload = 0.2\nclass = 1'),
    )
).replace("load = 0.2", 'load = { of = "host", counts = "payload", value = 0.2 }')


# Rules that keep or lower the class that a group asks for, and those of groups that pay: no group of others may.
ASKING = ("none", "bytes_sent")
PAYING = ("paid_weight",)


@pytest.fixture(scope="module")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The experiment of each rule."""
    folder = tmp_path_factory.mktemp("rules")
    by_name: dict[str, Path] = {}
    for name, rules, key in (
        ("asking", ASKING, "class = 1\n"),
        ("paying", PAYING, "w = 2\n"),
        ("others", tuple(rule for rule in RULES if rule not in (*ASKING, *PAYING)), ""),
    ):
        schemes = "".join(
            f'[scheme.{rule}]\nbase = "dctcp"\nassign = {{ {RULES[rule][0]} }}\n'
            f'port = {{ kind = "strict", queues = {RULES[rule][1]} }}\n'
            for rule in rules
        )
        groups = GROUPS.replace("class = 1\n", key)
        path = folder / f"{name}.toml"
        path.write_text(EXPERIMENT % (", ".join(f'"{rule}"' for rule in rules), groups, schemes), encoding="utf-8")
        by_name |= dict.fromkeys(rules, path)
    return by_name


def test_the_table_has_every_rule() -> None:
    known = {part.name for part in parts() if part.row == "assign"}
    assert known - NOT_HERE == RULES.keys()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("target", TARGETS)
def test_every_rule_is_exported_or_refused_for_a_reason(rule: str, target: str, experiments: dict[str, Path]) -> None:
    plan = export_plans.make(experiments[rule], rule)
    assert len(plan.scheme_queues) == RULES[rule][1]
    # Junos has one strict level above all the rest; conntrack does not know the class that a group asked for.
    refused = {"junos": "Junos"} if RULES[rule][1] > 1 else {}
    refused |= {"nft": "each group begins in a class of its own"} if rule == "bytes_sent" else {}
    if target not in refused:
        assert export_plans.run(target, plan).files
        return
    with pytest.raises(InputError, match=refused[target]):
        export_plans.run(target, plan)


def test_classes_of_a_simulation_have_a_queue(experiments: dict[str, Path], tmp_path: Path) -> None:
    for path in set(experiments.values()):
        assert main(["run", str(path), "-o", str(tmp_path / path.stem)]) == 0
    seen: dict[str, set[int]] = {}
    for path in tmp_path.glob("*/*/flows.parquet"):
        scheme = _scheme_of(path.parent)
        table = pq.read_table(path, columns=["class_first", "class_last"])
        seen[scheme] = set(table["class_first"].to_pylist()) | set(table["class_last"].to_pylist())
    assert seen.keys() == RULES.keys()
    for rule, classes in seen.items():
        plan = export_plans.make(experiments[rule], rule)
        assert classes <= {number for queue in plan.scheme_queues for number in queue.classes}, rule
    groups = dict(export_plans.make(experiments["group"], "group").host.groups)
    assert groups == {"web": 0, "batch": 2, "more": 1}
    assert seen["group"] == {0, 1, 2}


FIRST = """
title = "Tenants"
schemes = ["own"]
seeds = 1
time = { flows = 60 }
topology = { kind = "single_switch", hosts = 4, host_link = { rate = "25Gbps", delay = "1us" } }
switch = { buffer = { dynamic = "4MB", alpha = 1 }, ecn = "auto" }
[scheme.own]
base = "dctcp"
assign = { kind = "bytes_sent", levels = 2, thresholds = ["146kB"], first = { more = 2, batch = 1 } }
port = { kind = "strict", queues = 3 }
map = { class = [0, 1, 2, 2] }
""" + GROUPS.replace("class = 1\n", "")


@pytest.fixture
def first(tmp_path: Path) -> ExportPlan:
    """A ladder of two levels in three queues: groups begin in the first, the second and the last one."""
    (tmp_path / "first.toml").write_text(FIRST, encoding="utf-8")
    return export_plans.make(tmp_path / "first.toml", "own")


@pytest.mark.parametrize(("group", "points"), [("web", [40, 32]), ("batch", [40, 32, 0]), ("more", [40, 0, 0])])
def test_marks_of_a_group_begin_in_its_class(first: ExportPlan, group: str, points: list[int]) -> None:
    assert [queue.dscp for queue in first.queues] == [40, 32, 0]
    text = export_plans.run("nft", first, Deployment(group=group)).files["mark.nft"]
    assert f"\ntable inet priolane_{group} {{\n" in text
    begin = {"web": 0, "batch": 1, "more": 2}[group]
    # 146,000 B are the payload of 100 packets of 1500 B, and one packet more has room for the SYN. Control packets keep
    # the best class.
    ladder = f"0-151499 : goto class{begin}, 151500-18446744073709551615 : goto class{begin + 1}"
    assert f"ct original bytes vmap {{ {ladder} }}" in text
    assert "tcp ip length <= 80 goto class0\n" in text
    assert [int(point) for point in re.findall(r"chain class\d \{\n +ip dscp set (\d+)", text)] == points


def test_marks_of_groups_that_begin_in_several_classes_need_the_name_of_one(first: ExportPlan) -> None:
    for group, says in ((None, "--group web, --group batch, --group more"), ("idle", "one of web, batch, more")):
        with pytest.raises(InputError, match=says):
            export_plans.run("nft", first, Deployment(group=group))


def test_the_plan_for_hosts_has_the_levels_of_each_group(first: ExportPlan) -> None:
    levels = json.loads(export_plans.run("hosts", first).files["hosts.json"])["demotion_by_group"]
    assert [(row["group"], row["level"], row["from_bytes"], row["class"], row["dscp"]) for row in levels] == [
        ("web", 0, 0, 0, 40),
        ("web", 1, 146_000, 1, 32),
        ("batch", 0, 0, 1, 32),
        ("batch", 1, 146_000, 2, 0),
        ("more", 0, 0, 2, 0),
        ("more", 1, 146_000, 3, 0),
    ]


def _scheme_of(run: Path) -> str:
    return str(json.loads((run / "run.json").read_text(encoding="utf-8"))["scheme"])
