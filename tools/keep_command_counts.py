"""Keeps what short commands take: `python tools/keep_command_counts.py` writes python/priolane/cli/command_counts.toml.

`priolane bench --commands` compares with it.
"""

import sys

from priolane.cli import command_counts


def main() -> int:
    """Counts, and writes what was counted."""
    text = command_counts.to_toml(command_counts.count())
    command_counts.KEPT.write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
