"""What admission says of a change, asked of whole trees: the one module here that knows the product's way of asking.

A tree is the bytes of every file by path; a change has the new bytes of some of them. The whole change is one changeset
of an agent that holds nothing: whoever is required and not part of it blocks it.
"""

import hashlib
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from commonhold.code.analysis import admission
from commonhold.code.analysis.evidence import Evidence
from commonhold.code.analysis.lines import Lines
from commonhold.code.analysis.repository.examination import examine
from commonhold.code.analysis.repository.findings import Concern
from commonhold.code.analysis.repository.library import Library, Overlay, Shelf
from commonhold.code.analysis.repository.severity import Version, weigh
from commonhold.code.analysis.repository.summarise import summarise
from commonhold.code.analysis.repository.summary import Summary
from commonhold.code.regions.discover import discover
from commonhold.code.regions.region import Region, RegionMap
from commonhold.code.type_checkers import TypeChecker

Tree = Mapping[str, bytes]
Change = Mapping[str, bytes | None]
FEW_MAPS = 512


class Level(IntEnum):
    """What becomes of a change."""

    ADMITTED = 0
    ESCALATED = 1
    BLOCKED = 2


@dataclass(frozen=True)
class Named:
    """A place that admission names: its line in the state after, the lines of its region, and that region's text."""

    path: str
    line: int
    why: str
    evidence: Evidence
    level: Level
    qualname: str = ""
    lines: frozenset[int] = frozenset()
    text: str = field(default="", repr=False)

    def __str__(self) -> str:
        """One line to read."""
        return f"{self.path}:{self.line} [{self.evidence}] {self.qualname}: {self.why}"


@dataclass(frozen=True)
class Verdict:
    """What becomes of a change, and all the places that are named for it."""

    level: Level
    named: tuple[Named, ...] = ()
    notices: tuple[str, ...] = ()
    crash: str = ""

    @property
    def blocking(self) -> tuple[Named, ...]:
        """The places that a repair packet would name."""
        return tuple(each for each in self.named if each.level is Level.BLOCKED)


class Admission:
    """Admits changes to one tree; a type checker that knows this very tree may be asked too."""

    def __init__(self, tree: Tree, checker: TypeChecker | None = None) -> None:
        """Index the tree."""
        self._tree, self._checker = tree, checker
        self._before = Shelf({path: summary for path, source in tree.items() if (summary := _summary(path, source))})

    def verdict(self, change: Change) -> Verdict:
        """What becomes of a change; that nothing is ever raised is promised, and whether it is kept is measured."""
        try:
            return self._verdict(change)
        except Exception:  # noqa: BLE001 - whatever is raised is a result
            return Verdict(Level.ADMITTED, crash=traceback.format_exc())

    def _verdict(self, change: Change) -> Verdict:
        real = {path: source for path, source in change.items() if source != self._tree.get(path)}
        after = {path: None if source is None else _summary(path, source) for path, source in real.items()}
        states = {path: _State(path, self._tree.get(path), source) for path, source in real.items()}
        places = _Places({**self._tree, **real}, states)
        links = examine(self._before, Overlay(self._before, after), tuple(real)).beside(places.is_edited)
        complaints, notices = self._complaints(real, after, places)
        versions = [Version(self._tree.get(path), real[path], self._before.summary(path), after[path]) for path in real]
        weighed = weigh(links.concerns, complaints, versions, Overlay(self._before, after))
        named = [places.named(each, Level.BLOCKED) for each in weighed.binding]
        named += [places.named(each, Level.ESCALATED) for each in weighed.suspected]
        notices += [*links.notices, *(each.how for each in weighed.told)]
        for state in states.values():
            named += [places.named(each, level) for each, level in state.concerns()]
        return Verdict(_level(named), tuple(dict.fromkeys(named)), tuple(notices))

    def _complaints(
        self, real: Change, after: Mapping[str, Summary | None], places: "_Places"
    ) -> tuple[list[Concern], list[str]]:
        """What the type checker newly says of places that the change does not write."""
        names = _changed_names(self._before, after) if self._checker else set()
        if self._checker is None or not names:
            return [], []
        users = {path for name in names for path in self._before.users(name)} - after.keys()
        report = self._checker.compare(real, users)
        found = [
            Concern(each.path, each.line, "", f"{each.code}: {each.message}", Evidence.TYPES, next(iter(real)), "")
            for each in report.new
            if not places.is_edited(each.path, each.line)
        ]
        return found, [report.why] if report.why else []


