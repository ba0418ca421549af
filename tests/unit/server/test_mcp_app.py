"""The application for MCP over HTTP, which begins to be one with the first request."""

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, NoReturn

import pytest

from commonhold.agents.runtime.calls_seen import CallsSeen
from commonhold.client.opening import FindChannel
from commonhold.server import mcp_http
from commonhold.server.asgi import App, Receive, Scope, Send, send_answer, told
from commonhold.server.mcp_app import McpApp


def no_channel(path: str, _agent: str | None) -> NoReturn:
    raise AssertionError(path)


async def answered(app: McpApp) -> tuple[int, bytes]:
    """What one request is told: status and body."""
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await app({"type": "http"}, receive, send)
    return sent[0]["status"], sent[1]["body"]


def test_what_cannot_begin_is_told_and_tried_anew_with_the_next_request(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [OSError(24, "Too many open files")]

    @asynccontextmanager
    async def opened(_path: str, _seen: CallsSeen, _find_channel: FindChannel) -> AsyncIterator[App]:
        if faults:
            raise faults.pop()

        async def serve(_scope: Scope, _receive: Receive, send: Send) -> None:
            await send_answer(send, told(200, "served"))

        yield serve

    monkeypatch.setattr(mcp_http, "opened", opened)

    async def script() -> None:
        app = McpApp("/repo", CallsSeen(), no_channel)
        status, why = await answered(app)
        assert (status, b"Too many open files" in why, b"commonhold doctor" in why) == (500, True, True)
        assert await answered(app) == (200, b"served\n")
        await app.close()

    asyncio.run(script())
