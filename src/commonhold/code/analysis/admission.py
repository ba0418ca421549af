"""Semantic admission: which other regions an edit affects, and whether the edit is admitted.

It covers one hop, one file, Python. It reads syntax only: effects through strings, containers or other files are not
found.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeVar

from commonhold.code.analysis.calls import Called, may_call, misfit
from commonhold.code.analysis.changes import Change, Comparison, Gone, Notice, Resigned, changes_of
from commonhold.code.analysis.collector import collect
from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.expected_failures import expecting
from commonhold.code.analysis.fragment import Fragment, differ_in_body, increased, read_fragment
from commonhold.code.analysis.glimpse import in_view, naming
from commonhold.code.analysis.impact import impact_of, left_to_default, only_widens, overrides, passed_by_position
from commonhold.code.analysis.interface import CallShape
from commonhold.code.analysis.leaf_pairs import Pair, definition_of, leaf_pairs
from commonhold.code.analysis.lines import Lines, subject_of
from commonhold.code.analysis.markers import DYNAMIC, LOOKING, may_mark
from commonhold.code.analysis.module_definitions import CONSTRUCTORS, module_of, tree_of
from commonhold.code.analysis.references import BUILTINS, Marker, Reference, Usage
from commonhold.code.analysis.scopes import binds_of
from commonhold.code.analysis.test_files import is_test
from commonhold.code.regions.newer_python import as_older_python
from commonhold.code.regions.python_ast import UNREADABLE
from commonhold.code.regions.region import Region, RegionMap, Span
from commonhold.kernel.keys import Key

PYTHON: Final = "python"
_ATTRIBUTE: Final = re.compile(rb"\.\s*(\w+)")
_ANYTHING: Final = re.compile(rb"")
_Found = TypeVar("_Found", Reference, Marker)


@dataclass(frozen=True, slots=True)
class Changed:
    """An edited region: `before` is None if inserted, `after` is None if deleted; the names differ after a rename."""

    before: Key | None
    after: Key | None


@dataclass(frozen=True, slots=True)
class Required:
    """A region of the file after that the edit affects; `line` is the place, `why` the change and the use of it.

    `still_broken`: the region provably fails as it now stands, so its presence in the changeset does not fix it.
    """

    key: Key
    why: str
    line: int
    still_broken: bool = False
    evidence: Evidence = Evidence.CONTRACT


@dataclass(frozen=True, slots=True)
class Escalation:
    """Something with an unknown reach: `key` is the key to lease, `path` and `line` its place in the file after."""

    key: Key
    why: str
    line: int
    path: str = ""
    evidence: Evidence = Evidence.SUSPICION


@dataclass(frozen=True, slots=True)
class Findings:
    """The results of `examine`. `required` has each key once, in file order."""

    required: tuple[Required, ...] = ()
    escalations: tuple[Escalation, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Allow:
    """The edit is admitted. `debts` are regions that the committer has leased and not fixed yet."""

    notices: tuple[str, ...]
    debts: tuple[Required, ...]


@dataclass(frozen=True, slots=True)
class RequireLocks:
    """Fix these regions in the changeset, or lease them first. Only unsatisfied ones are listed.

    `reasons` ask for the lease of a file as well: they escalate once the regions are fixed or leased.
    """

    required: tuple[Required, ...]
    reasons: tuple[Escalation, ...] = ()


@dataclass(frozen=True, slots=True)
class Escalate:
    """Lease the file first; every region whose contract breaks is already fixed or leased."""

    reasons: tuple[Escalation, ...]


Verdict = Allow | RequireLocks | Escalate


def judge(findings: Findings, mended: Collection[Key], is_leased: Callable[[Key], bool]) -> Verdict:
    """Decide from the findings, the keys in the changeset, and the committer's leases.

    A key counts as fixed or leased if it or a container of it is. A broken contract is reported before any suspicion:
    the regions to fix are known, and a suspicion beside it makes that no less certain.
    """
    reasons = tuple(reason for reason in findings.escalations if not is_leased(reason.key))
    owed = tuple(one for one in findings.required if one.still_broken or not _is_covered(one.key, mended.__contains__))
    missing = tuple(one for one in owed if not _is_covered(one.key, is_leased))
    if missing:
        return RequireLocks(missing, reasons)
    return Escalate(reasons) if reasons else Allow(findings.notices, owed)


def _is_covered(key: Key, holds: Callable[[Key], bool]) -> bool:
    return any(map(holds, key.upward()))


def examine(before: RegionMap, after: RegionMap, changed: Sequence[Changed]) -> Findings:
    """Find the regions that an edit affects outside of those it edits.

    Never raises on text that Python parses; `after` must be such. It is quick if only bodies changed: then just the
    edited regions are parsed. It finds nothing for a file that was empty, is not Python, or could not be parsed before.
    """
    if before.language != PYTHON or not before.source.strip():
        return Findings()
    pairs = leaf_pairs(before, after, ((one.before, one.after) for one in changed))
    looks = [(pair, _glance(pair, before, after)) for pair in pairs]
    loud = tuple(pair for pair, notice in looks if notice is None)
    notices = tuple(notice for _, notice in looks if notice)
    if not loud:
        return Findings(notices=notices)
    names = _names_of(loud)
    try:
        old, new = (module_of(in_view(each, _keys_of(loud), naming(names))) for each in (before, after))
        comparison = Comparison(old, new, loud)
    except UNREADABLE:
        return Findings(notices=(*notices, _unread(before, after)))
    return _Examination(before, after, comparison, names).findings(notices)


def _unread(before: RegionMap, after: RegionMap) -> str:
    """Return why two versions of a file could not be compared."""
    if as_older_python(before.source) is not None or as_older_python(after.source) is not None:
        return f"`{before.path}` may be written for a newer Python than runs here: its meaning was not checked"
    return f"`{before.path}` was not valid Python before: its meaning was not compared"


def _names_of(pairs: Iterable[Pair]) -> frozenset[str]:
    """Return the names that the edited leaves define, before and after."""
    regions = (region for pair in pairs for region in (pair.before, pair.after) if region)
    return frozenset(filter(None, (definition_of(region)[1] for region in regions)))


def _keys_of(pairs: Iterable[Pair]) -> frozenset[Key]:
    return frozenset(region.key for pair in pairs for region in (pair.before, pair.after) if region)


def _glance(pair: Pair, before: RegionMap, after: RegionMap) -> str | None:
    """Return a notice about a leaf that affects no others (mostly the empty string); None if it may affect some."""
    if not pair.is_callable or pair.after is None:
        return None
    if pair.before is None:
        return "" if _arrives_quietly(pair.after, after) else None
    if definition_of(pair.before) != definition_of(pair.after) or _new_calls(pair, before, after):
        return None
    was, now = before.bytes_of(pair.before), after.bytes_of(pair.after)
    if not set(_ATTRIBUTE.findall(was)) <= set(_ATTRIBUTE.findall(now)):  # perhaps it assigned one that others read
        old, new = (read_fragment(*side, in_depth=True) for side in ((before, pair.before), (after, pair.after)))
        if old is None or new is None or old.assigns - new.assigns:
            return None
    if differ_in_body(was, now):
        return ""
    old, new = read_fragment(before, pair.before), read_fragment(after, pair.after)
    return _compared(old, new, pair.after) if old and new else None


def _arrives_quietly(region: Region, after: RegionMap) -> bool:
    name = region.key.names[-1]
    if name.ordinal or name.text in CONSTRUCTORS or name.text in BUILTINS or not _is_quiet_call(region, after):
        return False
    new = read_fragment(after, region)
    return new is not None and not new.markers


def _is_quiet_call(region: Region, after: RegionMap) -> bool:
    return not may_call(after.bytes_of(region), after.defined_names)


def _new_calls(pair: Pair, before: RegionMap, after: RegionMap) -> Called:
    """Return the calls of an edited function that did not occur before in the same shape."""
    if pair.after is None or _is_quiet_call(pair.after, after):
        return frozenset()
    new = read_fragment(after, pair.after, in_depth=True)
    old = read_fragment(before, pair.before, in_depth=True) if pair.before else None
    added = (new.calls if new else frozenset()) - (old.calls if old else frozenset())
    return frozenset((name, shape) for name, shape in added if name.encode() in after.defined_names)


def _compared(old: Fragment, new: Fragment, region: Region) -> str | None:
    if old.interface.erased() != new.interface.erased() or any(increased(old.markers, new.markers)):
        return None
    if old.interface == new.interface:
        return ""
    return f"of `{region.key.bare().qualname}` only what type checkers read changed; no caller is affected at run time"


@dataclass(frozen=True)
class _Examination:
    """The full examination: both files are parsed as far as they matter, the one after is indexed.

    The compared modules contain the functions that were edited, and those that name one of the names `in_view`.
    """

    before: RegionMap
    after: RegionMap
    comparison: Comparison
    in_view: frozenset[str]

    @cached_property
    def _usage(self) -> Usage:
        found = collect(self._tree, binds_of(self.after.source), self._concerns)
        return Usage(tuple(expecting(found.references, self._tree, self.after.source)), found.markers)

    @cached_property
    def _tree(self) -> ast.Module:
        """The file after, with all functions that may use a changed definition."""
        if self._named is _ANYTHING:
            return tree_of(self.after.source)
        if self._changed <= self.in_view:
            return self.comparison.after.tree
        return tree_of(in_view(self.after, self._edited, self._named))

    @cached_property
    def _changes(self) -> tuple[Change | Notice, ...]:
        return changes_of(self.comparison)

    @cached_property
    def _named(self) -> re.Pattern[bytes]:
        """A pattern found in every function that uses a changed definition: its name, if no other syntax means it.

        A class is also used by `cls(…)` and through its members, a special method by syntax.
        """
        names = self._changed
        real = (change for change in self._changes if isinstance(change, Change))
        is_told = all(isinstance(change, Resigned | Gone) for change in real) and self.after.source.isascii()
        if names and (not is_told or any(name.startswith("__") for name in names)):
            return _ANYTHING
        return naming(names)

    @cached_property
    def _changed(self) -> frozenset[str]:
        """The names of the changed definitions."""
        return frozenset(change.subject.name for change in self._changes if isinstance(change, Change))

    def _concerns(self, node: ast.stmt) -> bool:
        """Whether a statement may use a changed definition, or stands in an edited region."""
        start, end = self._lines.span_of(node)
        is_named = self._named.search(self.after.source, start, end) is not None
        return is_named or _overlaps(self._edited_spans, start, end)

    @cached_property
    def _edited(self) -> frozenset[Key]:
        return frozenset(pair.after.key for pair in self.comparison.pairs if pair.after)

    @cached_property
    def _edited_spans(self) -> list[Span]:
        return [span for pair in self.comparison.pairs if pair.after for span in pair.after.spans]

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.after)

    def findings(self, notices: tuple[str, ...]) -> Findings:
        """Return all findings; `notices` are those of the first look."""
        changes = self._changes
        told = (change.text for change in changes if isinstance(change, Notice))
        real = tuple(change for change in changes if isinstance(change, Change))
        affected = [found for change in real for found in _worst(self._required(change))]
        required = merged((*affected, *self._misfits(self._changed)))
        escalations = sorted(self._escalations(), key=lambda one: one.line)
        if is_test(self.after.path):  # no other code depends on the reach of a test
            notices, escalations = (*notices, *(each.why for each in escalations)), []
        return Findings(required, tuple(escalations), tuple(dict.fromkeys((*notices, *told, *self._hints(real)))))

    def _required(self, change: Change) -> Iterator[Required]:
        for reference in self._candidates(change):
            impact = impact_of(change, reference, self.comparison)
            key = self._lines.key_at(reference.line) if impact else None
            if impact and key and key not in change.edited:
                why = f"{change.what}, and {subject_of(key)} {impact.how}"
                yield Required(key, why, reference.line, impact.is_broken)
        if isinstance(change, Resigned) and not only_widens(change):
            yield from self._overriding(change)

    def _misfits(self, changed: Collection[str]) -> Iterator[Required]:
        """Yield the new calls that do not fit, except those of `changed` names: the change itself finds them."""
        for pair in self.comparison.pairs:
            new = _new_calls(pair, self.before, self.after) if pair.is_callable else frozenset()
            if new and pair.after:
                yield from self._misfits_in(pair.after.key, {call for call in new if call[0] not in changed})

    def _misfits_in(self, key: Key, calls: Collection[tuple[str, CallShape]]) -> Iterator[Required]:
        for reference in self._by_key.get(key, ()):
            what = misfit(reference, self.comparison.after) if (reference.name, reference.shape) in calls else None
            if what:
                yield Required(key, f"{subject_of(key)} {what}", reference.line, still_broken=True)

    @cached_property
    def _by_key(self) -> dict[Key, list[Reference]]:
        return _by_key(self._usage.references, self._lines)

    def _candidates(self, change: Change) -> Iterable[Reference]:
        if isinstance(change, Resigned | Gone):
            return self._by_name.get(change.subject.name, ())
        return self._usage.references

    @cached_property
    def _by_name(self) -> dict[str, list[Reference]]:
        index: dict[str, list[Reference]] = {}
        for reference in self._usage.references:
            index.setdefault(reference.name, []).append(reference)
        return index

    def _overriding(self, change: Resigned) -> Iterator[Required]:
        for line, qualname in overrides(change, self.comparison):
            key = self._lines.key_at(line)
            yield Required(key, f"{change.what}, and `{qualname}` overrides it with other parameters", line)

    def _hints(self, changes: Iterable[Change]) -> Iterator[str]:
        """Yield hints about renamed parameters, and overrides that lack a new optional one: these block no edit."""
        for change in changes:
            if isinstance(change, Resigned):
                yield from passed_by_position(change, self._candidates(change), self.comparison)
                yield from left_to_default(change, self._candidates(change), self.comparison)
            if isinstance(change, Resigned) and only_widens(change):
                for _, qualname in overrides(change, self.comparison):
                    yield f"{change.what}; `{qualname}` overrides it with other parameters"

    def _escalations(self) -> Iterator[Escalation]:
        if not any(pair.after and may_mark(self.after.bytes_of(pair.after)) for pair in self.comparison.pairs):
            return
        old, new = self._former_markers, self._markers
        for pair in self.comparison.pairs:
            before = old.get(pair.before.key, []) if pair.before else []
            after = new.get(pair.after.key, []) if pair.after else []
            for kind in increased(before, after):
                if pair.before is not None or kind not in LOOKING:
                    yield self._escalation(kind, before, after)

    @cached_property
    def _former_markers(self) -> dict[Key, list[Marker]]:
        """The markers of the edited regions, before the edit."""
        lines = Lines(self.before)
        edited = [span for pair in self.comparison.pairs if pair.before for span in pair.before.spans]
        usage = collect(self.comparison.before.tree, concerns=lambda node: _overlaps(edited, *lines.span_of(node)))
        return _by_key(usage.markers, lines)

    @cached_property
    def _markers(self) -> dict[Key, list[Marker]]:
        return _by_key(self._usage.markers, self._lines)

    def _escalation(self, kind: str, before: Iterable[Marker], after: Iterable[Marker]) -> Escalation:
        known = sum(marker.kind == kind for marker in before)
        lines = sorted(marker.line for marker in after if marker.kind == kind)
        line = lines[min(known, len(lines) - 1)]
        where = subject_of(self._lines.key_at(line))
        what = f"`{kind}`" if kind in DYNAMIC else kind
        why = f"{where} has a new {what} on line {line}: the code that it reaches cannot be found"
        return Escalation(self.after.file.key, why, line, self.after.path)


def _overlaps(spans: Iterable[Span], start: int, end: int) -> bool:
    return any(first < end and start < last for first, last in spans)


def _by_key(found: Iterable[_Found], lines: Lines) -> dict[Key, list[_Found]]:
    groups: dict[Key, list[_Found]] = {}
    for one in found:
        groups.setdefault(lines.key_at(one.line), []).append(one)
    return groups


def _worst(found: Iterable[Required]) -> Iterator[Required]:
    """Yield one entry for each key: a proven break, else the first."""
    ranked = sorted(found, key=lambda one: (not one.still_broken, one.line))
    return iter({one.key: one for one in reversed(ranked)}.values())


def merged(found: Iterable[Required]) -> tuple[Required, ...]:
    """Return one entry for each key: the first line, the reasons joined, those of proven breaks first."""
    groups: dict[Key, list[Required]] = {}
    for one in found:
        groups.setdefault(one.key, []).append(one)
    merged = (_joined(group) for group in groups.values())
    return tuple(sorted(merged, key=lambda one: (one.line, one.key)))


def _joined(group: Sequence[Required]) -> Required:
    ranked = sorted(group, key=lambda one: (not one.still_broken, one.line))
    reasons = dict.fromkeys(one.why for one in ranked)
    first = ranked[0]
    return replace(first, why="; also, ".join(reasons))
