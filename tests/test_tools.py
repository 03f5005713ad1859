import json
import sys
from pathlib import Path

import pytest

from priolane import _core

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import check_sizes
import dev_requirements
import train


def test_a_function_of_81_lines_is_found() -> None:
    body = "    pass\n" * 80
    assert list(check_sizes.complaints("x.py", f"def f():\n{body}"))
    assert not list(check_sizes.complaints("x.py", f"def f():\n{body[:-9]}"))


def test_a_file_of_1001_lines_is_found() -> None:
    assert list(check_sizes.complaints("x.rs", "\n" * 1001)) == ["x.rs: 1001 lines (at most 1000)"]
    assert not list(check_sizes.complaints("x.rs", "\n" * 1000))


def test_development_needs_the_runtime_requirements_too() -> None:
    wanted = dev_requirements.requirements(Path(__file__).parent.parent / "pyproject.toml")
    assert any(name.startswith("pyarrow") for name in wanted)
    assert any(name.startswith("pytest") for name in wanted)


def test_what_a_build_learns_from_are_scenarios_of_the_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "FLOWS", 1)
    ran: list[str] = []
    bench = _core.bench

    def noted(request: str) -> str:
        answer = bench(request)
        ran.extend(scenario["name"] for scenario in json.loads(answer)["scenarios"])
        return answer

    monkeypatch.setattr(_core, "bench", noted)
    train.main()
    assert set(_core.bench_scenarios()) < set(ran)
    assert {"top_leafspine144", "dctcp_leafspine144_pfc"} < set(ran)
