"""Switches read from config_db.json: what `export sonic` wrote is read as the engine has it, and nothing is dropped."""

import copy
import json
import random
import re
from fractions import Fraction
from math import log2
from pathlib import Path
from typing import Any

import pytest

import export_plans
import sonic_present
from priolane._core import InputError
from priolane.cli import main
from priolane.export import configured, quantity
from priolane.export.configured import Configured
from priolane.export.deployment import Deployment
from priolane.model.experiment import Options, check

Config = dict[str, Any]
SITE = Deployment(memory=40_000_000, cable="40m", headroom=export_plans.HEADROOM)
PORTS = sonic_present.port_table(["10000", "10000", "40000", "40000"])
FRAME_WIRE = 1538
# What no switch has, or SONiC with eight queues: the reasons are those of test_export_schemes.
LEAST_EXPORTED = 17
EXPERIMENT = """
title = "A switch as it is configured"
schemes = ["dctcp"]
seeds = 1
time = {{ measure = "1ms" }}
{topology}
{switch}
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = {{ of = "host", counts = "payload", value = 0.6 }}
"""


def written(config: Config, path: Path, dscps: tuple[int, ...] = (0,)) -> Configured:
    path.write_text(json.dumps(config), encoding="utf-8")
    return configured.read(path, dscps)


def exported(path: Path, scheme: str, *sets: tuple[str, str]) -> tuple[Config, Any, Any]:
    """The config_db.json of the leaf as a switch has it once it is loaded, its plan, and the engine's own port."""
    keys = tuple(sets)
    plan = export_plans.make(path, scheme, keys)
    try:
        files = export_plans.run("sonic", plan, SITE).files
    except InputError as error:
        if "marks by the backlog of the whole port" not in str(error):
            raise
        keys = (*sets, export_plans.PER_QUEUE)
        plan = export_plans.make(path, scheme, keys)
        files = export_plans.run("sonic", plan, SITE).files
    text = re.sub("Ethernet([0-9])", lambda port: f"Ethernet{4 * int(port[1])}", files["leaf/config_db.json"])
    named = tuple((key.replace("%s", scheme), value) for key, value in keys)
    merged = check(path, Options(sets=named, schemes=(scheme,), seeds=1))["merged"]
    return {**json.loads(text), "PORT": PORTS}, plan, merged["scheme"][scheme]["port"]


def wire(limit: str) -> int:
    """Bytes on the line of a limit of the engine."""
    return int(limit.removesuffix("pkt")) * FRAME_WIRE if limit.endswith("pkt") else quantity.size(limit)


