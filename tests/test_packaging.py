"""The files in the wheel, the sdist and the crates, read without compiling anything."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

import pytest

import priolane

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import manual

# Its fixtures are made once, by one worker.
pytestmark = pytest.mark.xdist_group("packaging")

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "priolane"
PUBLISHED = {"priolane-core", "priolane-derive", "priolane-net", "priolane-sim"}
# Compiled, or left by tools.
NOT_SHIPPED = {"__pycache__", ".so"}
# Of the study, what the site and maintainers read and `priolane reproduce` does not.
OF_THE_SITE = {
    "README.md",
    "claims-changed.md",
    "finding.md",
    "picture.webp",
    "readings.json",
    "readings.md",
    "deadlines.md",
    "flips.json",
    "held_out.json",
}
INCLUDE = re.compile(r'include_(?:str|bytes)!\(\s*"([^"]+)"\s*\)')


def toml(path: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


def unpack(archive: Path, to: Path) -> Path:
    """The one folder that an archive holds."""
    with tarfile.open(archive) as packed:
        packed.extractall(to, filter="data")
    (folder,) = to.iterdir()
    return folder


def shipped(folder: Path) -> set[str]:
    """Files of the Python package below `folder`, through links."""
    paths = (Path(at) / name for at, _, names in os.walk(folder, followlinks=True) for name in names)
    return {str(path.relative_to(folder)) for path in paths if not NOT_SHIPPED & {*path.parts, path.suffix}}


def unresolved_includes(folder: Path) -> list[str]:
    """Files that the crates' code below `folder` compiles in and that are not there."""
    sources = [path for path in folder.rglob("*.rs") if "tests" not in path.parts]
    assert sources
    return [
        f"{path.relative_to(folder)}: {name}"
        for path in sources
        for name in INCLUDE.findall(path.read_text(encoding="utf-8"))
        if not (path.parent / name).is_file()
    ]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("sdist")
    maturin = [sys.executable, "-m", "maturin", "sdist", "--manifest-path", "crates/priolane-py/Cargo.toml"]
    subprocess.run([*maturin, "--out", to / "packed"], cwd=ROOT, check=True, capture_output=True)
    (archive,) = (to / "packed").iterdir()
    return unpack(archive, to / "unpacked")


@pytest.fixture(scope="module")
def crates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The packed crates, unpacked, by name."""
    to = tmp_path_factory.mktemp("crates")
    named = [word for name in sorted(PUBLISHED) for word in ("--package", name)]
    command = ["cargo", "package", "--quiet", *named, "--no-verify", "--offline", "--allow-dirty"]
    subprocess.run([*command, "--target-dir", to / "target"], cwd=ROOT, check=True, capture_output=True)
    packed = (to / "target" / "package").glob("*.crate")
    return {archive.name.rpartition("-")[0]: unpack(archive, to / archive.stem) for archive in packed}


def test_the_sdist_has_every_file_of_the_python_package(sdist: Path) -> None:
    tree = shipped(PACKAGE)
    assert {"study/files/papers/nos2/fig6/figure.toml", "experiments/recipes/first.toml", "peers/ns3/Makefile"} <= tree
    assert shipped(sdist / "python" / "priolane") == {
        path for path in tree if not (path.startswith("study/files/") and Path(path).name in OF_THE_SITE)
    }
    assert not [path for path in sdist.rglob("*") if path.is_symlink()]


def test_the_sdist_has_what_its_crates_compile_in(sdist: Path) -> None:
    assert unresolved_includes(sdist / "crates") == []
    data = sdist / "crates" / "priolane-lab" / "data"
    assert shipped(data / "schemes") == shipped(ROOT / "schemes")


def test_the_sdist_has_what_is_installed_beside_the_package(sdist: Path) -> None:
    data = toml("pyproject.toml")["tool"]["maturin"]["data"]
    assert "data/share/man/man1/priolane.1" in shipped(ROOT / data)
    assert shipped(sdist / data) == shipped(ROOT / data)


def test_the_crates_can_be_published(crates: dict[str, Path]) -> None:
    folders = {path.name: toml(f"crates/{path.name}/Cargo.toml") for path in (ROOT / "crates").iterdir()}
    assert {name for name, manifest in folders.items() if manifest["package"].get("publish") is not False} == PUBLISHED
    assert set(crates) == PUBLISHED
    assert {name: missing for name, folder in crates.items() if (missing := unresolved_includes(folder))} == {}
    for folder in crates.values():
        package = tomllib.loads((folder / "Cargo.toml").read_text(encoding="utf-8"))["package"]
        assert {"description", "license", "repository", "readme", "keywords"} <= set(package)
        assert "docs" in package["metadata"]
        assert (folder / package["readme"]).is_file()


def test_a_missing_file_is_found(sdist: Path, tmp_path: Path) -> None:
    copy = tmp_path / "workload"
    shutil.copytree(sdist / "crates" / "priolane-workload", copy)
    (copy / "data" / "imc10.csv").unlink()
    assert unresolved_includes(copy) == ["src/size_csv.rs: ../data/imc10.csv"]


def metadata(sdist: Path) -> Message:
    return HeaderParser().parsestr((sdist / "PKG-INFO").read_text(encoding="utf-8"))


def test_the_metadata_describe_the_project(sdist: Path) -> None:
    described = metadata(sdist)
    assert str(described.get_payload()).rstrip() == (ROOT / "README.md").read_text(encoding="utf-8").rstrip()
    assert described["Description-Content-Type"].startswith("text/markdown")
    urls = dict(line.split(", ", 1) for line in described.get_all("Project-URL", []))
    assert {"Changelog", "Documentation", "Issues", "Repository"} <= set(urls)
    assert urls["Repository"] == toml("Cargo.toml")["workspace"]["package"]["repository"]


def test_the_base_requires_what_runs_and_draws_pages_and_no_more(sdist: Path) -> None:
    required = metadata(sdist).get_all("Requires-Dist", [])
    base = {re.split(r"[<>=; ]", line)[0] for line in required if "extra ==" not in line}
    assert base == {"jinja2", "numpy", "pyarrow", "rich"}


def versions() -> Iterator[tuple[str, str]]:
    """The places where the version is written, or comes from, and its value there."""
    workspace = toml("Cargo.toml")["workspace"]
    yield "workspace", workspace["package"]["version"]
    for name, dependency in workspace["dependencies"].items():
        if name in PUBLISHED:
            yield name, dependency["version"]
    yield "__version__", priolane.__version__
    (cited,) = re.findall(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    yield "CITATION.cff", cited
    yield "man page", manual.MAN_PAGE.read_text(encoding="utf-8").split('"priolane ')[1].split('"')[0]


def test_there_is_one_version(sdist: Path) -> None:
    stated = dict(versions()) | {"PKG-INFO": metadata(sdist)["Version"]}
    assert set(stated.values()) == {priolane.__version__}, stated
    for crate in (ROOT / "crates").iterdir():
        assert toml(f"crates/{crate.name}/Cargo.toml")["package"]["version"] == {"workspace": True}
