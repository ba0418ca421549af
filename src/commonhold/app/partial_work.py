"""Partial work: what a holder had changed when its lease was taken from it, kept for review and never reverted."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from commonhold.app.answers import Next, ReviewAnswer
from commonhold.app.place import Place
from commonhold.app.reading import Reading
from commonhold.domain.at_work import Message
from commonhold.domain.commands import Leave, Review
from commonhold.domain.errors import CommonholdError
from commonhold.domain.keys import Key, canonical
from commonhold.domain.lease import Lease
from commonhold.domain.outcomes import Noted
from commonhold.domain.partial_work import Left, PartialWork
from commonhold.domain.texts import NOBODY, check_line, duration, listed, short_name

LOOKED_AT_BESIDE: Final = 32
"""How many files are looked at in a call that has nothing to do with them."""
_MOST_LISTED: Final = 8
Trees = Callable[[str], Reading | None]
"""How to look at the files of the working tree that goes by a name; None where it is not on this machine."""


class PartialWorks:
    """Looks for partial work under leases that were lost, lists it, and closes it."""

    def __init__(self, place: Place, trees: Trees) -> None:
        """Learn from the registry of `place` what was lost, keep in its store what is found; look at `trees`."""
        self._store = place.store
        self._registry = place.registry
        self._in_flight = place.in_flight
        self._name, self._root = place.name, place.files.root
        self._trees = trees

    def look_for(self, keys: Sequence[Key] = ()) -> bool:
        """Look what the holders of lost leases had changed under them, and write it down.

        That is done for all that overlap `keys`, which must come before anybody else changes what these cover, and
        for at most LOOKED_AT_BESIDE others. Return whether more are left.
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

    def _leave(self, lease: Lease, reading: Reading) -> None:
        """Write it down; not while a commit in flight writes there, whose work that is."""
        paths = {canonical(base.key).file_path for base in lease.bases}
        if any(not paths.isdisjoint(each.paths) for each in self._in_flight.flights()):
            return
        left = tuple(self._changes(lease, reading))
        self._registry.execute(Leave(lease.id, lease.holder, left))
        if not lease.is_live(self._registry.now()):  # else it was ended by force, which is told in other ways
            self._tell_of_lapse(lease, left)

    def _tell_of_lapse(self, lease: Lease, left: Sequence[Left]) -> None:
        """Tell the holder, and whoever had asked for the lease, that it lapsed without a sign of life."""
        keys, silence = listed(lease.keys, _MOST_LISTED), duration(lease.ttl_seconds)
        kept = f"; what was changed under it is kept: `commonhold review show {lease.id}`" if left else ""
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

    def _changes(self, lease: Lease, reading: Reading) -> Iterator[Left]:
        for base in lease.bases:
            try:
                hash_now, contents = reading.now_at(canonical(base.key))
            except CommonholdError:  # what cannot be read any more is not what it was
                hash_now, contents = None, {}
            if hash_now != base.hash:
                with self._store.write() as writer:
                    writer.keep(contents.items(), self._registry.now().wall)
                yield Left(base.key, base.hash, hash_now)

    def waiting(self) -> tuple[PartialWork, ...]:
        """All partial work that nobody has reviewed yet, oldest first."""
        while self.look_for():
            pass
        with self._registry.read() as view:
            return view.works()

    def review(self, holder: str, lease_id: str, note: str) -> ReviewAnswer:
        """Close a partial work: `holder` has looked at it, and `note` says what was done about it."""
        outcome = self._registry.execute(Review(lease_id, holder, check_line(note, "note")))
        if isinstance(outcome, Noted):
            return ReviewAnswer("reviewed", outcome.work)
        why = f"there is no partial work of the lease {lease_id} that waits for review"
        return ReviewAnswer("refused", None, why, Next("review", {}, "see what waits for review"))
