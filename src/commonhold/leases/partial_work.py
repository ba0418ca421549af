"""Partial work: the changes that a holder had made when it lost its lease, kept for review and never reverted."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from commonhold.kernel.answers import Next, ReviewAnswer
from commonhold.kernel.commands import RecordPartialWork, Review
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.keys import Key, canonical
from commonhold.kernel.lease import Lease
from commonhold.kernel.outcomes import Acknowledged
from commonhold.kernel.partial_work import PartialWork, UnfinishedChange
from commonhold.kernel.presence import Message
from commonhold.kernel.texts import NOBODY, check_line, duration, listed, short_name
from commonhold.reads.reading import RegionReader
from commonhold.workspace.place import WorktreeState

LOOKED_AT_BESIDE: Final = 32
"""The most files that are examined in a call that is not about them."""
_MOST_LISTED: Final = 8
Trees = Callable[[str], RegionReader | None]
"""A function that returns a reader of the working tree with a name; None if the tree is not on this machine."""


class PartialWorks:
    """Finds partial work under lost leases, lists it, and closes it."""

    def __init__(self, place: WorktreeState, trees: Trees) -> None:
        """Read lost leases from the registry of `place`, keep the findings in its store; read the files of `trees`."""
        self._store = place.store
        self._registry = place.registry
        self._in_flight = place.in_flight
        self._name, self._root = place.name, place.files.root
        self._trees = trees

    def look_for(self, keys: Sequence[Key] = ()) -> bool:
        """Find the changes that the holders of lost leases had made under them, and record these.

        That is done for all leases that overlap `keys`, before any other holder changes the files there, and for at
        most LOOKED_AT_BESIDE others. Return whether more are left.
        """
        with self._registry.read() as view:
            lost = view.lost()
            if not lost:
                return False
            near = {lease.id: lease for lease in view.lost_near(keys)}
        others = [lease for lease in lost if lease.id not in near]
        for lease in near.values():
            if reading := self._trees(lease.worktree):
                self._leave(lease, reading)
        here = ((lease, reading) for lease in others if (reading := self._trees(lease.worktree)))
        for lease, reading in islice(here, LOOKED_AT_BESIDE):
            self._leave(lease, reading)
        return next(here, None) is not None

    def _leave(self, lease: Lease, reading: RegionReader) -> None:
        """Record the partial work; not while a commit in flight writes there, as the changes are that commit's."""
        paths = {canonical(base.key).file_path for base in lease.bases}
        if any(not paths.isdisjoint(each.paths) for each in self._in_flight.flights()):
            return
        left = tuple(self._changes(lease, reading))
        self._registry.execute(RecordPartialWork(lease.id, lease.holder, left))
        if not lease.is_live(self._registry.now()):  # else it was broken, which is reported in other ways
            self._tell_of_lapse(lease, left)

    def _tell_of_lapse(self, lease: Lease, left: Sequence[UnfinishedChange]) -> None:
        """Tell the holder, and the one that asked for the lease, that it expired without a sign of life."""
        keys, silence = listed(lease.keys, _MOST_LISTED), duration(lease.ttl_seconds)
        kept = f"; the changes made under it are kept: `commonhold review show {lease.id}`" if left else ""
        own = (
            f"your lease on {keys} lapsed after {silence} without a sign of life from you; "
            f"others may hold it by now{kept}"
        )
        told = {lease.holder: own}
        if lease.wish is not None:
            by = short_name(lease.holder)
            told[lease.wish.by] = (
                f"{by} did not release {keys}: the lease lapsed after {silence} without a sign of life{kept}"
            )
        wall = self._registry.now().wall
        tree = self._root if lease.worktree == self._name else lease.worktree
        with self._store.write() as writer:
            writer.send(Message(holder, tree, text, NOBODY, wall) for holder, text in told.items())

    def _changes(self, lease: Lease, reading: RegionReader) -> Iterator[UnfinishedChange]:
        for base in lease.bases:
            try:
                hash_now, contents = reading.now_at(canonical(base.key))
            except CommonholdError:  # an unreadable file counts as changed
                hash_now, contents = None, {}
            if hash_now != base.hash:
                with self._store.write() as writer:
                    writer.keep(contents.items(), self._registry.now().wall)
                yield UnfinishedChange(base.key, base.hash, hash_now)

    def waiting(self) -> tuple[PartialWork, ...]:
        """Return all partial work that has not been reviewed yet, oldest first."""
        while self.look_for():
            pass
        with self._registry.read() as view:
            return view.works()

    def review(self, holder: str, lease_id: str, note: str) -> ReviewAnswer:
        """Close a partial work: `holder` has reviewed it, and `note` says how it was resolved."""
        outcome = self._registry.execute(Review(lease_id, holder, check_line(note, "note")))
        if isinstance(outcome, Acknowledged):
            return ReviewAnswer("reviewed", outcome.work)
        why = f"there is no partial work of the lease {lease_id} that waits for review"
        return ReviewAnswer("refused", None, why, Next("review", {}, "see what waits for review"))
