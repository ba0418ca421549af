"""Places: texts by which leases are found; a place sorts directly before all places below it."""

from collections.abc import Iterator
from typing import Final

from commonhold.kernel.keys import Key

SEPARATOR: Final = "\x1f"
"""Between the segments of a place: no key has control characters."""
AFTER_SEPARATOR: Final = "\x20"
"""The next place in order: everything below a place lies between the two."""


def place(key: Key) -> str:
    """Return the place of a lease on `key`: its scheme and path, without the names inside a file."""
    return SEPARATOR.join((key.scheme, *key.path))


def places(key: Key) -> Iterator[str]:
    """The place of everything above `key`, outermost first, and of `key` itself."""
    parts = (key.scheme, *key.path)
    return (SEPARATOR.join(parts[:end]) for end in range(1, len(parts) + 1))
