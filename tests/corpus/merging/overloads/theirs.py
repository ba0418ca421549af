from typing import overload


@overload
def load(key: int) -> str: ...
@overload
def load(key: str) -> str: ...
def load(key):
    """What is kept under a key."""
    return str(key)
