"""A headless Chromium, driven over its DevTools protocol: what a page logs, fetches, draws and shows on hover."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from priolane.hosts.machine import BROWSERS

NAMES = BROWSERS

_LISTENING = re.compile(r"DevTools listening on (ws://\S+)")
_TIMEOUT_S = 60.0


def find() -> str | None:
    """The path of a Chromium of this machine."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


@dataclass
class Page:
    """One open page. `events` are those of the protocol so far."""

    socket: ClientConnection
    session: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    calls: int = 0

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method of the protocol and waits for its result; events on the way are kept."""
        self.calls += 1
        message: dict[str, Any] = {"id": self.calls, "method": method, "params": parameters}
        self.socket.send(json.dumps(message | ({"sessionId": self.session} if self.session else {})))
        while True:
            read = self._receive()
            if read.get("id") == self.calls:
                assert "error" not in read, f"{method}: {read['error']}"
                result: dict[str, Any] = read["result"]
                return result

    def open(self, path: Path, *, scripts: bool = True) -> None:
        """Shows a file in a new tab and waits until it is loaded. Without `scripts`, none of the page's runs."""
        self.session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        self.call("Page.navigate", url=path.absolute().as_uri())
        while not self.of("Page.loadEventFired"):
            self._receive()
        # What a test evaluates is a script, too.
        self.call("Emulation.setScriptExecutionDisabled", value=False)

    def of(self, method: str) -> list[dict[str, Any]]:
        """The parameters of every event of a kind."""
        return [event["params"] for event in self.events if event["method"] == method]

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def point_at(self, selector: str) -> None:
        """Moves the mouse to the middle of an element, scrolled into view."""
        x, y = self.value(
            f"(e => {{ e.scrollIntoView({{block: 'center'}}); const b = e.getBoundingClientRect();"
            f" return [b.x + b.width / 2, b.y + b.height / 2]; }})(document.querySelector({json.dumps(selector)}))"
        )
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def tooltip(self) -> str | None:
        """The text that the browser shows for what is under the mouse: the `<title>` of the innermost drawing part."""
        value: str | None = self.value(
            "(() => { const under = [...document.querySelectorAll('svg *:hover')].reverse();"
            " for (const e of under) for (const c of e.children) if (c.tagName === 'title') return c.textContent;"
            " return null; })()"
        )
        return value

    def complaints(self) -> list[Any]:
        """Everything that the page logged, refused or threw."""
        logged = [event["entry"] for event in self.of("Log.entryAdded")]
        return [*logged, *self.of("Runtime.consoleAPICalled"), *self.of("Runtime.exceptionThrown")]

    def _receive(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.socket.recv(timeout=_TIMEOUT_S))
        if "method" in read:
            self.events.append(read)
        return read


@contextmanager
def started(program: str, profile: Path) -> Iterator[Page]:
    """Starts a browser that keeps its files in `profile`."""
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--window-size=1200,900",
    ]
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio"]
    child = subprocess.Popen(
        [program, *options, *quiet, f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stderr is not None
        lines = (_LISTENING.search(line) for line in child.stderr)
        address = next((result[1] for result in lines if result), None)
        assert address, "the browser ended before it listened"
        with connect(address, max_size=None, open_timeout=_TIMEOUT_S, proxy=None) as socket:
            yield Page(socket)
    finally:
        child.kill()
        child.communicate()
