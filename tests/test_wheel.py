"""The wheels in the folder that PRIOLANE_WHEEL names, installed without Rust: `make check-wheel`."""

import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from priolane.study.record import read_record

FOLDER = os.environ.get("PRIOLANE_WHEEL")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="PRIOLANE_WHEEL names no folder of wheels: make check-wheel")
ROOT = Path(__file__).parent.parent
# Of compressed bytes. Arrow and Parquet take a third of the module, and the transports of real hosts a twentieth.
# Link-time optimization of all crates saves 0.3 MB.
LARGEST = 9_500_000
X86_64 = "priolane-*-cp311-abi3-manylinux*_x86_64.whl"
# The list of components names the folder of the sources, and RECORD has its hash.
OF_A_BUILD = re.compile(r"/RECORD$|/sboms/")


def wheel(pattern: str, folder: str = ".") -> Path:
    (result,) = (Path(str(FOLDER)).resolve() / folder).glob(pattern)
    return result


def contents(path: Path) -> dict[str, str]:
    """Files of a wheel and their digests."""
    with zipfile.ZipFile(path) as packed:
        return {name: hashlib.sha256(packed.read(name)).hexdigest() for name in packed.namelist()}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has the wheel, installed from a folder of wheels and from nowhere else."""
    to = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "download", "-q", "--only-binary=:all:", "-d", str(to / "wheels"), str(wheel(X86_64))], check=True
    )
    subprocess.run([sys.executable, "-m", "venv", to / "venv"], check=True)
    install = [
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "-q",
        "--no-index",
        "--find-links",
        str(to / "wheels"),
    ]
    subprocess.run([str(to / "venv" / "bin" / "python"), *install, "priolane"], check=True, env=bare(to), cwd=to)
    return to / "venv"


def bare(home: Path) -> dict[str, str]:
    """An environment without Rust and without this tree."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(home), "LC_ALL": "C.UTF-8"}


def section_names(module: bytes) -> set[str]:
    """Names of the sections of a 64-bit ELF file; it may hold others, such as programs for the kernel."""
    (headers,) = struct.unpack_from("<Q", module, 0x28)
    size, count, of_names = struct.unpack_from("<HHH", module, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", module, headers + place * size) for place in range(count)]
    start, length = sections[of_names][4:6]
    names = module[start : start + length]
    return {names[section[0] : names.index(b"\0", section[0])].decode() for section in sections}


def test_the_wheel_is_small_and_stripped_and_names_no_path_of_the_machine() -> None:
    path = wheel(X86_64)
    assert path.stat().st_size < LARGEST
    with zipfile.ZipFile(path) as packed:
        module = packed.read("priolane/_core.abi3.so")
    names = section_names(module)
    assert ".text" in names
    assert not names & {".debug_info", ".symtab"}
    assert str(ROOT).encode() not in module
    assert str(Path.home() / ".cargo").encode() not in module


def test_the_wheel_lists_every_crate_that_cargo_compiles_into_it() -> None:
    with zipfile.ZipFile(wheel(X86_64)) as packed:
        (name,) = (name for name in packed.namelist() if "/sboms/" in name)
        listed = json.loads(packed.read(name))
    assert listed["bomFormat"] == "CycloneDX"
    described = [listed["metadata"]["component"], *listed["components"]]
    tree = ["cargo", "tree", "--locked", "-p", "priolane-py", "-e", "normal", "--prefix", "none", "--format", "{p}"]
    done = subprocess.run(
        [*tree, "--target", "x86_64-unknown-linux-gnu"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    compiled = {tuple(line.split()[:2]) for line in done.stdout.splitlines()}
    assert len(compiled) > 50
    assert compiled <= {(part["name"], f"v{part['version']}") for part in described}


def test_a_figure_gives_the_digest_of_its_record(environment: Path, tmp_path: Path) -> None:
    record = read_record("prioplus/starts")
    assert record is not None
    assert record.command == "priolane reproduce prioplus/starts"
    command = [str(environment / "bin" / "priolane"), *record.command.split()[1:], "-o", "starts", "-v"]
    done = subprocess.run(command, cwd=tmp_path, env=bare(tmp_path), check=True, capture_output=True, text=True)
    assert f"digest {record.grids[0]['digest']}" in done.stdout
    assert (tmp_path / "starts" / "report.html").is_file()


def test_the_wheel_has_a_man_page_and_completions(environment: Path) -> None:
    share = environment / "share"
    assert (share / "man" / "man1" / "priolane.1").is_file()
    assert (share / "bash-completion" / "completions" / "priolane").is_file()
    assert (share / "zsh" / "site-functions" / "_priolane").is_file()


def test_the_wheel_made_from_the_sdist_is_the_same_to_the_byte() -> None:
    ours, theirs = contents(wheel(X86_64)), contents(wheel(X86_64, "from_sdist"))
    assert set(ours) == set(theirs)
    assert {name for name in ours if ours[name] != theirs[name] and not OF_A_BUILD.search(name)} == set()
