"""The little of ASGI that is needed: what is asked, and the answer to it."""

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
"""In a scope: what is called once whoever asks over the loopback has shown the token."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()


def told(status: int, message: str) -> Answer:
    """An answer in words."""
    return Answer(status, message.encode() + b"\n", (TEXT,))


def header(scope: Scope, name: bytes) -> str:
    """The value of a header; empty where there is none."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


async def body_of(receive: Receive) -> bytes | None:
    """The body of a request; None of one that is too long, which is heard to its end, since then it hears us."""
    parts: list[bytes] = []
    size, has_more = 0, True
    while has_more:
        message = await receive()
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
