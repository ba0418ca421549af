"""The operations on the state and the log as a whole."""

from __future__ import annotations

from commonhold.api import terms
from commonhold.api.operations import Operation, Schedule
from commonhold.api.service_base import ServiceBase
from commonhold.kernel.scopes import Scope


class StateOperations(ServiceBase):
    """Shows the state and the log, explains and checks them, and recovers after a crash."""

    @Operation(Schedule.QUICK, reads=True, command="status", tool="status", route="GET /status")
    def status(self) -> terms.Status:
        """Return live leases, newest commits, and open debts."""
        return self._looked(self._uses.queries.status)

    @Operation(reads=True, command="top", route="GET /overview")
    def overview(self) -> terms.Overview:
        """Return the agents with their states, the line, what waits for a person, and the newest conflicts."""
        self._recover_if_possible()
        return self._views.overview()

    @Operation(reads=True, route="GET /timeline")
    def timeline(self, *, limit: int = 5000) -> terms.Timeline:
        """Return the newest `limit` events (up to 20,000) as spans and marks over time, and the activity by file."""
        return self._views.timeline(limit)

    @Operation(reads=True, route="GET /notes")
    def search_notes(self, words: str) -> tuple[terms.NoteQuote, ...]:
        """Return the beginnings of the sections of the project's notes that have all the words, or some; best first.

        Without words: of the first section of each note, by path.
        """
        return self._uses.surroundings.search_notes(words)

    @Operation(reads=True, command="log", route="GET /events")
    def log(
        self, *, after: int | None = None, limit: int = 100, lease_id: str | None = None
    ) -> tuple[terms.Recorded, ...]:
        """Return events in order: those after the sequence `after` (with a lease: after 0), or the newest."""
        return self._uses.queries.log(after=after, limit=limit, lease_id=lease_id)

    @Operation(reads=True, command="explain", route="GET /explanations")
    def explain(self, what: str) -> terms.Account:
        """Explain from the log why something was refused, waited or changed: events in words, with their reasons.

        `what` is the number of an event, the id of a lease, a task (`task:ID`), a run (`run:ID`), an entry of the merge
        queue (`entry:ID`), a managed session (`session:ID`), or a key in any form: for a key, the newest events about
        it. Raises InputError `EVENT_UNKNOWN`, `TASK_UNKNOWN`, and those of keys.
        """
        # Loaded here: it is only for people.
        from commonhold.history.explain import Explain  # noqa: PLC0415

        return Explain(self._uses.place, self._uses.reading).explain(what)

    @Operation(reads=True, command="replay")
    def replay(self, *, since: int = 0, until: int | None = None) -> terms.ReplayAnswer:
        """Reconstruct the states of the log, and check that the decisions from `since` to `until` come out the same.

        `.difference` is the first one that does not, or the first event that does not fit the state before it. Without
        `until` the last state is compared with the stored one, too. Raises InputError `EVENT_UNKNOWN` for a range that
        the log does not have.
        """
        # Loaded here: it is only for people.
        from commonhold.history.check import check_log  # noqa: PLC0415

        return check_log(self._uses.place, since, until)

    @Operation(reads=True, for_hooks=True, route="GET /commits")
    def commits_on(self, path: str, *, limit: int = 200) -> tuple[terms.Recorded, ...]:
        """Return the newest commits in this working tree that touched the file at `path`, oldest first."""
        return self._uses.queries.commits_on(path, limit)

    @Operation(reads=True, command="show", route="GET /contents/{content_hash}")
    def content(self, content_hash: str) -> bytes:
        """Return kept bytes, by hash. Raises InputError `CONTENT_UNKNOWN`."""
        return self._uses.queries.content(content_hash)

    @Operation(reads=True, command="doctor", route="POST /recover", scope=Scope.ADMIN)
    def recover(self) -> tuple[terms.CommitUndone, ...]:
        """Take back commits that a crash interrupted; every commit and read does so first."""
        return self._uses.maintenance.recover()

    @Operation(command="doctor", route="POST /retention", scope=Scope.ADMIN)
    def apply_retention(self) -> None:
        """Delete kept contents whose retention is over, and compact the events that are older than `event_days`."""
        self._uses.maintenance.apply_retention()
        if self._uses.options.event_seconds:
            from commonhold.history.compaction import apply_retention  # noqa: PLC0415 - usually all events are kept

            apply_retention(self._uses.place, self._uses.options, self._agent or "retention")

    @Operation(command="doctor", route="POST /compaction", scope=Scope.ADMIN)
    def compact_log(
        self,
        *,
        before: float | None = None,
        last: int | None = None,
        export: str = "",
        shared: bool = False,
        dry_run: bool = False,
    ) -> terms.CompactionAnswer:
        """Replace the oldest events by a snapshot of the state that they result in; with `dry_run`, only say which.

        Replaced are events before the Unix time `before` (by default those older than the setting `event_days`, which
        is 0 at first), up to the event `last`, and none that an undo, an open debt or a live lease needs. `export` is
        the name of the file to which the caller has written them, for those who look for them later. `shared`: of the
        store that machines share, not of the repository's own. Others read and write meanwhile. Raises UsageError for a
        store that cannot do this, StoreError `STORE_CORRUPT` for a log that was changed.
        """
        from commonhold.history.compaction import Wanted, compact_log  # noqa: PLC0415 - it is seldom done

        wanted = Wanted(self._agent or "doctor", before, last, export, is_shared=shared, is_dry=dry_run)
        return compact_log(self._uses.place, self._uses.options, wanted)

    @Operation(reads=True, command="log", route="POST /chain", scope=Scope.ADMIN)
    def chain(self, *, after: int = 0, limit: int = 1000, shared: bool = False) -> tuple[terms.ChainLink, ...]:
        """Return the events after the sequence `after` as they are stored, in order, each with its hash.

        A hash covers the one before, the number, the time, the kind and the body of its event. `shared`: of the store
        that machines share, not of the repository's own. Raises UsageError for a store that keeps no hashes.
        """
        from commonhold.history.compaction import log_of  # noqa: PLC0415 - for exports only

        tables, _ = log_of(self._uses.place, is_shared=shared)
        with tables.read() as reader:
            return reader.links(after=after, limit=limit)
