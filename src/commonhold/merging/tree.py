"""Whether the changes of two sides to a whole tree interfere with each other, from one file to another."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.code.regions.budget import BudgetExceededError
from commonhold.code.regions.incremental_parse import reparse
from commonhold.code.regions.language import Language, parse
from commonhold.code.regions.languages import language_for
from commonhold.merging.changed_rows import changed_lines
from commonhold.merging.cross_file_interference import Bearing, FileChange, bearing
from commonhold.merging.layout import FileElement
from commonhold.merging.package_names import given_in_two_files
from commonhold.merging.profile import Profile
from commonhold.merging.profiles import profile_of

_WORD: Final = re.compile(rb"[^\W\d]\w*")
# Names that other code may use: after the keyword of a type, or before a bracket.
_TYPE: Final = re.compile(
    rb"\b(?:enum\s+class|enum\s+struct|class|enum|interface|protocol|record|struct|trait|type)\s+(\w+)"
)
_CALLABLE: Final = re.compile(rb"\b[^\W\d]\w*(?=[(<{])")
_PART: Final = re.compile(rb"\bpartial\s+(?:class|struct|record|interface)\b|^(?:static|extern)\s", re.MULTILINE)
_VALUE: Final = re.compile(rb"\b(?:const|let|val|var)\s+(\w+)")


@dataclass(frozen=True, slots=True)
class Changed:
    """A file of the tree that one side or both changed; None for a version that does not have it."""

    path: str
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None


def concerns(path: str) -> bool:
    """Whether files of this name are examined."""
    language = language_for(path, b"")
    return language is not None and profile_of(language) is not None


def bearings(files: Iterable[Changed]) -> list[Bearing]:
    """Find new calls by one side of functions that the other, in another file, removed or made behave in another way.

    Names that both sides define in two files of one package are found as well.

    Interference inside one file is found by `merge`. Files in languages without a profile, and versions that are not
    sound, are not examined. A file is parsed only if it shares a word with the other side's changes.
    """
    languages: dict[Language, list[Changed]] = {}
    for file in files:
        language = language_for(file.path, file.base or file.ours or file.theirs or b"")
        if language is not None:
            languages.setdefault(language, []).append(file)
    return [found for language, group in languages.items() for found in _bearings(group, language)]


def _bearings(files: Sequence[Changed], language: Language) -> list[Bearing]:
    profile = profile_of(language)
    if profile is None:
        return []
    ours, theirs = (_Side.of(files, name) for name in ("ours", "theirs"))
    mine, others = ours.parsed(theirs, language, profile), theirs.parsed(ours, language, profile)
    found = [*bearing(mine, others), *given_in_two_files(mine, others)]
    return [each for each in found if each.ours_path != each.theirs_path]


@dataclass(frozen=True, slots=True)
class _Side:
    """The files that a side changed, before and after; the words that it wrote, and the names that others may use."""

    files: Mapping[str, tuple[bytes, bytes]]
    written: Mapping[str, frozenset[bytes]]
    offered: Mapping[str, frozenset[bytes]]

    @classmethod
    def of(cls, changed: Sequence[Changed], name: str) -> "_Side":
        """Collect the changes of the side of that name."""
        versions = ((each.path, each.base, each.ours if name == "ours" else each.theirs) for each in changed)
        files = {path: (base or b"", now or b"") for path, base, now in versions if base != now}
        written = {path: _changed_words(*texts) for path, texts in files.items()}
        offered = {path: _offered(*texts) for path, texts in files.items()}
        return cls(files, written, offered)

    def parsed(self, other: "_Side", language: Language, profile: Profile) -> list[FileChange]:
        """Return the files that may be related to the other side's changes in other files."""
        wanted = _Elsewhere(other.written), _Elsewhere(other.offered)
        near = (
            path
            for path in self.files
            if wanted[0].meets(path, self.offered[path]) or wanted[1].meets(path, self.written[path])
        )
        changes = (_file_change(path, *self.files[path], language, profile) for path in near)
        return [each for each in changes if each is not None]


class _Elsewhere:
    """Words, and in how many files each of them stands."""

    def __init__(self, words: Mapping[str, frozenset[bytes]]) -> None:
        self._words = words
        self._counts = Counter(word for each in words.values() for word in each)

    def meets(self, path: str, words: frozenset[bytes]) -> bool:
        """Whether one of the words stands in a file other than this."""
        own = self._words.get(path, frozenset())
        return any(self._counts[word] > (word in own) for word in words)


def _changed_words(base: bytes, now: bytes) -> frozenset[bytes]:
    return frozenset(word for lines in changed_lines(base, now) for word in _WORD.findall(b"".join(lines)))


def _offered(base: bytes, now: bytes) -> frozenset[bytes]:
    """Return the names that others may call or inherit from, and words of removed lines that the file lost."""
    gone = _WORD.findall(b"".join(changed_lines(base, now)[0]))
    found = frozenset(gone).difference(_WORD.findall(now)) if gone else frozenset()
    if _PART.search(now):  # its fields, or its variables, are names in other files
        found |= _changed_words(base, now)
    return found.union(*(pattern.findall(text) for pattern in (_TYPE, _CALLABLE, _VALUE) for text in (base, now)))


def _file_change(path: str, base: bytes, now: bytes, language: Language, profile: Profile) -> FileChange | None:
    try:
        tree = parse(base, language)
        trees = (tree, reparse(tree, base, now, language))
    except BudgetExceededError:
        return None
    if profile.is_exact and any(each.root_node.has_error for each in trees):
        return None
    before, after = (FileElement(text, profile, each) for text, each in zip((base, now), trees, strict=True))
    return FileChange(path, before, after)
