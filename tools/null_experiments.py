"""Runs experiments in which nothing may be found: equal hosts send equal flows, and their numbers decide nothing.

`python tools/null_experiments.py` runs the cells of tools/null_experiments.toml and prints a line for
each. `--seeds N` (default 40), `--cells N` and `--only TEXT` choose; `--set KEY=VALUE` overrides a key of every cell.
The exit status is 1 if a cell finds something, by Holm's procedure over all cells at a family-wise error of 5 %.
"""

import argparse
import itertools
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import allpairspy
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from null_claims import cpu_minutes
from priolane.execution.grid import run_grid
from priolane.execution.settings import Settings
from priolane.model.experiment import Options
from priolane.model.toml import toml_text
from priolane.results.results import Results

ROOT = Path(__file__).parent.parent
FACTORS = ROOT / "tools" / "null_experiments.toml"
Values = NDArray[np.float64]

LEVEL = 0.05
OWN = "own"
PACKET_BITS = 1538 * 8
LOAD = 0.8
"""Load of the receiver's line with Poisson tenants."""


@dataclass(frozen=True)
class Cell:
    """A null experiment."""

    scheme: str
    port: str
    senders: int
    rate: str
    traffic: str

    def __str__(self) -> str:
        """The values of its factors."""
        return f"{self.scheme} {self.port} {self.senders} senders {self.rate} {self.traffic}"

    @property
    def gbps(self) -> int:
        """The rate of hosts in Gbit/s."""
        return int(self.rate.removesuffix("Gbps"))

    @property
    def ends(self) -> bool:
        """Whether its flows end, and are judged by their completion times."""
        return self.traffic in {"tenants", "incast"}

    @property
    def is_mirrored(self) -> bool:
        """Whether a second run exchanges the links. With two senders, the number and the link would differ alike."""
        return self.senders == 2 and self.traffic in {"half_packet", "ppm"}


@dataclass(frozen=True)
class CellResult:
    """The findings of a cell.

    `values` has a row for each seed and a column for each sender. `correlation` is the mean over seeds of that with the
    sender's number, and `p` how likely a dependence as strong is by chance.
    """

    cell: Cell
    values: Values
    correlation: float
    p: float

    @property
    def first_share(self) -> tuple[float, float, float]:
        """The mean over seeds of the first sender's share, and the ends of its 95 % interval."""
        shares = self.values[:, 0] / self.values.sum(axis=1)
        mean, reach = shares.mean(), stats.t.ppf(0.975, len(shares) - 1) * shares.std(ddof=1) / np.sqrt(len(shares))
        return float(mean), float(mean - reach), float(mean + reach)

    @property
    def shares(self) -> Values:
        """The mean over seeds of each sender's value, over that of all senders."""
        means: Values = self.values.mean(axis=0) / self.values.mean()
        return means


def factors() -> dict[str, Any]:
    """The factors, as they are written."""
    return tomllib.loads(FACTORS.read_text(encoding="utf-8"))


def cells(read: dict[str, Any]) -> list[Cell]:
    """The cells: pairwise designs, one for each list of schemes, and one for links that differ."""
    schemes, traffic, senders = read["schemes"], read["traffic"], read["senders"]
    ports = [*read["port"]]
    designs = [
        [schemes["fair"], senders, read["rate"], traffic["fair"], ports],
        [schemes["fair"], senders, read["rate"], traffic["unequal"], ports],
        [schemes["fair_own"], senders, read["rate"], traffic["fair"], [OWN]],
        [schemes["fair_own"], senders, read["rate"], traffic["unequal"], [OWN]],
        [schemes["one"], senders, read["rate"], traffic["one"], [OWN]],
    ]
    return [cell for design in designs for cell in _covering(design)]


def _covering(design: list[list[Any]]) -> Iterator[Cell]:
    """Cells in which any two values of different factors meet."""
    *axes, ports = design
    # A factor with one value is not one for allpairspy.
    for scheme, senders, rate, kind, *port in allpairspy.AllPairs(design if len(ports) > 1 else axes):
        yield Cell(scheme, port[0] if port else ports[0], senders, rate, kind)


