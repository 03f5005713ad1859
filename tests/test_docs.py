from pathlib import Path
from typing import Any

import pytest

import first


def test_the_python_page_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in first.blocks():
        exec(compile(block, str(first.DOCUMENT), "exec"), names)  # noqa: S102 - the project's own document
    assert (tmp_path / "runs" / "first" / "report.html").is_file()
    assert len(names["results"].runs) == 4
    assert len(names["table"]) >= 4
    assert names["flows"].slowdown.min() > 0
