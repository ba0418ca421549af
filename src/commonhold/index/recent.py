"""The summaries that this process made last, whether they are stored on disk or not."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from commonhold.code.analysis.repository.summary import Summary

Key = tuple[bytes, str]
"""The hash of some bytes, and the maker of their summary."""

# A summary in parts takes some ten times the memory of its text, but versions of one file share their parts.
_MOST_BYTES: Final = 4_000_000
_MOST_VERSIONS: Final = 8


@dataclass(frozen=True, slots=True)
class _Made:
    path: str
    size: int
    summary: Summary


class Recent:
    """Summaries by key, and by path to make one of a similar text. The oldest are dropped first."""

    def __init__(self) -> None:
        """Begin with none."""
        self._made: OrderedDict[Key, _Made] = OrderedDict()
        self._versions: dict[str, OrderedDict[Key, None]] = {}
        self._bytes = 0

    def get(self, key: Key) -> Summary | None:
        """Return the summary of these bytes; None if it was not made lately."""
        made = self._made.get(key)
        if made is None:
            return None
        self._made.move_to_end(key)
        self._versions[made.path].move_to_end(key)
        return made.summary

    def like(self, path: str) -> Summary | None:
        """Return the last requested of the summaries that were made for `path`."""
        versions = self._versions.get(path)
        return self._made[next(reversed(versions))].summary if versions else None

    def put(self, key: Key, path: str, content: bytes, summary: Summary) -> None:
        """Remember the summary of `content`, which is at `path` or will be."""
        if key in self._made:
            self._drop(key)
        self._made[key] = _Made(path, len(content), summary)
        versions = self._versions.setdefault(path, OrderedDict())
        versions[key] = None
        self._bytes += len(content)
        if len(versions) > _MOST_VERSIONS:
            self._drop(next(iter(versions)))
        while self._bytes > _MOST_BYTES and len(self._made) > 1:
            self._drop(next(iter(self._made)))

    def _drop(self, key: Key) -> None:
        made = self._made.pop(key)
        self._bytes -= made.size
        versions = self._versions[made.path]
        del versions[key]
        if not versions:
            del self._versions[made.path]