def engine_marks(ecn: Any, bps: int) -> tuple[int, int]:
    """Where marks begin and are certain at a rate, by the engine: its rates, and others in proportion."""

    def at(limits: Any) -> int:
        rates = sorted((quantity.rate(name), name) for name in limits)
        slower = [each for each in rates if each[0] <= bps]
        stated, name = slower[-1] if slower else rates[0]
        if limits[name].endswith("pkt"):
            return -(-int(limits[name].removesuffix("pkt")) * bps // stated) * FRAME_WIRE
        return -(-wire(limits[name]) * bps // stated)

    least = at(ecn["at"])
    return least, at(ecn["full"]) if ecn.get("full") else least


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_plans.write_experiment(tmp_path_factory.mktemp("configured"))


def test_every_shipped_scheme_comes_back_as_the_engine_has_it(experiment: Path, tmp_path: Path) -> None:
    read = []
    for scheme in export_plans.SCHEMES:
        try:
            config, plan, port = exported(experiment, scheme)
        except InputError:
            continue
        read.append(scheme)
        dscps = tuple(queue.dscp for queue in plan.scheme_queues)
        result = written(config, tmp_path / "config_db.json", dscps)
        queues = len(plan.scheme_queues)
        assert result.places == tuple(range(queues)), scheme
        assert result.port.get("queues", 1) == queues, scheme
        assert result.rates == (10**10, 4 * 10**10)
        _compare_marks(result, port, scheme)
        _compare_weights(result, port, scheme)
        _compare_buffer(result, port, scheme)
    assert len(read) >= LEAST_EXPORTED, read


def _compare_marks(result: Configured, port: Any, scheme: str) -> None:
    ecn = port.get("ecn")
    if ecn is None:
        assert result.ecn is None, scheme
        return
    assert result.ecn is not None, scheme
    for name, bps in (("10Gbps", 10**10), ("40Gbps", 4 * 10**10)):
        least, most = engine_marks(ecn, bps)
        # A switch counts whole bytes of what it stores: one of these is 1538/1518 bytes on the line.
        assert abs(wire(result.ecn["at"][name]) - least) <= 2, (scheme, name)
        if most > least:
            assert abs(wire(result.ecn["full"][name]) - most) <= 2, (scheme, name)
    assert result.ecn.get("p_max", 1) == ecn.get("p_max", 1), scheme


def _compare_weights(result: Configured, port: Any, scheme: str) -> None:
    if port["kind"] != "wfq":
        assert "weights" not in result.port, scheme
        return
    own = [Fraction(weight) for weight in result.port["weights"]]
    theirs = [Fraction(weight) for weight in port["weights"]][: len(own)]
    if max(theirs) <= 100:
        assert own == theirs, scheme
    else:
        shares = [(own_part / sum(own), other / sum(theirs)) for own_part, other in zip(own, theirs, strict=True)]
        assert all(abs(share - other) < Fraction(1, 100) for share, other in shares), scheme


def _compare_buffer(result: Configured, port: Any, scheme: str) -> None:
    buffer = port["buffer"]
    if not isinstance(buffer, dict) or "dynamic" not in buffer:
        assert result.buffer is None, scheme
        assert any("state" in line for line in result.missing), scheme
        return
    assert result.buffer is not None, scheme
    assert quantity.size(result.buffer["dynamic"]) == quantity.size(buffer["dynamic"]), scheme
    alpha, own = (float(quantity.fraction(each["alpha"])) for each in (buffer, result.buffer))
    assert abs(log2(own / alpha)) <= 0.5, scheme
    pfc = port.get("pfc")
    assert (result.pfc is None) == (pfc is None), scheme
    if pfc is not None and result.pfc is not None:
        xoff, own = (float(quantity.fraction(each["xoff"])) for each in (pfc, result.pfc))
        assert abs(log2(own / xoff)) <= 0.5, scheme
        assert result.pfc["headroom_least"] == f"{max(row.xoff for row in export_plans.HEADROOM.values())}B"


def test_the_watchdog_comes_back(experiment: Path, tmp_path: Path) -> None:
    stated = '{ after = "200ms", action = "forward", restore = "400ms" }'
    config, plan, _ = exported(experiment, "dcqcn", ("scheme.%s.port.pfc.watchdog", stated))
    assert config["PFC_WD"]["Ethernet0"] == {
        "action": "forward",
        "detection_time": "200",
        "restoration_time": "400",
    }
    result = written(config, tmp_path / "c.json", (plan.scheme_queues[0].dscp,))
    assert result.pfc is not None
    assert result.pfc["watchdog"] == {"after": "200ms", "action": "forward", "restore": "400ms"}


def test_a_ramp_is_written_as_it_is(experiment: Path) -> None:
    config, _, _ = exported(experiment, "dcqcn")
    row = config["WRED_PROFILE"][config["QUEUE"]["Ethernet8|1"]["wred_profile"]]
    # 5 kB and 200 kB on the line of 1538 B a packet, of which a switch stores 1518 B; 1 %.
    assert (row["green_min_threshold"], row["green_max_threshold"]) == ("4935", "197400")
    assert row["green_drop_probability"] == "1"


def test_all_forms_of_a_configuration_are_read_alike(tmp_path: Path) -> None:
    config = sonic_present.written()
    flat = {f"{table}|{key}": row for table, rows in config.items() for key, row in rows.items()}
    brackets = copy.deepcopy(config)
    for key, row in brackets["QUEUE"].items():
        for field, table in (("scheduler", "SCHEDULER"), ("wred_profile", "WRED_PROFILE")):
            if field in row:
                row[field] = f"[{table}|{config['QUEUE'][key][field]}]"
    for row in brackets["BUFFER_PROFILE"].values():
        row["pool"] = f"[BUFFER_POOL|{row['pool']}]"
    lists = copy.deepcopy(config)
    lists["QUEUE"] = {f"Ethernet0,Ethernet4|{n}": config["QUEUE"][f"Ethernet0|{n}"] for n in (0, 1, 2, 3, 4, 5, 6)}
    path = tmp_path / "config_db.json"
    for dscp in (0, 26):
        expected = written(config, path, (dscp,))
        for form in (flat, brackets, lists):
            assert written(form, path, (dscp,)) == expected


@pytest.mark.parametrize(
    ("field", "value", "fix"),
    [
        ("weight", "0", "write a number from 1 to 100"),
        ("weight", "101", "write a number from 1 to 100"),
        ("type", "FAST", "write one of STRICT, DWRR, WRR"),
    ],
)
def test_a_scheduler_that_cannot_be_is_named(tmp_path: Path, field: str, value: str, fix: str) -> None:
    config = sonic_present.written()
    config["SCHEDULER"]["scheduler.0"][field] = value
    path = tmp_path / "c.json"
    with pytest.raises(InputError) as error:
        written(config, path)
    assert str(error.value) == f"{path}: SCHEDULER|scheduler.0: {field} is {value!r}; {fix}"


def test_what_the_simulated_queue_has_is_read_and_the_rest_is_listed(tmp_path: Path) -> None:
    config = sonic_present.written() | {"SWITCH_TRIMMING": {"GLOBAL": {"size": "256"}}, "NEW_TABLE": {"a": {"b": "c"}}}
    config["SCHEDULER"]["scheduler.0"]["pir"] = "1000000000"
    result = written(config, tmp_path / "c.json")
    assert result.buffer == {"dynamic": "9243812B", "alpha": 8}
    assert (result.ecn, result.pfc, result.missing) == (None, None, ())
    assert result.free == 4
    listed = "\n".join(result.not_simulated)
    for text in (
        "SCHEDULER scheduler.0: pir: queues have no rate of their own",
        "SWITCH_TRIMMING GLOBAL: ",
        "NEW_TABLE",
        "WRED_PROFILE AZURE_LOSSLESS: ",
        "BUFFER_PG Ethernet0|3, Ethernet4|3: ",
    ):
        assert text in listed
    other = written(config, tmp_path / "c.json", (26,))
    assert other.ecn == {
        "per": "queue",
        "at": {"10Gbps": "1062391B", "40Gbps": "1062391B"},
        "full": {"10Gbps": "2124782B", "40Gbps": "2124782B"},
        "p_max": 0.05,
    }
    # 10,875,072 B of the pool and 4,194,112 B of headroom beside it.
    assert other.buffer == {"dynamic": "15069184B", "alpha": 8}
    assert other.pfc == {"classes": [0], "xoff": "1/8", "headroom": "charged", "headroom_least": "31000B"}


def test_strict_queues_are_read_before_weighted_ones(tmp_path: Path) -> None:
    result = written(sonic_present.written(), tmp_path / "c.json", (48, 26, 0))
    assert result.port == {"kind": "wfq", "queues": 3, "strict": 1, "weights": [15, 14]}
    assert result.places == (0, 1, 2)
    # Queue 6 is strict, and DSCP 26 in queue 3 before DSCP 0 in queue 1, whatever the order of the code points.
    assert written(sonic_present.written(), tmp_path / "c.json", (0, 48, 26)).places == (2, 0, 1)
    weighted = written(sonic_present.written(), tmp_path / "c.json", (26, 0))
    assert weighted.port == {"kind": "wfq", "queues": 2, "weights": [15, 14]}


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda config: config.pop("PORT"), "there is no table PORT"),
        (
            lambda config: config["WRED_PROFILE"]["AZURE_LOSSLESS"].update(green_min_threshold="x"),
            "WRED_PROFILE|AZURE_LOSSLESS: green_min_threshold is 'x'; write a whole number",
        ),
        (
            lambda config: config["WRED_PROFILE"]["AZURE_LOSSLESS"].update(green_min_threshold="9000000"),
            "green_min_threshold is above green_max_threshold",
        ),
        (lambda config: config["WRED_PROFILE"].clear(), "which WRED_PROFILE does not have"),
        (lambda config: config["BUFFER_PROFILE"].clear(), "which BUFFER_PROFILE does not have"),
        (
            lambda config: config["BUFFER_PROFILE"]["pg_lossless_profile"].update(dynamic_th="99"),
            "dynamic_th is 99; write a number from -8 to 7",
        ),
    ],
)
def test_mistakes_are_named(spoil: Any, message: str, tmp_path: Path) -> None:
    config = copy.deepcopy(sonic_present.written())
    spoil(config)
    with pytest.raises(InputError) as caught:
        written(config, tmp_path / "c.json", (26,))
    assert message in str(caught.value)


