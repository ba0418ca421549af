"""Recompute open debts after a change that does not edit the regions in debt: whether part of their cause is left.

A debt is open while the step from the files' state at its origin to their present state would still cause it. So it is
settled by a change that reverts the cause, and by one that adapts to it in another way.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from commonhold.code.analysis.admission import Allow, judge
from commonhold.code.analysis.evidence import Evidence
from commonhold.code.regions.region import hash_of
from commonhold.commits.historical_files import HistoricalFiles
from commonhold.commits.plan import Plan
from commonhold.commits.planning import PlannerOf
from commonhold.kernel.changeset import Changeset, made_to_hold
from commonhold.kernel.errors import InputError
from commonhold.kernel.events import Committed
from commonhold.kernel.files import FileState
from commonhold.kernel.keys import canonical
from commonhold.kernel.obligations import Debt
from commonhold.reads.recent_maps import discovered
from commonhold.workspace.place import WorktreeState

_MOST_COMMITS: Final = 1000
_MOST_FILES: Final = 200
"""Debts that are older, or with more changes since, must be settled by hand."""

Then = Mapping[str, str | None]
"""The earlier state of files, by path: content hashes; None: no file."""
Change = Committed | Plan


class Untold(Exception):  # noqa: N818 - not an error: the debt stays as it is
    """It cannot be determined which debts there would be."""


class Obligations:
    """Recomputes the open debts of one working tree."""

    def __init__(self, place: WorktreeState, planner_of: PlannerOf) -> None:
        """Read the files of `place`; plan with `planner_of` on their earlier state."""
        self._place = place
        self._planner_of = planner_of

    def weighed(self, plan: Plan) -> Plan:
        """Return the plan with the debts that remain once it is written. This is slow: call it outside of the gate."""
        with self._place.store.read() as reader:
            debts = [debt for debt in reader.debts() if debt.worktree == self._place.files.root]
        # A region that the plan rewrites is no longer in debt, whatever the cause was.
        in_question = [debt for debt in debts if debt.key not in plan.rewritten]
        weighing = _Weighing(self._place, self._planner_of, plan)
        return replace(plan, reweighed={debt: weighing.left_of(debt) for debt in in_question}) if in_question else plan


@dataclass(frozen=True)
class _Weighing:
    """One comparison of the files' future content with their earlier content."""

    place: WorktreeState
    planner_of: PlannerOf
    plan: Plan
    _causes: dict[int, Committed | None] = field(default_factory=dict)
    _owed: dict[tuple[tuple[str, str | None], ...], "_Owed"] = field(default_factory=dict)

    def left_of(self, debt: Debt) -> Debt | None:
        """Return the debt with its present reason; None if no reason is left."""
        path = canonical(debt.key).file_path
        causes = [cause for cause in map(self._cause, debt.since) if cause]
        near = {path, *(file.path for cause in causes for file in cause.files)}
        if near.isdisjoint(self._writes):
            return debt if self.place.files.exists(path) else None
        try:
            return self._left_of(debt, near) if self._is_there(debt.key, path) else None
        except (InputError, Untold):  # a file that became a folder, is too large or is broken: nothing is known
            return debt

    def _cause(self, sequence: int) -> Committed | None:
        if sequence not in self._causes:
            with self.place.store.read() as reader:
                found = [each.event for each in reader.events(after=sequence - 1, limit=1)]
            self._causes[sequence] = next((each for each in found if isinstance(each, Committed)), None)
        return self._causes[sequence]

    def _left_of(self, debt: Debt, near: set[str]) -> Debt | None:
        changes = self._since(debt)
        # Usually part of the cause itself is left, and the other files need not be compared.
        for paths in (near, near | set(_bearing(changes))):
            owed = self._owed_since(_then(changes, paths))
            if debt.key in owed.whys:
                return replace(debt, why=owed.whys[debt.key])
            if debt.evidence == Evidence.TYPES and owed.is_offered_otherwise:
                return debt
        return None

    def _since(self, debt: Debt) -> list[Change]:
        """Return the changes to the files since the origin of the debt, oldest first."""
        sequences = [sequence for sequence, _ in self._commits]
        if not debt.since or debt.since[0] not in sequences:
            raise Untold
        return [*(commit for _, commit in self._commits[sequences.index(debt.since[0]) :]), self.plan]

    @cached_property
    def _commits(self) -> list[tuple[int, Committed]]:
        with self.place.store.read() as reader:
            newest = reader.latest_commits(_MOST_COMMITS)
        here = self.place.files.root
        return [(recorded.sequence, each) for recorded, each in reversed(newest) if each.worktree == here]

    def _is_there(self, key: str, path: str) -> bool:
        content = self._content(path)
        if content is None:
            return False
        found = discovered(content, path)
        is_there = canonical(key) in found.by_key
        if found.problems and not is_there:
            raise Untold
        return is_there

    def _owed_since(self, then: Then) -> "_Owed":
        place = tuple(sorted(then.items()))
        if place not in self._owed:
            self._owed[place] = self._found(then)
        return self._owed[place]

    def _found(self, then: Then) -> "_Owed":
        now = {path: self._content(path) for path in (*then, *self._writes)}
        differing = {path for path, was in then.items() if was != hash_of(now[path])}
        if not differing:
            return _Owed()
        if len(differing) > _MOST_FILES:
            raise Untold
        # The plan's writes are not on disk yet, so they are listed even if they equal the earlier state.
        was = {path: then.get(path, hash_of(now[path])) for path in (*differing, *self._writes)}
        planner = self.planner_of(
            HistoricalFiles(self.place.files, {path: self._kept(each) for path, each in was.items()})
        )
        plan, flawed = planner.done(Changeset(tuple(made_to_hold(path, was[path], now[path]) for path in was)))
        if flawed or plan.crossed.is_put_off:
            raise Untold
        return _Owed(_whys(plan), plan.crossed.is_linked)

    @cached_property
    def _writes(self) -> dict[str, str | None]:
        return {write.path: write.after for write in self.plan.writes}

    def _content(self, path: str) -> bytes | None:
        """Return the content of a file once the plan is written."""
        if path in self._writes:
            after = self._writes[path]
            return None if after is None else self.plan.contents[after]
        state = self.place.files.load(path)
        return state.content if state else None

    def _kept(self, content_hash: str | None) -> FileState | None:
        if content_hash is None:
            return None
        data = self.plan.contents.get(content_hash)
        if data is None:
            with self.place.store.read() as reader:
                data = reader.content(content_hash)
        if data is None:
            raise Untold
        return FileState(data, self.place.files.new_file_mode)


