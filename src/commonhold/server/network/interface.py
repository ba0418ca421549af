"""The HTTP interface of one repository: for its owner over the private socket, for bearers of tokens over a network."""

import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from commonhold.api.routes import PREFIX, ROUTES, Match, match
from commonhold.kernel.errors import Code, CommonholdError, StoreError
from commonhold.kernel.events import Recorded
from commonhold.machine.logs import Log
from commonhold.server.asgi import BE_KNOWN, JSON, Answer, App, Receive, Scope, Send, header, send_answer
from commonhold.server.facts import Facts
from commonhold.server.network import browser, metrics
from commonhold.server.network.access import OWNER, Access
from commonhold.server.network.api import Api, Channel, OpenChannel, not_ready, path_of, unknown
from commonhold.server.network.errors import error_answer
from commonhold.server.network.feed import Feed
from commonhold.server.network.gate import Gate
from commonhold.server.network.streams import EVENT_STREAM, Streams
from commonhold.server.threads import beside

REOPEN_SECONDS: Final = 1.0
MOST_CHANNELS: Final = 1000
MOST_AT_ONCE: Final = 256
"""How many requests of one bearer may be under way, streams included."""
EVENTS: Final = ROUTES["log"].path
_READING: Final = ("GET", "HEAD")
_OPEN: Final = frozenset({"/healthz", "/readyz"})
"""Paths that need no token: they reveal nothing but whether the server works."""
_log: Final = Log(__name__)


