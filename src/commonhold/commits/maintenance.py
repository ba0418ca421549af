"""Keep the state consistent, and no larger than necessary."""

from collections.abc import Iterable

from commonhold.code.regions.region import hash_bytes
from commonhold.commits.recovery import left_behind, recover
from commonhold.commits.retention import forget
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.events import CommitUndone
from commonhold.kernel.unwritable import UNWRITABLE
from commonhold.workspace.place import WorktreeState


class Maintenance:
    """Maintains the state of one working tree."""

    def __init__(self, place: WorktreeState, retention_seconds: float) -> None:
        """Maintain the store of `place`; contents kept there for `retention_seconds` may be deleted."""
        self._place = place
        self._store, self._files, self._clock = place.store, place.files, place.clock
        self._retention_seconds = retention_seconds

    def is_whole(self) -> bool:
        """Whether no commit was interrupted, so that nothing must be taken back."""
        return not left_behind(self._place)

    def recover(self) -> tuple[CommitUndone, ...]:
        """Take back commits that a crash interrupted. If there are none, this does not wait for the gate."""
        if self.is_whole():
            return ()
        with self._place.gate():
            return recover(self._place)

    def recover_for_reading(self) -> None:
        """Take back interrupted commits; if that is blocked, go on if no reader can see half of one.

        Raises StoreError `RECOVERY_BLOCKED` while a file has its state after such a commit and cannot be put back.
        """
        try:
            self.recover()
        except StoreError as fault:
            if fault.code not in UNWRITABLE and (fault.code is not Code.RECOVERY_BLOCKED or self._is_half_visible()):
                raise

    def wait_for_halves(self) -> None:
        """Wait for the commits in flight of which a reader could see half: those of several files."""
        root, flights = self._files.root, self._place.in_flight.flights()
        self._place.in_flight.wait_for([each.id for each in flights if each.root == root and len(each.paths) > 1])

    def _is_half_visible(self) -> bool:
        return any(self._files.at(each.root).has_swapped(each) for each in left_behind(self._place))

    def store_contents(self, contents: Iterable[bytes]) -> None:
        """Keep bytes by their hash."""
        with self._store.write() as writer:
            writer.keep(((hash_bytes(each), each) for each in contents), self._clock.now().wall)

    def apply_retention(self) -> None:
        """Delete kept contents whose retention is over."""
        self.recover()
        with self._store.write() as writer:
            forget(writer, self._clock.now(), self._retention_seconds)
