"""The keys of parts, as the compiled code declares them and `priolane keys` prints them."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from priolane import _core
from priolane.cli import main
from priolane.cli.keys import kind
from priolane.model import key_examples, keys
from priolane.model.keys import EXPERIMENT, Key, Part, Value

ROOT = Path(__file__).parent.parent
SCHEMA = json.loads(_core.schema("scheme"))
# The kinds of `priolane list` and their rows.
KINDS = {
    "transports": "transport",
    "ports": "port",
    "host": "host",
    "nic": "nic",
    "assign": "assign",
    "admit": "admit",
    "apps": "app",
    "topologies": "topology",
}


def part(title: str) -> Part:
    (results,) = [part for part in keys.parts() if part.title == title]
    return results


def key(title: str, name: str) -> Key:
    (results,) = [key for key in part(title).keys if key.name == name]
    return results


def test_the_parts_are_those_of_the_catalogue_with_the_same_keys() -> None:
    catalogue = json.loads(_core.catalogue())
    for listed_as, row in KINDS.items():
        listed = {
            entry["name"]: sorted(parameter.partition(" = ")[0] for parameter in entry["parameters"])
            for entry in catalogue[listed_as]
        }
        read = {
            part.name: sorted(key.name for key in part.keys if "." not in key.name)
            for part in keys.parts()
            if part.row == row
        }
        assert read == listed, listed_as


def test_a_key_has_type_range_unit_default_and_source() -> None:
    rtt = key("transport.hpcc", "rtt")
    assert (rtt.value.type, rtt.value.unit, rtt.default, rtt.required) == ("one of or quantity", "time", "auto", False)
    interval = key("transport.homa", "rtt_bytes")
    assert (interval.value.type, interval.value.words, interval.default) == ("quantity", ("auto",), "auto")
    eta = key("transport.hpcc", "eta")
    assert (eta.value.type, eta.value.range, eta.source) == ("number", "(0, 1]", "HPCC (SIGCOMM 2019) §5.1")
    variant = key("transport.prioplus_swift", "variant")
    assert (variant.value.type, variant.value.words) == ("one of", ("paper", "released"))
    assert key("port.fifo", "buffer").value.type == "one of or table"
    assert key("[switch]", "ecn.at").value.type == "table by name of quantity"
    assert key("transport.top", "lifetime").required
    # Keys that many parts share are keys of each.
    assert key("transport.dctcp", "min_rto").group == "window"


def test_a_part_has_what_it_requires_and_provides() -> None:
    ports = part("nic.tokens")
    assert ports.requires == ("switch ports that limit tokens",)
    assert ports.provides == (
        "a transmit queue at the NIC",
        "a NIC that limits tokens as switch ports do",
    )


def schema_of(part: Part) -> dict[str, Any]:
    """The JSON Schema of a part that is a table."""
    titled = [branch for branch in SCHEMA["properties"][part.row]["oneOf"] if branch.get("title") == part.name]
    properties: dict[str, Any] = titled[0]["properties"] if titled else {}
    return properties


def test_every_example_fits_the_schema_of_its_key() -> None:
    checked = 0
    for of in keys.parts():
        if of.row in (EXPERIMENT, "app", "topology"):
            continue
        schema = schema_of(of)
        for key in of.keys:
            example = key_examples.find_example(of, key)
            if example is None or "." in key.name:
                continue
            value = tomllib.loads(f"value = {example.value}")["value"]
            jsonschema.Draft202012Validator(schema[key.name]).validate(value)
            checked += 1
    assert checked > 300


def test_an_example_comes_from_a_shipped_file_where_there_is_one() -> None:
    example = key_examples.find_example(part("port.tokens"), key("port.tokens", "order"))
    assert example == key_examples.Example('"rank"', "schemes/ideal_tokens.toml")
    assert (ROOT / example.file).is_file()
    # Found under another port: the keys are the same.
    assert key_examples.find_example(part("port.sp_pifo"), key("port.sp_pifo", "ecn.per")) is not None


@pytest.mark.parametrize(
    ("value", "example"),
    [
        (Value("number", "(0, 1]", "", (), ""), "1"),
        (Value("whole number", "[2, 16]", "", (), ""), "2"),
        (Value("whole number", "[0, 1000]", "", (), ""), "1"),
        (Value("number", "[-100, 0)", "", (), ""), "-100"),
        (Value("number", "", "", (), ""), "1"),
        (Value("list of whole number", "[1, 13]", "pkt", (), ""), "[1]"),
        (Value("list of quantity", "", "time", (), "5us"), '["5us"]'),
        (Value("one of", "", "", ("even", "drawn"), ""), '"even"'),
        (Value("true or false", "", "", (), ""), "true"),
        (Value("table", "", "pkt or B", ("false",), ""), ""),
    ],
)
def test_without_a_file_an_example_follows_from_the_type(value: Value, example: str) -> None:
    assert key_examples.by_type(value) == example


@pytest.mark.parametrize(
    ("title", "name", "words"),
    [
        ("[time]", "measure", "time above 0"),
        ("transport.expresspass", "token_min", "quantity in B in [1, 9999]"),
        ("transport.dctcp", "max_window", "quantity in B above 0; or unbounded"),
        ("transport.dctcp", "min_window", "whole number in [1, 1000]; unit packets"),
        ("transport.dctcp", "reduction", "at_once, proportional, ns3"),
        ("port.fifo", "buffer", "unbounded or table; unit pkt or B"),
        ("assign.demand_rate", "thresholds", "list of quantity in bit/s"),
    ],
)
def test_a_type_is_said_in_words(title: str, name: str, words: str) -> None:
    assert kind(key(title, name)) == words


def test_the_command_prints_the_keys_of_a_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "dctcp"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("transport.dctcp: Data Center TCP")
    assert "requires: switch ports that mark packets (ECN)" in shown
    (line,) = [line for line in shown.splitlines() if line.startswith("alpha_0 ")]
    assert line.split()[1:6] == ["number", "in", "[0,", "1]", "1"]


def test_a_row_names_all_its_parts_and_no_name_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "admit"]) == 0
    shown = capsys.readouterr().out
    assert all(f"admit.{name}:" in shown for name in ("aequitas", "firapam", "none", "pase"))
    assert main(["keys"]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n{title} " in listed for title in ("transport.top", "[time]", "[[panel]]"))


def test_json_has_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "time", "--json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)
    (measure,) = [key for key in table["keys"] if key["key"] == "measure"]
    assert (measure["type"], measure["range"], measure["unit"], measure["default"]) == (
        "quantity",
        "(0, )",
        "time",
        "exactly one of measure, flows",
    )
    assert main(["keys", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(keys.parts())


@pytest.mark.parametrize(
    ("asked", "title", "names"),
    [
        ("claim", "[[claim]]", {"section", "says", "bound", "bound.above", "within"}),
        ("[[group]]", "[[group]]", {"name", "hosts", "app", "deadline.share", "deadline.rate", "mix.theta", "resplit"}),
        ("event", "[[event]]", {"at", "set", "fail", "until", "reconvergence"}),
        ("control", "[[control]]", {"at", "flow", "group", "abort", "class", "pay.w"}),
        ("reading", "[reading.NAME]", {"evidence", "decides", "set"}),
        ("sweep", "[sweep]", {"NAME"}),
        ("seeds", "top", {"seeds"}),
        ("price", "top", {"price", "price.p0", "price.charge"}),
    ],
)
def test_each_table_of_an_experiment_has_its_keys(asked: str, title: str, names: set[str]) -> None:
    (table,) = [part for part in keys.find(asked) if part.title == title]
    assert names <= {key.name for key in table.keys}


def test_keys_that_shipped_experiments_state_are_declared() -> None:
    """Every key of a table in a shipped file is one that `priolane keys` lists, or a key of an app or a topology."""
    listed = {part.table: {key.name for key in part.keys} for part in keys.parts() if part.row == EXPERIMENT}
    results = {key.name for part in keys.parts() if part.row in ("app", "topology") for key in part.keys}
    tables = {"sweep", "quick", "full", "reading", "scheme"}
    checked = 0
    for path in sorted([*(ROOT / "experiments").rglob("*.toml"), *(ROOT / "study").rglob("figure.toml")]):
        for name, value in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if name in tables:
                continue
            places = value if isinstance(value, list) else [value]
            stated = {key for place in places if isinstance(place, dict) for key in place}
            if name not in listed:
                assert name in listed["top"], f"{path}: {name}"
                continue
            assert stated <= listed[name] | (results if name in ("group", "topology") else set()), f"{path}: {name}"
            checked += len(stated)
    assert checked > 500


def test_an_unknown_part_is_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "dctpc"]) == 2
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "unknown part or key 'dctpc'. Use a row (transport, " in shown


def test_a_key_is_found_in_all_parts_that_have_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keys", "load", "--json"]) == 0
    by_name = {part["part"]: [key["key"] for key in part["keys"]] for part in json.loads(capsys.readouterr().out)}
    assert by_name["app.poisson"] == ["load", "load.of", "load.counts", "load.value"]
    assert {part.title for part in keys.parts() if any(key.name == "load" for key in part.keys)} == by_name.keys()
