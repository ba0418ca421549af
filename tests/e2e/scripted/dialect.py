"""What the four dialects have in common: a request that is read, a turn that is written, whole or as events."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.e2e.scripted.conversation import Asked, Turn

JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Answer:
    """The body of an answer, and what it is."""

    body: bytes
    content_type: str = JSON


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one provider's requests are read, and answers written; `serial` numbers the answer among all of a server."""

    name: str
    read: Callable[[Mapping[str, Any], str], Asked]
    write: Callable[[Asked, Turn, int], Answer]
    aside: str = "ok"
    """What is said where the program asks beside its session: for a title, a route, a summary."""


def whole(value: Mapping[str, Any]) -> Answer:
    return Answer(json.dumps(value).encode())


def streamed(events: Iterable[bytes]) -> Answer:
    return Answer(b"".join(events), EVENTS)


def event(value: Mapping[str, Any], name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


def typed(kind: str, **fields: Any) -> bytes:
    """One event that says its type twice, as Anthropic and the responses of OpenAI have it."""
    return event({"type": kind, **fields}, kind)
