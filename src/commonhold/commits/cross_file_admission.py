"""The effects of a commit on other files of the repository: linked, type-checked, or suspected.

`examining` runs during planning, outside of the gate. Inside the gate, `is_current` looks again if any file changed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from posixpath import commonpath, dirname
from typing import Final

from commonhold.code.analysis.admission import Escalation, Findings, Required, merged
from commonhold.code.analysis.confined import is_confined
from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.lines import Lines, subject_of
from commonhold.code.analysis.repository.examination import examine
from commonhold.code.analysis.repository.findings import Concern, Links
from commonhold.code.analysis.repository.impacted_tests import ImpactedTest, impacted_tests
from commonhold.code.analysis.repository.interface_changes import is_restated, restated
from commonhold.code.analysis.repository.library import Library, Overlay
from commonhold.code.analysis.repository.new_use_errors import added_uses, leads_out
from commonhold.code.analysis.repository.severity import Version, Weighed, weigh
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.indexes import Index
from commonhold.code.type_checkers import Diagnostic, TypeChecker, TypeReport
from commonhold.commits.draft import Draft, written
from commonhold.commits.plan import Admission, CrossFileEffects
from commonhold.commits.suspicion_policy import Suspected, SuspicionPolicy, TestsOf
from commonhold.kernel.events import RegionChange
from commonhold.kernel.keys import Key, file_key
from commonhold.kernel.policy import Policies, Suspicion
from commonhold.machine.meanwhile import meanwhile
from commonhold.reads.reading import ParsedFile

_MOST_NAMED: Final = 5

Look = Callable[[str], ParsedFile | None]


@dataclass(frozen=True, slots=True)
class Insight:
    """The knowledge of other files: the links between them, a type checker if there is one, and their tests.

    `is_awaited`: the caller waits until all files are read. Otherwise a change that comes earlier is put off.
    """

    index: Index
    types: TypeChecker | None = None
    tests_of: TestsOf | None = None
    is_awaited: bool = True

    def close(self) -> None:
        """Close the index and the type checker; idempotent."""
        self.index.close()
        if self.types is not None:
            self.types.close()


class CrossFileAdmission:
    """Examines drafts against all other files."""

    def __init__(self, insight: Insight, look: Look, policies: Policies) -> None:
        """Examine other files with `insight`; `look` reads them, `policies` decide what follows from suspicions."""
        self._policies = policies
        self._proving = SuspicionPolicy(insight.tests_of)
        self._index = insight.index
        self._is_awaited = insight.is_awaited
        self._types = insight.types
        self._look = look
        self._told: set[str] = set()  # why a checker could not run: each reason is reported once

    @contextmanager
    def examining(
        self, drafts: Sequence[Draft], earlier: CrossFileEffects | None = None
    ) -> Iterator[Callable[[], CrossFileEffects]]:
        """Find the dependents of the drafts in other files: the block gets a function that returns them.

        The type checker is asked at once, and answers while the block does other work. It is fast if no contract
        changes and no new name is used. Results of the type checker and the tests from an `earlier` examination are
        kept if the drafts write the same regions in the same way and the links are the same.
        """
        versions: list[_Version] = []
        for draft in drafts:
            before = self._index.summary(draft.path, draft.before_map.source) if draft.looked else None
            after = None if draft.source is None else self._index.summary(draft.target, draft.source)
            versions.append(_Version(draft, before, after))
        if not any(map(_matters, versions)):
            yield CrossFileEffects
            return
        library = self._index.library() if self._is_awaited else self._index.library_if_read()
        if library is None:
            yield lambda: CrossFileEffects(is_linked=True, is_put_off=True)
            return
        work = _Work(library, tuple(versions), self._look)
        if earlier and earlier.has_asked and (earlier.drafted, earlier.links) == (work.drafted, work.links):
            yield lambda: replace(earlier, library=library, before=work.before, files=work.files, origin=None)
            return
        if self._types is None or not self._asks_types(work):
            yield lambda: self._effects(work, TypeReport)
            return
        with meanwhile(partial(self._types.compare, work.contents, work.users, work.confined)) as report:
            yield lambda: self._effects(work, report)

    def _effects(self, work: "_Work", report: Callable[[], TypeReport]) -> CrossFileEffects:
        links = work.links  # made while the type checker answers
        complaints, said = self._complaints(work, report())
        weighed = work.weighed(complaints)
        suspected = Suspected(work.suspicions(weighed, self._policies), work.contents)
        escalations, told = self._proving.decided(suspected, work.impacted)
        findings = Findings(
            work.required(weighed), escalations, (*links.notices, *said, *map(work.told, weighed.told), *told)
        )
        has_asked = self._asks_types(work) or Suspicion.TESTS in suspected.escalations
        return CrossFileEffects(
            is_linked=True,
            library=work.library,
            before=work.before,
            files=work.files,
            links=links,
            admission=Admission("", findings, work.mended),
            has_asked=has_asked,
            drafted=work.drafted,
        )

    def library(self) -> Library:
        """Return summaries of all files of the repository in their present state."""
        return self._index.library()

    def _asks_types(self, work: "_Work") -> bool:
        return self._types is not None and work.offers_changed

    def is_current(self, crossed: CrossFileEffects) -> bool:
        """Whether an examination now would find the same."""
        if crossed.library is None:
            return True
        library = self._index.library()
        if library is crossed.library:
            return True
        before = Overlay(library, crossed.before)
        return examine(before, Overlay(library, crossed.files), crossed.files) == crossed.links

    def _complaints(self, work: "_Work", report: TypeReport) -> tuple[tuple[Diagnostic, ...], tuple[str, ...]]:
        """Return new type errors in places that the drafts do not write, and notices, such as why no checker ran."""
        is_news = report.why and not report.is_missing and report.why not in self._told
        notices = (report.why,) if is_news else ()
        self._told.update(notices)
        aside = [each for each in report.unchecked if not work.is_edited(each.path, each.line)]
        new = tuple(each for each in report.new if not work.is_edited(each.path, each.line))
        left_out = "which the project's own type checks leave out, is newly complained of"
        told = [f"{each.path}:{each.line}, {left_out}: {each.message}" for each in aside[:_MOST_NAMED]]
        return new, (*notices, *told)


@dataclass(frozen=True, slots=True)
class _Version:
    """A drafted file, and its summaries before and after."""

    draft: Draft
    before: Summary | None
    after: Summary | None


def _matters(version: _Version) -> bool:
    """Whether a draft can affect other files, or rely on them in a new way."""
    before, after = version.before, version.after
    if version.draft.target != version.draft.path or (before is None) != (after is None):
        return True
    if before is None or after is None:
        return False
    return is_restated(before, after) or any(leads_out(after, use) for use in added_uses(before, after))


@dataclass(frozen=True)
class _Work:
    """One examination: the drafts, and the state of the repository in which they were made."""

    library: Library
    versions: tuple[_Version, ...]
    look: Look

    @cached_property
    def files(self) -> dict[str, Summary | None]:
        """Return the new summaries of the files that change, by path."""
        gone: dict[str, Summary | None] = {each.draft.path: None for each in self.versions}
        there = {each.draft.target: each.after for each in self.versions if each.draft.source is not None}
        return gone | there

    @cached_property
    def contents(self) -> dict[str, bytes | None]:
        """Return the new bytes of the files that change, by path."""
        gone: dict[str, bytes | None] = {each.draft.path: None for each in self.versions}
        return gone | {each.draft.target: each.draft.source for each in self.versions if each.draft.source is not None}

    @cached_property
    def before(self) -> dict[str, Summary | None]:
        """Return the summaries of the files that change, as the drafts saw them."""
        return {each.draft.path: each.before for each in self.versions}

    @cached_property
    def drafted(self) -> frozenset[RegionChange]:
        """Return the regions that the drafts write."""
        found: set[RegionChange] = set()
        for draft in (each.draft for each in self.versions):
            for touched in draft.touched:
                before, after = touched.before, touched.after
                key = after.key.at(draft.target) if after else before.key if before else draft.before_map.file.key
                found.add(RegionChange(str(key), before.hash if before else None, after.hash if after else None))
        return frozenset(found)

    @cached_property
    def _after(self) -> Overlay:
        return Overlay(self.library, self.files)

    @cached_property
    def links(self) -> Links:
        """Return the links from the changes to their dependents."""
        return examine(Overlay(self.library, self.before), self._after, self.files)

    @cached_property
    def offers_changed(self) -> bool:
        """Whether any file changes its contract, even in a way that only a type checker sees."""
        return any(
            each.before is None or each.after is None or is_restated(each.before, each.after) for each in self.versions
        )

    @cached_property
    def users(self) -> frozenset[str]:
        """Return the files that use a name whose contract changed."""
        names = {offer.name for each in self.versions for offer in restated(each.before, each.after)}
        return frozenset(path for name in names for path in self._after.users(name)) - self.files.keys()

    @cached_property
    def confined(self) -> frozenset[str]:
        """Return the changed files that have the same types as before, except in the regions that the drafts write."""
        if len(self.versions) > 1:  # one may use what another changes
            return frozenset()
        draft = self.versions[0].draft
        edited = ((each.before, each.after) for each in draft.touched)
        is_kept = draft.looked is not None and draft.source is not None and draft.target == draft.path
        return frozenset({draft.path} if is_kept and is_confined(draft.before_map, draft.after_map, edited) else ())

    @cached_property
    def mended(self) -> frozenset[Key]:
        """Return the regions that the drafts write, by their new names."""
        drafts = [each.draft for each in self.versions if each.draft.source is not None]
        keys = ((each, written(each.before_map, each.after_map, each.touched)) for each in drafts)
        return frozenset(key.at(each.target) for each, found in keys for key in found)

    def is_edited(self, path: str, line: int) -> bool:
        """Whether the drafts write the region that contains a line."""
        key = self._key_at(path, line)
        return key is not None and key in self.mended

    def _key_at(self, path: str, line: int) -> Key | None:
        lines = self._lines_of(path)
        return lines.key_at(line).at(path) if lines else None

    def _lines_of(self, path: str) -> Lines | None:
        if path not in self._lines:
            drafts = [each.draft for each in self.versions if each.draft.target == path]
            regions = next((each.after_map for each in drafts if each.source is not None), None)
            if regions is None and (looked := self.look(path)):
                regions = looked.map
            self._lines[path] = Lines(regions) if regions else None
        return self._lines[path]

    @cached_property
    def _lines(self) -> dict[str, Lines | None]:
        return {}

    # The same, in the terms of admission.

    @cached_property
    def _concerns(self) -> tuple[Concern, ...]:
        return self.links.beside(self.is_edited).concerns

    def weighed(self, complaints: Iterable[Diagnostic]) -> Weighed:
        """Return the links and the type errors, sorted by their consequence."""
        return weigh(self._concerns, tuple(map(self._typed, complaints)), map(_version_of, self.versions), self._after)

    def _typed(self, complaint: Diagnostic) -> Concern:
        target = self.versions[0].draft.target
        how = f"is newly complained of by the type checker: {complaint.message}"
        return Concern(complaint.path, complaint.line, "", how, Evidence.TYPES, target, "")

    def required(self, weighed: Weighed) -> tuple[Required, ...]:
        """Return the places to repair or to lease."""
        found = [(each, self._key_at(each.path, each.line)) for each in weighed.binding]
        return merged(
            Required(key, each.why(subject_of(key)), each.line, each.is_broken, each.evidence)
            for each, key in found
            if key is not None
        )

    def suspicions(self, weighed: Weighed, policies: Policies) -> dict[Suspicion, Escalation]:
        """Return the places that may be affected, grouped by the project's policy for them."""
        groups: dict[Suspicion, list[Concern]] = {}
        for each in weighed.suspected:
            groups.setdefault(policies.on_suspicion(file_key(each.target_path)), []).append(each)
        return {policy: self._escalation(concerns) for policy, concerns in groups.items()}

    def impacted(self) -> tuple[ImpactedTest, ...]:
        """Return the tests that the changes may affect."""
        changed: dict[str, set[str]] = {}
        for each in self._concerns:
            changed.setdefault(each.target_path, set()).add(each.target)
        return impacted_tests(Overlay(self.library, self.before), changed)

    def _escalation(self, concerns: Sequence[Concern]) -> Escalation:
        """Return one escalation for all concerns; the key to lease is the smallest file or folder with all of them."""
        first = concerns[0]
        reasons: dict[str, list[str]] = {}
        for each in concerns[:_MOST_NAMED]:
            reasons.setdefault(each.what, []).append(self.told(each))
        clauses = (
            f"{what}, and perhaps {', '.join(told)}" if what else ", ".join(told) for what, told in reasons.items()
        )
        more = f"; and {len(concerns) - _MOST_NAMED} more" if len(concerns) > _MOST_NAMED else ""
        is_typed = all(each.evidence is Evidence.TYPES for each in concerns)
        evidence = Evidence.TYPES if is_typed else Evidence.SUSPICION
        key = self._around({each.path for each in concerns})
        return Escalation(key, f"{'; '.join(clauses)}{more}", first.line, first.path, evidence)

    def told(self, concern: Concern) -> str:
        """Return one concern as a clause, with its place."""
        key = self._key_at(concern.path, concern.line)
        return f"{subject_of(key) if key else concern.path} {concern.how} ({concern.path}:{concern.line})"

    @staticmethod
    def _around(paths: set[str]) -> Key:
        """Return the file, or the innermost folder, that contains all of these paths."""
        if len(paths) == 1:
            return file_key(next(iter(paths)))
        return file_key(f"{commonpath([dirname(path) for path in paths])}/")


def _version_of(version: _Version) -> Version:
    draft = version.draft
    is_moved = draft.path != draft.target
    old = draft.before_map.source if draft.looked and not is_moved else None
    return Version(old, draft.source, version.before, None if is_moved else version.after)
