"""`python -m priolane.cli` is the command `priolane`."""

import sys

from priolane.cli import main

if __name__ == "__main__":
    sys.exit(main())
