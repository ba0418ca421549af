"""Write slots: a session that writes a file with its own tool excludes all other writers for that moment.

A tool reads the whole file and writes the whole file, so two of them may not overlap, however far apart their regions
are. A slot is an ordinary lease on a key that only the file's name makes.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from commonhold.kernel.keys import Key, canonical, file_key
from commonhold.kernel.write_slot_names import SCHEME as SCHEME  # noqa: PLC0414 - both are of slots, too
from commonhold.kernel.write_slot_names import path_of_slot as path_of_slot  # noqa: PLC0414

SLOT_SECONDS: Final = 15.0
"""How long a slot lasts if the announced write is never observed."""
_PLACE_DIGITS: Final = 12
_ESCAPES: Final = str.maketrans({"%": "%25", ":": "%3A", "#": "%23", "*": "%2A", "?": "%3F"})


def is_for_slots(keys: Sequence[str]) -> bool:
    """Whether a lease on these keys, which are in order, is on write slots."""
    return keys[0].startswith(f"{SCHEME}:")


def slot_of(place: str, path: str) -> Key:
    """The slot of the file at `path` in the working tree that goes by the name `place`."""
    name = hashlib.sha256(place.encode()).hexdigest()[:_PLACE_DIGITS]
    return canonical(f"{SCHEME}:{name}:{path.translate(_ESCAPES)}")


def shown_key(key: str) -> str:
    """A key for people and programs to see: instead of a slot, the file that it is for."""
    path = path_of_slot(key)
    return key if path is None else str(file_key(path))
