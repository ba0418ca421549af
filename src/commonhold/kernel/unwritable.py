"""Reads on a state that cannot be written."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from commonhold.kernel.errors import Code, StoreError

UNWRITABLE: Final = (Code.STORE_READ_ONLY, Code.DISK_FULL, Code.STORE_OWNED)
"""The error codes of a state that cannot be written, or not by this process."""


@contextmanager
def although_unwritable() -> Iterator[None]:
    """Ignore errors of a state that cannot be written: reads must work there."""
    try:
        yield
    except StoreError as fault:
        if fault.code not in UNWRITABLE:
            raise