def _changed_names(before: Library, after: Mapping[str, Summary | None]) -> set[str]:
    """The names that are offered otherwise than before, be it only to a type checker."""
    sides = [(_offered(before.summary(path)), _offered(summary)) for path, summary in after.items()]
    differing = (name for old, new in sides for name in {**old, **new} if old.get(name) != new.get(name))
    return {name.rpartition(".")[2] for name in differing}


def _offered(summary: Summary | None) -> dict[str, object]:
    """What a file offers by name, wherever in it that stands."""
    return {each.qualname: replace(each, line=0, end_line=0) for each in (summary.offers if summary else ())}


def _level(named: Iterable[Named]) -> Level:
    return max((each.level for each in named), default=Level.ADMITTED)


class _State:
    """A changed file, before and after."""

    def __init__(self, path: str, before: bytes | None, after: bytes | None) -> None:
        self.path = path
        self.before, self.after = _regions(path, before or b""), _regions(path, after or b"")

    @cached_property
    def edited(self) -> frozenset[str]:
        """The leaves after that were not there before with the same text."""
        old = {(str(leaf.key), leaf.hash) for leaf in self.before.leaves()}
        return frozenset(str(leaf.key) for leaf in self.after.leaves() if (str(leaf.key), leaf.hash) not in old)

    def concerns(self) -> Iterator[tuple[Concern, Level]]:
        """What the examination of the file alone finds outside of what was edited."""
        whole = admission.Changed(self.before.file.key, self.after.file.key)
        found = admission.examine(self.before, self.after, [whole])
        mended = [leaf.key for leaf in self.after.leaves() if str(leaf.key) in self.edited]
        verdict = admission.judge(admission.Findings(found.required), mended, _nobody)
        if isinstance(verdict, admission.RequireLocks):
            yield from ((self._concern(each, Evidence.CONTRACT), Level.BLOCKED) for each in verdict.required)
        yield from ((self._concern(each, Evidence.SUSPICION), Level.ESCALATED) for each in found.escalations)

    def _concern(self, found: admission.Required | admission.Escalation, evidence: Evidence) -> Concern:
        return Concern(self.path, found.line, "", found.why, evidence, self.path, "")


def _nobody(_key: object) -> bool:
    return False


class _Places:
    """The regions of the state after."""

    def __init__(self, tree: Change, states: Mapping[str, _State]) -> None:
        self._tree, self._states = tree, states

    def is_edited(self, path: str, line: int) -> bool:
        """Whether a line is in a region that the change writes itself."""
        return path in self._states and str(self._leaf(path, line).key) in self._states[path].edited

    def named(self, concern: Concern, level: Level) -> Named:
        """A place, with its region."""
        path, why = concern.path, concern.why("it") if concern.what else concern.how
        regions, leaf = self._map(path), self._leaf(path, concern.line)
        lines = frozenset(_spanned(regions, leaf))
        text = regions.bytes_of(leaf).decode(errors="replace")
        return Named(path, concern.line, why, concern.evidence, level, leaf.key.bare().qualname, lines, text)

    def _map(self, path: str) -> RegionMap:
        return _regions(path, self._tree.get(path) or b"")

    def _leaf(self, path: str, line: int) -> Region:
        return self._map(path).by_key[_lines(path, self._tree.get(path) or b"").key_at(max(line, 1))]


def _spanned(regions: RegionMap, leaf: Region) -> Iterator[int]:
    """The numbers of the lines that a leaf has a part of."""
    for start, end in leaf.spans:
        first = regions.source.count(b"\n", 0, start) + 1
        yield from range(first, first + regions.source.count(b"\n", start, max(end - 1, start)) + 1)


@lru_cache(FEW_MAPS)
def _regions(path: str, source: bytes) -> RegionMap:
    return discover(source, path)


@lru_cache(FEW_MAPS)
def _lines(path: str, source: bytes) -> Lines:
    return Lines(_regions(path, source))


_summaries: dict[tuple[str, bytes], Summary | None] = {}


def _summary(path: str, source: bytes) -> Summary | None:
    """The summary of a file, made once for equal files of one kind."""
    key = (PurePosixPath(path).suffix, hashlib.sha256(source).digest())
    if key not in _summaries:
        _summaries[key] = summarise(path, source)
    return _summaries[key]
