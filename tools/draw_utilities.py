"""Draws docs/images/paccp-utility.png: TCP's utility of a rate in both phases (PACCP Eqs. 2, 3).

The formulas are those of `price/utility.rs` of priolane-core.
"""

import io
import math
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

TARGET = Path(__file__).parent.parent / "docs" / "images" / "paccp-utility.png"
RTT_S = 100e-6
PACKET_BITS = 8 * 1460
INK, SLOW_START, AVOIDANCE = "#222222", "#d55e00", "#0072b2"


def slow_start(bps: float) -> float:
    """SSP: x log 3, x in packets per second."""
    return bps / PACKET_BITS * math.log(3)


def avoidance(bps: float) -> float:
    """CAP, of which V is made."""
    x, mu, beta = bps / PACKET_BITS, 1 / RTT_S**2, 0.5 / RTT_S
    return (mu / beta + x) * (math.log(mu + beta * x) - 1) - x * (math.log(beta * x) - 1)


def main() -> None:
    """Writes the picture."""
    figure = Figure(figsize=(8, 3), layout="constrained", dpi=150)
    whole, marginal = figure.subplots(1, 2)
    gbps = [0.02 * n for n in range(1, 501)]
    for of, colour, dash, name in (
        (slow_start, SLOW_START, "--", "SSP: x log 3"),
        (avoidance, AVOIDANCE, "-", "CAP, of which V is made"),
    ):
        whole.plot(gbps, [of(1e9 * x) / 1e6 for x in gbps], dash, color=colour, label=name)
        step = 1e6
        slope = [(of(1e9 * x + step) - of(1e9 * x - step)) / (2 * step / PACKET_BITS) for x in gbps]
        marginal.plot(gbps, slope, dash, color=colour, label=name)
    whole.set_ylabel("U (10⁶)")
    marginal.set_ylabel("U' per packet/s")
    marginal.axhline(math.log(3), color=INK, linewidth=0.5, linestyle=":")
    for axes, title in ((whole, "Utility of a rate"), (marginal, "Marginal utility: CAP falls below log 3")):
        axes.set_xlabel("Rate (Gbit/s), RTT 100 us, packets of 1460 B")
        axes.set_title(title, fontsize=10, loc="left", fontweight="bold", color=INK)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=9)
    written = io.BytesIO()
    figure.savefig(written)
    Image.open(written).convert("RGB").quantize(64, Image.Quantize.MAXCOVERAGE).save(TARGET, optimize=True)


if __name__ == "__main__":
    main()