def experiment(cell: Cell, read: dict[str, Any]) -> str:
    """The text of a cell's experiment, whose topology file is `null.csv`."""
    lines = [f'title = "Null: {cell}"', 'schemes = ["x"]', *_times(cell)]
    lines += ["[topology]", 'kind = "file"', 'path = "null.csv"']
    if cell.port != OWN and cell.ends:
        lines += ["[host]", 'min_rto = "1ms"', 'initial_rto = "1ms"', 'handshake = "none"']
    lines += ["[scheme.x]", *_scheme(cell, read)]
    return "\n".join([*lines, *_groups(cell), ""])


def _scheme(cell: Cell, read: dict[str, Any]) -> list[str]:
    """A shipped scheme, with another port. It is no base, as a port would keep the lossless classes of its base."""
    keys: dict[str, Any]
    if cell.port == OWN:
        keys = {"base": cell.scheme}
    else:
        shipped = tomllib.loads((ROOT / "schemes" / f"{cell.scheme}.toml").read_text(encoding="utf-8"))
        keys = {key: value for key, value in shipped.items() if key not in {"paper", "assumptions"}}
        keys["port"] = {**read["port"][cell.port], "ecn": read["ecn"]}
    if cell.traffic == "incast":
        keys |= read["incast"].get(cell.scheme, {})
    return [f"{key} = {toml_text(value)}" for key, value in keys.items()]


def _times(cell: Cell) -> list[str]:
    """As many packet times at 100 as at 10 Gbit/s, and as long as timeouts of 1 ms matter little."""
    if cell.ends:
        return [f'time = {{ warmup = "0s", measure = "{400 // cell.gbps}ms", drain = true, limit = "2s" }}']
    return [f'time = {{ warmup = "{100 // cell.gbps}ms", measure = "{800 // cell.gbps}ms", drain = false }}']


def _groups(cell: Cell) -> Iterator[str]:
    n = cell.senders
    yield from ["[[group]]", 'name = "senders"', f'hosts = "1-{n}"']
    match cell.traffic:
        case "tenants":
            yield from ['to = "sink"', 'app = "poisson"', 'sizes = { csv = "sizes.csv", interpolation = "linear" }']
            yield f'load = {{ of = "host", counts = "wire", value = {LOAD / n} }}'
        case "incast":
            yield from ['to = "sink"', 'app = "incast"', f'period = "{2_000 * n // cell.gbps}us"', f"fan_in = {n}"]
            yield from ["receiver = 0", 'size = "1MB"', f'jitter = "{1_000 // cell.gbps}us"']
        case _:
            yield from ['app = "long_lived"', 'size = "endless"']
            yield f"pairs = {toml_text([{'src': host, 'dst': 0} for host in range(1, n + 1)])}"
    if cell.ends:
        yield from ["[[group]]", 'name = "sink"', 'hosts = "0"', 'app = "none"']


def is_odd(host: int, senders: int) -> bool:
    """Whether a sender's link has the longer delay or the faster clock: every second one, counted from both ends.

    So the senders with such links have the same mean number as the others.
    """
    return host > 0 and min(host, senders + 1 - host) % 2 == 1


