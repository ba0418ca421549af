"""What a change makes of debts without writing the regions that owe: whether any of what made them owed is left.

A debt is open while the step from what the files were, when it came up, to what they are would still make it owed. So a
change that takes the cause back settles it, and so does one that makes it fit in another way.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from commonhold.app.as_it_was import AsItWas
from commonhold.app.place import Place
from commonhold.app.plan import Plan
from commonhold.app.planning import PlannerOf
from commonhold.app.ports import FileState
from commonhold.app.recent_maps import discovered
from commonhold.app.whole_files import made_to_hold
from commonhold.domain.changeset import Changeset
from commonhold.domain.debt import Debt
from commonhold.domain.errors import InputError
from commonhold.domain.events import Committed
from commonhold.domain.keys import canonical
from commonhold.regions.region import hash_of
from commonhold.semantics.admission import Allow, judge
from commonhold.semantics.evidence import Evidence

_MOST_COMMITS: Final = 1000
_MOST_FILES: Final = 200
"""What has come up so long ago, or so much since, is left to be settled by hand."""

Then = Mapping[str, str | None]
"""What files were, by path: content hashes; None: no file."""
Change = Committed | Plan


class Untold(Exception):  # noqa: N818 - no fault: the debt stays as it is
    """It cannot be told what would be owed."""


class Owing:
    """Weighs the open debts of one working tree anew."""

    def __init__(self, place: Place, planner_of: PlannerOf) -> None:
        """Look at the files of `place`; plan with `planner_of` those that are what they were."""
        self._place = place
        self._planner_of = planner_of

    def weighed(self, plan: Plan) -> Plan:
        """The plan, with what is left of debts once it is written: outside of the gate, since it takes time."""
        with self._place.store.read() as reader:
            debts = [debt for debt in reader.debts() if debt.worktree == self._place.files.root]
        # A region that is written anew is owed no more, whatever made it so.
        in_question = [debt for debt in debts if debt.key not in plan.rewritten]
        weighing = _Weighing(self._place, self._planner_of, plan)
        return replace(plan, reweighed={debt: weighing.left_of(debt) for debt in in_question}) if in_question else plan


@dataclass(frozen=True)
class _Weighing:
    """One look at what the files will hold, and were."""

    place: Place
    planner_of: PlannerOf
    plan: Plan
    _causes: dict[int, Committed | None] = field(default_factory=dict)
    _owed: dict[tuple[tuple[str, str | None], ...], "_Owed"] = field(default_factory=dict)

    def left_of(self, debt: Debt) -> Debt | None:
        """The debt with the reason that there is now; None where there is none."""
        path = canonical(debt.key).file_path
        causes = [cause for cause in map(self._cause, debt.since) if cause]
        near = {path, *(file.path for cause in causes for file in cause.files)}
        if near.isdisjoint(self._writes):
            return debt if self.place.files.exists(path) else None
        try:
            return self._left_of(debt, near) if self._is_there(debt.key, path) else None
        except (InputError, Untold):  # of a file that is a folder now, too large, or broken nothing can be told
            return debt

    def _cause(self, sequence: int) -> Committed | None:
        if sequence not in self._causes:
            with self.place.store.read() as reader:
                found = [each.event for each in reader.events(after=sequence - 1, limit=1)]
            self._causes[sequence] = next((each for each in found if isinstance(each, Committed)), None)
        return self._causes[sequence]

    def _left_of(self, debt: Debt, near: set[str]) -> Debt | None:
        changes = self._since(debt)
        # Mostly something is left of the cause itself, and the other files need not be looked at.
        for paths in (near, near | set(_bearing(changes))):
            owed = self._owed_since(_then(changes, paths))
            if debt.key in owed.whys:
                return replace(debt, why=owed.whys[debt.key])
            if debt.evidence == Evidence.TYPES and owed.is_offered_otherwise:
                return debt
        return None

    def _since(self, debt: Debt) -> list[Change]:
        """What has become of the files since the debt came up, oldest first."""
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
        # What the plan writes is not on the disk yet, so it is named even where nothing of it differs from then.
        was = {path: then.get(path, hash_of(now[path])) for path in (*differing, *self._writes)}
        planner = self.planner_of(AsItWas(self.place.files, {path: self._kept(each) for path, each in was.items()}))
        plan, flawed = planner.done(Changeset(tuple(made_to_hold(path, was[path], now[path]) for path in was)))
        if flawed or plan.crossed.is_put_off:
            raise Untold
        return _Owed(_whys(plan), plan.crossed.is_linked)

    @cached_property
    def _writes(self) -> dict[str, str | None]:
        return {write.path: write.after for write in self.plan.writes}

    def _content(self, path: str) -> bytes | None:
        """What a file holds once the plan is written."""
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
    """What a step would make owed, and why, by key; and whether it changes what any file offers to others."""

    whys: Mapping[str, str] = field(default_factory=dict)
    is_offered_otherwise: bool = False


def _then(changes: Iterable[Change], paths: Container[str]) -> dict[str, str | None]:
    """What files were before the first of the changes to them."""
    then: dict[str, str | None] = {}
    for each in changes:
        for file in each.writes if isinstance(each, Plan) else each.files:
            if file.path in paths:
                then.setdefault(file.path, file.before)
    return then


def _bearing(changes: Iterable[Change]) -> Iterator[str]:
    """The files whose headers became other, or that have other definitions: names in others may lead elsewhere."""
    for each in changes:
        for region in each.changes if isinstance(each, Plan) else each.regions:
            key = canonical(region.key)
            if key.is_header or region.before is None or region.after is None:
                yield key.file_path


def _whys(plan: Plan) -> dict[str, str]:
    """What would be owed by who had made it all at once, and leased whatever it concerns."""
    mended = frozenset(key for admission in plan.admissions for key in admission.mended)
    verdicts = (judge(admission.findings, mended, lambda _: True) for admission in plan.admissions)
    owed = [debt for verdict in verdicts if isinstance(verdict, Allow) for debt in verdict.debts]
    return {str(debt.key): debt.why for debt in reversed(owed)}
