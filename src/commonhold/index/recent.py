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
        self._bytes = 0

    def get(self, key: Key) -> Summary | None:
        """Return the summary of these bytes; None if it was not made lately."""
        made = self._made.get(key)
        if made is None:
            return None
        self._made.move_to_end(key)
        return made.summary

    def like(self, path: str) -> Summary | None:
        """Return the last requested of the summaries that were made for `path`."""
        return next((made.summary for made in reversed(self._made.values()) if made.path == path), None)

    def put(self, key: Key, path: str, content: bytes, summary: Summary) -> None:
        """Remember the summary of `content`, which is at `path` or will be."""
        versions = [each for each, made in self._made.items() if made.path == path]
        for each in versions[: max(0, len(versions) + 1 - _MOST_VERSIONS)]:
            self._drop(each)
        self._made[key] = _Made(path, len(content), summary)
        self._bytes += len(content)
        while self._bytes > _MOST_BYTES and len(self._made) > 1:
            self._drop(next(iter(self._made)))

    def _drop(self, key: Key) -> None:
        self._bytes -= self._made.pop(key).size
