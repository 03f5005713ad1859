"""Every reader of a user's file, with random changes of a good file: it is read, or refused in lines of text."""

import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import advise_world
import export_plans
import sonic_present
from priolane import _core
from priolane._core import InputError
from priolane.advice.fabric import read_fabric
from priolane.export import code_points, configured, ports
from priolane.export.quantity import Frame
from priolane.model.experiment import Options, plan
from priolane.results.foreign import read_flows

FRAME = Frame(mtu=1500, payload=1460, stored=1518, wire=1538)

# Texts that are more likely to matter than others.
_NUMBERS = [
    "-1",
    "nan",
    "inf",
    "1e308",
    "1e-308",
    "18446744073709551616",
    "9223372036854775807",
    "4294967295",
    "0",
    "1e-22",
    "281474976710656",
    "2147483648",
    "99999999999.999999999999",
    "255.255.255.255",
    "::",
    "..",
    "../x",
    "=cmd|x",
]
_SIGNS = [*"\0\",\t\r\n '[]{}=#\u202e\ufeff", "\x1b[31m", "", "1" * 70, "[" * 300]
TOKENS = [*_NUMBERS, *_SIGNS]
SAMPLES = Path(__file__).parent.parent / "crates" / "priolane-workload" / "tests" / "import_samples"
IMPORTS = {
    "hpcc": "3\n0 1 3 100 2000 2.0\n2 1 3 100 200000000 2.000000001\n3 0 3 100 5 2.5\n",
    "htsim": "Nodes 16\nConnections 2\n0->1 id 1 start 0 size 1000\n2->3 id 2 start 1000 size 5000\n",
    "yaps": "0 1.000001 1.5 2 0.49 0 0 1\n1 1e-06 1.5 3 0.49 0 1 0\n",
    "aequitas": "0,3000,1.000001,0,1\n1,30,1.5,2,3\n",
    "coflow": "150 2\n1 0 1 2 1 3:10.5\n2 100 2 3 4 2 5:1 6:2\n",
    "nfdump": "ts,te,sa,da,sp,dp,pr,ibyt\n2020-01-01 00:00:00,2020-01-01 00:00:01,10.0.0.1,10.0.0.2,1,2,TCP,500\n",
    "zeek": "#separator \\x09\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\torig_bytes\t"
    "resp_bytes\n1577836800.1\tC1\t10.0.0.1\t1\t10.0.0.2\t2\ttcp\t5\t6\n",
    "vpc": "2 1 eni 10.0.0.1 10.0.0.2 1 2 6 10 840 1418530010 1418530070 ACCEPT OK\n",
    "tshark": "frame.time_epoch,ip.src,ip.dst,ipv6.src,ipv6.dst,tcp.srcport,tcp.dstport,tcp.len,udp.srcport,"
    "udp.dstport,udp.length\n1577836800.000001,10.0.0.1,10.0.0.2,,,1,2,1460,,,\n1577836800.1,10.0.0.1,10.0.0.2,,,1,2,1460,,,\n",
    "sflow": (SAMPLES / "sflow.csv").read_text(encoding="utf-8"),
    "goal": "num_ranks 2\nrank 0 {\na: send 1000b to 1 tag 5\nb: calc 100\na requires b\n}\n"
    "rank 1 {\na: recv 1000b from 0 tag 5\n}\n",
    "goflow2": (SAMPLES / "goflow2.json").read_text(encoding="utf-8"),
}
COMPLETIONS = "0b000201 0b000101 10000 100 1000 2000000000 2000000 1000000\n"
EXPERIMENT = """title = "x"
schemes = ["dctcp", "mine"]
seeds = 2
time = { warmup = "0s", measure = "1ms", drain = true }
topology = { kind = "single_switch", hosts = 4, host_link = { rate = "10Gbps", delay = "1us" } }
[scheme.mine]
base = "pias"
[[group]]
name = "all"
hosts = "*"
app = "poisson"
sizes = "web_search"
load = { of = "host", counts = "payload", value = 0.3 }
[sweep]
"group.all.load.value" = [0.3, 0.5]
[[claim]]
section = "ours"
says = "classes by size help"
source = "ours"
order = ["fct.all.dctcp", "fct.all.mine"]
"""
LISTED = """title = "x"
schemes = ["dctcp"]
time = { warmup = "0s", measure = "1ms", drain = true }
TOPOLOGY
[[group]]
name = "all"
hosts = "*"
app = "flows"
list = LIST
"""
SWITCH = 'topology = { kind = "single_switch", hosts = 4, host_link = { rate = "10Gbps", delay = "1us" } }'
ONE_FLOW = '[{ src = 0, dst = 1, size = "1kB" }]'
LIST = "start_ns,src,dst,bytes,class,deadline_ns,coflow,after,delay_ns\n0,0,1,1000,0,,1,,\n5,1,2,2000,0,9000,1,0,1000\n"
TOPOLOGY = "node,h0,host\nnode,h1,host\nnode,s,switch\nlink,h0,s,10Gbps,1us\nlink,h1,s,2.5Gbps,1.5us,0.001\n"
PORTS = "name,rate\nEthernet0,10Gbps\nEthernet4,40Gbps\n"
Reader = Callable[[Path], object]