def topology(cell: Cell, *, mirrored: bool = False) -> str:
    """The topology file of a cell: a switch, a receiver, and senders; `mirrored` exchanges two unequal links."""
    gbps = cell.gbps
    hosts = range(cell.senders + 1)
    lines = ["node,s,switch", *(f"node,h{host},host" for host in hosts)]
    for host in hosts:
        odd = is_odd(host, cell.senders) if not cell.is_mirrored else host == 1 + mirrored
        delay_ps = 1_000_000 + (PACKET_BITS * 1_000 // gbps // 2 if cell.traffic == "half_packet" and odd else 0)
        mbps = gbps * 1_000 + (gbps // 10 * (1 if odd else -1) if cell.traffic == "ppm" and host > 0 else 0)
        lines.append(f"link,h{host},s,{mbps}Mbps,{delay_ps}ps")
    return "\n".join([*lines, ""])


SIZES = "bytes,cdf\n20000,0\n200000,0.9\n2000000,1\n"


def run(cell: Cell, read: dict[str, Any], seeds: int, sets: Iterable[str]) -> CellResult:
    """Runs a cell with seeds 1 to `seeds`; `sets` are keys that it has otherwise, each as KEY=VALUE."""
    changes = tuple((key, value) for key, _, value in (setting.partition("=") for setting in sets))
    options = Options(sets=changes, seeds=seeds)
    measured = [_measured(cell, read, options, mirrored=mirrored) for mirrored in {False, cell.is_mirrored}]
    return judge(cell, np.mean(measured, axis=0))


def _measured(cell: Cell, read: dict[str, Any], options: Options, *, mirrored: bool) -> Values:
    """For each seed and sender, the packets that it sent, or the mean FCT of its flows."""
    texts = (experiment(cell, read), topology(cell, mirrored=mirrored), SIZES)
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        for name, text in zip(("null.toml", "null.csv", "sizes.csv"), texts, strict=True):
            (directory / name).write_text(text, encoding="utf-8")
        results = run_grid(directory / "null.toml", directory / "out", options, Settings(jobs=os.cpu_count() or 1))
        return _by_sender(results, cell)


def _by_sender(results: Results, cell: Cell) -> Values:
    if cell.ends:
        values = results.to_pandas("flows").groupby(["seed", "src"])["fct_ps"].mean().unstack()
        columns: list[Any] = list(range(1, cell.senders + 1))
    else:
        values = results.to_pandas("ports").groupby(["seed", "port"])["packets"].sum().unstack()
        columns = [f"h{host}->s" for host in range(1, cell.senders + 1)]
    return values.reindex(columns=columns).to_numpy(float)


def judge(cell: Cell, values: Values) -> CellResult:
    """Whether values follow the numbers of senders: a t-test of the correlations, seed by seed.

    With two senders each correlation is 1 or -1, and the test is that of their differences.
    """
    kept = values[~np.isnan(values).any(axis=1)]
    numbers = np.arange(values.shape[1]) - (values.shape[1] - 1) / 2
    # Covariance with the number, in units of the mean value.
    slopes = (kept / kept.mean(axis=1, keepdims=True)) @ numbers / np.square(numbers).sum()
    spread = kept.std(axis=1)
    with np.errstate(invalid="ignore"):
        correlations = np.where(spread > 0, ((kept - kept.mean(axis=1, keepdims=True)) @ numbers), 0.0)
        correlations = correlations / np.where(
            spread > 0, spread * np.sqrt(len(numbers) * np.square(numbers).sum()), 1.0
        )
    # The same in every run: certain, unless all values are equal.
    is_certain = np.ptp(slopes) < 1e-12
    p = float(abs(slopes[0]) < 1e-12) if is_certain else float(stats.ttest_1samp(slopes, 0.0).pvalue)
    return CellResult(cell, kept, float(correlations.mean()), p)


def rejected(results: Sequence[CellResult]) -> list[CellResult]:
    """The cells that find something, by Holm's procedure."""
    ordered = sorted(results, key=lambda result: result.p)
    holds = itertools.takewhile(lambda pair: pair[1].p <= LEVEL / (len(results) - pair[0]), enumerate(ordered))
    return [result for _, result in holds]


def main() -> int:
    """Runs cells and prints what they find."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, metavar="N")
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--set", dest="sets", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--only", metavar="TEXT", help="cells whose name contains TEXT")
    options = parser.parse_args()
    read = factors()
    wanted = [cell for cell in cells(read)[: options.cells] if options.only is None or options.only in str(cell)]
    results = []
    for cell in wanted:
        result = run(cell, read, options.seeds, options.sets)
        results.append(result)
        low, high = result.shares.min(), result.shares.max()
        print(
            f"{cell}: correlation {result.correlation:+.3f}, p {result.p:.3f}, values {low:.3f} to {high:.3f}",
            flush=True,
        )
    print(f"{cpu_minutes():.1f} minutes of processor time")
    wrong = rejected(results)
    for result in wrong:
        print(f"finds something: {result.cell} (p {result.p:.2g})")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
