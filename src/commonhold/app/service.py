"""All use cases of one working tree, for one agent session: what every way in speaks to."""

from typing import Self

from commonhold.app.answers import AcquireAnswer, CommitAnswer, LeaseAnswer
from commonhold.app.commits import Commits
from commonhold.app.leases import AcquireRequest, Leases, ReleaseRequest, RenewRequest
from commonhold.app.plan import CommitRequest
from commonhold.app.ports import Clock, Files, Ids, Step, Store, no_step
from commonhold.app.queries import Queries, Status, Who
from commonhold.app.reading import Reading, RegionText, although_unwritable
from commonhold.app.recovery import recover
from commonhold.app.sweeping import forget
from commonhold.domain import texts
from commonhold.domain.changeset import Changeset
from commonhold.domain.events import CommitUndone, Recorded
from commonhold.domain.keys import FILE, parse
from commonhold.domain.lease import DEFAULT_TTL_SECONDS, Lease
from commonhold.domain.modes import Mode
from commonhold.regions.region import RegionMap


class Commonhold:
    """One agent session's access to the files and leases that it shares with others.

    Keys are taken in any form (`src/a.py`, `src/a.py#C.m`, `file:…`, `method::src/a.py::C.m`, `account:12345`).
    Refusals are answers. Errors are CommonholdError, with a code and a hint; after one, nothing has changed. Threads
    of one process may share an instance; they take turns.
    """

    def __init__(
        self,
        *,
        store: Store,
        files: Files,
        clock: Clock,
        ids: Ids,
        agent: str | None = None,
        ttl_seconds: float = DEFAULT_TTL_SECONDS,
        retention_seconds: float,
        at_step: Step = no_step,
    ) -> None:
        """Put the use cases together; `commonhold.open` does so for a repository on disk."""
        self._agent = texts.check_holder(agent) if agent is not None else None
        self._store = store
        self._files = files
        self._clock = clock
        self._ttl_seconds = ttl_seconds
        self._retention_seconds = retention_seconds
        self._reading = Reading(files, store, clock)
        self._leases = Leases(store, self._reading, clock, ids)
        self._commits = Commits(
            store, files, self._reading, clock, retention_seconds=retention_seconds, at_step=at_step
        )
        self._queries = Queries(store, self._reading, self._leases, files.root)

    @property
    def root(self) -> str:
        """The absolute path of the working tree."""
        return self._files.root

    @property
    def holder(self) -> str:
        """The name under which this session holds leases. Raises UsageError `HOLDER_MISSING` if it has none."""
        return self._agent or texts.check_holder("")

    def regions(self, path: str) -> RegionMap:
        """The regions of a file, found afresh. Raises InputError `FILE_NOT_FOUND`, `FILE_TOO_LARGE`."""
        self._recover_if_possible()
        return self._reading.regions(path)

    def read(self, *keys: str) -> tuple[RegionText, ...]:
        """Regions with their text and hash; what is read is kept, so that later changes to it can be shown.

        Raises InputError `REGION_UNKNOWN`, `REGION_AMBIGUOUS`, `FILE_NOT_FOUND`.
        """
        self._recover_if_possible()
        return self._reading.read(keys)

    def acquire(
        self,
        *keys: str,
        task: str = "",
        ttl_seconds: float | None = None,
        mode: Mode = Mode.EXCLUSIVE,
        acquisition_id: str | None = None,
        request_id: str | None = None,
    ) -> AcquireAnswer:
        """Ask for one lease on all of `keys`: granted as a whole, or denied with every conflict named.

        A lease keeps others from changing what it covers; it ends by release or after `ttl_seconds`. It does not
        keep this process from believing that it holds on when it does not: the commit checks.
        """
        ttl = self._ttl_seconds if ttl_seconds is None else ttl_seconds
        if any(parse(key).scheme == FILE for key in keys):
            self._recover_if_possible()
        return self._leases.acquire(AcquireRequest(self.holder, keys, task, mode, ttl, acquisition_id, request_id))

    def renew(self, lease_id: str, *, ttl_seconds: float | None = None, request_id: str | None = None) -> LeaseAnswer:
        """Let a live lease end `ttl_seconds` from now. The end is set, never added to."""
        ttl = self._ttl_seconds if ttl_seconds is None else ttl_seconds
        return self._leases.renew(RenewRequest(self.holder, lease_id, ttl, request_id))

    def release(self, lease_id: str, *, request_id: str | None = None) -> LeaseAnswer:
        """End a lease of this session."""
        return self._leases.release(ReleaseRequest(self.holder, lease_id, request_id))

    def leases(self, *, holder: str | None = None) -> tuple[Lease, ...]:
        """The live leases, oldest first, of all holders or of one."""
        return self._leases.live(holder=holder)

    def commit(self, changeset: Changeset, *, dry_run: bool = False) -> CommitAnswer:
        """Apply all edits of a changeset or none. A dry run gives the verdict and writes nothing.

        Guarantees: edits take effect only if their bases and named leases hold at the moment of writing; several
        files change together, also across a crash. Does not guarantee that readers outside Commonhold see several
        files change in the same instant, nor that a program that writes without asking is noticed in time.
        """
        if dry_run:
            self._recover_if_possible()
        return self._commits.commit(CommitRequest(self.holder, changeset, self.root, dry_run))

    def who(self, key: str) -> Who:
        """Who holds what overlaps `key`, and who changed it last."""
        self._recover_if_possible()
        return self._queries.who(key)

    def status(self) -> Status:
        """Live leases, newest commits, open debts."""
        self._recover_if_possible()
        return self._queries.status()

    def log(self, *, after: int | None = None, limit: int = 100, lease_id: str | None = None) -> tuple[Recorded, ...]:
        """Events in order: those after a sequence (with a lease: after 0), or the newest."""
        return self._queries.log(after=after, limit=limit, lease_id=lease_id)

    def content(self, content_hash: str) -> bytes:
        """Bytes that were kept, by hash. Raises InputError `CONTENT_UNKNOWN`."""
        return self._queries.content(content_hash)

    def recover(self) -> tuple[CommitUndone, ...]:
        """Take back commits that a crash interrupted; every commit and read does so first."""
        with self._store.read() as reader:
            if not reader.journals():
                return ()
        with self._store.gate():
            return recover(self._store, self._files, self._clock)

    def _recover_if_possible(self) -> None:
        with although_unwritable():
            self.recover()

    def forget(self) -> None:
        """Drop kept contents whose retention is over."""
        self.recover()
        with self._store.write() as writer:
            forget(writer, self._clock.now(), self._retention_seconds)

    def close(self) -> None:
        """Let go of the state. Leases stay as they are."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
