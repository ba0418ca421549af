"""What is answered over HTTP where deciding takes too long."""

import asyncio
import queue
import threading
from collections.abc import MutableMapping
from typing import Any

import pytest
from tests.patience import PATIENCE_SECONDS

from commonhold.agents.agent import Agent, Reply
from commonhold.agents.hook_events import (
    NOTHING,
    AboutToEdit,
    AboutToRun,
    Caller,
    Edited,
    Happening,
    Ran,
    Response,
    SessionBegan,
    Whole,
)
from commonhold.agents.runtime.calls_seen import CallsSeen
from commonhold.agents.runtime.hooks import Hooks
from commonhold.server import http
from commonhold.server.http import Web

BY, WISHES = Caller("probe", "s"), (Whole("a.py", "a = 1\n"),)


class Slow:
    """Attends to what an agent does next, once it is let go on."""

    def __init__(self, happening: Happening) -> None:
        self.happening = happening
        self.told: queue.SimpleQueue[Happening] = queue.SimpleQueue()
        self.may_go_on = threading.Event()
        self.written = threading.Event()

    def agent(self) -> Agent:
        def write(*_: object) -> Reply:
            self.written.set()
            return Reply(b"late")

        return Agent("probe", "Probe", lambda *_: self.happening, write, lambda *_: Reply(b"refused"))

    def attend(self, happening: Happening) -> Response:
        self.told.put(happening)
        self.may_go_on.wait(PATIENCE_SECONDS)
        return NOTHING


async def posted(web: Web) -> bytes:
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"{}"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await web.private({"path": "/hooks/probe", "method": "POST", "headers": []}, receive, send)
    body: bytes = sent[-1]["body"]
    return body


@pytest.mark.parametrize(
    ("happening", "end"),
    [
        (AboutToEdit(BY, "/", "c", "Edit", WISHES), [Edited(BY, "/", "c", "Edit", WISHES, has_failed=True)]),
        (AboutToRun(BY, "/", "c", "Bash", "make"), [Ran(BY, "/", "c", "make", has_failed=True)]),
        (AboutToEdit(BY, "/", "", "Edit", WISHES), []),
        (SessionBegan(BY, "/"), []),
    ],
)
def test_what_is_decided_too_late_is_refused_and_ends_with_that(
    happening: Happening, end: list[Happening], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "HOOK_SECONDS", 0.01)
    slow = Slow(happening)
    web = Web(Hooks({"probe": slow.agent()}, slow.attend, CallsSeen()), {}, lambda *_: asyncio.sleep(0), set())
    assert asyncio.run(posted(web)) == b"refused"
    assert slow.told.get() == happening
    slow.may_go_on.set()
    assert slow.written.wait(PATIENCE_SECONDS)
    assert [slow.told.get_nowait() for _ in range(slow.told.qsize())] == end
