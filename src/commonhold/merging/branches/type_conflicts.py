"""Type errors that the merged state of two sides has and neither side alone."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.repository.contract_conflicts import SideName
from commonhold.code.analysis.repository.interface_changes import restated
from commonhold.code.type_checkers import Diagnostic, TypeChecker, TypeReport
from commonhold.merging.branches.semantic_conflicts import Finding, Place, Sides, pair_of

_MOST_ASKED_BESIDE: Final = 200

TypesOf = Callable[[str], TypeChecker]
"""A function that returns the type checker for a commit's files; it starts or copies nothing before its first use."""


def typed(sides: Sides, ours: str, types_of: TypesOf) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Return type errors of the merged state that neither side has, seen from the commit `ours`, and notices.

    No checker runs if neither side is affected by the other's changes.
    """
    asked = _Asked(sides)
    if not asked.concerned:
        return (), ()
    with closing(types_of(ours)) as checker:
        joined = checker.compare(asked.joined, asked.beside(asked.joined))
        apart = checker.compare(asked.apart, asked.beside(asked.apart)) if joined.new else TypeReport()
    notices = tuple(filter(None, dict.fromkeys((joined.why, apart.why))))
    if apart.why not in ("", joined.why):  # the errors of theirs alone are unknown
        return (), notices
    return tuple(asked.finding(each) for each in _beyond(joined.new, apart.new)), notices


def with_types(found: Sequence[Finding], typed: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return both, the most certain first, without repeating a contract's line or a suspicion's two definitions."""
    tied = [each for each in found if each.evidence is Evidence.CONTRACT]
    told = {(each.place.path, each.place.line) for each in tied}
    new = [each for each in typed if (each.place.path, each.place.line) not in told]
    pairs = {pair_of(each) for each in new}
    return *tied, *new, *(each for each in found if each not in tied and pair_of(each) not in pairs)


def _beyond(new: Sequence[Diagnostic], known: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the errors that occur more often than in `known`, on any line."""
    left = Counter((each.path, each.message, each.code) for each in known)
    for each in new:
        kind = each.path, each.message, each.code
        if left[kind]:
            left[kind] -= 1
        else:
            yield each


@dataclass(frozen=True, slots=True)
class _Restated:
    """A definition that a side changed, and its file."""

    path: str
    qualname: str


@dataclass(frozen=True)
class _Asked:
    """The files to compare, seen from ours: those that the merge changes, and those that theirs alone would change."""

    sides: Sides

    @cached_property
    def joined(self) -> Mapping[str, bytes | None]:
        """Return the files whose merged content differs from that of ours."""
        brought = self.sides.brought_by(SideName.THEIRS)
        return {path: self.sides.merged_text(self.sides.changed[path]) for path in sorted(brought)}

    @cached_property
    def apart(self) -> Mapping[str, bytes | None]:
        """Return the files in which theirs differs from ours."""
        return {path: each.theirs for path, each in self.sides.changed.items() if each.theirs != each.ours}

    def beside(self, changes: Mapping[str, bytes | None]) -> tuple[str, ...]:
        """Return the other files to check, the same in both comparisons, the most relevant first."""
        others = sorted(
            {*self.sides.changed_by(SideName.OURS), *self._users[SideName.OURS], *self._users[SideName.THEIRS]}
        )
        most = tuple(dict.fromkeys((*sorted(self.concerned), *others)))[:_MOST_ASKED_BESIDE]
        return tuple(path for path in (*most, *self.joined) if path not in changes)

    @cached_property
    def concerned(self) -> frozenset[str]:
        """Return the files that both sides change or affect: changed by one, and using a change of the other."""
        ours, theirs = (self.sides.changed_by(side) | self._users[side] for side in SideName)
        return ours & theirs & self.sides.merged.paths

    @cached_property
    def _restated(self) -> Mapping[SideName, Mapping[str, Sequence[_Restated]]]:
        """Return the definitions that each side changed relative to the base, by name."""
        return {side: self._restated_by(side) for side in SideName}

    def _restated_by(self, side: SideName) -> Mapping[str, Sequence[_Restated]]:
        found: dict[str, list[_Restated]] = {}
        for path in sorted(self.sides.changed_by(side)):
            for offer in restated(self.sides.base.summary(path), self.sides.of(side).summary(path)):
                found.setdefault(offer.name, []).append(_Restated(path, offer.qualname))
        return found

    @cached_property
    def _users(self) -> Mapping[SideName, frozenset[str]]:
        """Return the files that use a definition which a side changed."""
        users = self.sides.merged.users
        return {side: frozenset(path for name in self._restated[side] for path in users(name)) for side in SideName}

    def finding(self, each: Diagnostic) -> Finding:
        """Return the finding. A checker does not name the cause: it is the side whose change is nearest to the line."""
        place = self.sides.place(each.path, each.line)
        by, cause = min((self._blame(place, side) for side in _suspects(place)), key=lambda found: found[0])[1:]
        code = f" [{each.code}]" if each.code else ""
        subject = f"`{place.qualname or each.path}`"
        why = f"a type checker complains of {subject} with both sides together: {each.message}{code}"
        return Finding(Evidence.TYPES, why, place, cause, by)

    def _blame(self, place: Place, side: SideName) -> tuple[int, SideName, Place]:
        """Return how near a use of a side's change is: on the line, in its definition, in its file, or not by name."""
        found = min(self._used(place, side), key=lambda used: used[0], default=None)
        if found is None:
            return 3, side, self.sides.place(place.path, place.line or 1, place.qualname)
        return found[0], side, self.sides.definition(found[1].path, found[1].qualname, side)

    def _used(self, place: Place, side: SideName) -> Iterator[tuple[int, _Restated]]:
        summary = self.sides.merged.summary(place.path)
        for name, definitions in self._restated[side].items():
            for use in summary.uses_by_name.get(name, ()) if summary else ():
                is_near = summary is not None and summary.definition_at(use.line) == place.qualname
                yield 0 if use.line == place.line else 1 if is_near else 2, definitions[0]


def _suspects(place: Place) -> Sequence[SideName]:
    """Return the sides that may have caused the error: if only one side has the line, the other one."""
    if place.ours_line is None:
        return (SideName.OURS,)
    return (SideName.THEIRS,) if place.theirs_line is None else tuple(SideName)
