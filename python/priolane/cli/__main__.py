"""`python -m priolane.cli`."""

import sys

from priolane.command import main

if __name__ == "__main__":
    sys.exit(main())
