"""Keeping the state whole, and no larger than it has to be."""

from collections.abc import Iterable

from commonhold.app.forgetting import forget
from commonhold.app.place import Place
from commonhold.app.recovery import recover
from commonhold.app.unwritable import UNWRITABLE
from commonhold.domain.errors import Code, StoreError
from commonhold.domain.events import CommitUndone
from commonhold.regions.region import hash_bytes


class Upkeep:
    """Looks after the state of one working tree."""

    def __init__(self, place: Place, retention_seconds: float) -> None:
        """Look after the store of `place`; what was kept there for so long may go."""
        self._store, self._files, self._clock = place.store, place.files, place.clock
        self._retention_seconds = retention_seconds

    def recover(self) -> tuple[CommitUndone, ...]:
        """Take back commits that a crash interrupted. Nobody waits at the gate where there are none."""
        with self._store.read() as reader:
            if not reader.journals():
                return ()
        with self._store.gate():
            return recover(self._store, self._files, self._clock)

    def recover_for_reading(self) -> None:
        """Take back interrupted commits; where that is blocked, go on if no reader can see half of one.

        Raises StoreError `RECOVERY_BLOCKED` while a file is as such a commit would have it and cannot be put back.
        """
        try:
            self.recover()
        except StoreError as fault:
            if fault.code not in UNWRITABLE and (fault.code is not Code.RECOVERY_BLOCKED or self._is_half_visible()):
                raise

    def _is_half_visible(self) -> bool:
        with self._store.read() as reader:
            journals = reader.journals()
        return any(self._files.at(journal.root).has_swapped(journal) for journal in journals)

    def keep(self, contents: Iterable[bytes]) -> None:
        """Keep bytes by their hash."""
        with self._store.write() as writer:
            writer.keep(((hash_bytes(each), each) for each in contents), self._clock.now().wall)

    def forget(self) -> None:
        """Drop kept contents whose retention is over."""
        self.recover()
        with self._store.write() as writer:
            forget(writer, self._clock.now(), self._retention_seconds)
