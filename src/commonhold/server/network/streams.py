"""Streams of events: as text/event-stream, and over a WebSocket. The log is the truth, a cursor is a place in it.

A stream begins after the cursor that its client names, and has every event from there on, once and in order, or says
which are missing. A client that does not take its events is disconnected, and goes on from its last cursor. Each
client is handed the next events when it has taken the last ones, so none has a queue.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
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
from commonhold.server.network.feed import Feed, Frame
from commonhold.server.network.gate import SUBPROTOCOL, invalid
from commonhold.server.threads import beside

CHECK_SECONDS: Final = 5.0
"""How often a stream looks whether its token is still valid, and shows a client without new events that it lives."""
SLOW_SECONDS: Final = 10.0
"""How long a client may take to make room for the next events."""
MOST_BYTES: Final = 256_000
"""Events are sent in parts of about this size."""
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


Parts = AsyncIterator[Gap | Sequence[Frame]]


async def parts(feed: Feed, cursor: int, access: Access) -> Parts:
    """Yield the events after `cursor` as they come, in parts that are small enough to send.

    A part without events says that none came lately. Ends when the feed is closed. Raises CommonholdError if the log
    cannot be read, or the access was revoked.
    """
    checked_at = time.monotonic()
    while not feed.is_closed:
        if time.monotonic() - checked_at > CHECK_SECONDS:
            checked_at = time.monotonic()
            if not access.is_valid():
                raise invalid("the access token was revoked, or has expired")
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                frames = await feed.after(cursor)
        except TimeoutError:
            yield ()
            continue
        for part in _parted(frames):
            if part[0].sequence > cursor + 1:
                yield Gap(cursor + 1, part[0].sequence - 1)
            yield part
            cursor = part[-1].sequence


def _parted(frames: Sequence[Frame]) -> Sequence[Sequence[Frame]]:
    found: list[list[Frame]] = []
    size = MOST_BYTES
    for each in frames:
        if size >= MOST_BYTES:
            found.append([])
            size = 0
        found[-1].append(each)
        size += len(each.sse)
    return found


class Streams:
    """The streams of one server."""

    def __init__(self, feed: Feed) -> None:
        """Send the events of `feed`."""
        self._feed = feed

    async def sse(self, scope: Scope, receive: Receive, send: Send, access: Access) -> None:
        """Answer with a stream of server-sent events. Raises CommonholdError before it begins."""
        cursor = await self._begun(scope)
        async with self._watching(scope, receive, send) as put:
            await put({"type": "http.response.start", "status": 200, "headers": _HEADERS})

            async def write(data: bytes, *, more: bool = True) -> None:
                await put({"type": "http.response.body", "body": data, "more_body": more})

            found = parts(self._feed, cursor, access)
            await _until_gone(self._send_sse(found, cursor, write), receive)

    async def _send_sse(self, found: Parts, cursor: int, write: Callable[..., Awaitable[None]]) -> None:
        await write(b"event: hello\ndata: %s\n\n" % msgspec.json.encode(self._hello(cursor)))
        try:
            async for part in found:
                match part:
                    case Gap(first, last):
                        gap = msgspec.json.encode({"first": first, "last": last})
                        await write(b"event: gap\ndata: %s\n\n" % gap)
                    case ():
                        await write(b": nothing new\n\n")
                    case _:
                        await write(b"".join(each.sse for each in part))
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
            await put({"type": "websocket.accept", "subprotocol": subprotocol})

            async def write(data: bytes) -> None:
                await put({"type": "websocket.send", "text": data.decode()})

            async def end(fault: CommonholdError) -> None:
                await write(b'{"type":"end","error":%s}' % body_of_error(fault))
                code = TRY_AGAIN_LATER if fault.retryable else 1011
                await put({"type": "websocket.close", "code": code, "reason": str(fault.code)})

            found = parts(self._feed, cursor, access)
            await _until_gone(self._send_messages(found, cursor, write, end), receive)

    async def _send_messages(
        self,
        found: Parts,
        cursor: int,
        write: Callable[[bytes], Awaitable[None]],
        end: Callable[[CommonholdError], Awaitable[None]],
    ) -> None:
        await write(msgspec.json.encode({"type": "hello", **self._hello(cursor)}))
        try:
            async for part in found:
                match part:
                    case Gap(first, last):
                        await write(msgspec.json.encode({"type": "gap", "first": first, "last": last}))
                    case ():
                        pass  # the server pings by itself
                    case _:
                        await write(b'{"type":"events","events":[%s]}' % b",".join(each.json for each in part))
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
        given = parse_qs(scope["query_string"].decode("latin-1")).get("after", [""])[-1]
        text = header(scope, b"last-event-id") or given
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
    async def _watching(self, scope: Scope, receive: Receive, send: Send) -> AsyncIterator[Send]:
        """Count a watcher; yield the way to send to it. One that takes nothing for too long is disconnected."""
        self._feed.join()

        async def put(message: Any) -> None:  # noqa: ANN401 - ASGI's own form
            async with asyncio.timeout(SLOW_SECONDS):
                await send(message)

        try:
            yield put
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


async def _until_gone(sending: Any, receive: Receive) -> None:  # noqa: ANN401 - a coroutine
    """Send until it is over, or until the client is gone. Raises TimeoutError for a client that is too slow."""
    tasks = [asyncio.ensure_future(sending), asyncio.ensure_future(_gone(receive))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
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
