"""The work of others that the project installs and runs: locked Python packages, actions of workflows, crates."""

import re
import sys
import tomllib
from collections.abc import Iterator, Set
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import lock

ROOT = lock.ROOT

HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # \S+")
NAMES = ["build", "wheel", "dev", "run"]


def locked(name: str) -> Iterator[tuple[Requirement, list[str]]]:
    """The packages of packaging/locked/NAME.txt, each with its hashes."""
    text = (lock.LOCKED / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if not line.startswith("#"):
            yield Requirement(line.split(" --hash")[0].strip()), HASH.findall(line)


def unmet(wanted: list[str], result: list[tuple[Requirement, list[str]]], python: str) -> list[str]:
    """The requirements that no locked package meets on Linux with this version of Python."""
    environment: dict[str, str | Set[str]] = {name: str(value) for name, value in default_environment().items()}
    environment |= {"python_version": python, "python_full_version": f"{python}.9"}
    here = [package for package, _ in result if package.marker is None or package.marker.evaluate(environment)]
    versions = {package.name: str(package.specifier).removeprefix("==") for package in here}
    return [
        text
        for text in wanted
        if (requirement := Requirement(text)).name not in versions
        or not requirement.specifier.contains(versions[requirement.name])
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_each_requirement_is_locked_in_one_version_that_it_allows(name: str, python: str) -> None:
    wanted = lock.requirements(ROOT / "pyproject.toml")[name]
    results = list(locked(name))
    assert unmet(wanted, results, python) == []
    # The check itself finds what is missing and what is too old.
    assert unmet([*wanted, "no-such-package"], results, python) == ["no-such-package"]
    newer = f"{Requirement(wanted[0]).name}>=9999"
    assert unmet([newer], results, python) == [newer]


@pytest.mark.parametrize("name", NAMES)
def test_each_locked_package_has_one_exact_version_and_hashes_and_names_no_other_index(name: str) -> None:
    for package, hashes in locked(name):
        assert re.fullmatch(r"==[\w.]+", str(package.specifier)), package
        assert package.url is None, package
        assert hashes, package
    assert "index-url" not in (lock.LOCKED / f"{name}.txt").read_text(encoding="utf-8")


def test_what_runs_and_what_tests_has_the_same_versions() -> None:
    run, dev = ({str(package) for package, _ in locked(name)} for name in ("run", "dev"))
    assert run
    assert run <= dev


def test_pip_installs_locked_packages_only_and_checks_their_hashes() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    installs = re.findall(r"-m pip install (.+)", makefile)
    free = [line for line in installs if "--require-hashes -r packaging/locked/" not in line]
    # The program that writes the locked files.
    assert free == ["'uv>=0.9'"]


def test_actions_of_workflows_are_pinned_by_their_hash() -> None:
    workflows = [*(ROOT / ".github" / "workflows").glob("*.yml")]
    used = [use for path in workflows for use in re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))]
    assert len(used) >= 8
    assert [use for use in used if not PINNED.fullmatch(use)] == []
    assert all("permissions:\n  contents: read\n" in path.read_text(encoding="utf-8") for path in workflows)


def test_crates_come_from_the_registry_alone_and_have_checksums() -> None:
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    foreign = [package for package in packages if "source" in package]
    assert len(foreign) > 100
    assert {package["source"] for package in foreign} == {"registry+https://github.com/rust-lang/crates.io-index"}
    assert all(re.fullmatch("[0-9a-f]{64}", package["checksum"]) for package in foreign)
