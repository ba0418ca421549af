from typing import overload


@overload
def load(key: int) -> str: ...
@overload
def load(key: bytes) -> str: ...
@overload
def load(key: str) -> str: ...
def load(key):
    return str(key)
