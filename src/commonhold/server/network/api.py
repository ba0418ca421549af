"""Answer requests for operations: find the route, check the access, call the service in this process."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from commonhold.api.routes import PREFIX, Match, Route, match
from commonhold.api.wire import http_calls
from commonhold.kernel import texts
from commonhold.kernel.errors import Code, CommonholdError, InputError, InternalError, StoreError, UsageError
from commonhold.machine.correlation import accepted, correlated
from commonhold.machine.logs import Log
from commonhold.machine.system import RandomIds
from commonhold.server.asgi import (
    JSON,
    MAX_BODY_BYTES,
    Answer,
    HungUpError,
    Receive,
    Scope,
    Send,
    header,
    send_answer,
)
from commonhold.server.network.access import Access
from commonhold.server.network.errors import error_answer
from commonhold.server.network.openapi import document
from commonhold.server.threads import beside

AGENT: Final = b"x-commonhold-agent"
CORRELATION: Final = b"x-commonhold-correlation"
IDEMPOTENCY_KEY: Final = b"idempotency-key"
BODY_SECONDS: Final = 120.0
"""How long the body of a request may take to arrive; meanwhile it has one of the places of its token."""
LONGEST_HOLD_SECONDS: Final = 60.0
"""How long an acquire may wait in line in one request; a client asks again with its ticket."""
_log: Final = Log(__name__)


class Channel(Protocol):
    """A way to the service of one session."""

    def call(self, name: str, arguments: Any, named: Mapping[str, Any]) -> Any:  # noqa: ANN401 - each has its own
        """Call an operation. Raises CommonholdError."""

    def close(self) -> None:
        """Leave the service."""


OpenChannel = Callable[[str | None], Channel]
"""Returns a channel for the session of that name, or for none. Raises CommonholdError."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A request for an operation, whose body was read."""

    scope: Scope
    match: Match
    route: Route
    agent: str | None
    body: bytes


