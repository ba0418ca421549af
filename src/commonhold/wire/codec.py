"""Domain values to JSON and back. Field names are the wire format: renaming one needs a migration."""

from typing import Any, Final, TypeVar, get_args

import msgspec

from commonhold.app.answers import AcquireAnswer, Answer, CommitAnswer, LeaseAnswer
from commonhold.domain import outcomes
from commonhold.domain.events import KIND_OF, KINDS, Event

T = TypeVar("T")
ANSWERS: Final[dict[str, type[Any]]] = {
    kind.__name__: kind for kind in (AcquireAnswer, LeaseAnswer, CommitAnswer, *get_args(outcomes.Outcome))
}
_encoder = msgspec.json.Encoder(order="deterministic")
_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}


def encode(value: object) -> bytes:
    """JSON of a value made of dataclasses, tuples, texts and numbers; the same value gives the same bytes."""
    return _encoder.encode(value)


def decode(data: bytes | str, type_: type[T]) -> T:
    """The value back. Raises `msgspec.DecodeError` for anything else than JSON of that type."""
    decoder = _decoders.get(type_)
    if decoder is None:
        decoder = _decoders[type_] = msgspec.json.Decoder(type_)
    result: T = decoder.decode(data)
    return result


def encode_event(event: Event) -> tuple[str, bytes]:
    """The kind and the JSON body of an event."""
    return KIND_OF[type(event)], encode(event)


def decode_event(kind: str, body: bytes | str) -> Event:
    """The event back. Raises KeyError for a kind that this version does not know."""
    return decode(body, KINDS[kind])


def encode_answer(answer: object) -> tuple[str, bytes]:
    """The kind and the JSON body of an answer that is kept for a repeated request."""
    return type(answer).__name__, encode(answer)


def decode_answer(kind: str, body: bytes | str) -> Answer | outcomes.Outcome:
    """The kept answer back."""
    answer: Answer | outcomes.Outcome = decode(body, ANSWERS[kind])
    return answer
