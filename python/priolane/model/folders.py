"""The folders of the study: where each figure lies, without reading any of them."""

from pathlib import Path

STUDY = Path(__file__).parent.parent / "study" / "files"
"""The study: a folder for each figure, and what papers have in common. In the repository it is study/."""
EXPERIMENT = "figure.toml"
"""The name of the experiment file in the folder of a figure."""
OURS = "ours"
"""The word that stands in a paper's place for figures of no paper."""


def folder(study: Path, figure: str) -> Path:
    """The folder of a figure such as `nos2/fig6` in a study: papers/nos2/fig6, and ours/league for one of ours."""
    paper, _, name = figure.partition("/")
    return study / OURS / name if paper == OURS else study / "papers" / paper / name


SMALLEST = folder(STUDY, "nos2/fig1") / EXPERIMENT
"""A figure whose runs have three flows."""
