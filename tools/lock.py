"""Writes packaging/locked: the Python packages that building, running, and testing install, with version and hashes.

`make lock` runs this program. `uv` resolves the requirements for every Python and platform that the project supports.
A locked version is kept while the requirements allow it; `make lock LOCK=--upgrade` takes the newest versions.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCKED = ROOT / "packaging" / "locked"
# Links the wheels for old versions of glibc.
LINKER = "ziglang>=0.13"
HEADER = "# Written by `make lock` from the requirements of pyproject.toml.\n"


def requirements(pyproject: Path) -> dict[str, list[str]]:
    """The requirements of each locked file, by the name of that file."""
    read = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    runtime = read["project"]["dependencies"]
    extras = read["project"]["optional-dependencies"]
    return {
        "build": read["build-system"]["requires"],
        "wheel": [LINKER],
        "run": runtime,
        "dev": sorted({*runtime, *extras["plots"], *extras["dev"], *extras["docs"]}),
    }


def lock(name: str, wanted: list[str], options: list[str]) -> None:
    """Resolves `wanted` and writes packaging/locked/NAME.txt."""
    path = LOCKED / f"{name}.txt"
    # What runs and what tests has one version of each package.
    together = ["--constraints", str(LOCKED / "dev.txt")] if name == "run" else []
    subprocess.run(  # noqa: S603
        [
            *[sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"],
            *["--generate-hashes", "--no-annotate", "--no-header", "--no-emit-index-url"],
            *[*together, *options, "--output-file", str(path), "-"],
        ],
        input="\n".join(wanted),
        text=True,
        check=True,
    )
    path.write_text(HEADER + path.read_text(encoding="utf-8").removeprefix(HEADER), encoding="utf-8")


def main(options: list[str]) -> int:
    """Writes all locked files."""
    wanted = requirements(ROOT / "pyproject.toml")
    for name in ("build", "wheel", "dev", "run"):
        lock(name, wanted[name], options)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
