"""A headless Chromium, driven over its DevTools protocol: no more than the dashboard's tests and pictures need."""

import base64
import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.patience import PATIENCE_SECONDS, until
from tests.services.programs import find_or_install
from websockets.sync.client import ClientConnection, connect

_SWITCHES: Final = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update"),
    *("--remote-debugging-port=0", "about:blank"),
)
# Chromium's answers to a command whose page is being replaced.
_GONE: Final = frozenset(
    {
        *("Inspected target navigated or closed", "Execution context was destroyed."),
        *("Cannot find default execution context", "Cannot find context with specified id"),
    }
)
_LISTENING: Final = re.compile(r"DevTools listening on (ws://\S+)\n")


class PageGoneError(Exception):
    """The page went away, for another one, before it could answer."""


@dataclass
class Page:
    """A tab. `complaints` are the errors that its console has shown."""

    socket: ClientConnection
    session: str
    complaints: list[str] = field(default_factory=list)
    _numbers: Any = field(default_factory=count)

    def call(self, method: str, **parameters: Any) -> Any:
        """Return the result of a DevTools command."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv(timeout=PATIENCE_SECONDS))
            if answer.get("id") == number:
                if answer.get("error", {}).get("message") in _GONE:
                    raise PageGoneError(method)
                assert "error" not in answer, answer
                return answer["result"]
            self._note(answer)

    def _note(self, message: Any) -> None:
        given = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(given["exceptionDetails"].get("exception", given["exceptionDetails"])))
        if message.get("method") == "Log.entryAdded" and given["entry"]["level"] == "error":
            self.complaints.append(f"{given['entry']['text']} {given['entry'].get('url', '')}")

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page; a promise is awaited."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def open(self, url: str) -> None:
        """Go to an address."""
        self.call("Page.navigate", url=url)

    def leave(self, script: str) -> None:
        """Run a script that replaces the page: it may be gone before it has answered."""
        with suppress(PageGoneError):
            self.run(script)

    def until(self, script: str) -> None:
        """Wait until an expression is true, on this page or on the one that replaces it."""
        ends = time.monotonic() + PATIENCE_SECONDS
        while not self._holds(script):
            assert time.monotonic() < ends, f"{script} stays false: {self.run('document.body.innerText')}"
            time.sleep(0.05)

    def _holds(self, script: str) -> bool:
        try:
            return bool(self.run(f"Boolean({script})"))
        except PageGoneError:
            return False

    def size(self, width: int, height: int, *, is_dark: bool = False) -> None:
        """Set the size of the window, and the colours that its user prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path) -> None:
        """Write what is visible as a PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


def _address_in(log: Path) -> str:
    found = _LISTENING.search(log.read_text(errors="replace"))
    return found[1] if found else ""


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A tab of a Chromium of its own, whose profile is in `folder`."""
    command = [str(find_or_install("chromium")), f"--user-data-dir={folder}", *_SWITCHES]
    # Not a pipe: it would stand still once that is full.
    log = folder.with_name(f"{folder.name}.log")
    with log.open("wb") as told:
        process = subprocess.Popen(command, stderr=told, stdout=subprocess.DEVNULL)
    try:
        until(lambda: process.poll() is not None or _address_in(log), what="Chromium listens")
        # Without pings: a machine that stands still for a while is no reason to hang up.
        with connect(_address_in(log), max_size=None, open_timeout=PATIENCE_SECONDS, ping_interval=None) as socket:
            target = Page(socket, "").call("Target.createTarget", url="about:blank")["targetId"]
            session = Page(socket, "").call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            page = Page(socket, session)
            for domain in ("Page", "Runtime", "Log", "Performance"):
                page.call(f"{domain}.enable")
            yield page
    finally:
        process.kill()
        process.wait()