class Api:
    """The operations of one working tree, as ASGI."""

    def __init__(self, open_channel: OpenChannel, check_cursor: Callable[[int], None]) -> None:
        """Call the service through channels from `open_channel`.

        `check_cursor` raises InputError `CURSOR_UNKNOWN` for a place beyond the end of the log.
        """
        self._open_channel = open_channel
        self._check_cursor = check_cursor
        self._stopping = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send, access: Access) -> None:
        """Answer a request below PREFIX with this access."""
        with correlated(accepted(header(scope, CORRELATION))):
            try:
                answer = await self._answer(scope, receive, access)
            except HungUpError:
                return
            except CommonholdError as fault:
                answer = error_answer(fault)
            except Exception as fault:  # noqa: BLE001 - a defect of ours must not leave the client without an answer
                _log.error("request failed", path=scope["path"], fault=fault)
                answer = error_answer(_defect(fault))
        await send_answer(send, answer)

    async def _answer(self, scope: Scope, receive: Receive, access: Access) -> Answer:
        path = path_of(scope)
        if path == f"{PREFIX}/openapi.json" and scope["method"] == "GET":
            return Answer(200, await beside(document), (JSON,))
        found = match(scope["method"], path)
        if found.route is None:
            raise unknown(scope["method"], path, found)
        access.check(found.route)
        agent = access.name(_header(scope, AGENT))
        if agent is not None:
            texts.check_holder(agent)
        request = _Request(scope, found, found.route, agent, await _whole_body(scope, receive))
        waiting = _Waiting()
        answering = beside(partial(self._called, request, waiting))
        if found.route.operation != "acquire":  # nothing else waits in line
            return await answering
        work = asyncio.ensure_future(answering)
        await self._unless_given_up(work, receive, waiting)
        return await work

    def stop(self) -> None:
        """Ask clients that wait in line to come again: another server, or none, answers them."""
        self._stopping.set()

    async def _unless_given_up(self, work: "asyncio.Future[Answer]", receive: Receive, waiting: "_Waiting") -> None:
        """Wait for the work. If the client goes before, give up its place in line, or the lease granted to it.

        Raises StoreError `STORE_BUSY` if this server stops before. A client that knows its ticket keeps its place.
        """
        gone, stopping = asyncio.ensure_future(_disconnected(receive)), asyncio.ensure_future(self._stopping.wait())
        either: set[asyncio.Future[Any]] = {work, gone, stopping}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return
            if gone.done() or not waiting.is_ticket_known:
                await beside(partial(_quietly, waiting.give_up))
            if not gone.done():
                work.cancel()
                raise not_ready()
            await asyncio.wait({work})
        finally:
            gone.cancel()
            stopping.cancel()

    def _called(self, request: _Request, waiting: "_Waiting") -> Answer:
        route, scope = request.route, request.scope
        key = _header(scope, IDEMPOTENCY_KEY) or ""
        texts.check_line(key, "idempotency key", texts.MAX_ID_LENGTH)
        read = http_calls.read(route, request.match.values, scope["query_string"].decode("latin-1"), request.body, key)
        if route.operation == "acquire":
            waiting.is_ticket_known = read.named.get("ticket") is not None
            _bound(read.named)
            waiting.give_up = partial(self._call, request.agent, "release", (read.named["ticket"],), {})
        if route.operation == "log" and read.named.get("lease_id") is None and (after := read.named.get("after")):
            self._check_cursor(after)
        answer = self._call(request.agent, route.operation, read.arguments, read.named)
        body = http_calls.answered(route, answer, read.page)
        if body.etag and body.etag in _header_list(scope, b"if-none-match"):
            return Answer(304, b"", _headers(body))
        return Answer(body.status, body.data, _headers(body))

    def _call(self, agent: str | None, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> object:
        channel = self._open_channel(agent)
        try:
            return channel.call(name, arguments, named)
        finally:
            channel.close()


class _Waiting:
    """A call that may wait in line: how to take it out, once it has begun; and whether its client can come again."""

    give_up: Callable[[], object] = staticmethod(lambda: None)
    is_ticket_known = False


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _quietly(give_up: Callable[[], object]) -> None:
    try:
        give_up()
    except CommonholdError as fault:  # a place in line expires by itself
        _log.debug("place in line was not given up", code=fault.code)


def _bound(named: dict[str, Any]) -> None:
    """Give an acquire the ticket by which it can be given up, and bound how long one request waits."""
    if named.get("ticket") is None:
        named["ticket"] = RandomIds().new("lease")
    if named.get("hold_seconds") is not None:
        named["hold_seconds"] = min(named["hold_seconds"], LONGEST_HOLD_SECONDS)


def path_of(scope: Scope) -> str:
    """Return the path of a request as it was sent, still quoted."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.decode("latin-1")


async def _whole_body(scope: Scope, receive: Receive) -> bytes:
    """Return the body. Raises as `body_within`, and UsageError `USAGE` if it does not arrive in time."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await body_within(scope, receive, MAX_BODY_BYTES)
    except TimeoutError as fault:
        why = f"the body of the request has not arrived within {BODY_SECONDS:g} s"
        raise UsageError(Code.USAGE, why, hint="send it at once, or less of it") from fault


async def body_within(scope: Scope, receive: Receive, most: int) -> bytes:
    """Return the body. Raises HungUpError, and InputError `REQUEST_TOO_LARGE` as soon as it is known to be too long.

    `most` is the limit in bytes.
    """
    announced = header(scope, b"content-length")
    parts: list[bytes] = []
    size, has_more = int(announced) if announced.isdigit() else 0, True
    if size > most:
        raise _too_large(most)
    size = 0
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HungUpError
        part, has_more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
    return b"".join(parts)


def _too_large(most: int) -> InputError:
    return InputError(
        Code.REQUEST_TOO_LARGE,
        f"the body of the request has more than {most:,} bytes",
        hint="send less at once: commit large files one by one",
        fields={"most_bytes": most},
    )


def unknown(method: str, path: str, found: Match) -> InputError:
    """Return the error for a request that no route fits."""
    if found.allowed:
        why = f"{path!a} is no path for {method}, but for {', '.join(found.allowed)}"
    else:
        why = f"there is nothing at {path!a}"
    return InputError(
        Code.ROUTE_UNKNOWN,
        why,
        hint=f"the paths are listed at {PREFIX}/openapi.json",
        fields={"allowed": list(found.allowed)},
    )


def _header(scope: Scope, name: bytes) -> str | None:
    """Return the value of a header, which is UTF-8; None if it is absent. Raises UsageError `USAGE`."""
    raw = next((value for key, value in scope["headers"] if key == name), None)
    try:
        return None if raw is None else raw.decode()
    except UnicodeDecodeError as fault:
        title = name.decode().title()
        raise UsageError(Code.USAGE, f"the header {title} is not UTF-8", hint="encode it in UTF-8") from fault


def _header_list(scope: Scope, name: bytes) -> list[str]:
    return [each.strip().removeprefix("W/") for each in header(scope, name).split(",")]


def _headers(body: http_calls.Body) -> tuple[tuple[bytes, bytes], ...]:
    found = [(b"cache-control", b"no-cache" if body.etag else b"no-store"), (b"x-content-type-options", b"nosniff")]
    if body.data:
        found.append((b"content-type", body.content_type.encode()))
    if body.etag:
        found.append((b"etag", body.etag.encode()))
    return tuple(found)


def _defect(fault: Exception) -> InternalError:
    return InternalError(
        Code.INTERNAL,
        f"the request failed inside the server: {type(fault).__name__}",
        hint="report it with the lines about it in daemon.log; `commonhold doctor` shows where that is",
    )


def not_ready(why: str = "the server is stopping") -> StoreError:
    """Return the error for a request that cannot be served now."""
    return StoreError(
        Code.STORE_BUSY, why, hint="repeat the request", retry_after_seconds=1.0, fields={"is_stopping": True}
    )
