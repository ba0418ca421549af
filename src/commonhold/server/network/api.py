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
from commonhold.server.asgi import JSON, MAX_BODY_BYTES, Answer, Receive, Scope, Send, header, send_answer
from commonhold.server.network.access import Access
from commonhold.server.network.errors import error_answer
from commonhold.server.network.openapi import document
from commonhold.server.threads import beside

AGENT: Final = b"x-commonhold-agent"
CORRELATION: Final = b"x-commonhold-correlation"
IDEMPOTENCY_KEY: Final = b"idempotency-key"
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send, access: Access) -> None:
        """Answer a request below PREFIX with this access."""
        with correlated(accepted(header(scope, CORRELATION))):
            try:
                answer = await self._answer(scope, receive, access)
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
        request = _Request(scope, found, found.route, agent, await body_within(scope, receive, MAX_BODY_BYTES))
        cancel = _Cancelling()
        answering = beside(partial(self._called, request, cancel))
        if found.route.operation != "acquire":  # nothing else waits in line
            return await answering
        work = asyncio.ensure_future(answering)
        await _unless_gone(work, receive, cancel)
        return await work

    def _called(self, request: _Request, cancel: "_Cancelling") -> Answer:
        route, scope = request.route, request.scope
        key = _header(scope, IDEMPOTENCY_KEY) or ""
        texts.check_line(key, "idempotency key", texts.MAX_ID_LENGTH)
        read = http_calls.read(route, request.match.values, scope["query_string"].decode("latin-1"), request.body, key)
        if route.operation == "acquire":
            _bound(read.named)
            cancel.release = partial(self._call, request.agent, "release", (read.named["ticket"],), {})
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


class _Cancelling:
    """How to take a call that waits in line out of it, once it has begun."""

    release: Callable[[], object] = staticmethod(lambda: None)


async def _unless_gone(work: "asyncio.Future[Answer]", receive: Receive, cancel: _Cancelling) -> None:
    """Wait for the work; if the client is gone before, give up its place in line, or the lease granted to it."""
    gone = asyncio.ensure_future(_disconnected(receive))
    either: set[asyncio.Future[Any]] = {work, gone}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            await beside(partial(_quietly, cancel.release))
            await asyncio.wait({work})
    finally:
        gone.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _quietly(release: Callable[[], object]) -> None:
    try:
        release()
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


async def body_within(scope: Scope, receive: Receive, most: int) -> bytes:
    """Return the body. Raises StoreError `REQUEST_TOO_LARGE` as soon as it is known to be longer than `most` bytes."""
    announced = header(scope, b"content-length")
    parts: list[bytes] = []
    size, has_more = int(announced) if announced.isdigit() else 0, True
    if size > most:
        raise _too_large(most)
    size = 0
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
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
