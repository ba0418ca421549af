"""The names by which leases are found: they begin with the namespace, and sort next to everything below them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.keys import Key
from commonhold.stores.places import AFTER_SEPARATOR, SEPARATOR, place, places

# An index takes no more than 2,704 bytes of a row. Places that are cut off may coincide, which only finds more.
_MOST_BYTES: Final = 1_000
_MOST_BYTES_A_CHARACTER: Final = 4


@dataclass(frozen=True, slots=True)
class Names:
    """The names in one namespace."""

    namespace: str

    def name(self, text: str) -> str:
        """The name of a lease or a holder."""
        return f"{self.namespace}{SEPARATOR}{text}"

    def place(self, key: Key) -> str:
        """Return the place of a lease on `key`: its scheme and path, without the names inside the file."""
        return _cut_off(self.name(place(key)))

    def places(self, key: Key) -> Iterable[str]:
        """The place of `key` and of everything above it."""
        return (_cut_off(self.name(each)) for each in places(key))

    def bounds_below(self, key: Key) -> tuple[str, str]:
        """The two texts between which everything below `key` is found.

        The first is its own place: of one that is about to be cut off, the places below have only the separator more.
        """
        return self.place(key), self.place(key) + AFTER_SEPARATOR


def _cut_off(text: str) -> str:
    if len(text) * _MOST_BYTES_A_CHARACTER <= _MOST_BYTES:
        return text
    return text.encode()[:_MOST_BYTES].decode(errors="ignore")
