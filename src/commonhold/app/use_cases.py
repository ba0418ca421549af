"""What does the work of a service: all use cases of one working tree, put together for one agent session."""

from dataclasses import dataclass

from commonhold.app.attendance import Attendance, IsRunning
from commonhold.app.commits import Commits
from commonhold.app.crossing import Crossing, Insight
from commonhold.app.guarding import GateGuard, LeaseGuard
from commonhold.app.joining import Joining
from commonhold.app.judging import Judging
from commonhold.app.leases import Leases
from commonhold.app.news import Newsroom
from commonhold.app.noticing import Noticing
from commonhold.app.options import Options
from commonhold.app.partial_work import PartialWorks
from commonhold.app.past import Past
from commonhold.app.place import Place
from commonhold.app.planning import Planner
from commonhold.app.ports import Clock, Files, Ids, Registry, Step, Store, no_step
from commonhold.app.proposing import Proposing
from commonhold.app.queries import Queries
from commonhold.app.read_sets import ReadSet
from commonhold.app.reading import Reading
from commonhold.app.registry import TableRegistry
from commonhold.app.taking import Taking
from commonhold.app.upkeep import Upkeep
from commonhold.app.values import Values
from commonhold.merging.merge import merge


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What lies beyond a working tree and its state.

    Leases are kept in `registry`, where other machines share them; else in the state. What a commit means for other
    files is seen with `insight`; else each file is looked at by itself. A session whose process `is_running` is there,
    however long nothing is heard of it.
    """

    registry: Registry | None = None
    insight: Insight | None = None
    is_running: IsRunning = lambda _: False


class UseCases:
    """The use cases, each with what it needs."""

    def __init__(
        self,
        *,
        store: Store,
        files: Files,
        clock: Clock,
        ids: Ids,
        agent: str | None,
        options: Options | None,
        surroundings: Surroundings | None,
        at_step: Step | None,
    ) -> None:
        """Put them together for the session of `agent`."""
        options, surroundings, at_step = options or Options(), surroundings or Surroundings(), at_step or no_step
        registry, insight = surroundings.registry, surroundings.insight
        self.place_name = files.root if registry is None else f"{options.host}:{files.root}"
        self.store, self.files, self.insight = store, files, insight
        self.is_shared = registry is not None
        self.ttl_seconds = options.ttl_seconds
        self.registry = registry or TableRegistry(store, clock)
        self.read_set = ReadSet(store, clock, files.root, agent)
        self.newsroom = Newsroom(store, clock, files.root, agent)
        self.reading = Reading(files, self.read_set)
        self.works = PartialWorks(store, self.registry, self._tree)
        self.values = Values(self.registry, self.reading, options.policies)
        self.leases = Leases(store, self.registry, self.reading, ids, self.works, self.place_name, self.read_set)
        self.queries = Queries(store, self.registry, self.reading, self.leases)
        self.upkeep = Upkeep(store, files, clock, options.retention_seconds)
        place = Place(store, files, self.registry, clock, self.place_name)
        self._compose_writing(place, ids, options, at_step)
        self.noticing = Noticing(place, self.taking, self.proposing)
        self.attendance = Attendance(
            place, self.leases, self.works, self.proposing, options.idle_seconds, surroundings.is_running
        )

    def _compose_writing(self, place: Place, ids: Ids, options: Options, at_step: Step) -> None:
        read_set, works = self.read_set, self.works
        past = Past(self.store, self.files.root)
        insight, joining = self.insight, Joining(past, options.policies, merge)
        crossing = Crossing(insight, self.reading.look, options.policies) if insight else None
        # Of what is written already neither a type checker nor a test can tell how it was before.
        looking_back = Crossing(Insight(insight.index), self.reading.look, options.policies) if insight else None

        def planner_of(files: Files) -> Planner:
            return Planner(files, Reading(files, read_set), past, joining, looking_back)

        planner = Planner(self.files, self.reading, past, joining, crossing)
        judging = Judging(planner, self.registry, self.values, options.policies, self.files.root, place.name)
        guard = LeaseGuard(self.registry, works, ids) if self.is_shared else GateGuard(self.registry, works)
        self.commits = Commits(place, judging, guard, read_set, options.retention_seconds, at_step=at_step)
        self.taking = Taking(place, planner_of, judging, ids, works, read_set)
        self.proposing = Proposing(place, planner, judging, self.leases, self.taking, read_set, options)

    def _tree(self, place: str) -> Reading | None:
        """How to look at a working tree: where leases are shared by machines, at this one only."""
        if place == self.place_name:
            return self.reading
        return None if self.is_shared else Reading(self.files.at(place), self.read_set)

    def close(self) -> None:
        """Let go of the state."""
        for each in (self.insight, self.registry, self.store):
            if each is not None:
                each.close()
