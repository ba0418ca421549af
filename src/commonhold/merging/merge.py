"""The merge of three versions of one file."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from commonhold.code.regions.budget import BudgetExceededError
from commonhold.code.regions.encoding import BOM, encoding_of
from commonhold.code.regions.incremental_parse import reparse
from commonhold.code.regions.language import Language, parse
from commonhold.code.regions.languages import language_for
from commonhold.merging.anchored_values import alias_of_changed_value
from commonhold.merging.candidates import MAX_CANDIDATES, combined, union
from commonhold.merging.conflict_markers import marked, spots_of
from commonhold.merging.contracts import broken_contracts, may_break
from commonhold.merging.counted_lines import counted_alike
from commonhold.merging.cross_file_interference import FileChange, bearing
from commonhold.merging.default_fields import required_after_default
from commonhold.merging.derived_traits import missed_traits
from commonhold.merging.directives import directed_otherwise
from commonhold.merging.document_marks import marked_otherwise
from commonhold.merging.fallthrough import falls_into
from commonhold.merging.format_keys import misplaced_in
from commonhold.merging.generated_members import made_and_written
from commonhold.merging.given_lines import given_by_both
from commonhold.merging.given_names import given_twice
from commonhold.merging.head_promises import broken_promises
from commonhold.merging.interference import interference
from commonhold.merging.layout import FileElement
from commonhold.merging.member_order import initialised_otherwise
from commonhold.merging.moved_sections import merged_sections
from commonhold.merging.next_numbers import took_one_number
from commonhold.merging.numbered_tables import tables_out_of_step
from commonhold.merging.pattern_order import overridden
from commonhold.merging.pieces import Piece, clashes_in, exchanged, settled, uncontested
from commonhold.merging.positional_types import counts_on_places
from commonhold.merging.profile import Profile
from commonhold.merging.profiles import profile_of
from commonhold.merging.prose import AtOnePoint, apart, lines_of, merge_prose
from commonhold.merging.read_only_fields import writes_read_only
from commonhold.merging.registrations import registered_twice
from commonhold.merging.removed_imports import needs_removed_import
from commonhold.merging.result_checks import doubled_names, fault_in
from commonhold.merging.sections import misplaced
from commonhold.merging.slots import assigned_without_slot
from commonhold.merging.spellings import spelled_otherwise
from commonhold.merging.standing_lines import acts_on_lines_below
from commonhold.merging.structure import Structure
from commonhold.merging.text_references import referred_to
from commonhold.merging.unused_names import unused_names
from commonhold.merging.verdict import NOWHERE, Candidate, Proven, Reason, Sides, Spot, Unproven
from commonhold.merging.withdrawn_keys import looks_up_withdrawn

MAX_BYTES: Final = 16 * 2**20
MAX_CODE_BYTES: Final = 2**20
_FEW: Final = 8
_CHANGELOGS: Final = ("change", "history", "news", "release")
_PROSE_SUFFIXES: Final = frozenset({"", "adoc", "md", "markdown", "rst", "txt"})
_MAX_TRIED_BYTES: Final = 40_000_000


def merge(base: bytes, ours: bytes, theirs: bytes, path: str, sides: Sides | None = None) -> Proven | Unproven:
    """Merge the changes of both sides to `base`. Total: any bytes give an answer, never an exception.

    `path` gives the language. A version that does not exist is given as empty bytes. The answer is the same with the
    sides exchanged, except for the conflict markers.
    """
    alone = uncontested(base, ours, theirs)
    if alone is not None:
        return Proven(alone)
    # The sides are sorted, so that the order of the arguments makes no difference.
    first, second = sorted((ours, theirs))
    bare = [text.removeprefix(BOM) for text in (base, first, second)]
    mark = _merged_mark(base, first, second)
    answer = _Merge(bare[0], bare[1], bare[2], path, sides or Sides(), are_exchanged=first is theirs).answer()
    return _marked_as(answer, mark) if mark else answer


def _merged_mark(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return the byte order mark, as in the side that changed it."""
    marks = [BOM if text.startswith(BOM) else b"" for text in (base, ours, theirs)]
    return marks[2] if marks[1] == marks[0] else marks[1]


def _marked_as(answer: Proven | Unproven, mark: bytes) -> Proven | Unproven:
    """Return the answer with a byte order mark before each text."""
    if isinstance(answer, Proven):
        return replace(answer, source=mark + answer.source)
    return replace(
        answer,
        marked=None if answer.marked is None else mark + answer.marked,
        candidates=lambda: (replace(each, source=mark + each.source) for each in answer.candidates()),
    )


