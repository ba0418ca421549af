"""Attribute the differences between a file's committed version in git and its present one: by the log, line by line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from commonhold.code.regions.syntax import problem_in
from commonhold.kernel.texts import NOBODY
from commonhold.merging.align import common
from commonhold.merging.merge import merge
from commonhold.merging.prose import lines_of
from commonhold.merging.verdict import Proven

OUTSIDE: Final = NOBODY
"""The holder of changes without a known author: a person, or a program not known to belong to a session."""

Line = bytes | None
_PRESENT: Final[Line] = None
"""The marker before the lines of a file that exists."""
_BINARY_SNIFF: Final = 8000


@dataclass(frozen=True, slots=True)
class Step:
    """The effect of one logged commit on a file: its bytes before and after (None: absent), and its mode after."""

    holder: str
    before: bytes | None
    after: bytes | None
    is_executable: bool | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """A file as git would store it: its bytes, and whether it is executable."""

    content: bytes
    is_executable: bool = False


@dataclass(frozen=True, slots=True)
class Inseparable:
    """A session's part cannot be separated from uncommitted changes of `others` (holders)."""

    why: str
    others: tuple[str, ...]


@dataclass(slots=True)
class _Entry:
    """A line that once existed: its author, its remover, and the steps of both. `is_old`: HEAD has it.

    A line that existed from the beginning has no author.
    """

    line: Line
    born: str | None
    born_at: int = 0
    gone: str | None = None
    gone_at: int = 0
    is_old: bool = False

    @property
    def is_here(self) -> bool:
        """Whether the present version has the line."""
        return self.gone is None

    @property
    def differs(self) -> bool:
        """Whether only one of the two versions has the line."""
        return self.is_old != self.is_here

    @property
    def author(self) -> str:
        """Return the holder that made the difference."""
        return (self.born if self.is_here else self.gone) or OUTSIDE

    def part_of(self, holder: str) -> bool:
        """Whether the line is in HEAD's version with the changes of `holder` and no others."""
        return self.gone != holder and (self.is_old or self.born == holder)

    def rest_of(self, holder: str) -> bool:
        """Whether the line is in HEAD's version with the changes of all except `holder`."""
        return self.gone in (None, holder) and (self.is_old or self.born != holder)


@dataclass(frozen=True, slots=True)
class Authors:
    """The authors of the difference between HEAD's version of a file and the present one.

    `holders` are all of them, with OUTSIDE for changes without a known author.
    """

    holders: frozenset[str]
    _entries: tuple[_Entry, ...] = field(repr=False)
    _mode_by: str
    old: Version | None = field(repr=False)
    new: Version | None = field(repr=False)
    _made_by: str | None = None

    @property
    def is_mode_alone(self) -> bool:
        """Whether the versions differ only in the executable bit, and the author of that is unknown."""
        is_same = self.old is not None and self.new is not None and self.old.content == self.new.content
        return is_same and self.holders == {OUTSIDE}

    def are_only(self, holder: str) -> bool:
        """Whether `holder` made all of it."""
        return self.holders <= {holder}

    def part(self, holder: str, path: str) -> Version | Inseparable | None:
        """Return HEAD's version with the changes of `holder` and of no other holder."""
        if self.are_only(holder):
            return self.new
        if holder not in self.holders:
            return self.old
        if self.new is None and self._entries[0].gone == holder:
            return None
        entangled = self._built_on_by(holder)
        if entangled:
            return Inseparable("it changes lines that they wrote and have not committed", tuple(sorted(entangled)))
        mine = self._text(entry for entry in self._entries if entry.part_of(holder))
        if mine is None:
            return None
        fault = self._fault(holder, path, mine)
        return fault or Version(mine, self._mode(holder))

    def _mode(self, holder: str) -> bool:
        shown = self.new if self._mode_by == holder or self.old is None else self.old
        return shown is not None and shown.is_executable

    def _built_on_by(self, holder: str) -> set[str]:
        """Return the authors of uncommitted lines that `holder` removed, or wrote in the middle of."""
        found: set[str] = {self._made_by} - {holder} if self._made_by is not None else set()
        for run in self._runs():
            if any(entry.differs and entry.author == holder for entry in run):
                found |= _taken_out(run, holder) | _written_around(run, holder)
        first = self._entries[0]
        if first.differs and first.is_here and first.author != holder:
            found.add(first.author)
        return found

    def _runs(self) -> Iterator[list[_Entry]]:
        """Yield the stretches between lines that both versions have, and those lines."""
        return _runs_of(self._entries)

    def _rest(self, holder: str) -> list[_Entry]:
        """Return HEAD's version with the changes of all others, except where they made them after `holder`."""
        found: list[_Entry] = []
        for run in self._runs():
            was_first = _was_first(run, holder)
            found += [entry for entry in run if (entry.part_of(holder) if was_first else entry.rest_of(holder))]
        return found

    def _is_mixed(self, holder: str) -> bool:
        authors = ({entry.author for entry in run if entry.differs} for run in self._runs())
        return any(holder in each and len(each) > 1 for each in authors)

    def _fault(self, holder: str, path: str, mine: bytes) -> Inseparable | None:
        others = tuple(sorted(self.holders - {holder}))
        old, new = (each.content if each else b"" for each in (self.old, self.new))
        if self._is_mixed(holder):
            rest = self._text(iter(self._rest(holder))) or b""
            if not isinstance(merge(old, mine, rest, path), Proven):
                return Inseparable("both changed the same place, and what each did cannot be proven apart", others)
        if problem_in(mine, path, old) and not (problem_in(old, path) or problem_in(new, path)):
            return Inseparable("without their uncommitted changes it would not be valid", others)
        return None

    @staticmethod
    def _text(entries: Iterator[_Entry]) -> bytes | None:
        lines = [entry.line for entry in entries]
        return b"".join(line for line in lines if line is not None) if _PRESENT in lines else None


