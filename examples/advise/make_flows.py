"""Writes flows.csv: 9,600 flows between three racks of 8 hosts, as services with backups might have them.

Requests of 2 to 60 kB between any two hosts, replies to services that aggregate (8 hosts answer one at once), and
copies of 1 to 4 MB between racks. Seeded: the same file each time.
"""

import random
from pathlib import Path

HOSTS, REQUESTS, ROUNDS, COPIES, FAN_IN = 24, 6600, 225, 1200, 8
SPAN_NS = 120_000_000


def main() -> None:
    """Draws the flows and writes them in the order of their starts."""
    draw = random.Random(25)  # noqa: S311 - flows, not secrets
    rows: list[tuple[int, int, int, int]] = []
    for _ in range(REQUESTS):
        src, dst = draw.sample(range(HOSTS), 2)
        rows.append((draw.randrange(SPAN_NS), src, dst, round(2_000 * 30 ** draw.random())))
    for _ in range(ROUNDS):
        at, (receiver, *senders) = draw.randrange(SPAN_NS), draw.sample(range(HOSTS), FAN_IN + 1)
        rows += [(at + draw.randrange(20_000), sender, receiver, 20_000) for sender in senders]
    for _ in range(COPIES):
        src = draw.randrange(HOSTS)
        dst = (src + draw.randrange(8, 17)) % HOSTS
        rows.append((draw.randrange(SPAN_NS), src, dst, round(1_000_000 * 4 ** draw.random())))
    lines = ["start_ns,src,dst,bytes", *(",".join(map(str, row)) for row in sorted(rows))]
    (Path(__file__).parent / "flows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
