"""The notebooks in examples/notebooks run from their first cell to their last, in an empty directory."""

from pathlib import Path
from typing import cast

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from rings import cases

NOTEBOOKS = Path(__file__).parent.parent / "examples" / "notebooks"
LONGEST_S = 120


def read(name: str) -> NotebookNode:
    text = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
    return cast("NotebookNode", nbformat.reads(text, as_version=4))  # type: ignore[no-untyped-call]


def shown(book: NotebookNode, form: str) -> list[str]:
    """The output of cells in a form such as "text/html", in order."""
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    return [str(output.data[form]) for output in outputs if form in output.get("data", {})]


@pytest.fixture(scope="module", params=cases(["first-experiment", "own-controller"], ["own-thresholds"]))
def executed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    book = read(request.param)
    directory = tmp_path_factory.mktemp(request.param)
    NotebookClient(book, timeout=LONGEST_S, resources={"metadata": {"path": str(directory)}}).execute()
    book.metadata["name"] = request.param
    return book


def test_a_notebook_runs_and_shows_its_results(executed: NotebookNode) -> None:
    tables = "".join(shown(executed, "text/html"))
    schemes = {
        "first-experiment": ["dctcp", "pias"],
        "own-controller": ["dctcp", "gentle"],
        "own-thresholds": ["one_queue", "solved", "too_large"],
    }
    for scheme in schemes[executed.metadata["name"]]:
        assert scheme in tables
    assert '<progress max="' in tables
    assert tables.count('src="data:image/svg+xml;base64,') == 1
    assert shown(executed, "image/png") == []
    if executed.metadata["name"] == "first-experiment":
        assert "<b>\N{CHECK MARK} holds</b>: Small flows finish 11.0 times [7.7, 16.0] as fast with pias as" in tables
        assert "matplotlib" not in "".join(cell.source for cell in executed.cells)


def test_notebooks_are_kept_without_outputs() -> None:
    for path in NOTEBOOKS.glob("*.ipynb"):
        book = read(path.stem)
        assert all(not cell.outputs and cell.execution_count is None for cell in book.cells if cell.cell_type == "code")
