"""The part of ASGI that is needed here: the request, and its answer."""

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY_BYTES: Final = 20_000_000
JSON: Final = (b"content-type", b"application/json")
TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")
BE_KNOWN: Final = "commonhold.be_known"
"""In a scope: to be called once a client of the loopback has shown the token."""
ABORT: Final = "commonhold.abort"
"""In a scope: to be called to end the connection at once, whatever was not sent yet."""


class HungUpError(Exception):
    """The client is gone: whatever it had begun to send is no request, and no answer would reach it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to send."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()


def told(status: int, message: str) -> Answer:
    """Return an answer in words."""
    return Answer(status, message.encode() + b"\n", (TEXT,))


def header(scope: Scope, name: bytes) -> str:
    """Return the value of a header; empty if there is none."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


async def body_of(receive: Receive) -> bytes | None:
    """Return the body of a request; None if it is too long. It is read to its end, since only then the client reads.

    Raises HungUpError.
    """
    parts: list[bytes] = []
    size, has_more = 0, True
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HungUpError
        part, has_more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size <= MAX_BODY_BYTES:
            parts.append(part)
    return b"".join(parts) if size <= MAX_BODY_BYTES else None


async def send_answer(send: Send, answer: Answer) -> None:
    """Send an answer."""
    headers = [*answer.headers, (b"content-length", str(len(answer.body)).encode())]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
