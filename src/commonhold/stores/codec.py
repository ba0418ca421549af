"""Domain values to JSON and back. Field names are the wire format: renaming one needs a migration."""

from typing import TypeVar

import msgspec

from commonhold.kernel.events import KIND_OF, KINDS, Event
from commonhold.machine.decoding import from_json

T = TypeVar("T")
_encoder = msgspec.json.Encoder(order="deterministic")


def encode(value: object) -> bytes:
    """JSON of a value made of dataclasses, tuples, texts and numbers; the same value gives the same bytes."""
    return _encoder.encode(value)


def decode(data: bytes | str, type_: type[T]) -> T:
    """The value back. Raises `msgspec.DecodeError` for anything else than JSON of that type."""
    return from_json(data, type_)


def encode_event(event: Event) -> tuple[str, bytes]:
    """The kind and the JSON body of an event."""
    return KIND_OF[type(event)], encode(event)


def only_part(body: str, name: str) -> str:
    """Return the JSON of the only field of an object that `encode` made, without encoding it again."""
    return body[len(f'{{"{name}":') : -1]


def decode_event(kind: str, body: bytes | str) -> Event:
    """The event back. Raises KeyError for a kind that this version does not know."""
    return decode(body, KINDS[kind])
