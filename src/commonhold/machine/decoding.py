"""Values out of JSON, MessagePack and plain objects, in a process with threads.

msgspec keeps what it learns about a class on the class, from the first moment on, before it has learned all of it. A
thread that decodes the class in that moment ends the whole process (SIGSEGV with msgspec 0.22). So a type is learned by
one thread at a time, here, and a type that has been learned is read by any number of them.
"""

from collections.abc import Callable
from threading import RLock
from typing import Any, Final, TypeVar

import msgspec

T = TypeVar("T")
_learning: Final = RLock()
_json: Final[dict[object, Any]] = {}
_msgpack: Final[dict[object, Any]] = {}


def from_json(data: bytes | str, kind: type[T]) -> T:
    """Return the value in a JSON text. Raises `msgspec.DecodeError` and UnicodeError for anything else."""
    return json_reader(kind)(data)


def from_msgpack(data: bytes | msgspec.Raw, kind: type[T]) -> T:
    """Return the value in a MessagePack. Raises `msgspec.DecodeError` for anything else."""
    return msgpack_reader(kind)(data)


def from_plain(value: object, kind: type[T], *, strict: bool = True) -> T:
    """Return the value that dicts, lists, texts and numbers describe. Raises `msgspec.ValidationError`.

    Without `strict`, a text stands for the number or truth value that it spells.
    """
    json_reader(kind)
    return msgspec.convert(value, kind, strict=strict)


def json_reader(kind: type[T]) -> Callable[[bytes | str], T]:
    """Return what reads values of that type out of JSON."""
    reader: Callable[[bytes | str], T] = _json.get(kind) or _learned(msgspec.json.Decoder, kind, _json)
    return reader


def msgpack_reader(kind: type[T]) -> Callable[[bytes | bytearray | msgspec.Raw], T]:
    """Return what reads values of that type out of MessagePack."""
    reader: Callable[[bytes | bytearray | msgspec.Raw], T]
    reader = _msgpack.get(kind) or _learned(msgspec.msgpack.Decoder, kind, _msgpack)
    return reader


def _learned(decoder: Any, kind: object, readers: dict[object, Any]) -> Any:  # noqa: ANN401 - two forms of decoders
    with _learning:
        reader = readers[kind] = decoder(kind).decode
        return reader
