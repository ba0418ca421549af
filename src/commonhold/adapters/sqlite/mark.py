"""The mark of the last event, kept outside of the database: it tells a database that lost events from a whole one."""

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import apsw

from commonhold.domain.errors import Code, StoreError

_HEAD: Final = "last event"
_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class Mark:
    """An event that was durable: its number, and the wall time that tells it from another one of that number."""

    sequence: int
    at: float

    @classmethod
    def read(cls, descriptor: int) -> "Mark | None":
        """Return the mark at the beginning of a file; None where there is none."""
        with suppress(ValueError):
            head, sequence, at = os.pread(descriptor, _BYTES, 0).decode("ascii").rsplit(maxsplit=2)
            if head == _HEAD:
                return cls(int(sequence), float.fromhex(at))
        return None

    def write(self, descriptor: int) -> None:
        """Write the mark at the beginning of a file, over the one that is there, in one step. Raises OSError."""
        line = f"{_HEAD} {self.sequence:020d} {float(self.at).hex()}".ljust(_BYTES - 1) + "\n"
        os.pwrite(descriptor, line.encode(), 0)

    def is_in(self, connection: apsw.Connection) -> bool:
        """Whether the database holds the event that is marked."""
        rows = connection.execute("SELECT at FROM events WHERE seq = ?", (self.sequence,)).fetchall()
        return rows == [(self.at,)]


def gone(path: str) -> StoreError:
    """Return the refusal of a state folder whose database was deleted or moved away."""
    return StoreError(
        Code.STORE_UNSAFE,
        f"the state database was deleted or moved away, and with it who holds what: {path}",
        hint=f"put it back (with its -wal file), or go on without it: {RESET}",
        fields={"database": path},
    )


def fallen_back(path: str, mark: Mark) -> StoreError:
    """Return the refusal of a database that does not hold the last event that was recorded."""
    return StoreError(
        Code.STORE_UNSAFE,
        "the state database was restored from an older copy or exchanged, or lost its -wal file: the last event"
        f" that was recorded, {mark.sequence}, is not in it",
        hint=f"put the newest one back (with its -wal file), or end all leases and go on with this one: {RESET}",
        fields={"database": path, "event": mark.sequence},
    )


RESET: Final = "commonhold doctor --reset-state"
