"""The Model Context Protocol over HTTP, loaded when the first client comes: its SDK takes a second to import."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from importlib import import_module
from typing import Final

from commonhold.agents.runtime.calls_seen import CallsSeen
from commonhold.client.opening import FindChannel
from commonhold.machine.logs import Log
from commonhold.server.asgi import App, Receive, Scope, Send, send_answer, told
from commonhold.server.threads import beside

Open = Callable[[str, CallsSeen, FindChannel], AbstractAsyncContextManager[App]]
_log: Final = Log(__name__)


class McpApp:
    """An ASGI application that is loaded at its first call."""

    def __init__(self, path: str, seen: CallsSeen, find_channel: FindChannel) -> None:
        """Serve the repository around `path` through `find_channel`; `seen` knows the holder of each call."""
        self._path = path
        self._find_channel = find_channel
        self._seen = seen
        self._closing = asyncio.Event()
        self._app: asyncio.Future[App] | None = None
        self._life: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if self._closing.is_set():
            await send_answer(send, told(503, "the daemon is stopping: repeat the request"))
            return
        if self._app is None:
            self._app = asyncio.get_running_loop().create_future()
            self._life = asyncio.create_task(self._live(self._app))
        app = await asyncio.shield(self._app)
        await app(scope, receive, send)

    async def _live(self, app: asyncio.Future[App]) -> None:
        """Stay open from the first request to the end, in one task as the SDK requires."""
        try:
            module = await beside(lambda: import_module("commonhold.server.mcp_http"))
            opened: Open = module.opened
            async with opened(self._path, self._seen, self._find_channel) as ready:
                app.set_result(ready)
                await self._closing.wait()
        except Exception as fault:  # of any kind: each waiting request gets it as its answer; the next tries again
            self._app = None
            if app.done():
                raise
            _log.error("MCP cannot be served", fault=fault)
            app.set_result(_telling(f"MCP cannot be served: {type(fault).__name__}: {fault}. Next: commonhold doctor"))

    async def close(self) -> None:
        """End all streams, and answer no more requests."""
        self._closing.set()
        if self._life is not None:
            with suppress(asyncio.CancelledError):
                await self._life


def _telling(why: str) -> App:
    async def tell(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send_answer(send, told(500, why))

    return tell
