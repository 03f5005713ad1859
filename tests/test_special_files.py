"""Every command and every file that it reads: what is no readable regular file of a fair size is refused at once.

One process makes all calls of one kind of file, with bounded memory: a call that waits or reads without end ends it.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import advise_world
import factories
import smoke

_CALLS = """
import contextlib, io, json, resource, sys
from pathlib import Path
from priolane.cli import main

resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
for name, words in json.loads(Path(sys.argv[1]).read_text()).items():
    print(json.dumps([name]), flush=True)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as ended:
            code = ended.code
    print(json.dumps([name, code, err.getvalue()]), flush=True)
"""
_GROUP = '\n[[group]]\nname = "g"\nhosts = "*"\n'
# Keys of an experiment that name files, and what surrounds them.
_NAMED = {
    "list": _GROUP + 'app = "flows"\nlist = "FILE"\n',
    "sizes": _GROUP + 'app = "poisson"\nsizes = { csv = "FILE", interpolation = "linear" }\n'
    'load = { of = "host", counts = "payload", value = 0.1 }\n',
    "trace": _GROUP + 'app = "coflow_trace"\ntrace = "FILE"\n',
    "topology": "\n",
}
_IMPORTS = ("sizes", "goal", "chakra", "zeek", "vpc", "goflow2")
LISTED = '[{ src = 0, dst = 1, size = "1kB" }]'
_TOPOLOGY = 'topology = { kind = "single_switch", hosts = 4, host_link = { rate = "10Gbps", delay = "1us" } }\n'


def _experiment(directory: Path, key: str, file: str) -> str:
    """An experiment that names `file` under this key."""
    topology = _TOPOLOGY if key != "topology" else 'topology = { kind = "file", path = "FILE" }\n'
    group = (
        _NAMED[key] if key != "topology" else _NAMED["list"].replace('"FILE"', '[{ src = 0, dst = 1, size = "1kB" }]')
    )
    text = f'title = "x"\nschemes = ["dctcp"]\ntime = {{ measure = "1ms" }}\n{topology}{group}'
    path = directory / f"{key}.toml"
    path.write_text(text.replace("FILE", file), encoding="utf-8")
    return str(path)


def _commands(directory: Path, file: str) -> dict[str, list[str]]:
    """Command lines by what reads `file` in them."""
    world = directory / "world"
    world.mkdir()
    flows, fabric = map(str, advise_world.write(world, 1, 300))
    good, out = str(smoke.write_experiment(directory)), str(directory / "out")
    export = ["export", "sonic", good, "--scheme", "pias", "-o", out]
    results = factories.make_results(directory / "results")
    record = results / f"{0:016x}"
    (record / "run.json").unlink()
    (record / "run.json").symlink_to(file)
    noted = directory / "noted"
    noted.mkdir()
    (noted / "grid.json").symlink_to(file)
    return {
        "check": ["check", file],
        "run": ["run", file, "-o", out],
        "analyze": ["analyze", file],
        "price": ["price", file],
        "trace": ["trace", file, "--flow", "0", "-o", out],
        "linux run": ["linux", "run", file, "-o", out],
        "linux up": ["linux", "up", file, "--name", "special", "--dry-run"],
        "linux run --machines": ["linux", "run", good, "--machines", file, "-o", out],
        "export": ["export", "tc", file, "--scheme", "pias", "-o", out],
        "export --headroom": [*export, "--headroom", file],
        "export --ports": [*export, "--ports", file],
        "export --into": [*export, "--into", file],
        "plan requirement": ["plan", "requirement", file],
        "plan thresholds": ["plan", "thresholds", file, "pias", "-o", out],
        "import": ["import", "auto", file, "-o", str(directory / "out.csv")],
        **{f"import {name}": ["import", name, file, "-o", str(directory / "out.csv")] for name in _IMPORTS},
        "import fct": ["import", "fct", file, "-o", out],
        "import switch": ["import", "switch", file, "-o", str(directory / "out.toml")],
        "import --topology": ["import", "hpcc", flows, "--topology", file, "-o", str(directory / "out.csv")],
        "thresholds --flows": ["thresholds", "--flows", file, "--levels", "2", "--load", "0.5"],
        "thresholds --sizes": ["thresholds", "--sizes", file, "--levels", "2", "--load", "0.5"],
        "advise": ["advise", file, "--fabric", fabric, "-o", out],
        "advise --fabric": ["advise", flows, "--fabric", file, "-o", out],
        "advise --switch": ["advise", flows, "--fabric", fabric, "--switch", file, "-o", out],
        "advise --sizes": ["advise", "--sizes", file, "--fabric", fabric, "-o", out],
        "advise --check": ["advise", flows, "--fabric", fabric, "--check", file, "-o", out],
        **{f"check, {key}": ["check", _experiment(directory, key, file)] for key in _NAMED},
        "report, note": ["report", str(noted)],
        "results, note": ["results", str(noted)],
        "compare, note": ["compare", str(noted), str(noted)],
        "report, record": ["report", str(results)],
    }


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _directory(path: Path) -> None:
    path.mkdir()


def _sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(10 << 30)


def _unreadable(path: Path) -> None:
    path.write_text("x", encoding="utf-8")
    path.chmod(0)


def _humble() -> list[str]:
    """A command that turns root into a user who may not read everything."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root reads everything, and there is no setpriv to give that up")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]


@pytest.mark.parametrize("make", [_fifo, _zero, _directory, _sparse, _unreadable])
def test_no_command_waits_for_a_special_file_or_reads_it_without_end(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    special = tmp_path / "special.csv"
    make(special)
    commands = _commands(tmp_path, str(special))
    calls = tmp_path / "calls.json"
    calls.write_text(json.dumps(commands), encoding="utf-8")
    humble = _humble() if make is _unreadable else []
    with subprocess.Popen(
        [*humble, sys.executable, "-c", _CALLS, str(calls)], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    ) as child:
        try:
            out, _ = child.communicate(timeout=200)
        except subprocess.TimeoutExpired:
            child.kill()
            out, _ = child.communicate()
    printed = [json.loads(line) for line in out.splitlines()]
    assert printed[-1][1:], f"{printed[-1][0]} did not end"
    answers = {name: rest for name, *rest in printed if rest}
    assert answers.keys() == commands.keys()
    wrong = {
        name: answer
        for name, answer in answers.items()
        if answer[0] != 2 or answer[1].count("\n") != 1 or "Traceback" in answer[1]
    }
    assert not wrong
    assert not (tmp_path / "out").exists()
