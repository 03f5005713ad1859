"""Prints the runtime and development requirements of pyproject.toml, one per line, for pip."""

import tomllib
from pathlib import Path


def requirements(pyproject: Path) -> list[str]:
    """All requirements that linting and testing need; the project itself is not among them."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    wanted: list[str] = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    return [requirement.replace(" ", "") for requirement in wanted]


if __name__ == "__main__":
    print("\n".join(requirements(Path(__file__).parent.parent / "pyproject.toml")))
