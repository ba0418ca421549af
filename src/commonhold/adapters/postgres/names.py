"""What leases are found by: texts that begin with the namespace, and in which what lies below sorts together."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from commonhold.domain.keys import FILE, Key

_SEPARATOR: Final = "\x1f"
_AFTER_SEPARATOR: Final = "\x20"
# An index takes no more than 2,704 bytes of a row. Places that are cut off meet in one, which only finds more.
_MOST_BYTES: Final = 1_000
_MOST_BYTES_A_CHARACTER: Final = 4


@dataclass(frozen=True, slots=True)
class Names:
    """The names in one namespace."""

    namespace: str

    def name(self, text: str) -> str:
        """The name of a lease or a holder."""
        return f"{self.namespace}{_SEPARATOR}{text}"

    def place(self, key: Key) -> str:
        """Where a lease on `key` is found: its scheme and path, without the names inside the file."""
        return _cut_off(_SEPARATOR.join((self.namespace, key.scheme, *key.path)))

    def places(self, key: Key) -> Iterable[str]:
        """The place of `key` and of everything above it."""
        below_namespace = accumulate((key.scheme, *key.path), _below)
        return (_cut_off(self.name(each)) for each in below_namespace)

    def bounds_below(self, key: Key) -> tuple[str, str]:
        """The two texts between which everything below `key` is found."""
        return self.place(key) + _SEPARATOR, self.place(key) + _AFTER_SEPARATOR


def has_below(key: Key) -> bool:
    """Whether other keys may lie below this one: below a folder, or a free key."""
    return key.is_folder or key.scheme != FILE


def _below(above: str, part: str) -> str:
    return f"{above}{_SEPARATOR}{part}"


def _cut_off(text: str) -> str:
    if len(text) * _MOST_BYTES_A_CHARACTER <= _MOST_BYTES:
        return text
    return text.encode()[:_MOST_BYTES].decode(errors="ignore")
