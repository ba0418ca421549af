"""The context archive: the project's notes, found by words, and by the keys that they bear on."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Protocol

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.keys import Key, canonical, overlaps
from commonhold.tasks.bearing import Mentions, patterns_matching
from commonhold.tasks.notes import Note, Section

DEFAULT_BUDGET_TOKENS: Final = 600
CHARACTERS_PER_TOKEN: Final = 4
MOST_FOUND: Final = 200
MOST_QUOTES: Final = 10
LEAST_TOKENS: Final = 40
"""A rest of the budget below this is not used for the beginning of a section."""
_LINKED, _APPLIES, _PATH, _SYMBOL, _WORD = 100.0, 60.0, 40.0, 30.0, 2.0
_LEAST_WORDS: Final = 2
"""A section that bears on no key is quoted only if it has so many different words of the case."""
_WORDS: Final = re.compile(r"[^\W_][\w-]+")
_COMMON: Final = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "be", "but", "by", "can", "do", "does", "for", "from"),
        *("has", "have", "if", "in", "into", "is", "it", "its", "make", "may", "more", "must", "no"),
        *("not", "of", "on", "or", "our", "should", "so", "than", "that", "the", "their", "them", "then"),
        *("there", "these", "they", "this", "to", "use", "was", "we", "what", "when", "which", "will"),
        *("with", "add", "change", "fix", "new", "update", "work", "code", "file", "function"),
    }
)


@dataclass(frozen=True, slots=True)
class Found:
    """A section that a search found; the higher its `score`, the better it fits."""

    section: Section
    score: float


@dataclass(frozen=True, slots=True)
class Entry:
    """A note in the list of all: its title, how many `sections` it has, and its front matter."""

    path: str
    title: str
    sections: int
    kind: str
    date: str
    by: str
    applies_to: tuple[str, ...]
    problem: str


@dataclass(frozen=True, slots=True)
class Quote:
    """A section, or its beginning if it `is_cut`, that bears on a case; `why` says how."""

    section: Section
    why: str
    text: str
    is_cut: bool = False


class Sections(Protocol):
    """A searchable copy of the sections of one working tree, which can be rebuilt at any time."""

    def stamps(self) -> Mapping[str, str]:
        """Return the stamp of each note as it was copied, by path."""
        ...

    def update(self, changed: Iterable[tuple[str, Note]], gone: Iterable[str]) -> None:
        """Replace the copies of changed notes, each with its stamp, and drop those that are gone, all at once."""
        ...

    def entries(self) -> tuple[Entry, ...]:
        """Return the list of all notes, by path."""
        ...

    def note(self, path: str) -> Note | None:
        """Return one note; None if there is none at this path."""
        ...

    def close(self) -> None:
        """Close the copy."""
        ...

    def search(self, phrases: Sequence[str], *, needs_all: bool, limit: int) -> tuple[Found, ...]:
        """Return the sections that contain the phrases, best first: any of them, or with `needs_all` every one.

        A phrase is compared word by word, without regard to case and to the characters between words. A hit in a
        heading counts more than one in the text.
        """
        ...


class NoteFiles(Protocol):
    """The Markdown files of one working tree."""

    def stamps(self) -> Mapping[str, str]:
        """Return the path of each, with a stamp that differs after every change."""
        ...

    def read(self, path: str) -> Note | None:
        """Read one; None if it is gone. A file that cannot be read is a note with a problem."""
        ...


@dataclass
class _Candidate:
    section: Section
    score: float = 0.0
    reasons: list[tuple[float, str]] = field(default_factory=list)

    def add(self, score: float, why: str) -> None:
        self.score += score
        self.reasons.append((score, why))

    @property
    def why(self) -> str:
        return max(self.reasons)[1]


class Archive:
    """The notes of one working tree. Each call looks first for files that have changed."""

    def __init__(
        self,
        files: NoteFiles,
        sections: Sections,
        links: Callable[[], Mapping[str, Sequence[str]]] = dict,
        most_read: int | None = None,
    ) -> None:
        """Keep `sections` up to date with `files`. `links` returns the linked keys by the name of the section.

        A call that may not take long reads `most_read` changed notes at most; the next ones read the others.
        """
        self._files = files
        self._sections = sections
        self._links = links
        self._most_read = most_read

    def refresh(self) -> None:
        """Copy the notes that have changed since the last call."""
        known, present = self._sections.stamps(), self._files.stamps()
        changed = [path for path, stamp in present.items() if known.get(path) != stamp][: self._most_read]
        gone = [path for path in known if path not in present]
        if changed or gone:
            read = [(present[path], note) for path in changed if (note := self._files.read(path))]
            self._sections.update(read, gone)

    def close(self) -> None:
        """Close the copy of the notes."""
        self._sections.close()

    def entries(self) -> tuple[Entry, ...]:
        """Return the list of all notes, by path; those that could not be read have a `problem`."""
        self.refresh()
        return self._sections.entries()

    def beginnings(self, limit: int = MOST_FOUND) -> tuple[Section, ...]:
        """Return the first section with a text of each note, by path."""
        notes = (self._sections.note(each.path) for each in islice(self.entries(), limit))
        found = (next((each for each in note.sections if each.text.strip()), None) for note in notes if note)
        return tuple(filter(None, found))

    def search(self, words: str, limit: int = 20) -> tuple[Found, ...]:
        """Return the sections that have all the words, best first; those that have some of them if none has all."""
        self.refresh()
        phrases = words.split()
        most = max(1, min(limit, MOST_FOUND))
        found = self._sections.search(phrases, needs_all=True, limit=most)
        return found or self._sections.search(phrases, needs_all=False, limit=most)

    def show(self, name: str) -> tuple[Section, ...]:
        """Return the section with this name (`docs/a.md#2.1`, `docs/a.md#anchor`) and those below it; or a whole note.

        Raises InputError `FILE_NOT_FOUND` for a note that is not there or cannot be read, and `SECTION_UNKNOWN`.
        """
        self.refresh()
        path, _, mark = name.partition("#")
        note = self._sections.note(path)
        if note is None or note.problem:
            raise InputError(
                Code.FILE_NOT_FOUND,
                f"{path!r} is no note of this project" if note is None else f"{path!r} cannot be read: {note.problem}",
                hint="`commonhold archive list` shows the notes; they are Markdown files that git does not ignore",
                fields={"path": path},
            )
        if not mark:
            return note.sections
        start = next((each for each in note.sections if mark in (each.number, each.anchor)), None)
        if start is None:
            some = ", ".join(each.number for each in note.sections[:10])
            seen = f"it has the sections {some}; `commonhold archive list {note.path}` shows them"
            raise InputError(
                Code.SECTION_UNKNOWN,
                f"{note.path} has no section {mark!r}",
                hint=seen if some else "it is empty",
                fields={"path": note.path, "section": mark},
            )
        below = f"{start.number}."
        return tuple(each for each in note.sections if each is start or each.number.startswith(below))

    def relevant(
        self, keys: Iterable[str], words: str = "", budget_tokens: int = DEFAULT_BUDGET_TOKENS
    ) -> tuple[Quote, ...]:
        """Return the sections that bear on `keys`, best first, within a budget of about so many tokens.

        They are linked to a key, apply to it by their front matter, or mention its path or its symbol; or they have
        several of the `words`. A section that does not fit is cut. Raises InputError `KEY_INVALID`.
        """
        self.refresh()
        candidates = self._candidates([canonical(key) for key in keys], words)
        return tuple(_within(candidates, budget_tokens))

    def _candidates(self, keys: Sequence[Key], words: str) -> list[_Candidate]:
        found: dict[str, _Candidate] = {}

        def add(section: Section, score: float, why: str) -> None:
            found.setdefault(section.name, _Candidate(section)).add(score, why)

        for section, why in self._linked(keys):
            add(section, _LINKED, why)
        for entry in self._sections.entries() if keys else ():
            why = patterns_matching(entry.applies_to, keys)
            note = self._sections.note(entry.path) if why else None
            for section in note.sections if note else ():
                add(section, _APPLIES, why)
        for key in keys:
            for section, score, why in self._mentions(key):
                add(section, score, why)
        wanted = list(dict.fromkeys(each for each in _WORDS.findall(words.lower()) if each not in _COMMON))[:20]
        for hit in self._sections.search(wanted, needs_all=False, limit=MOST_FOUND) if wanted else ():
            section = hit.section
            present = set(_WORDS.findall(f"{section.title} {section.text}".lower()))
            count = sum(each in present for each in wanted)
            if section.name in found or count >= _LEAST_WORDS:
                add(section, _WORD * count, "it has words of the task")
        return sorted(found.values(), key=lambda each: (-each.score, each.section.path, each.section.line))

    def _linked(self, keys: Sequence[Key]) -> Iterator[tuple[Section, str]]:
        for name, linked in self._links().items():
            path, _, mark = name.partition("#")
            note = self._sections.note(path)
            texts = [text for text in linked if any(overlaps(canonical(text), key) for key in keys)]
            for section in note.sections if note and texts else ():
                if mark in (section.anchor, ""):
                    yield section, f"it is linked to {texts[0]}"

    def _mentions(self, key: Key) -> Iterator[tuple[Section, float, str]]:
        mentions = Mentions(key)
        ways = ((mentions.places, mentions.place_in, _PATH), (mentions.symbols, mentions.symbol_in, _SYMBOL))
        for phrases, find, score in ways:
            for found in self._sections.search(phrases, needs_all=False, limit=MOST_FOUND):
                if what := find(found.section):
                    yield found.section, score, f"it mentions {what}"


def tokens_of(text: str) -> int:
    """Return about how many tokens a text has."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _within(candidates: Iterable[_Candidate], budget_tokens: int) -> Iterator[Quote]:
    """Yield quotes of the candidates until the budget is used. Sections without text say nothing."""
    left, count = budget_tokens, 0
    for each in candidates:
        section = each.section
        rest = left - tokens_of(f"{section.name} {section.title} {each.why}")
        if not section.text.strip():
            continue
        if rest < LEAST_TOKENS or count == MOST_QUOTES:
            return
        text = _cut(section.text, rest)
        yield Quote(section, each.why, text, is_cut=len(text) < len(section.text))
        left, count = rest - tokens_of(text), count + 1


def _cut(text: str, tokens: int) -> str:
    """Return the beginning of a text, up to the end of a line or of a word."""
    most = tokens * CHARACTERS_PER_TOKEN
    if len(text) <= most:
        return text
    cut = text[:most]
    at = max(cut.rfind("\n"), cut.rfind(" "))
    return cut[:at].rstrip() if at > most // 2 else cut
