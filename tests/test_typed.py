"""The package as type checkers of its users see it."""

import subprocess
import sys
from pathlib import Path

import smoke


def mypy(text: str, directory: Path) -> subprocess.CompletedProcess[str]:
    script = directory / "script.py"
    script.write_text(text, encoding="utf-8")
    options = ["--strict", "--config-file=", f"--cache-dir={directory / 'cache'}"]
    command = [sys.executable, "-m", "mypy", *options, str(script)]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


def test_the_python_page_is_typed_and_a_wrong_name_or_argument_is_found(tmp_path: Path) -> None:
    right = mypy("\n".join(smoke.blocks()), tmp_path)
    assert (right.returncode, right.stdout.splitlines()[-1][:7]) == (0, "Success"), right.stdout
    wrong = mypy('import priolane\npriolane.nothing()\npriolane.run("x.toml", jobs="two")\n', tmp_path)
    assert wrong.returncode == 1
    assert 'Module has no attribute "nothing"' in wrong.stdout
    assert 'Argument "jobs" to "run"' in wrong.stdout
