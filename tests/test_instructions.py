import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import instructions
from instructions import Counts

# The build that `make test` has compiled.
PROFILE = "ci"


def kept() -> Counts:
    return instructions.read_kept(instructions.KEPT.read_text("utf-8"))[PROFILE]


def test_counts_out_of_the_band_are_found_in_both_directions() -> None:
    before = Counts("1.95.0", {"a": 100.0, "b": 100.0, "c": 100.0, "d": 100.0, "e": 1.0})
    now = Counts("1.95.0", {"a": 104.9, "b": 95.1, "c": 105.1, "d": 94.9, "f": 1.0})
    result = instructions.outside_band(before, now)
    assert [line[:1] for line in result] == ["c", "d", "e", "f"]
    assert "+5.1 %" in result[0]


def test_kept_counts_are_read_as_they_are_written() -> None:
    counts = {"release": Counts("1.95.0", {"a": 123.4, "b": 5.0}), "ci": Counts("1.96.0", {"a": 400.0})}
    assert instructions.read_kept(instructions.to_toml(counts)) == counts
    text = instructions.KEPT.read_text("utf-8")
    assert instructions.to_toml(instructions.read_kept(text)) == text
    for each in instructions.read_kept(text).values():
        assert each.per_hop.keys() == instructions.SCENARIOS.keys()


def test_the_count_of_callgrind_is_read() -> None:
    output = "==7== Callgrind\n==7== Events    : Ir\n==7== Collected : 1234567\n==7==\n==7== I   refs:      1,234,567\n"
    assert instructions.instructions(output) == 1_234_567
    with pytest.raises(ValueError, match="no count"):
        instructions.instructions("==7== Callgrind\n")


def test_tables_leave_out_what_a_start_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    # A start takes 1,000 instructions, a flow 10 hops and 2 packets, a hop 50 with DCTCP and 75 with others.
    def counted(_program: Path, scenario: str, flows: int | None) -> instructions.Run:
        hops = 10 * (flows or 32)
        each = 50 if scenario.startswith("dctcp") else 75
        return instructions.Run(1_000 + each * hops, hops, hops // 5)

    monkeypatch.setattr(instructions, "counted", counted)
    transports = list(instructions.transport_table(Path("bench")))
    assert transports[2] == "| `dctcp` | 50 | 1.00 | 250 | 1.00 |"
    assert transports[-1] == "| `top` | 75 | 1.50 | 375 | 1.50 |"
    grid = list(instructions.grid_table(Path("bench")))
    assert len(grid) == 2 + 9
    assert grid[-1] == "| 1,024 | 250 | 75 | 75 | 75 |"


def test_another_compiler_or_no_valgrind_is_incomparable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "valgrind" else f"/bin/{name}")
    with pytest.raises(instructions.Incomparable, match="valgrind"):
        instructions.comparable(kept())
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(instructions, "rustc_version", lambda: "1.0.0")
    with pytest.raises(instructions.Incomparable, match=r"1\.0\.0"):
        instructions.comparable(kept())


def test_instructions_per_packet_hop_are_within_5_percent_of_those_kept() -> None:
    try:
        instructions.comparable(kept())
    except instructions.Incomparable as why:
        pytest.skip(str(why))
    assert instructions.outside_band(kept(), instructions.count(PROFILE)) == []
