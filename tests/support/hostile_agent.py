"""An agent of a machine that does what none should: `python hostile_agent.py WHAT RELEASE HOSTS`.

It speaks on standard input and output, and imports nothing of priolane. `WRONGS` in its test names what it does.
With `right` it does nothing wrong.
"""

import json
import sys
import threading
import time

ESCAPES = "\x1b[2J\x1b]0;owned\x07 line 1\nline 2 \u202e"
LARGE = 2**64 - 1


class Agent:
    """Says what an agent says, but for one wrong."""

    def __init__(self, what: str, release: str, hosts: list[int]) -> None:
        self._what, self._hosts = what, hosts
        self._greeted = False
        self._say({"hello": {"release": release}})
        if what == "hello twice":
            self._say({"hello": {"release": release}})
        elif what == "refuses with escapes":
            self._say({"refused": ESCAPES + "A" * 200_000})
        elif what == "ends with escapes":
            sys.stderr.write(ESCAPES.split("\n", maxsplit=1)[0] + "\n")
            sys.exit(1)
        elif what == "line without end":
            while True:
                sys.stdout.write("A" * (1 << 20))
        elif what == "nested deeply":
            sys.stdout.write("[" * 200_000 + "\n")
            sys.stdout.flush()

    def _say(self, message: object) -> None:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    def _line(self, host: int, line: str) -> None:
        self._say({"host": {"host": host, "line": line}})

    def _flood(self) -> None:
        while True:
            self._line(self._hosts[0], "B" * 100)

    def hear(self) -> None:
        """Answers until its input ends; some go on."""
        try:
            for line in sys.stdin:
                self._answer(json.loads(line))
        except BrokenPipeError:
            return
        if self._what == "silent":
            time.sleep(1_000)

    def _answer(self, message: dict[str, object]) -> None:
        match message:
            case {"probe": {"sent_ns": int(sent_ns)}}:
                self._tell_time(sent_ns)
            case {"host": {"host": int(host)}}:
                self._line(host, "ready")
                if self._what == "speaks for another host":
                    self._line(0, "ready")
                if self._what == "ready twice":
                    self._line(host, "ready")
            case {"tell": "greet"}:
                self._greeted = True
                for host in self._hosts:
                    self._line(host, "greeted")
            case {"start": _}:
                for host in self._hosts:
                    self._line(host, "done")
            case {"tell": "stop"}:
                for host in self._hosts:
                    self._line(host, self._report(host))

    def _tell_time(self, sent_ns: int) -> None:
        now = time.time_ns()
        received, answered = now, now
        if self._greeted and self._what == "silent":
            return
        if self._greeted and self._what == "floods instead of answers":
            threading.Thread(target=self._flood, daemon=True).start()
            return
        if self._what == "clock that goes backwards":
            received, answered = LARGE, 0
        if self._what == "clock that stands on its head":
            received, answered = 0, LARGE
        self._say({"probe": {"sent_ns": sent_ns, "received_ns": received, "answered_ns": answered}})
        if self._what == "answers twice":
            self._say({"probe": {"sent_ns": sent_ns, "received_ns": received, "answered_ns": answered}})

    def _report(self, host: int) -> str:
        report: dict[str, object] = {
            "host": host,
            "sent": [],
            "arrived": [],
            "wrong": 0,
            "not_real_time": ESCAPES,
            "counts": {},
        }
        sent = {"id": 2, "at_ns": 0, "acked_ns": None, "retransmits": 0, "timeouts": 0, "changes": 0, "failed": None}
        match self._what:
            case "report of another host":
                report["host"] = 0
            case "wrong messages":
                report["wrong"] = LARGE
            case "times":
                report["sent"] = [sent | {"at_ns": LARGE}]
            case "timeouts":
                report["sent"] = [sent | {"timeouts": 2**32 - 1}]
            case "messages of others":
                report["sent"] = [sent | {"id": 0}]
            case "counts":
                report["counts"] = {"marked": LARGE}
            case "no report":
                return ESCAPES * 1_000
        return json.dumps(report)


if __name__ == "__main__":
    what, release, hosts = sys.argv[1:]
    Agent(what, release, [int(host) for host in hosts.split(",")]).hear()
