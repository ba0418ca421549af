"""Amounts of memory as people write and read them."""

import re
from typing import Final

_SIZE: Final = re.compile("([1-9][0-9]{0,8})([mg])", re.IGNORECASE)
_SHIFTS: Final = {"m": 20, "g": 30}


def parse_size(text: str) -> int | None:
    """Return the bytes of a size such as `512m` or `2g`; None if the text is no size."""
    found = _SIZE.fullmatch(text)
    return int(found[1]) << _SHIFTS[found[2].lower()] if found else None


def size_text(size_bytes: int) -> str:
    """Return a size as `parse_size` reads it, rounded up to whole mebibytes: `512m`, `2g`."""
    mebibytes = -(-size_bytes >> 20)
    return f"{mebibytes}m" if mebibytes % 1024 else f"{mebibytes >> 10}g"
