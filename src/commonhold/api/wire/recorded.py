"""Recorded events as they go over the socket, loaded where there are any: its kind says how each is read."""

from typing import Final

import msgspec

from commonhold.kernel.events import Recorded
from commonhold.machine.decoding import msgpack_reader
from commonhold.stores import codec


class _Event(msgspec.Struct, array_like=True, frozen=True):
    sequence: int
    at: float
    kind: str
    body: str


_events: Final = msgpack_reader(list[_Event])


def shape(answer: tuple[object, ...]) -> tuple[object, ...]:
    """The answer with its events, if it is made of those, in the form in which they go."""
    return tuple(_event(each) if isinstance(each, Recorded) else each for each in answer)


def _event(recorded: Recorded) -> _Event:
    kind, body = codec.encode_event(recorded.event)
    return _Event(recorded.sequence, recorded.at, kind, body.decode())


def decode(raw: msgspec.Raw) -> tuple[Recorded, ...]:
    """The events back."""
    events = _events(raw)
    return tuple(Recorded(each.sequence, each.at, codec.decode_event(each.kind, each.body)) for each in events)