class Channels:
    """Opens channels for sessions; for each a new one every second, by the settings of that time.

    The requests of a session share its channel. It counts as unused whenever one of them has closed it, until the next
    call.
    """

    def __init__(self, open_channel: OpenChannel, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Open channels with `open_channel`, which reads the settings of the repository."""
        self._open_channel = open_channel
        self._monotonic = monotonic
        self._known: dict[str | None, tuple[float, Channel]] = {}

    def __call__(self, agent: str | None) -> Channel:
        """Return a channel of `agent`. Raises CommonholdError."""
        now = self._monotonic()
        opened_at, channel = self._known.get(agent, (-math.inf, None))
        if channel is None or now - opened_at > REOPEN_SECONDS:
            channel = self._open_channel(agent)
            if len(self._known) >= MOST_CHANNELS:
                self._known = {}
            self._known[agent] = now, channel
        return channel


class Interface:
    """The application behind the sockets. It belongs to one event loop."""

    def __init__(self, open_channel: OpenChannel, facts: Facts) -> None:
        """Call the service through channels from `open_channel`; `facts` are those of the daemon."""
        self._open_channel = Channels(open_channel)
        self._facts = facts
        self._feed = Feed(self._read_log, facts.newest_event)
        self._api = Api(self._open_channel, self._feed.check)
        self._streams = Streams(self._feed)
        self._under_way: Counter[str] = Counter()

    def _read_log(self, after: int, limit: int) -> Sequence[Recorded]:
        channel = self._open_channel(None)
        try:
            found: Sequence[Recorded] = channel.call("log", (), {"after": after, "limit": limit})
            return found
        finally:
            channel.close()

    async def private(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a program of this user."""
        try:
            await self._route(scope, receive, send, OWNER)
        except CommonholdError as fault:
            await _refuse(scope, send, fault)

    def behind(self, gate: Gate) -> App:
        """Return the application for clients over the network, whom `gate` admits."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] not in ("http", "websocket"):
                return
            try:
                path = path_of(scope)
                if path in _OPEN:
                    gate.check_place(scope)
                    await self._route(scope, receive, send, OWNER)
                    return
                if (file := browser.file_at(scope, path)) is not None:
                    gate.check_place(scope)
                    await send_answer(send, file())
                    return
                if path == browser.SESSION and scope["type"] == "http":
                    await send_answer(send, await _session(scope, gate))
                    return
                access = gate.admit(scope)
                scope.get(BE_KNOWN, bool)()
                await self._bounded(access, partial(self._route, scope, receive, send, access))
            except CommonholdError as fault:
                _log.info("request refused", path=scope["path"], code=fault.code, message=fault.message)
                await _refuse(scope, send, fault)

        return guarded

    async def _bounded(self, access: Access, answer: Callable[[], Awaitable[None]]) -> None:
        if self._under_way[access.bearer] >= MOST_AT_ONCE:
            raise StoreError(
                Code.RATE_LIMITED,
                f"{MOST_AT_ONCE} requests of this token are under way already",
                hint="wait for one of them to end, then repeat the request",
                retry_after_seconds=1.0,
            )
        self._under_way[access.bearer] += 1
        try:
            await answer()
        finally:
            self._under_way[access.bearer] -= 1
            if not self._under_way[access.bearer]:
                del self._under_way[access.bearer]

    async def _route(self, scope: Scope, receive: Receive, send: Send, access: Access) -> None:
        """Answer a request with this access. Raises CommonholdError before the answer has begun."""
        path = path_of(scope)
        if scope["type"] == "websocket":
            if path != EVENTS:
                raise unknown("WebSocket", path, match("", path))
            access.check(ROUTES["log"])
            await self._streams.websocket(scope, receive, send, access)
        elif path == EVENTS and scope["method"] == "GET" and EVENT_STREAM in header(scope, b"accept"):
            access.check(ROUTES["log"])
            await self._streams.sse(scope, receive, send, access)
        elif path.startswith(f"{PREFIX}/"):
            await self._api(scope, receive, send, access)
        elif (page := self._pages.get(path)) is not None and scope["method"] in _READING:
            await send_answer(send, await beside(partial(page, self)))
        else:
            found = match(scope["method"], path) if page is None else Match(None, {}, _READING)
            raise unknown(scope["method"], path, found)

    def _healthy(self) -> Answer:
        return Answer(200, b'{"status":"ok"}', (JSON,))

    def _ready(self) -> Answer:
        why = "the server is stopping" if self._feed.is_closed else self._facts.why_not_ready()
        if not why:
            return Answer(200, b'{"status":"ready"}', (JSON,))
        return error_answer(not_ready(why))

    def _metrics(self) -> Answer:
        text = metrics.exposed(self._facts, self._feed.watchers)
        return Answer(200, text, ((b"content-type", metrics.CONTENT_TYPE),))

    _pages: Final[dict[str, Callable[["Interface"], Answer]]] = {
        "/healthz": _healthy,
        "/readyz": _ready,
        "/metrics": _metrics,
    }

    async def close(self) -> None:
        """End all streams, and let all who wait in line come again."""
        self._feed.close()
        self._api.stop()


async def _session(scope: Scope, gate: Gate) -> Answer:
    """Begin, describe or end the session of a browser. Raises CommonholdError."""
    match scope["method"]:
        case "POST":
            gate.check_exchange(scope)
            return await beside(partial(gate.begin_session, scope))
        case "DELETE":
            return await beside(partial(gate.end_session, scope))
        case "GET":
            return browser.described(gate.admit(scope))
        case method:
            raise unknown(method, browser.SESSION, Match(None, {}, ("DELETE", "GET", "POST")))


async def _refuse(scope: Scope, send: Send, fault: CommonholdError) -> None:
    """Send an error, and close the connection: after one request a stranger could keep it."""
    answer = error_answer(fault)
    if scope["type"] == "websocket":
        if "websocket.http.response" in scope.get("extensions", {}):
            await send(
                {"type": "websocket.http.response.start", "status": int(answer.status), "headers": list(answer.headers)}
            )
            await send({"type": "websocket.http.response.body", "body": answer.body})
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": str(fault.code)})
        return
    await send_answer(send, replace(answer, headers=(*answer.headers, (b"connection", b"close"))))
