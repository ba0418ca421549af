"""Whether the changes of two sides to a whole tree bear on each other, from one file to another."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.merging.bearing import Bearing, FileChange, bearing
from commonhold.merging.layout import FileElement
from commonhold.merging.profile import Profile
from commonhold.merging.profiles import profile_of
from commonhold.merging.prose import lines_of
from commonhold.regions.language import Language, parse
from commonhold.regions.languages import language_for
from commonhold.regions.reparsing import reparse

_WORD: Final = re.compile(rb"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Changed:
    """A file of the tree that one side or both changed; None where it is not there."""

    path: str
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None


def concerns(path: str) -> bool:
    """Whether files of this name are looked at."""
    language = language_for(path, b"")
    return language is not None and profile_of(language) is not None


def bearings(files: Iterable[Changed]) -> list[Bearing]:
    """Where one side came to call what the other, in another file, took away or made behave in another way.

    What meets inside one file is found by `merge`. Files in languages without a profile, and versions that are not
    sound, are not looked at. A file is parsed only where a word of it stands in what the other side wrote.
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
    sides = [_side({each.path: (each.base, getattr(each, name)) for each in files}) for name in ("ours", "theirs")]
    mine, others = sides
    found = bearing(
        _parsed(mine, _words(others), language, profile),
        _parsed(others, _words(mine), language, profile),
        profile,
    )
    return [each for each in found if each.ours_path != each.theirs_path]


_Side = Mapping[str, tuple[bytes, bytes]]


def _side(files: Mapping[str, tuple[bytes | None, bytes | None]]) -> _Side:
    return {path: (base or b"", now or b"") for path, (base, now) in files.items() if base != now}


def _words(side: _Side) -> dict[str, frozenset[bytes]]:
    """The words in the lines that a side wrote or took away, file by file."""
    return {path: frozenset(_WORD.findall(b"".join(_changed_lines(*texts)))) for path, texts in side.items()}


def _changed_lines(base: bytes, now: bytes) -> Iterable[bytes]:
    before, after = Counter(lines_of(base)), Counter(lines_of(now))
    return [*(after - before), *(before - after)]


def _parsed(
    side: _Side, others: Mapping[str, frozenset[bytes]], language: Language, profile: Profile
) -> list[FileChange]:
    """The files of a side that may have to do with what the other wrote elsewhere."""
    changes = []
    for path, (base, now) in side.items():
        elsewhere = frozenset().union(*(words for other, words in others.items() if other != path))
        if elsewhere.isdisjoint(_WORD.findall(base + now)):
            continue
        tree = parse(base, language)
        trees = (tree, reparse(tree, base, now, language))
        if not any(each.root_node.has_error for each in trees):
            before, after = (FileElement(text, profile, each) for text, each in zip((base, now), trees, strict=True))
            changes.append(FileChange(path, before, after))
    return changes