@dataclass(frozen=True, slots=True)
class _Merge:
    """Three versions of which no two are the same. If they `are_exchanged`, the answer exchanges the sides back."""

    base: bytes
    ours: bytes
    theirs: bytes
    path: str
    sides: Sides
    are_exchanged: bool

    @property
    def versions(self) -> tuple[bytes, bytes, bytes]:
        """Base, ours and theirs."""
        return self.base, self.ours, self.theirs

    def answer(self) -> Proven | Unproven:
        """Return the verdict."""
        if any(b"\0" in text for text in self.versions):
            return Unproven((Spot(Reason.BINARY, "both sides changed a binary file"),))
        if self._largest > MAX_BYTES:
            return Unproven((Spot(Reason.TOO_LARGE, f"both sides changed a file of over {MAX_BYTES} bytes"),))
        language = self._language()
        profile = profile_of(language) if language else None
        if fault := _encoding_fault(self.versions, language):
            return self._by_lines(fault)
        return self._as_code(language, profile) if language and profile else self._as_text()

    def _language(self) -> Language | None:
        """Return the language of the base; of a new file, if both sides agree on it."""
        if self.base:
            return language_for(self.path, self.base)
        ours, theirs = (language_for(self.path, text) for text in (self.ours, self.theirs))
        return ours if ours is theirs else None

    @property
    def _largest(self) -> int:
        return max(map(len, self.versions))

    def _as_text(self) -> Proven | Unproven:
        at_one_point = AtOnePoint.SECTIONS_LAST if _is_list_of_lines(self.path) else AtOnePoint.NEITHER
        pieces = merge_prose(*self.versions, at_one_point)
        text = settled(pieces)
        if text is None:
            moved = merged_sections(*self.versions, self.path)
            is_sound = moved is not None and not fault_in(moved, self.versions, self.path)
            return Proven(moved) if moved is not None and is_sound else self._unproven(pieces, [])
        fault = fault_in(text, self.versions, self.path) or misplaced(text, self.versions, self.path)
        fault = fault or marked_otherwise(text, self.versions, self.path) or counted_alike(*self.versions)
        fault = fault or given_by_both(text, self.versions, self.path) or referred_to(text, self.versions, self.path)
        fault = fault or self._fault_of_format(text)
        return self._unproven(pieces, [fault]) if fault else Proven(text)

    def _by_lines(self, doubt: Spot) -> Unproven:
        return self._unproven(merge_prose(*self.versions, AtOnePoint.NEITHER), [doubt])

    def _as_code(self, language: Language, profile: Profile) -> Proven | Unproven:
        if self._largest > MAX_CODE_BYTES:
            why = f"both sides changed a file of code of over {MAX_CODE_BYTES} bytes: too much to look into"
            return self._by_lines(Spot(Reason.TOO_LARGE, why))
        if not self.base.strip():
            return self._by_lines(Spot(Reason.ORDER_MATTERS, "both sides made this file, each in its own way"))
        try:
            return self._by_structure(language, profile)
        except RecursionError:
            return self._by_lines(Spot(Reason.TOO_LARGE, "the code is nested too deeply to look into"))
        except BudgetExceededError as error:
            return self._by_lines(Spot(Reason.TOO_LARGE, str(error)))

    def _by_structure(self, language: Language, profile: Profile) -> Proven | Unproven:
        elements = _elements(self.versions, language, profile)
        if elements is None:
            return self._by_lines(Spot(Reason.NOT_SOUND, "one of the versions has a syntax error"))
        structure = Structure()
        pieces = structure.merge(*elements)
        text = settled(pieces)
        record = structure.record
        doubts = [*record.doubts, *(record.counts if record.grown else ()), *interference(record, profile)]
        base, ours, theirs = elements
        changes = FileChange(self.path, base, ours), FileChange(self.path, base, theirs)
        doubts += [each.spot for each in bearing(changes[:1], changes[1:])]
        doubts += made_and_written(base, ours, theirs)
        doubts += broken_promises(base, ours, theirs)
        doubts += directed_otherwise(language.name, base, ours, theirs)
        doubts += spelled_otherwise(language.name, base, ours, theirs)
        doubts += initialised_otherwise(base, ours, theirs)
        doubts += needs_removed_import(language.name, base, ours, theirs)
        doubts += assigned_without_slot(base, ours, theirs)
        doubts += tables_out_of_step(language.name, base, ours, theirs)
        doubts += missed_traits(language.name, base, ours, theirs)
        doubts += counts_on_places(language.name, base, ours, theirs)
        doubts += alias_of_changed_value(language.name, base, ours, theirs)
        doubts += falls_into(base, ours, theirs)
        doubts += looks_up_withdrawn(base, ours, theirs)
        doubts += writes_read_only(base, ours, theirs)
        if text is None or doubts:
            return self._unproven(pieces, doubts)
        fault = self._fault(text, language, profile, elements)
        doubts = [fault] if fault else self._broken(text, language, changes)
        return self._unproven(pieces, doubts) if doubts else Proven(text, tuple(dict.fromkeys(record.notes)))

    def _broken(self, text: bytes, language: Language, changes: tuple[FileChange, FileChange]) -> list[Spot]:
        return broken_contracts(self.versions, text, self.path) if may_break(*changes, language) else []

    def _fault(
        self, text: bytes, language: Language, profile: Profile, elements: tuple[FileElement, FileElement, FileElement]
    ) -> Spot | None:
        fault = fault_in(text, self.versions, self.path)
        if fault:
            return fault
        tree = reparse(elements[1].tree, self.ours, text, language)
        if tree.root_node.has_error and not any(each.tree.root_node.has_error for each in elements):
            return Spot(Reason.GATE, "put together it would have a syntax error")
        merged = FileElement(text, profile, tree)
        names = doubled_names(merged, elements)
        if names:
            return Spot(Reason.GATE, f"put together it would define {names[0].decode(errors='replace')!r} twice")
        names = unused_names(merged, elements)
        if names:
            return Spot(Reason.DANGLING, f"put together it would no longer use {names[0].decode(errors='replace')!r}")
        fault = _fault_of_names(merged, elements) or referred_to(text, self.versions, self.path)
        return fault or self._fault_of_format(text)

    def _fault_of_format(self, text: bytes) -> Spot | None:
        fault = acts_on_lines_below(text, self.versions, self.path) or misplaced_in(text, self.versions, self.path)
        return fault or overridden(*self.versions, self.path) or next(took_one_number(*self.versions), None)

    def _unproven(self, pieces: Sequence[Piece], doubts: Sequence[Spot]) -> Unproven:
        spots = [*spots_of(clashes_in(pieces), self.versions), *doubts]
        shown = apart(*self.versions, _placed(doubts)) if settled(pieces) is not None else pieces
        if self.are_exchanged:
            spots = [replace(each, ours=each.theirs, theirs=each.ours) for each in spots]
            shown = exchanged(shown)
        return Unproven(tuple(spots), marked(shown, self.sides), lambda: self._candidates(pieces))

    def _candidates(self, pieces: Sequence[Piece]) -> Iterator[Candidate]:
        if self._largest > MAX_CODE_BYTES:
            return iter(())
        sound = (
            each
            for each in islice(self._texts(pieces), max(_FEW, _MAX_TRIED_BYTES // len(self.ours + self.theirs)))
            if not fault_in(each.source, self.versions, self.path)
        )
        return islice(sound, MAX_CANDIDATES)

    def _texts(self, pieces: Sequence[Piece]) -> Iterator[Candidate]:
        seen = set()
        for text, how in self._ways(pieces):
            if text not in seen:
                seen.add(text)
                yield Candidate(text, how)

    def _ways(self, pieces: Sequence[Piece]) -> Iterator[tuple[bytes, str]]:
        ways = combined(pieces)
        yield from islice(ways, 4)
        base, first, second = (lines_of(text) for text in self.versions)
        yield union(base, first, second), "the lines of both"
        yield union(base, second, first), "the lines of both, the other way round"
        yield from ways


def _fault_of_names(merged: FileElement, elements: tuple[FileElement, FileElement, FileElement]) -> Spot | None:
    """Return why the names of a merge could not stand together."""
    names = given_twice(merged, elements)
    if names:
        shown = names[0].decode(errors="replace")
        return Spot(Reason.SAME_NAME, f"put together it would give {shown!r} twice in one place")
    return required_after_default(merged, elements) or registered_twice(merged, elements)


def _placed(doubts: Sequence[Spot]) -> Sequence[Spot]:
    """Return the doubts; if none of them has a place, all changes are doubted."""
    everywhere = (0, sys.maxsize)
    is_placed = any((each.ours, each.theirs) != (NOWHERE, NOWHERE) for each in doubts)
    return doubts if is_placed else [replace(each, ours=everywhere, theirs=everywhere) for each in doubts]


def _elements(
    versions: tuple[bytes, bytes, bytes], language: Language, profile: Profile
) -> tuple[FileElement, FileElement, FileElement] | None:
    """Return the elements of the versions; None if one of them is not sound."""
    tree = parse(versions[0], language)
    trees = [tree, *(reparse(tree, versions[0], text, language) for text in versions[1:])]
    if profile.is_exact and any(each.root_node.has_error for each in trees):
        return None
    base, ours, theirs = (FileElement(text, profile, each) for text, each in zip(versions, trees, strict=True))
    return base, ours, theirs


def _encoding_fault(versions: tuple[bytes, bytes, bytes], language: Language | None) -> Spot | None:
    """Return why the versions cannot be joined by bytes: they differ in encoding, or one is invalid in its own."""
    found = [encoding_of(text, language) for text in versions]
    if len({each.codec for each in found}) > 1:
        return Spot(
            Reason.ENCODING, f"the versions are in different encodings: {', '.join(each.codec for each in found)}"
        )
    for text, encoding in zip(versions, found, strict=True):
        try:
            encoding.decode(text)
        except UnicodeError as error:
            return Spot(Reason.ENCODING, f"a version is not valid {encoding.codec}: {error}")
    return None


def _is_list_of_lines(path: str) -> bool:
    """Whether a file is a list of entries that both sides may add to: a changelog, or requirements, one a line."""
    stem, _, suffix = path.rpartition("/")[2].lower().partition(".")
    if suffix == "txt" and stem.startswith(("requirements", "constraints")):
        return True
    return (stem, suffix) == ("go", "sum") or (suffix in _PROSE_SUFFIXES and stem.startswith(_CHANGELOGS))
