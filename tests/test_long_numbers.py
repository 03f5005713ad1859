"""Numbers with thousands of digits, which Python does not convert: one line, exit code 2."""

from pathlib import Path

import pytest

import advise_world
import export_plans
from priolane._core import InputError
from priolane.advice.fabric import read_fabric
from priolane.advice.recording import read_recording
from priolane.cli import main
from priolane.export import quantity
from priolane.report.over_time import picoseconds

LONG = "9" * 5000


@pytest.mark.parametrize("line", [f"queues = {LONG}", f"x = {LONG}", f"x = -{LONG}"])
def test_a_fabric_with_a_long_number_is_refused(tmp_path: Path, line: str) -> None:
    _, path = advise_world.write(tmp_path, 1, 10)
    path.write_text(f"{line}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    with pytest.raises(InputError, match="this is not TOML"):
        read_fabric(path)


def test_counts_of_a_recording_fit_into_64_bits(tmp_path: Path) -> None:
    report = tmp_path / "flows.report.json"
    report.write_text(f'{{"format": "sflow", "flows": 5, "tick_ps": {"9" * 4000}, "late_ps": 7}}', encoding="utf-8")
    result = read_recording(tmp_path / "flows.csv")
    assert (result.flows, result.tick_s, result.late_s) == (5, 0.0, 7e-12)
    for text in ("[" * 100_000, f'{{"flows": {LONG}}}', '{"flows": NaN}'):
        report.write_text(text, encoding="utf-8")
        assert read_recording(tmp_path / "flows.csv").flows == 0


@pytest.mark.parametrize("text", [f"{LONG}B", f"1.{LONG}MB", "\N{ARABIC-INDIC DIGIT THREE}MB"])
def test_a_quantity_with_a_long_number_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"is not a (number of bytes|decimal number with a unit)") as refused:
        quantity.size(text)
    assert len(str(refused.value)) < 200
    assert picoseconds("1e999999999s") is None
    assert picoseconds(f"{LONG}s") is None
    assert picoseconds("2.5us") == 2_500_000


def test_headroom_with_a_long_number_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "pg_profile_lookup.ini"
    table.write_text(f"10000 40m {LONG} 1 1 0\n", encoding="utf-8")
    experiment = export_plans.write_experiment(tmp_path)
    out = tmp_path / "out"
    words = ["export", "sonic", str(experiment), "--scheme", "pias", "--headroom", str(table), "-o", str(out)]
    assert main(words) == 2
    assert "line 1 is not a row of" in capsys.readouterr().err
    assert not out.exists()
