"""What a session can do that has to do with what files become: judge it, write it, record it."""

from commonhold.app.adopting import Adopting
from commonhold.app.attendance import Attendance
from commonhold.app.commits import Commits
from commonhold.app.crossing import Crossing, Insight
from commonhold.app.guarding import GateGuard, LeaseGuard
from commonhold.app.joining import Joining
from commonhold.app.judging import Judging
from commonhold.app.noticing import Noticing
from commonhold.app.owing import Owing
from commonhold.app.past import Past
from commonhold.app.planning import Planner
from commonhold.app.plans import OwnPlans
from commonhold.app.ports import Files
from commonhold.app.proposing import Proposing
from commonhold.app.reading import Reading
from commonhold.app.reliance import Reliance
from commonhold.app.taking import Taking
from commonhold.app.use_cases import UseCases
from commonhold.merging.merge import merge


class Writing:
    """The use cases that write, each with what it needs."""

    def __init__(self, uses: UseCases) -> None:
        """Put them together, on those that do not write."""
        self._uses = uses
        self._insight = insight = uses.surroundings.see()
        place, options, leases, works = uses.place, uses.options, uses.leases, uses.works
        read_set, seconds = uses.read_set, uses.options.retention_seconds
        # Of what is written already neither a type checker nor a test can tell how it was before.
        self._looking_back = self._crossing(Insight(insight.index) if insight else None)
        past = Past(place.store, place.files.root)
        self._past, self._joining = past, Joining(past, options.policies, merge)
        planner = Planner(place.files, uses.reading, past, self._joining, self._crossing(insight))
        reliance = Reliance(planner, options.policies)
        judging = Judging(place, planner, uses.values, options.policies, reliance)
        owing = Owing(place, self._planner_of)
        self.own_plans = OwnPlans(place.store, planner, owing, reliance)
        plans, turns = uses.surroundings.plans_of(self.own_plans), uses.surroundings.turns
        guard = LeaseGuard(place.registry, works, uses.ids) if uses.is_shared else GateGuard(place.registry, works)
        self.commits = Commits(place, judging, plans, turns, guard, read_set, seconds, at_step=uses.at_step)
        self.taking = Taking(uses, self._planner_of, judging, owing)
        self.proposing = Proposing(place, planner, judging, leases, self.taking, read_set, options)
        self.noticing = Noticing(place, self.taking, self.proposing)
        around = uses.surroundings
        self.attendance = Attendance(
            place, leases, works, self.proposing, options.idle_seconds, around.is_running, around.signs
        )
        self.adopting = Adopting(place, uses.reading, self.attendance.is_at_work)

    def _crossing(self, insight: Insight | None) -> Crossing | None:
        return Crossing(insight, self._uses.reading.look, self._uses.options.policies) if insight else None

    def _planner_of(self, files: Files) -> Planner:
        """The planner for files as they were before they were written."""
        return Planner(files, Reading(files, self._uses.read_set), self._past, self._joining, self._looking_back)

    def close(self) -> None:
        """Let go of what other files are seen with."""
        if self._insight is not None:
            self._insight.close()
