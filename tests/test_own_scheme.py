"""A transport of a crate outside of the tree has the whole command and the Python module: examples/own-scheme."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "own-scheme"
COMMAND = "import sys, own_scheme; sys.exit(own_scheme.main())"
pytestmark = pytest.mark.xdist_group("own_scheme")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the module of the example can be imported."""
    cargo = shutil.which("cargo")
    assert cargo, "the example is compiled"
    built = subprocess.run(
        # As `make test` has compiled its dependencies.
        [cargo, "build", "--profile", "ci", "-p", "own-scheme", "-p", "priolane-py", "--message-format=json"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    messages = map(json.loads, built.stdout.splitlines())
    artifacts = (m for m in messages if m["reason"] == "compiler-artifact" and m["target"]["name"] == "own_scheme")
    library = next(Path(name) for artifact in artifacts for name in artifact["filenames"])
    folder = tmp_path_factory.mktemp("own")
    shutil.copy(library, folder / "own_scheme.abi3.so")
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """The experiment of the example, cut short."""
    text = (EXAMPLE / "experiment.toml").read_text(encoding="utf-8")
    path = tmp_path / "experiment.toml"
    path.write_text(text.replace('measure = "40ms"', 'measure = "1ms"').replace("seeds = 3", "seeds = 2"))
    shutil.copy(EXAMPLE / "vegas.toml", tmp_path)
    return path


def run(environment: dict[str, str], code: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_its_keys_are_listed_and_checked(environment: dict[str, str], experiment: Path) -> None:
    listed = run(environment, "import own_scheme; print(own_scheme.catalogue())")
    vegas = next(entry for entry in json.loads(listed.stdout)["transports"] if entry["name"] == "vegas")
    assert {"alpha = 1", "beta = 3", "gamma = 1"} <= set(vegas["parameters"])
    assert any(parameter.startswith("init_window") for parameter in vegas["parameters"])

    scheme = experiment.with_name("vegas.toml")
    text = scheme.read_text(encoding="utf-8")
    for keys, message in {
        "alpha = 0": "vegas.toml:3: transport.alpha: 0 is out of range",
        "alpha = 4": "vegas.toml:3: transport.alpha: the window would grow and shrink at once",
        "alfa = 1": "vegas.toml:3: transport.alfa: ",
    }.items():
        scheme.write_text(text.replace('kind = "vegas"', f'kind = "vegas", {keys}'), encoding="utf-8")
        checked = run(environment, COMMAND, "check", experiment)
        assert checked.returncode == 2
        assert message in checked.stderr


def test_workers_run_it_on_both_engines_alike(environment: dict[str, str], experiment: Path) -> None:
    out = experiment.with_name("results")
    ran = run(environment, COMMAND, "run", experiment, "-o", out, "--jobs", "2", "--verify")
    assert ran.returncode == 0, ran.stderr
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(out.glob("**/run.json"))]
    assert sorted(run["scheme"] for run in runs) == ["dctcp", "dctcp", "vegas", "vegas"]
    assert len({run["digest"] for run in runs}) == 4


def test_the_python_module_has_it_if_it_is_imported_first(environment: dict[str, str], experiment: Path) -> None:
    names = "print(sorted({run.scheme for run in priolane.plan(sys.argv[1]).runs}))"
    planned = run(environment, f"import sys, own_scheme, priolane; {names}", experiment)
    assert planned.stdout == "['dctcp', 'vegas']\n", planned.stderr

    late = run(environment, "import priolane; priolane.plan; import own_scheme")
    assert "ImportError: import own_scheme before priolane" in late.stderr

    without = run(environment, f"import sys, priolane; {names}", experiment)
    assert "vegas" in without.stderr
    assert "InputError" in without.stderr

    lost = run({**environment, "PRIOLANE_CORE": "no_such_module"}, "import priolane")
    assert "PRIOLANE_CORE names no_such_module" in lost.stderr


def test_its_python_twin_is_equal_to_the_bit(environment: dict[str, str], experiment: Path) -> None:
    """examples/notebook-scheme: the same class is run by the module of another crate, too."""
    shutil.copy(ROOT / "examples" / "notebook-scheme" / "vegas.py", experiment.parent)
    twin = '\n[scheme.twin]\nbase = "vegas.toml"\ntransport = { kind = "python", class = "vegas:Vegas" }\n'
    text = experiment.read_text(encoding="utf-8").replace('"dctcp", "vegas.toml"', '"dctcp", "vegas.toml", "twin"')
    experiment.write_text(text.replace('measure = "1ms"', 'measure = "5ms"') + twin, encoding="utf-8")
    out = experiment.with_name("twins")
    ran = run(environment, COMMAND, "run", experiment, "-o", out, "--jobs", "2")
    assert ran.returncode == 0, ran.stderr
    digests: dict[int, dict[str, str]] = {}
    for path in out.glob("**/run.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        digests.setdefault(record["seed"], {})[record["scheme"]] = record["digest"]
    assert len(digests) == 2
    for schemes in digests.values():
        assert schemes["twin"] == schemes["vegas"] != schemes["dctcp"]


def metadata(folder: Path) -> subprocess.CompletedProcess[str]:
    command = ["cargo", "metadata", "--offline", "--no-deps", "--format-version=1"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_steps_of_the_page_make_a_crate_of_the_workspace(tmp_path: Path) -> None:
    """docs/adding-a-scheme.md: what the steps write fits together, and shares what `make build` has compiled."""
    page = (ROOT / "docs" / "adding-a-scheme.md").read_text(encoding="utf-8")
    steps = page.split("## The same in a crate of its own")[1].split("```sh\n")[1].split("```")[0]
    clone = tmp_path / "priolane"
    shutil.copytree(EXAMPLE, clone / "examples" / "own-scheme")
    (clone / "crates").symlink_to(ROOT / "crates", target_is_directory=True)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, clone)
    subprocess.run(["bash", "-ec", steps], cwd=tmp_path, check=True)
    mine = clone / "examples" / "own-aimd"
    crates = metadata(mine)
    assert crates.returncode == 0, crates.stderr
    workspace = json.loads(crates.stdout)
    assert workspace["target_directory"] == str(clone / "target")
    (package,) = [package for package in workspace["packages"] if package["name"] == "own-aimd"]
    assert package["id"] in workspace["workspace_members"]
    assert [target["name"] for target in package["targets"]] == ["own_aimd"]
    library = (mine / "src" / "lib.rs").read_text(encoding="utf-8")
    assert "mod aimd;" in library
    assert "fn own_aimd(" in library
    assert "register::<aimd::Aimd>" in library
    assert (mine / "src" / "aimd.rs").is_file()
    packaging = tomllib.loads((mine / "pyproject.toml").read_text(encoding="utf-8"))
    assert packaging["project"]["scripts"] == {"own-aimd": "own_aimd:main"}
    assert packaging["tool"]["maturin"]["module-name"] == "own_aimd"
    experiment = tomllib.loads((mine / "experiment.toml").read_text(encoding="utf-8"))
    assert experiment["schemes"] == ["dctcp", "aimd.toml"]
    assert (mine / "aimd.toml").is_file()
    assert experiment["claim"][0]["order"][1] == "fct_p99.small.aimd"


def test_git_leaves_out_crates_of_users() -> None:
    for name, ignored in {"own-aimd": True, "own-scheme": False}.items():
        results = ["git", "check-ignore", "--quiet", "--no-index", f"examples/{name}/Cargo.toml"]
        assert (subprocess.run(results, cwd=ROOT, check=False).returncode == 0) == ignored, name


def test_a_copy_may_lie_below_another_workspace(tmp_path: Path) -> None:
    """Cargo looks for a workspace in the folders above: that of the clone, for a copy in `examples`."""
    (tmp_path / "Cargo.toml").write_text("[workspace]\nmembers = []\n", encoding="utf-8")
    copy = shutil.copytree(EXAMPLE, tmp_path / "copy")
    manifest = copy / "Cargo.toml"
    text = manifest.read_text(encoding="utf-8").replace("../..", str(ROOT))
    manifest.write_text(text, encoding="utf-8")
    assert "believes it's in a workspace when it's not" in metadata(copy).stderr
    manifest.write_text(re.sub("^#: ", "", text, flags=re.MULTILINE), encoding="utf-8")
    crates = metadata(copy)
    assert crates.returncode == 0, crates.stderr
    assert json.loads(crates.stdout)["workspace_root"] == str(copy)
    profiles = tomllib.loads(manifest.read_text(encoding="utf-8"))["profile"]
    release = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["profile"]["release"]
    assert profiles["release"]["codegen-units"] == release["codegen-units"]
    # What runs packets is compiled as in the clone; there, members without a line of their own have level 3.
    for name, settings in profiles["release"]["package"].items():
        there = {"opt-level": 3} | release["package"].get(name, {})
        there.pop("debug", None)
        assert {"opt-level": 3} | settings == there, name
    assert set(profiles["quick"]["package"]) == set(profiles["release"]["package"])