def _runs_of(entries: Sequence[_Entry]) -> Iterator[list[_Entry]]:
    run: list[_Entry] = []
    for entry in entries:
        if entry.is_old and entry.is_here:
            yield from (run, [entry])
            run = []
        else:
            run.append(entry)
    yield run


def _was_first(run: Sequence[_Entry], holder: str) -> bool:
    """Whether `holder` made all its changes before others made theirs: then a state with these alone once existed."""
    committed_at = max((entry.born_at for entry in run if entry.is_old), default=0)
    acts = {act for entry in run for act in ((entry.born_at, entry.born), (entry.gone_at, entry.gone))}
    later = {(at, who) for at, who in acts if at > committed_at}
    mine = [at for at, who in later if who == holder]
    return max(mine, default=0) < min((at for at, who in later if who != holder), default=0)


def _taken_out(run: Sequence[_Entry], holder: str) -> set[str]:
    """Return the authors of lines that `holder` removed and HEAD lacks, except lines that were gone before it."""
    committed_at = max((entry.born_at for entry in run if entry.is_old), default=0)
    return {
        entry.born or OUTSIDE
        for entry in run
        if entry.gone == holder and entry.gone_at > committed_at and not entry.is_old and entry.born != holder
    }


def _written_around(run: Sequence[_Entry], holder: str) -> set[str]:
    """Return the authors of lines, written at one step, on both sides of lines that `holder` wrote."""
    loose = [entry for entry in run if not entry.is_old and entry.is_here]
    mine = [at for at, entry in enumerate(loose) if entry.born == holder]
    return {
        before.born or OUTSIDE
        for at in mine
        for before in loose[:at]
        if before.born != holder and any(after.born_at == before.born_at for after in loose[at + 1 :])
    }


def authors_of(
    old: Version | None, new: Version | None, steps: Sequence[Step], *, moved_by: str | None = None
) -> Authors:
    """Return the authors of the changes from HEAD's `old` to the present `new`; `steps` is the log, oldest first.

    If `moved_by` moved the file here, `old` is HEAD's version at its former path.
    """
    before, after = (each.content if each is not None else None for each in (old, new))
    start = _last_with(before, steps)
    known = steps if start is None else steps[start:]
    entries = _woven(before if start is not None or not steps else steps[0].before, after, known)
    if start is None and steps:
        entries = _placed(_lines(before), entries)
    else:
        for entry in entries:
            entry.is_old = entry.born is None
    _reconcile(entries)
    mode_by = _mode_author(old, new, steps)
    holders = {entry.author for entry in entries if entry.differs}
    if old and new and old.is_executable != new.is_executable:
        # If its author is unknown, the executable bit is credited to the only author of the text, if there is just one.
        mode_by = next(iter(holders)) if mode_by == OUTSIDE and len(holders) == 1 else mode_by
        holders.add(mode_by)
    moved = frozenset() if moved_by is None else frozenset({moved_by})
    return Authors(moved.union(holders), tuple(entries), mode_by, old, new, moved_by)


