"""Commands as the scripts take them: with their keys taken apart, and as JSON what is only handed on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any, Final

import msgspec

from commonhold.app.ports import Once
from commonhold.domain.commands import Acquire, Command, HandOver, Leave, Put, Release, Renew
from commonhold.domain.keys import FILE, HEADER, Key
from commonhold.wire import codec

# Leases are found by entries in one index, which is in byte order: an entry has a place (scheme and path), a first name
# and the id of the lease, or a holder and the id. This is what stands between the segments of a place and between the
# parts of an entry, and what follows each in order. No key and no holder has control characters.
_SEGMENT: Final = "\x1f"
_AFTER_SEGMENT: Final = "\x20"
_PART: Final = "\x1e"
_AFTER_PART: Final = "\x1f"
_HOLDER: Final = "\x1d"

_MICRO: Final = 1_000_000

Range = tuple[str, str]
Argument = bytes | str | int
_pack: Final = msgspec.msgpack.Encoder().encode
_NOTHING: Final = _pack({})


def arguments(command: Command[Any]) -> Sequence[Argument]:
    """What the script is told of a command, besides its name and who repeats what."""
    tell: Callable[[Any], Sequence[Argument]] = _ARGUMENTS.get(type(command), _plain)
    return tell(command)


def _acquire(command: Acquire) -> Sequence[Argument]:
    holder, lease_id, patience = command.holder, command.lease_id, command.patience_seconds
    keys = [_located(key) for key in command.keys]
    said = {
        "task": command.task,
        "mode": command.mode,
        "keys": [key.packed for key in keys],
        "ranges": _ends(holder, keys),
        "patience": None if patience is None else micro(patience),
    }
    return (
        *_about(holder, lease_id, said, keys),
        micro(command.ttl_seconds),
        _fixed(command, keys),
        codec.encode(command.worktree),
        codec.encode(command.bases),
        command.replaces or "",
        _entry_of_holder(holder, lease_id),
        *(key.entry + lease_id for key in keys),
    )


def _fixed(command: Acquire, keys: Sequence["_Located"]) -> bytes:
    """The fields of the lease to be that never change, as JSON without its braces."""
    fields = {
        "id": command.lease_id,
        "task": command.task,
        "keys": [key.text for key in keys],
        "mode": command.mode,
        "acquisition_id": command.acquisition_id,
    }
    return codec.encode(fields)[1:-1]


def _renew(command: Renew) -> Sequence[Argument]:
    return (*_about(command.holder, command.lease_id), micro(command.ttl_seconds))


def _release(command: Release) -> Sequence[Argument]:
    return _about(command.holder, command.lease_id)


def _hand_over(command: HandOver) -> Sequence[Argument]:
    said = {"to": command.to, "entry": _entry_of_holder(command.to, command.lease_id)}
    return _about(command.holder, command.lease_id, said)


def _put(command: Put) -> Sequence[Argument]:
    key = _located(command.key)
    said = {
        "keys": [key.packed],
        "text": codec.encode(command.text).decode(),
        "expected_version": command.expected_version,
        "fence": command.fence,
        "reads": command.reads,
        "must_hold": command.must_hold,
    }
    return _about(command.holder, "", said, [key])


def _leave(command: Leave) -> Sequence[Argument]:
    return _about(command.holder, command.lease_id, {"changes": codec.encode(command.changes).decode()})


def _plain(command: Command[Any]) -> Sequence[Argument]:
    """The arguments of a command that is told as it is."""
    return _about(command.holder, getattr(command, "lease_id", ""), command)


def _about(holder: str, lease_id: str, said: object = None, keys: Sequence["_Located"] = ()) -> Sequence[Argument]:
    ends = _ends(holder, keys)
    return (lease_id, holder, _NOTHING if said is None else _pack(said), len(ends), *ends)


_ARGUMENTS: Final[dict[type[Command[Any]], Callable[[Any], Sequence[Argument]]]] = {
    Acquire: _acquire,
    Renew: _renew,
    Release: _release,
    HandOver: _hand_over,
    Put: _put,
    Leave: _leave,
}


def micro(seconds: float) -> int:
    """Whole microseconds."""
    return round(seconds * _MICRO)


def _ends(holder: str, keys: Sequence["_Located"]) -> Sequence[str]:
    """Both ends of every range to look into, each range once."""
    ranges = dict.fromkeys(chain((_range_of_holder(holder),), *(key.ranges for key in keys)))
    return tuple(chain.from_iterable(ranges))


@dataclass(frozen=True, slots=True)
class _Located:
    """A key taken apart, how the entry of a lease on it begins, and the ranges of entries that may overlap it."""

    text: str
    packed: msgspec.Raw
    entry: str
    ranges: tuple[Range, ...]


@lru_cache(maxsize=16384)
def _located(key: Key) -> _Located:
    names = [part for name in key.names for part in (name.text, name.ordinal)]
    text, place = str(key), _place(key)
    fields = {
        "text": text,
        "place": place,
        "names": names,
        "is_folder": key.is_folder,
        "is_code": key.scheme == FILE,
    }
    return _Located(text, msgspec.Raw(_pack(fields)), _entry(place, _first_name(key)), tuple(_ranges(key)))


def _place(key: Key) -> str:
    return _SEGMENT.join((key.scheme, *key.path))


def _first_name(key: Key) -> str:
    return key.names[0].text if key.names else ""


def _entry(place: str, name: str) -> str:
    return f"{place}{_PART}{name}{_PART}"


def _ranges(key: Key) -> Iterator[Range]:
    """The ranges of entries of leases that may overlap `key`: above it, at its place, and below it."""
    place, name = _place(key), _first_name(key)
    for above in list(accumulate((key.scheme, *key.path), _below))[:-1]:
        yield _named(above, "")
    if key.is_folder or key.scheme != FILE:
        yield _range(place + _PART, place + _AFTER_SEGMENT)
    elif name in ("", HEADER):
        yield _range(place + _PART, place + _AFTER_PART)
    else:
        yield from (_named(place, each) for each in ("", name, HEADER))


def _range_of_holder(holder: str) -> Range:
    """The range of the entries of a holder's leases."""
    return _range(_entry_of_holder(holder, ""), f"{_HOLDER}{holder}{_AFTER_PART}")


def _entry_of_holder(holder: str, lease_id: str) -> str:
    return f"{_HOLDER}{holder}{_PART}{lease_id}"


def _below(above: str, part: str) -> str:
    return f"{above}{_SEGMENT}{part}"


def _named(place: str, name: str) -> Range:
    entry = _entry(place, name)
    return _range(entry, entry[:-1] + _AFTER_PART)


def _range(first: str, after: str) -> Range:
    """From `first` on, up to but without `after`, as ZRANGEBYLEX takes it."""
    return f"[{first}", f"({after}"


def request_field(holder: str, once: Once) -> bytes:
    """What the answer to a request is kept under."""
    return _pack((holder, once.request_id))
