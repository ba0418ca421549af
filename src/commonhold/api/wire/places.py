"""The key of a definition, from its path and qualified name."""

from commonhold.api.wire.text import sound
from commonhold.kernel.keys import FILE, Key, parse_names


def key_of(path: str, qualname: str) -> str:
    """Return the canonical key; that of the file if there is no name. Bytes that are not valid UTF-8 are escaped."""
    names = parse_names(qualname) if qualname else ()
    return sound(str(Key(FILE, tuple(path.split("/")), names)))
