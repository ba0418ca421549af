"""The use cases that concern the content of files: judge it, write it, record it."""

from commonhold.app.adopting import Adopting
from commonhold.app.attendance import Attendance
from commonhold.app.commits import Commits
from commonhold.app.crossing import Crossing, Insight
from commonhold.app.guarding import GateGuard, LeaseGuard
from commonhold.app.joining import Joining
from commonhold.app.judging import Judging
from commonhold.app.late_examination import LateExamination
from commonhold.app.noticing import Noticing
from commonhold.app.owing import Owing
from commonhold.app.past import Past
from commonhold.app.planning import Planner, PlannerOf
from commonhold.app.plans import OwnPlans
from commonhold.app.ports import Files
from commonhold.app.proposing import Proposing
from commonhold.app.put_off import PutOff
from commonhold.app.reading import Reading
from commonhold.app.reliance import Reliance
from commonhold.app.taking import Taking
from commonhold.app.use_cases import UseCases
from commonhold.merging.merge import merge


class Writing:
    """The use cases that write, each with its dependencies."""

    def __init__(self, uses: UseCases) -> None:
        """Compose them from the use cases that do not write."""
        self._uses = uses
        self._insight = insight = uses.surroundings.see()
        place, options, leases, works = uses.place, uses.options, uses.leases, uses.works
        read_set, seconds = uses.read_set, uses.options.retention_seconds
        past = Past(place.store, place.files.root)
        self._past, self._joining = past, Joining(past, options.policies, merge)
        planner = Planner(place.files, uses.reading, past, self._joining, self._crossing(insight))
        reliance = Reliance(planner, options.policies)
        judging = Judging(place, planner, uses.values, options.policies, reliance)
        # For files that are already written, no type checker or test can run on the earlier state.
        awaited = self._planner_on(self._crossing(Insight(insight.index) if insight else None))
        owing = Owing(place, awaited)
        self.own_plans = OwnPlans(place.store, planner, owing, reliance)
        plans, turns = uses.surroundings.plans_of(self.own_plans), uses.surroundings.turns
        guard = LeaseGuard(place.registry, works, uses.ids) if uses.is_shared else GateGuard(place.registry, works)
        self.commits = Commits(place, judging, plans, turns, guard, read_set, seconds, at_step=uses.at_step)
        self.taking = patient = Taking(uses, awaited, judging, owing)
        put_off = uses.surroundings.put_off
        if put_off is not None:
            at_once = self._planner_on(self._crossing(Insight(insight.index, is_awaited=False) if insight else None))
            self.taking = Taking(uses, at_once, judging, Owing(place, at_once))
        self.late_examination = LateExamination(uses, patient, judging, put_off or PutOff())
        self.proposing = Proposing(place, planner, judging, leases, self.taking, read_set, options)
        self.noticing = Noticing(place, self.taking, self.proposing)
        around = uses.surroundings
        self.attendance = Attendance(
            place, leases, works, self.proposing, options.idle_seconds, around.is_running, around.signs
        )
        self.adopting = Adopting(place, uses.reading, self.attendance.is_at_work)

    def _crossing(self, insight: Insight | None) -> Crossing | None:
        return Crossing(insight, self._uses.reading.look, self._uses.options.policies) if insight else None

    def _planner_on(self, crossing: Crossing | None) -> PlannerOf:
        """Return a factory of planners for files in the state before they were written."""

        def planner_of(files: Files) -> Planner:
            return Planner(files, Reading(files, self._uses.read_set), self._past, self._joining, crossing)

        return planner_of

    def close(self) -> None:
        """Close the index and the type checker."""
        if self._insight is not None:
            self._insight.close()