def test_random_configurations_are_read_or_refused_with_a_message(tmp_path: Path) -> None:
    path = tmp_path / "config_db.json"
    read, refused = 0, []
    for seed in range(400):
        draw = random.Random(seed)  # noqa: S311 - test data
        config = copy.deepcopy(sonic_present.drawn(seed))
        for _ in range(draw.choice([0, 0, 1, 2, 5])):
            _mutate(config, draw)
        dscps = tuple(draw.sample(range(64), draw.randint(1, 4)))
        try:
            result = written(config, path, dscps)
        except InputError as error:
            refused.append(str(error))
            continue
        read += 1
        listed = "\n".join(result.not_simulated)
        # Tables that are none of queues, marks, buffers or pauses are there whatever is simulated.
        for table in set(config) & set(sonic_present.OTHERS):
            assert table in listed
    assert read > 200
    assert refused
    assert all(message.startswith(str(path)) for message in refused)


def _mutate(config: Config, draw: random.Random) -> None:
    table = draw.choice([name for name, rows in config.items() if isinstance(rows, dict) and rows] or ["PORT"])
    rows = config.get(table) or {}
    if not rows or draw.random() < 0.1:
        config[table] = draw.choice([None, [], "text", {}, {"a": None}])
        return
    key = draw.choice(list(rows))
    row = rows[key]
    values = ["", "-1", "9" * 30, "[WRED_PROFILE|x]", "NULL", "٣", 7, None, ["1"], "1|2"]
    if draw.random() < 0.2:
        del rows[key]
    elif isinstance(row, dict) and row and draw.random() < 0.8:
        row[draw.choice(list(row))] = draw.choice(values)
    else:
        rows[draw.choice(["", "Ethernet0|x", "Ethernet0|9-1", "a|b|c", "Ethernet0,Ethernet4|3"])] = row


