"""Map lines between the merged state and either side, by the text of the lines."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from commonhold.merging.align import common
from commonhold.merging.prose import lines_of

TextsOf = Callable[[str], tuple[bytes | None, bytes | None] | None]
"""Returns the merged and the side's text of a path, None for each missing file; None if both are the same."""


@dataclass(frozen=True, slots=True)
class LineMap:
    """Maps lines of the merged state to those of one side and back; counted from 1. Each file is compared once."""

    texts: TextsOf
    _known: dict[str, tuple[Mapping[int, int], Mapping[int, int]] | None] = field(default_factory=dict)

    def to_side(self, path: str, line: int) -> int | None:
        """Return the line of the side; None if it has no such line."""
        maps = self._maps(path)
        return line if maps is None else maps[0].get(line)

    def to_merged(self, path: str, line: int) -> int | None:
        """Return the line of the merged state; None if that has no such line."""
        maps = self._maps(path)
        return line if maps is None else maps[1].get(line)

    def _maps(self, path: str) -> tuple[Mapping[int, int], Mapping[int, int]] | None:
        if path not in self._known:
            self._known[path] = _compared(self.texts(path))
        return self._known[path]


def _compared(texts: tuple[bytes | None, bytes | None] | None) -> tuple[Mapping[int, int], Mapping[int, int]] | None:
    if texts is None or texts[0] == texts[1]:
        return None
    merged, side = (lines_of(text or b"") for text in texts)
    pairs = [(left + 1, right + 1) for left, right in common(merged, side)]
    return dict(pairs), {right: left for left, right in pairs}
