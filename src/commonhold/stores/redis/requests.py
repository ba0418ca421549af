"""Commands in the form of the scripts: their keys split, and all other parts as JSON."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Final

import msgspec

from commonhold.kernel.commands import Acquire, Command, HandOver, Put, RecordPartialWork, Release, Renew
from commonhold.kernel.keys import FILE, HEADER, Key
from commonhold.kernel.lease_ports import Once
from commonhold.stores import codec
from commonhold.stores.places import AFTER_SEPARATOR, SEPARATOR, place, places

# Leases are found by entries in one index, which is in byte order: an entry has a place (scheme and path), a first name
# and the id of the lease, or a holder and the id. These are the separator of an entry's parts, and the character that
# follows it in order. No key and no holder has control characters.
_PART: Final = "\x1e"
_AFTER_PART: Final = "\x1f"
_HOLDER: Final = "\x1d"

_MICRO: Final = 1_000_000

Range = tuple[str, str]
Argument = bytes | str | int
_pack: Final = msgspec.msgpack.Encoder().encode
_NOTHING: Final = _pack({})


def arguments(command: Command[Any]) -> Sequence[Argument]:
    """The script's arguments for a command, besides its name and its request id."""
    tell: Callable[[Any], Sequence[Argument]] = _ARGUMENTS.get(type(command), _plain)
    return tell(command)


def _acquire(command: Acquire) -> Sequence[Argument]:
    lease_id, patience = command.lease_id, command.patience_seconds
    asked = _asked(command.holder, command.keys)
    said = {
        "task": command.task,
        "mode": command.mode,
        "keys": asked.keys,
        "patience": None if patience is None else micro(patience),
        "slots": command.slots,
        "is_once": command.is_once,
    }
    return (
        *_about(lease_id, command.holder, asked, said),
        micro(command.ttl_seconds),
        _fixed(command, asked),
        codec.encode(command.worktree),
        codec.encode(command.bases),
        command.replaces or "",
        *(entry + lease_id for entry in asked.entries),
    )


def _fixed(command: Acquire, asked: "_Asked") -> bytes:
    """Return the fields of the future lease that never change, as JSON without its braces."""
    fields: dict[str, object] = {
        "id": command.lease_id,
        "task": command.task,
        "keys": asked.texts,
        "mode": command.mode,
        "acquisition_id": command.acquisition_id,
    }
    if command.slots:
        fields |= {"slots": command.slots, "is_once": command.is_once}
    return codec.encode(fields)[1:-1]


def _renew(command: Renew) -> Sequence[Argument]:
    return (*_release(command), micro(command.ttl_seconds))


def _release(command: Release | Renew) -> Sequence[Argument]:
    result = getattr(command, "result", None)
    said = None if result is None else {"result": codec.encode(result).decode()}
    return _about(command.lease_id, command.holder, _asked(command.holder), said)


def _hand_over(command: HandOver) -> Sequence[Argument]:
    said = {"to": command.to, "entry": _entry_of_holder(command.to) + command.lease_id}
    return _about(command.lease_id, command.holder, _asked(command.holder), said)


def _put(command: Put) -> Sequence[Argument]:
    asked = _asked(command.holder, (command.key,))
    said = {
        "keys": asked.keys,
        "text": codec.encode(command.text).decode(),
        "expected_version": str(command.expected_version),
        "fence": None if command.fence is None else str(command.fence),
        "reads": [{"key": read.key, "version": str(read.version)} for read in command.reads],
        "must_hold": command.must_hold,
    }
    return _about("", command.holder, asked, said)


def _leave(command: RecordPartialWork) -> Sequence[Argument]:
    said = {"changes": codec.encode(command.changes).decode()}
    return _about(command.lease_id, command.holder, _asked(command.holder), said)


def _plain(command: Command[Any]) -> Sequence[Argument]:
    """Return the arguments of a command that is passed on unchanged."""
    return _about(getattr(command, "lease_id", ""), command.holder, _asked(command.holder), command)


def _about(lease_id: str, holder: str, asked: "_Asked", said: object = None) -> Sequence[Argument]:
    return (lease_id, holder, _NOTHING if said is None else _pack(said), len(asked.ends), *asked.ends)


_ARGUMENTS: Final[dict[type[Command[Any]], Callable[[Any], Sequence[Argument]]]] = {
    Acquire: _acquire,
    Renew: _renew,
    Release: _release,
    HandOver: _hand_over,
    Put: _put,
    RecordPartialWork: _leave,
}


def micro(seconds: float) -> int:
    """Whole microseconds."""
    return round(seconds * _MICRO)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The script arguments that follow from a holder and its requested keys.

    `ends` are both ends of all ranges of entries to read, each range once; `entries` are the beginnings of the future
    lease's entries. Packed values are MessagePack, except `texts`, which is JSON.
    """

    texts: msgspec.Raw
    keys: msgspec.Raw
    ends: tuple[str, ...]
    entries: tuple[str, ...]


@lru_cache(maxsize=4096)
def _asked(holder: str, keys: tuple[Key, ...] = ()) -> _Asked:
    of_holder = _range(_entry_of_holder(holder), f"{_HOLDER}{holder}{_AFTER_PART}")
    ranges = dict.fromkeys((of_holder, *(each for key in keys for each in _ranges(key))))
    return _Asked(
        texts=msgspec.Raw(codec.encode([str(key) for key in keys])),
        keys=msgspec.Raw(_pack([_apart(key) for key in keys])),
        ends=tuple(chain.from_iterable(ranges)),
        entries=(_entry_of_holder(holder), *(_entry(place(key), key.first_name) for key in keys)),
    )


def _apart(key: Key) -> dict[str, object]:
    return {
        "text": str(key),
        "place": place(key),
        "names": [part for name in key.names for part in (name.text, name.ordinal)],
        "is_folder": key.is_folder,
        "is_code": key.scheme == FILE,
    }


def _entry(at: str, name: str) -> str:
    return f"{at}{_PART}{name}{_PART}"


def _ranges(key: Key) -> Iterator[Range]:
    """The ranges of entries of leases that may overlap `key`: above it, at its place, and below it."""
    *above, here = places(key)
    yield from (_range(each + _PART, each + _AFTER_PART) for each in above)
    if key.first_name in ("", HEADER):
        yield _range(here + _PART, here + AFTER_SEPARATOR)
    else:
        for name in ("", key.first_name, HEADER):
            entry = _entry(here, name)
            yield _range(entry, entry[:-1] + _AFTER_PART)
        yield _range(here + SEPARATOR, here + AFTER_SEPARATOR)


def _entry_of_holder(holder: str) -> str:
    return f"{_HOLDER}{holder}{_PART}"


def _range(first: str, after: str) -> Range:
    """From `first` on, up to but without `after`, as ZRANGEBYLEX takes it."""
    return f"[{first}", f"({after}"


def request_field(holder: str, once: Once) -> bytes:
    """The name under which the answer to a request is kept."""
    return _pack((holder, once.request_id))
