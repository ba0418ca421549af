"""The use cases of a session that write no files: those of one working tree, composed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Required, TypedDict

from commonhold.commits.deferred_changes import DeferredChanges
from commonhold.commits.maintenance import Maintenance
from commonhold.commits.project_notes import FindNotes, ProjectNotes, SearchNotes
from commonhold.commits.queries import Queries
from commonhold.commits.turns import Turns
from commonhold.commits.waivers import Waivers
from commonhold.kernel.files import Files
from commonhold.kernel.lease_ports import Registry
from commonhold.kernel.options import Options
from commonhold.kernel.ports import Clock, Ids, IsRunning, Step, Store, no_step
from commonhold.leases.partial_work import PartialWorks
from commonhold.leases.registry import TableRegistry
from commonhold.leases.service import Leases
from commonhold.leases.values import Values
from commonhold.reads.change_notifications import ChangeNotifications
from commonhold.reads.heartbeats import Heartbeats
from commonhold.reads.read_sets import ReadSet
from commonhold.reads.reading import RegionReader
from commonhold.workspace.place import WorktreeState

if TYPE_CHECKING:
    from commonhold.commits.cross_file_admission import Insight
    from commonhold.commits.plan_sources import PlansOf
    from commonhold.kernel.ports import Revisions
    from commonhold.landing.service import Entries
    from commonhold.runs.service import Runs
    from commonhold.sessions.service import ManagedSessions
    from commonhold.tasks.service import Tasks


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The environment of a working tree and its state.

    Leases are kept in `registry`, which other machines share; by default in the state. `see` returns the insight into
    other files, and is called once there is something to write; without one each file is examined alone. A session
    whose process `is_running` is at work, however long it is silent; so is one that has given `signs` of life recently.
    Commits take `turns`; `plans_of` returns the maker of their plans. With `deferred_changes`, changes that are already
    written do not wait until all files are read: they are examined later. `find_notes` looks for the notes that a
    refusal quotes, `search_notes` for those that have some words. In a git repository, `revisions` returns the answers
    about commits. `sessions_at` names the machine and the state folder, where managed sessions run; `wake_workers`
    tells all workers to look at their queue.
    """

    registry: Registry | None = None
    see: Callable[[], Insight | None] = lambda: None
    is_running: IsRunning = lambda _: False
    plans_of: PlansOf = lambda own: own
    turns: Turns = field(default_factory=Turns)
    signs: Heartbeats = field(default_factory=Heartbeats)
    deferred_changes: DeferredChanges | None = None
    find_notes: FindNotes | None = None
    search_notes: SearchNotes = lambda _: ()
    revisions: Callable[[], Revisions | None] = lambda: None
    sessions_at: str = ""
    wake_workers: Callable[[], None] = lambda: None


class Parts(TypedDict, total=False):
    """The parts of a working tree's use cases. `at_step` is called after each durable step of a commit."""

    store: Required[Store]
    files: Required[Files]
    clock: Required[Clock]
    ids: Required[Ids]
    options: Options | None
    surroundings: Surroundings | None
    at_step: Step | None


class UseCases:
    """The use cases, each with its dependencies; and the parts that the writing ones need."""

    def __init__(self, agent: str | None, parts: Parts) -> None:
        """Compose them for the session of `agent`."""
        store, files, clock = parts["store"], parts["files"], parts["clock"]
        self.ids = ids = parts["ids"]
        self.at_step = parts.get("at_step") or no_step
        self.options = options = parts.get("options") or Options()
        self.surroundings = parts.get("surroundings") or Surroundings()
        registry = self.surroundings.registry
        self.is_shared = registry is not None
        name = files.root if registry is None else f"{options.host}:{files.root}"
        in_flight = self.surroundings.turns.in_flight
        self.place = WorktreeState(store, files, registry or TableRegistry(store, clock), clock, name, in_flight)
        self.read_set = ReadSet(store, clock, files.root, agent)
        self.notifications = ChangeNotifications(store, clock, files.root, agent)
        self.reading = RegionReader(files, self.read_set)
        self.works = PartialWorks(self.place, self._tree)
        self.values = Values(self.place.registry, self.reading, options.policies)
        self.leases = Leases(self.place, self.reading, ids, self.works, self.notifications, self.read_set)
        self.queries = Queries(self.place, self.reading, self.leases)
        self.notes = ProjectNotes(self.place, self.surroundings.find_notes)
        self.waivers = Waivers(store, clock, self.reading)
        self._tasks: Tasks | None = None
        self._runs: Runs | None = None
        self._entries: Entries | None = None
        self._managed: ManagedSessions | None = None
        self.maintenance = Maintenance(self.place, options.retention_seconds)

    @property
    def tasks(self) -> Tasks:
        """The coordinator of tasks, loaded with the first call that concerns one."""
        if self._tasks is None:
            from commonhold.tasks.service import Tasks  # noqa: PLC0415 - most sessions have no tasks

            revisions = self.surroundings.revisions()
            capabilities = self.options.capabilities
            self._tasks = Tasks(self.place, self.reading, self.ids, revisions, capabilities, is_shared=self.is_shared)
        return self._tasks

    @property
    def runs(self) -> Runs:
        """The blackboard of runs, loaded with the first call that concerns one."""
        if self._runs is None:
            from commonhold.runs.service import Runs  # noqa: PLC0415 - most sessions have no runs

            self._runs = Runs(self.place, self.tasks, self.ids)
        return self._runs

    @property
    def entries(self) -> Entries:
        """The merge queue, loaded with the first call that concerns it."""
        if self._entries is None:
            from commonhold.landing.service import Entries  # noqa: PLC0415 - most sessions land nothing

            self._entries = Entries(self.place, self.surroundings.revisions())
        return self._entries

    @property
    def managed_sessions(self) -> ManagedSessions:
        """The managed sessions, loaded with the first call that concerns one."""
        if self._managed is None:
            from commonhold.sessions.service import ManagedSessions  # noqa: PLC0415 - most sessions manage none

            around = self.surroundings
            self._managed = ManagedSessions(
                *(self.place, self.ids, around.revisions(), around.sessions_at, around.wake_workers),
                quotas=self.options.tenants,
            )
        return self._managed

    def _tree(self, place: str) -> RegionReader | None:
        """Return a reader of a working tree: if machines share the leases, of this one only."""
        if place == self.place.name:
            return self.reading
        return None if self.is_shared else RegionReader(self.place.files.at(place), self.read_set)

    def close(self) -> None:
        """Close the state."""
        self.place.registry.close()
        self.place.store.close()
