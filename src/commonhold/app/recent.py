"""A bounded memory of what was worked out lately, shared by the threads of a process."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Recent(Generic[_Key, _Value]):
    """Keeps the `limit` entries used last; what an entry says must follow from its key alone.

    Unlike `lru_cache` it also takes what was worked out another way than by one function. Safe to share.
    """

    def __init__(self, limit: int) -> None:
        """Keep at most `limit` entries."""
        self._limit = limit
        self._kept: OrderedDict[_Key, _Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: _Key) -> _Value | None:
        """What is kept under a key, which counts as used by this; None where nothing is."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key]

    def put(self, key: _Key, value: _Value) -> _Value:
        """Keep a value, and give it back; the entry that was used least recently makes room."""
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            if len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        return value
