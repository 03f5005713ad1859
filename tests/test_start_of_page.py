"""The page of a small run loads little, and compiles its templates once."""

import subprocess
import sys
from pathlib import Path

import jinja2
import pytest

import smoke
from priolane.text.template_cache import TemplateCache


def test_the_page_of_a_run_loads_neither_pandas_nor_datasets(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    experiment = smoke.write_experiment(tmp_path)
    program = (
        "import sys\nfrom priolane.cli import main\n"
        f"assert main(['run', {str(experiment)!r}, '-o', {str(tmp_path / 'out')!r}]) == 0\n"
        "print(sorted({'pandas', 'pyarrow.dataset', 'matplotlib'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
    assert (tmp_path / "out" / "report.html").is_file()


def _rendered(folder: Path) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), bytecode_cache=TemplateCache(folder), autoescape=True
    )
    return environment.get_template("a.j2").render(x="<b>")


def test_compiled_templates_are_kept_where_python_keeps_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    template, kept = tmp_path / "a.j2", tmp_path / "__pycache__"
    template.write_text("{{ x }}", encoding="utf-8")
    # Without the folder, nothing is kept, and the template is rendered.
    assert _rendered(tmp_path) == "&lt;b&gt;"
    kept.mkdir()
    assert _rendered(tmp_path) == "&lt;b&gt;"
    assert len(list(kept.iterdir())) == 1
    # A changed template is compiled again.
    template.write_text("{{ x }}!", encoding="utf-8")
    assert _rendered(tmp_path) == "&lt;b&gt;!"
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for path in kept.iterdir():
        path.unlink()
    assert _rendered(tmp_path) == "&lt;b&gt;!"
    assert list(kept.iterdir()) == []