def replaced(old: Version | None, steps: Sequence[Step], moved_by: str | None = None) -> dict[str, tuple[bytes, ...]]:
    """Return the lines missing in HEAD (`old`) that the last step removed: by author, without its own.

    A holder whose only change was a removal that the step undid is listed without lines.
    """
    *earlier, last = steps
    was = None if last.before is None else Version(last.before)
    before = authors_of(old, was, earlier, moved_by=moved_by)
    number = 2 * len(steps) + 2
    entries = _advanced(list(before._entries), _lines(last.after), last.holder, number)  # noqa: SLF001 - of this module
    found: dict[str, list[bytes]] = {}
    for entry in entries:
        if entry.gone_at == number and entry.born and not entry.is_old and entry.born != last.holder:
            found.setdefault(entry.born, []).append(entry.line or b"")
    now = authors_of(old, None if last.after is None else Version(last.after), steps, moved_by=moved_by)
    for holder in before.holders - now.holders - {last.holder}:
        found.setdefault(holder, [])
    return {holder: tuple(lines) for holder, lines in found.items()}


def _reconcile(entries: Sequence[_Entry]) -> None:
    """Mark lines that were removed and added again, in one place, as no difference."""
    for run in _runs_of(entries):
        gone = [entry for entry in run if entry.is_old and not entry.is_here]
        come = [entry for entry in run if entry.is_here and not entry.is_old]
        for left, right in common([entry.line for entry in gone], [entry.line for entry in come]):
            gone[left].is_old, come[right].is_old = False, True


def _last_with(content: bytes | None, steps: Sequence[Step]) -> int | None:
    """Return the number of the first step after the file last equalled HEAD's version; None if it never did."""
    for number in range(len(steps), 0, -1):
        if steps[number - 1].after == content:
            return number
        if steps[number - 1].before == content:
            return number - 1
    return None


def _woven(start: bytes | None, end: bytes | None, steps: Sequence[Step]) -> list[_Entry]:
    """Return all lines that ever existed, in order. Changes between the steps have no known author."""
    states = [(content, who) for step in steps for content, who in ((step.before, OUTSIDE), (step.after, step.holder))]
    entries = [_Entry(line, None) for line in _lines(start)]
    for number, (content, who) in enumerate([*states, (end, OUTSIDE)], 1):
        entries = _advanced(entries, _lines(content), who, number)
    return entries


def _advanced(entries: list[_Entry], lines: Sequence[Line], who: str, number: int) -> list[_Entry]:
    """Return the entries after `who` changed the present lines to `lines`, at the step with that number."""
    here = [entry for entry in entries if entry.is_here]
    before = [entry.line for entry in here]
    if before == list(lines):
        return entries
    kept = {id(here[left]): right for left, right in common(before, lines)}
    found: list[_Entry] = []
    at = 0
    for entry in entries:
        right = kept.get(id(entry))
        if right is not None:
            found += [_Entry(line, who, number) for line in lines[at:right]]
            at = right + 1
        elif entry.is_here:
            entry.gone, entry.gone_at = who, number
        found.append(entry)
    return [*found, *(_Entry(line, who, number) for line in lines[at:])]


def _placed(old: Sequence[Line], entries: list[_Entry]) -> list[_Entry]:
    """Return the entries with HEAD's lines marked: those still present, then those that a holder removed."""
    here = [entry for entry in entries if entry.is_here]
    pairs = [*common(old, [entry.line for entry in here]), (len(old), len(here))]
    found: list[_Entry] = []
    rest = iter(entries)
    start = 0
    for left, right in pairs:
        until = here[right] if right < len(here) else None
        between = []
        for entry in rest:
            if entry is until:
                break
            between.append(entry)
        found += _with_lost(old[start:left], between)
        if until is not None:
            until.is_old = True
            found.append(until)
        start = left + 1
    return found


def _with_lost(old: Sequence[Line], between: list[_Entry]) -> list[_Entry]:
    """Return a stretch that is `old` in HEAD: each of its lines is one that was removed here, or an unknown one."""
    lost = [entry for entry in between if not entry.is_here]
    matched = {left: lost[right] for left, right in common(old, [entry.line for entry in lost])}
    found: list[_Entry] = []
    rest = iter(between)
    for number, line in enumerate(old):
        entry = matched.get(number)
        if entry is None:
            found.append(_Entry(line, None, gone=OUTSIDE, is_old=True))
            continue
        for each in rest:
            found.append(each)
            if each is entry:
                break
        entry.is_old = True
    return [*found, *rest]


def _lines(content: bytes | None) -> list[Line]:
    if content is None:
        return []
    is_binary = b"\0" in content[:_BINARY_SNIFF]
    return [_PRESENT, *([content] if is_binary else lines_of(content))]


def _mode_author(old: Version | None, new: Version | None, steps: Sequence[Step]) -> str:
    """Return the author of the present executable bit."""
    now = old is not None and old.is_executable
    by = OUTSIDE
    for step in steps:
        if step.is_executable is not None and step.is_executable != now:
            now, by = step.is_executable, step.holder
    return by if new is not None and new.is_executable == now else OUTSIDE