def test_the_file_that_is_written_is_the_switch_of_an_experiment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "config_db.json", tmp_path / "switch.toml"
    source.write_text(json.dumps(sonic_present.written()), encoding="utf-8")
    assert main(["import", "switch", str(source), "--dscp", "26", "-o", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "3      DSCP 26                  weight 15  AZURE_LOSSLESS  yes" in shown
    assert "not simulated: WRED_PROFILE AZURE_LOSSLESS: yellow: all packets are green" in shown
    path = tmp_path / "e.toml"
    text = EXPERIMENT.format(topology=export_plans.TOPOLOGY, switch=out.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    port = check(path)["merged"]["scheme"]["dctcp"]["port"]
    assert quantity.size(port["buffer"]["dynamic"]) == 15_069_184
    assert quantity.fraction(port["buffer"]["alpha"]) == 8
    assert port["ecn"]["p_max"] == 0.05
    assert port["ecn"]["full"]["40Gbps"] == "2124782B"


def test_options_of_flow_lists_are_not_of_switches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "config_db.json"
    source.write_text(json.dumps(sonic_present.written()), encoding="utf-8")
    out = str(tmp_path / "x")
    assert main(["import", "switch", str(source), "--hosts", "4", "-o", out]) == 2
    assert "--hosts has no meaning for the format switch" in capsys.readouterr().err
    assert main(["import", "hpcc", str(source), "--dscp", "4", "-o", out]) == 2
    assert "--dscp has no meaning for the format hpcc" in capsys.readouterr().err
    assert main(["import", "switch", str(source), "--dscp", "64", "-o", out]) == 2
    assert "numbers from 0 to 63" in capsys.readouterr().err


@pytest.mark.parametrize("out", ["config_db.json", "mine.toml"])
def test_no_file_of_the_user_is_overwritten(out: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "config_db.json"
    source.write_text(json.dumps(sonic_present.written()), encoding="utf-8")
    (tmp_path / "mine.toml").write_text("title = 'mine'\n", encoding="utf-8")
    before = (tmp_path / out).read_bytes()
    assert main(["import", "switch", str(source), "-o", str(tmp_path / out)]) == 2
    assert "was not written by `import switch`" in capsys.readouterr().err
    assert (tmp_path / out).read_bytes() == before
    # Its own file may be written again.
    for _ in range(2):
        assert main(["import", "switch", str(source), "-o", str(tmp_path / "switch.toml")]) == 0
