"""The permitted names of parts: nothing that a shell, a configuration, a path, a terminal or a page could obey."""

import json
import re
from pathlib import Path

import pytest

import export_plans
from hostile_texts import NAMES
from priolane import _core
from priolane.model.definition import Experiment
from priolane.model.experiment import Options
from priolane.text.printable import printable

HEAD = """
title = "Names"
schemes = [%s]
seeds = 1
time = { warmup = "1ms", measure = "1ms", drain = true }
"""
GROUP = """
[[group]]
name = %s
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.6 }
"""
GOOD = ("a", "dctcp", "web-search", "_x9", "A" * 40)


def inline(name: str) -> str:
    return (
        HEAD % json.dumps(name)
        + export_plans.TOPOLOGY
        + GROUP % '"all"'
        + f'[scheme.{json.dumps(name)}]\nbase = "pias"\n'
    )


def scheme_file(name: str) -> str:
    return HEAD % json.dumps(f"folder/{name}.toml") + export_plans.TOPOLOGY + GROUP % '"all"'


def group(name: str) -> str:
    return HEAD % '"dctcp"' + export_plans.TOPOLOGY + GROUP % json.dumps(name)


def size_class(name: str) -> str:
    return group("all") + f'[metrics.classes.{json.dumps(name)}]\nbelow = "1kB"\n'


def reading(name: str) -> str:
    return group("all") + f'[reading.{json.dumps(name)}]\nevidence = "x"\ndecides = "y"\n'


def axis(name: str) -> str:
    value = '{ label = "one", "group.all.load.value" = 0.5 }'
    return group("all") + f"[sweep]\n{json.dumps(name)} = [{value}]\n"


PLACES = {each.__name__: each for each in (inline, scheme_file, group, size_class, reading, axis)}


def faults(path: Path, text: str, options: Options | None = None) -> str:
    """The refusal of a file, in lines; empty if it is right."""
    path.write_text(text, encoding="utf-8")
    try:
        Experiment.load(path).core.plan((options or Options()).to_json())
    except _core.InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("place", PLACES)
def test_a_text_that_something_could_obey_is_no_name(place: str, tmp_path: Path) -> None:
    allowed = [name for name in NAMES if not faults(tmp_path / "x.toml", PLACES[place](name))]
    assert allowed == []


@pytest.mark.parametrize("place", [place for place in PLACES if place != "scheme_file"])
def test_letters_digits_and_two_marks_make_a_name(place: str, tmp_path: Path) -> None:
    assert [fault for name in GOOD if (fault := faults(tmp_path / "x.toml", PLACES[place](name)))] == []


@pytest.mark.parametrize("place", PLACES)
def test_a_refused_name_is_one_printable_line(place: str, tmp_path: Path) -> None:
    for name in ("a\x1b[31mb\u202ec", "a\nb", "a\u2028b\x85"):
        fault = faults(tmp_path / "x.toml", PLACES[place](name))
        assert fault == printable(fault)
        assert fault.count("\n") == 0


def test_a_scheme_of_the_command_line_needs_a_name_too(tmp_path: Path) -> None:
    text = group("all")
    for name in NAMES:
        assert faults(tmp_path / "x.toml", text, Options(schemes=(name,))), name


def test_a_node_of_a_topology_file_needs_a_name_that_is_no_path_and_no_option(tmp_path: Path) -> None:
    topology = '[topology]\nkind = "file"\npath = "net.csv"\n'
    text = HEAD % '"dctcp"' + topology + GROUP % '"all"'

    def fault(switch: str, host: str = "h0") -> str:
        lines = [f"node,{host},host", "node,h1,host", f"node,{switch},switch"]
        lines += [f"link,{each},{switch},10Gbps,1us" for each in (host, "h1")]
        (tmp_path / "net.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return faults(tmp_path / "x.toml", text)

    assert not fault("tor-1.rack2_a")
    # White space around the cells of a line is left out.
    for name in [name for name in NAMES if not re.fullmatch(r"\s*[a-z]+\s*", name)]:
        assert fault(name), name
        assert fault("tor", name), name
    for name in (".", "..", ".hidden", "-x"):
        assert "is not a name" in fault(name)
