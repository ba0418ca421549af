"""A bounded cache of recent results, shared by the threads of a process."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Recent(Generic[_Key, _Value]):
    """Keeps the `limit` most recently used entries; a value must depend on its key alone.

    Unlike `lru_cache` it also accepts values that were computed in another way than by one function. Thread-safe.
    """

    def __init__(self, limit: int) -> None:
        """Keep at most `limit` entries."""
        self._limit = limit
        self._kept: OrderedDict[_Key, _Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: _Key) -> _Value | None:
        """Return the value under a key, and count this as a use; None if there is none."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key]

    def put(self, key: _Key, value: _Value) -> _Value:
        """Keep a value, and return it; the least recently used entry makes room."""
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            if len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        return value
