"""The advisory lock of a namespace."""

from hashlib import blake2b
from typing import Final

_BYTES: Final = 8


def lock_of(schema: str, namespace: str) -> int:
    """Return the lock number of a namespace; the empty one stands for the schema itself.

    Two with the same number would only wait for each other.
    """
    digest = blake2b(f"commonhold\0{schema}\0{namespace}".encode(), digest_size=_BYTES).digest()
    return int.from_bytes(digest, "big", signed=True)