def _readers(directory: Path) -> Iterator[tuple[str, str, Reader]]:
    """Name, a good file, and what reads it."""

    def planned(path: Path) -> object:
        return plan(path, Options())

    def naming(key: str, value: str) -> Path:
        text = LISTED.replace(
            "TOPOLOGY", f'topology = {{ kind = "file", path = "{value}" }}' if key == "topology" else SWITCH
        )
        path = directory / f"{key}.toml"
        path.write_text(text.replace("LIST", f'"{value}"' if key == "list" else '[{ src = 0, dst = 1, size = "1kB" }]'))
        return path

    yield "experiment and claims", EXPERIMENT, planned
    yield "flow list", LIST, lambda path: planned(naming("list", path.name))
    yield "topology", TOPOLOGY, lambda path: planned(naming("topology", path.name))
    yield "flows of thresholds", LIST, lambda path: _thresholds(flows=str(path))
    yield "sizes", "bytes,cdf\n100,0.1\n1000,0.5\n10000,1\n", lambda path: _thresholds(sizes=str(path))
    _, fabric = advise_world.write(directory, 1, 10)
    yield "fabric", fabric.read_text(encoding="utf-8"), read_fabric
    yield "ports", PORTS, lambda path: ports.named(str(path))
    experiment = export_plans.write_experiment(directory)
    scheme = experiment.read_text(encoding="utf-8")
    yield "experiment of export", scheme, planned
    yield "completion times", COMPLETIONS, read_flows
    yield "import sizes", "1000 0.5\n20000 1\n", _sizes
    yield (
        "switch",
        json.dumps(sonic_present.written()),
        lambda path: configured.read(path, code_points.read_classes("0"), FRAME),
    )
    for name, text in IMPORTS.items():
        yield f"import {name}", text, lambda path, name=name: _imported(path, name)  # type: ignore[misc]


def _thresholds(**named: str) -> object:
    return _core.thresholds(json.dumps({"levels": 2, "load": 0.5, "solver": "all", **named}))


def _sizes(path: Path) -> object:
    return _core.import_sizes(json.dumps({"file": str(path), "out": f"{path}.sizes.csv"}))


def _imported(path: Path, name: str) -> object:
    return _core.import_flows(json.dumps({"format": name, "file": str(path), "out": f"{path}.out.csv"}))


def _mutant(text: str, draw: random.Random, others: list[str]) -> bytes:
    """The text with up to five changes."""
    data = text.encode()
    for _ in range(draw.randrange(1, 6)):
        at = draw.randrange(len(data) + 1)
        token = draw.choice(TOKENS).encode()
        kind = draw.randrange(6)
        words = list(re.finditer(rb"[^\s,:={}\[\]]+", data))
        if kind == 0 and data:
            at = min(at, len(data) - 1)
            data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + token + data[at:]
        elif kind == 2 and words:
            word = draw.choice(words)
            data = data[: word.start()] + token + data[word.end() :]
        elif kind == 3:
            other = draw.randrange(len(data) + 1)
            data = data[: min(at, other)] + data[max(at, other) :]
        elif kind == 4:
            lines = data.split(b"\n")
            lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines))
            data = b"\n".join(lines)
        else:
            data = data[:at] + draw.choice(others).encode()[: draw.randrange(80)] + data[at:]
    return data


def test_mutants_of_all_files_are_read_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    soak = int(os.environ.get("PRIOLANE_SOAK", "0"))
    rounds = 400 * soak if soak else 12
    readers = list(_readers(tmp_path))
    texts = [text for _, text, _ in readers]
    counts: Counter[str] = Counter()
    problems = []
    for name, text, read in readers:
        path = tmp_path / "mutant"
        draw = random.Random(name)  # noqa: S311 - not for secrets
        for number in range(rounds + 1):
            data = _mutant(text, draw, texts) if number else text.encode()
            path.write_bytes(data)
            outcome, problem = _outcome(read, path)
            counts[outcome] += 1
            if problem or (number == 0 and outcome != "read"):
                problems.append(f"{name}, {number}: {problem or 'the good file is refused'}: {data!r}")
    assert not problems, "\n".join(problems)
    assert counts.total() == (rounds + 1) * len(readers) >= (7_000 if soak else 200)
    assert counts["refused"] > counts["read"] > len(readers)
    sys.stdout.write(f"{counts.total()} mutants of {len(readers)} kinds of files: {dict(counts)}\n")


def _outcome(read: Reader, path: Path) -> tuple[str, str]:
    """The outcome for a file, and the mistake in that outcome."""
    try:
        read(path)
    except InputError as error:
        text = str(error)
        if len(text) > 20_000:
            return "refused", f"{len(text)} characters"
        return "refused", repr(text) if re.search("[\x00-\x09\x0b-\x1f\x7f]", text) else ""
    # A panic of the compiled module is no `Exception`.
    except BaseException as error:  # noqa: BLE001
        return "failed", repr(error)
    return "read", ""
