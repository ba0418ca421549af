"""MessagePack without a package, for commands that only read: importing one would take longer than the answer.

Maps become objects with attributes, so that code that shows an answer works with either codec. All other clients use
`calls.py`; the bytes on the socket are the same.
"""

from collections.abc import Callable
from struct import Struct, error
from types import SimpleNamespace

Read = tuple[object, int]
"""A value, and where it ends."""
Reader = Callable[[bytes, int], Read]
"""Reads what begins with a certain byte, from behind that byte on."""


def encode(value: object) -> bytes:
    """The bytes of None, texts, small counts, and lists and maps of those. Raises ValueError for anything else."""
    if value is None:
        return b"\xc0"
    if isinstance(value, str):
        data = value.encode()
        return _HEAD.pack(0xDB, len(data)) + data
    if isinstance(value, int):
        return _HEAD.pack(0xCE, value)
    if isinstance(value, list):
        return _HEAD.pack(0xDD, len(value)) + b"".join(map(encode, value))
    if isinstance(value, dict):
        return _HEAD.pack(0xDF, len(value)) + b"".join(encode(each) for pair in value.items() for each in pair)
    raise ValueError(f"{type(value).__name__} is not sent")


_HEAD = Struct(">BI")
"""A type byte, and a length or a count."""


def decode(data: bytes) -> object:
    """The value in `data`. Raises ValueError for anything but exactly one MessagePack value."""
    try:
        value, end = _read(data, 0)
    except (IndexError, RecursionError, error) as fault:
        raise ValueError("this is no MessagePack") from fault
    if end != len(data):
        raise ValueError("this is more, or less, than one value")
    return value


def _read(data: bytes, at: int) -> Read:
    return _READERS[data[at]](data, at + 1)


def _literal(value: object) -> Reader:
    return lambda _, at: (value, at)


def _number(form: str) -> Reader:
    struct = Struct(f">{form}")
    return lambda data, at: (struct.unpack_from(data, at)[0], at + struct.size)


def _of_length(form: str, read: Callable[[bytes, int, int], Read]) -> Reader:
    """Read a value whose length precedes it."""
    struct = Struct(f">{form}")
    return lambda data, at: read(data, at + struct.size, struct.unpack_from(data, at)[0])


def _short(length: int, read: Callable[[bytes, int, int], Read]) -> Reader:
    """Read a value whose type byte contains its length."""
    return lambda data, at: read(data, at, length)


def _bytes(data: bytes, at: int, length: int) -> Read:
    return data[at : at + length], at + length


def _text(data: bytes, at: int, length: int) -> Read:
    return data[at : at + length].decode(), at + length


def _list(data: bytes, at: int, length: int) -> Read:
    values = []
    for _ in range(length):
        value, at = _read(data, at)
        values.append(value)
    return values, at


def _map(data: bytes, at: int, length: int) -> Read:
    values = {}
    for _ in range(length):
        name, at = _read(data, at)
        value, at = _read(data, at)
        values[str(name)] = value
    return SimpleNamespace(**values), at


def _unknown(_data: bytes, _at: int) -> Read:
    raise ValueError("this contains a type that is never sent")


_READERS: tuple[Reader, ...] = (
    *(_literal(count) for count in range(128)),
    *(_short(length, _map) for length in range(16)),
    *(_short(length, _list) for length in range(16)),
    *(_short(length, _text) for length in range(32)),
    *(_literal(None), _unknown, _literal(False), _literal(True)),  # noqa: FBT003 - they are the values themselves
    *(_of_length(form, _bytes) for form in "BHI"),
    *(_unknown for _ in range(3)),
    *map(_number, "fdBHIQbhiq"),
    *(_unknown for _ in range(5)),
    *(_of_length(form, _text) for form in "BHI"),
    *(_of_length(form, _list) for form in "HI"),
    *(_of_length(form, _map) for form in "HI"),
    *(_literal(count) for count in range(-32, 0)),
)
"""By the first byte, of which the standard gives each a meaning."""
