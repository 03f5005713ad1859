"""Quantities: all commands read a text as experiment files do."""

import random
from fractions import Fraction
from pathlib import Path

import pytest

from priolane._core import InputError
from priolane.advice.fabric import read_fabric
from priolane.model import quantity

FACTORS = {
    quantity.rate: {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12},
    quantity.picoseconds: {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12},
    quantity.size: {
        "B": 1,
        "kB": 10**3,
        "KiB": 2**10,
        "MB": 10**6,
        "MiB": 2**20,
        "GB": 10**9,
        "GiB": 2**30,
        "TB": 10**12,
    },
}

FABRIC = """[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
host_link = { rate = "RATE", delay = "1us" }
fabric_link = { rate = "RATE", delay = "1us" }
[switch]
buffer = { dynamic = "12MB", alpha = 1 }
queues = 3
[host]
min_rto = "5ms"
"""


@pytest.mark.parametrize("read", FACTORS, ids=lambda read: read.__name__)
def test_a_number_times_its_unit_is_exact(read: object) -> None:
    assert callable(read)
    draw = random.Random(7)  # noqa: S311 - texts, not secrets
    for unit, factor in FACTORS[read].items():
        for _ in range(50):
            number = f"{draw.randrange(1, 100)}.{draw.randrange(1000):03}"
            whole = Fraction(number) * factor
            text = number + draw.choice(("", " ")) + unit
            if whole.denominator == 1:
                assert read(text) == whole
            else:
                with pytest.raises(InputError, match="is not a whole number of"):
                    read(text)


@pytest.mark.parametrize(
    "text", ["", "10", "-1kB", "1e3kB", ".5MB", "kB", "1 parsec", "١kB", "9" * 30 + "B", "1" + "x" * 9999]
)
def test_another_text_is_refused_in_a_short_message(text: str) -> None:
    for read in FACTORS:
        with pytest.raises(InputError) as refused:
            read(text)
        assert len(str(refused.value)) < 300


def test_a_fabric_has_the_rates_and_sizes_of_experiments(tmp_path: Path) -> None:
    path = tmp_path / "fabric.toml"
    classes = '[metrics]\nclasses = { bulk = { above = "1GiB" }, small = { below = "0.1MB" } }\n'
    path.write_text(FABRIC.replace("RATE", "1Tbps") + classes, encoding="utf-8")
    fabric = read_fabric(path)
    # 65 packets at 10 Gbit/s in proportion.
    assert fabric.marking["at"] == {"1Tbps": "6500pkt"}
    assert fabric.classes["bulk"] == {"above": "1GiB"}
    for wrong, says in (('"1XiB"', "is not a unit of"), ("5", "the size is no text")):
        path.write_text(FABRIC.replace("RATE", "1Tbps") + classes.replace('"1GiB"', wrong), encoding="utf-8")
        with pytest.raises(InputError, match=rf"fabric\.toml: key `metrics\.classes\.bulk\.above`: .*{says}"):
            read_fabric(path)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0B"), (999, "999B"), (1000, "1kB"), (123_456, "123.5kB"), (500_000, "500kB"), (2e6, "2MB"), (1.5e9, "1.5GB")],
)
def test_sizes_are_written_as_they_are_read(count: float, text: str) -> None:
    assert quantity.size_text(count) == text
    assert quantity.size(text) == pytest.approx(count, rel=1e-3)
