"""Questions about the state that change nothing."""

from itertools import islice, starmap
from typing import Final

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.events import Recorded
from commonhold.kernel.keys import canonical, overlaps
from commonhold.kernel.pictures import Status, Who
from commonhold.kernel.values import MAX_NUMBER
from commonhold.leases.key_history import change_of, changes_on
from commonhold.leases.service import Leases
from commonhold.reads.reading import RegionReader
from commonhold.workspace.place import WorktreeState

SHOWN: Final = 10


class Queries:
    """Answers from the state of one repository."""

    def __init__(self, place: WorktreeState, reading: RegionReader, leases: Leases) -> None:
        """Read commits from the store of `place`, lease events from its registry, and live leases from `leases`."""
        self._store = place.store
        self._registry = place.registry
        self._reading = reading
        self._leases = leases

    def who(self, text: str) -> Who:
        """Return the leases, waiters, changes and debts that overlap a key, in any form."""
        key = self._reading.locate(text)
        with self._store.read() as reader:
            changes = tuple(islice(changes_on(reader, key), SHOWN))
            debts = tuple(debt for debt in reader.debts() if overlaps(canonical(debt.key), key))
        return Who(str(key), self._leases.on(key), changes, debts, self._leases.waiting(key))

    def status(self) -> Status:
        """Return live leases, the line, the newest commits, open debts, and partial work that waits for review."""
        with self._store.read() as reader, self._registry.read() as view:
            changes = tuple(starmap(change_of, reader.latest_commits(SHOWN)))
            leases, waiters = self._leases.live(), self._leases.waiting()
            root = self._reading.root
            return Status(root, leases, changes, reader.debts(), waiters, view.works(), reader.presences(root))

    def log(self, *, after: int | None = None, limit: int = 100, lease_id: str | None = None) -> tuple[Recorded, ...]:
        """Return events in order: those after a sequence (with a lease: after 0), or the newest."""
        after = None if after is None else min(after, MAX_NUMBER - 1)
        if lease_id is not None:
            with self._registry.read() as view:
                return view.events(after=after or 0, limit=limit, lease_id=lease_id)
        with self._store.read() as reader:
            return reader.latest(limit) if after is None else reader.events(after=after, limit=limit)

    def commits_on(self, path: str, limit: int) -> tuple[Recorded, ...]:
        """Return the newest commits in this working tree that touched a file, oldest first."""
        with self._store.read() as reader:
            found = reader.commits_on(self._reading.path_of(path), limit)
        return tuple(recorded for recorded, commit in reversed(found) if commit.worktree == self._reading.root)

    def content(self, content_hash: str) -> bytes:
        """Return kept bytes, by their hash or a prefix of it. Raises InputError `CONTENT_UNKNOWN`."""
        with self._store.read() as reader:
            found = reader.contents_like(content_hash)
            data = reader.content(found[0]) if len(found) == 1 else None
        if data is None:
            why = "more than one content begins so" if found else "no content with that hash is kept (any more)"
            raise InputError(
                Code.CONTENT_UNKNOWN,
                f"{content_hash!r}: {why}",
                hint="take a hash from the log, or from a refusal",
                fields={"hash": content_hash},
            )
        return data
