"""The use cases that concern the content of files: judge it, write it, record it."""

from commonhold.commits.admission import CommitAdmission
from commonhold.commits.attendance import Attendance
from commonhold.commits.cross_file_admission import CrossFileAdmission, Insight
from commonhold.commits.deferred_changes import DeferredChanges
from commonhold.commits.external.adoption import Adoption
from commonhold.commits.external.deferred_examination import LateExamination
from commonhold.commits.external.external_changes import ExternalChanges
from commonhold.commits.external.external_writes import ExternalWrites
from commonhold.commits.external.proposals import Proposals
from commonhold.commits.key_guard import GateGuard, LeaseGuard
from commonhold.commits.obligations import Obligations
from commonhold.commits.plan_sources import OwnPlans
from commonhold.commits.planning import Planner, PlannerOf
from commonhold.commits.reliance import Reliance
from commonhold.commits.service import Commits
from commonhold.commits.three_way_commit import ThreeWayCommit
from commonhold.commits.undo.service import Undo
from commonhold.commits.use_cases import UseCases
from commonhold.kernel.files import Files
from commonhold.merging.merge import merge
from commonhold.reads.content_history import ContentHistory
from commonhold.reads.reading import RegionReader


class Writing:
    """The use cases that write, each with its dependencies."""

    def __init__(self, uses: UseCases) -> None:
        """Compose them from the use cases that do not write."""
        self._uses = uses
        self._insight = insight = uses.surroundings.see()
        place, options, leases, works = uses.place, uses.options, uses.leases, uses.works
        read_set, seconds = uses.read_set, uses.options.retention_seconds
        history = ContentHistory(place.store, place.files.root)
        self._history, self._three_way = history, ThreeWayCommit(history, options.policies, merge)
        planner = Planner(place.files, uses.reading, history, self._three_way, self._cross_file(insight))
        reliance = Reliance(planner, options.policies)
        admission = CommitAdmission(place, planner, uses.values, options.policies, reliance)
        # For files that are already written, no type checker or test can run on the earlier state.
        awaited = self._planner_on(self._cross_file(Insight(insight.index) if insight else None))
        obligations = Obligations(place, awaited)
        self.own_plans = OwnPlans(place.store, planner, obligations, reliance)
        plans, turns = uses.surroundings.plans_of(self.own_plans), uses.surroundings.turns
        guard = LeaseGuard(place.registry, works, uses.ids) if uses.is_shared else GateGuard(place.registry, works)
        self.commits = Commits(place, admission, plans, turns, guard, read_set, seconds, at_step=uses.at_step)
        self.undo = Undo(place, uses.reading, self.commits)
        self.external_writes = patient = ExternalWrites(uses, awaited, admission, obligations)
        deferred_changes = uses.surroundings.deferred_changes
        if deferred_changes is not None:
            at_once = self._planner_on(self._cross_file(Insight(insight.index, is_awaited=False) if insight else None))
            self.external_writes = ExternalWrites(uses, at_once, admission, Obligations(place, at_once))
        self.late_examination = LateExamination(uses, patient, admission, deferred_changes or DeferredChanges())
        self.proposals = Proposals(place, planner, admission, leases, self.external_writes, read_set, options)
        self.external_changes = ExternalChanges(place, self.external_writes, self.proposals)
        around = uses.surroundings
        self.attendance = Attendance(
            place, leases, works, self.proposals, options.idle_seconds, around.is_running, around.signs
        )
        self.adoption = Adoption(place, uses.reading, self.attendance.is_at_work)

    def _cross_file(self, insight: Insight | None) -> CrossFileAdmission | None:
        return CrossFileAdmission(insight, self._uses.reading.look, self._uses.options.policies) if insight else None

    def _planner_on(self, cross_file: CrossFileAdmission | None) -> PlannerOf:
        """Return a factory of planners for files in the state before they were written."""

        def planner_of(files: Files) -> Planner:
            return Planner(files, RegionReader(files, self._uses.read_set), self._history, self._three_way, cross_file)

        return planner_of

    def close(self) -> None:
        """Close the index and the type checker."""
        if self._insight is not None:
            self._insight.close()
