"""`python -m priolane.hosts.linux_process host`, `guard NAME` or `switch DIR N`: processes that a testbed starts.

`agent NANOSECONDS` is `priolane linux agent` with a clock that is wrong by so much, for tests of clocks on one machine.
"""

import sys
from collections.abc import Sequence

from priolane import _core
from priolane.text.printable import printable


def main(words: Sequence[str]) -> int:
    """Is a host on standard input and output, a switch, or takes a testbed down at the end of standard input."""
    try:
        match words:
            case ["host"]:
                _core.linux_host()
            case ["guard", name]:
                _core.linux_guard(name)
            case ["switch", directory, number] if number.isdecimal():
                _core.linux_switch(directory, int(number))
            case ["agent", shift] if shift.removeprefix("-").isdecimal():
                from priolane.hosts.linux import PROGRAM  # noqa: PLC0415 - hosts and switches start without what it imports

                _core.linux_agent(PROGRAM, None, int(shift))
            case _:
                usage = "host | guard NAME | switch DIR N | agent NANOSECONDS"
                raise _core.InputError(f"usage: python -m priolane.hosts.linux_process {usage}")
    except (_core.InputError, _core.RunFailed) as error:
        print(printable(str(error)), file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
