"""Streams of events: as text/event-stream, and over a WebSocket. The log is the truth, a cursor is a place in it.

A stream begins after the cursor that its client names, and has every event from there on, once and in order, or says
which are missing. A client that does not take its events is disconnected, and goes on from its last cursor. Each
client is handed the next events when it has taken the last ones, so none has a queue.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec

from commonhold.kernel.errors import Code, CommonholdError, StoreError, UsageError
from commonhold.server.asgi import ABORT, Receive, Scope, Send, header
from commonhold.server.network.access import Access
from commonhold.server.network.api import not_ready
from commonhold.server.network.errors import body_of_error
from commonhold.server.network.feed import CHECK_SECONDS, Feed, Part
from commonhold.server.network.gate import SUBPROTOCOL, invalid
from commonhold.server.threads import beside

SLOW_SECONDS: Final = 10.0
"""How long a client may take to make room for the next events."""
MOST_WATCHERS: Final = 1000
EVENT_STREAM: Final = "text/event-stream"
TRY_AGAIN_LATER: Final = 1013
"""The code that closes a WebSocket whose client may connect again."""
_LONGEST_NUMBER: Final = 18


@dataclass(frozen=True, slots=True)
class Gap:
    """Events that are no longer in the log, or never were: those from `first` to `last`."""

    first: int
    last: int


Parts = AsyncIterator[Gap | Part | None]


async def parts(feed: Feed, cursor: int, access: Access) -> Parts:
    """Yield the events after `cursor` as they come, in parts that are small enough to send.

    None says that no events came lately. Ends when the feed is closed. Raises CommonholdError if the log
    cannot be read, or the access was revoked.
    """
    checked_at = time.monotonic()
    while not feed.is_closed:
        if time.monotonic() - checked_at > CHECK_SECONDS:
            checked_at = time.monotonic()
            if not access.is_valid():
                raise invalid("the access token was revoked, or has expired")
        found = await feed.after(cursor)
        if not found and not feed.is_closed:
            checked_at = -math.inf
            yield None
        for part in found:
            if part.first > cursor + 1:
                yield Gap(cursor + 1, part.first - 1)
            yield part
            cursor = part.last


class Streams:
    """The streams of one server."""

    def __init__(self, feed: Feed) -> None:
        """Send the events of `feed`."""
        self._feed = feed

    async def sse(self, scope: Scope, receive: Receive, send: Send, access: Access) -> None:
        """Answer with a stream of server-sent events. Raises CommonholdError before it begins."""
        cursor = await self._begun(scope)
        async with self._watching(scope, receive, send) as put:

            async def write(data: bytes, *, more: bool = True) -> None:
                await put({"type": "http.response.body", "body": data, "more_body": more})

            async def sending() -> None:
                await put({"type": "http.response.start", "status": 200, "headers": _HEADERS})
                await self._send_sse(parts(self._feed, cursor, access), cursor, write)

            await _until_gone(sending(), receive, put)

    async def _send_sse(self, found: Parts, cursor: int, write: Callable[..., Awaitable[None]]) -> None:
        await write(b"event: hello\ndata: %s\n\n" % msgspec.json.encode(self._hello(cursor)))
        try:
            async for part in found:
                match part:
                    case Gap(first, last):
                        gap = msgspec.json.encode({"first": first, "last": last})
                        await write(b"event: gap\ndata: %s\n\n" % gap)
                    case None:
                        await write(b": nothing new\n\n")
                    case _:
                        await write(part.sse)
            fault: CommonholdError = not_ready()
        except CommonholdError as refused:
            fault = refused
        await write(b"event: end\ndata: %s\n\n" % body_of_error(fault), more=False)

    async def websocket(self, scope: Scope, receive: Receive, send: Send, access: Access) -> None:
        """Serve a WebSocket. Raises CommonholdError before it is accepted."""
        cursor = await self._begun(scope)
        async with self._watching(scope, receive, send) as put:
            await receive()  # the wish to connect
            subprotocol = SUBPROTOCOL if SUBPROTOCOL in scope.get("subprotocols", ()) else None

            async def write(text: str) -> None:
                await put({"type": "websocket.send", "text": text})

            async def end(fault: CommonholdError) -> None:
                await write(f'{{"type":"end","error":{body_of_error(fault).decode()}}}')
                code = TRY_AGAIN_LATER if fault.retryable else 1011
                await put({"type": "websocket.close", "code": code, "reason": str(fault.code)})

            async def sending() -> None:
                await put({"type": "websocket.accept", "subprotocol": subprotocol})
                await self._send_messages(parts(self._feed, cursor, access), cursor, write, end)

            await _until_gone(sending(), receive, put)

    async def _send_messages(
        self,
        found: Parts,
        cursor: int,
        write: Callable[[str], Awaitable[None]],
        end: Callable[[CommonholdError], Awaitable[None]],
    ) -> None:
        await write(msgspec.json.encode({"type": "hello", **self._hello(cursor)}).decode())
        try:
            async for part in found:
                match part:
                    case Gap(first, last):
                        await write(msgspec.json.encode({"type": "gap", "first": first, "last": last}).decode())
                    case None:
                        pass  # the server pings by itself
                    case _:
                        await write(part.message)
            fault: CommonholdError = not_ready()
        except CommonholdError as refused:
            fault = refused
        await end(fault)

    async def _begun(self, scope: Scope) -> int:
        """Return the cursor that a stream begins after: the one that was asked for, or the newest event."""
        if self._feed.is_closed:
            raise not_ready()
        if self._feed.watchers >= MOST_WATCHERS:
            raise StoreError(
                Code.RATE_LIMITED,
                f"{MOST_WATCHERS} clients watch already",
                hint="close streams that are no longer read, then connect again",
                retry_after_seconds=5.0,
            )
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if unknown := sorted(query.keys() - {"after"}):
            why = f"a stream of events takes no parameter {unknown[0]!a}"
            raise UsageError(Code.USAGE, why, hint="it has all events after one: /api/v1/events?after=0")
        text = header(scope, b"last-event-id") or query.get("after", [""])[-1]
        if not text:
            return self._feed.newest
        if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER):
            raise UsageError(
                Code.USAGE,
                f"{text!a} is no cursor",
                hint="give the sequence of an event, or 0 for all events: /api/v1/events?after=0",
            )
        await beside(partial(self._feed.check, int(text)))
        return int(text)

    def _hello(self, cursor: int) -> dict[str, int]:
        return {"after": cursor, "newest": self._feed.newest}

    @asynccontextmanager
    async def _watching(self, scope: Scope, receive: Receive, send: Send) -> AsyncIterator["_Put"]:
        """Count a watcher; yield the way to send to it. One that takes nothing for too long is disconnected."""
        self._feed.join()
        try:
            yield _Put(send)
        except TimeoutError:
            with suppress(TimeoutError, OSError):
                if scope["type"] == "websocket":
                    closing = {"type": "websocket.close", "code": TRY_AGAIN_LATER, "reason": Code.READER_TOO_SLOW}
                    async with asyncio.timeout(1.0):
                        await send(closing)
            scope.get(ABORT, bool)()
            with suppress(TimeoutError):  # uvicorn would complain of an answer that ends before its connection
                async with asyncio.timeout(1.0):
                    await _gone(receive)
        finally:
            self._feed.leave()


_HEADERS: Final = [
    (b"content-type", EVENT_STREAM.encode()),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
]


class _Put:
    """Sends to a client, and says whether that takes too long: a timer for each message would cost more."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._began_at = math.inf

    async def __call__(self, message: Any) -> None:  # noqa: ANN401 - ASGI's own form
        self._began_at = time.monotonic()
        await self._send(message)
        self._began_at = math.inf

    @property
    def is_late(self) -> bool:
        """Whether the client has not made room for a message for too long."""
        return time.monotonic() - self._began_at > SLOW_SECONDS


async def _until_gone(sending: Any, receive: Receive, put: _Put) -> None:  # noqa: ANN401 - a coroutine
    """Send until it is over, or until the client is gone. Raises TimeoutError for a client that is too slow."""
    tasks = [asyncio.ensure_future(sending), asyncio.ensure_future(_gone(receive))]
    try:
        while not any(each.done() for each in tasks):
            await asyncio.wait(tasks, timeout=SLOW_SECONDS / 5, return_when=asyncio.FIRST_COMPLETED)
            if put.is_late and not tasks[0].done():
                raise TimeoutError
        if tasks[0].done():
            tasks[0].result()
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    """Wait until the client is gone."""
    while not (await receive())["type"].endswith(".disconnect"):
        pass
