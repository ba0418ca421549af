"""The memory of a clone about the claims on a remote, in a file; a lock makes its processes take turns."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from commonhold.machine.decoding import from_json
from commonhold.machine.file_replacement import replace_file
from commonhold.tasks.claiming import Remembered
from commonhold.workspace.state_folder import StateFolder

_MODE: Final = 0o600
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class ClaimMemory:
    """A file for each remote and ref. An unreadable one counts as empty: then nothing counts as stale for a while."""

    def __init__(self, state_folder: str, remote: str, ref: str) -> None:
        """Name the file; it is made when something is saved."""
        self._folder = StateFolder(state_folder)
        of = hashlib.sha256(f"{remote}\0{ref}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._path = os.path.join(state_folder, f"claims-{of}.json")

    def load(self) -> Remembered:
        """Return the last saved memory; an empty one if the file is missing or not valid."""
        try:
            with open(self._path, "rb") as file:
                return from_json(file.read(), Remembered)
        except (FileNotFoundError, msgspec.DecodeError):
            return Remembered()

    def save(self, remembered: Remembered) -> None:
        """Store it durably. Raises StoreError."""
        self._folder.make()
        replace_file(self._path, msgspec.json.encode(remembered), _MODE)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes of this clone out, however many agents work in its worktrees."""
        self._folder.make()
        descriptor = os.open(f"{self._path}.lock", _FLAGS, _MODE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