@dataclass(frozen=True, slots=True)
class _Owed:
    """The debts that a step would cause, with reasons, by key; and whether it changes any file's contract."""

    whys: Mapping[str, str] = field(default_factory=dict)
    is_offered_otherwise: bool = False


def _then(changes: Iterable[Change], paths: Container[str]) -> dict[str, str | None]:
    """Return the state of files before the first of the changes to them."""
    then: dict[str, str | None] = {}
    for each in changes:
        for file in each.writes if isinstance(each, Plan) else each.files:
            if file.path in paths:
                then.setdefault(file.path, file.before)
    return then


def _bearing(changes: Iterable[Change]) -> Iterator[str]:
    """Yield the files whose headers or set of definitions changed: names in other files may now resolve differently."""
    for each in changes:
        for region in each.changes if isinstance(each, Plan) else each.regions:
            key = canonical(region.key)
            if key.is_header or region.before is None or region.after is None:
                yield key.file_path


def _whys(plan: Plan) -> dict[str, str]:
    """Return the debts of an author who made the whole change at once and leased all affected regions."""
    mended = frozenset(key for admission in plan.admissions for key in admission.mended)
    verdicts = (judge(admission.findings, mended, lambda _: True) for admission in plan.admissions)
    owed = [debt for verdict in verdicts if isinstance(verdict, Allow) for debt in verdict.debts]
    return {str(debt.key): debt.why for debt in reversed(owed)}
