"""The complaints of a checker about a state of the files that it did not have about the one before."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from commonhold.code.type_checkers import Diagnostic

Findings = Mapping[str, Sequence[Diagnostic]]
Texts = Mapping[str, str]

_Kind = tuple[str, str, str]
_QUOTED: Final = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|\b\d+\b")


def newly_said(before: Findings, after: Findings, texts: Texts, new_texts: Texts) -> tuple[Diagnostic, ...]:
    """Return the later complaints that have no like before, by place. `texts` and `new_texts` were checked.

    Two are alike if they say the same of the same file, on whatever line; or if they stand on the same line, and only
    the text that they quote differs. A complaint that went with a file may come with another.
    """
    moved = set(texts) ^ set(new_texts)
    old = _by_kind(before, moved)
    new = _by_kind(after, moved)
    found = [one for kind, many in new.items() for one in _unlike(old[kind], many, _moving(kind[0], texts, new_texts))]
    gone = [one for kind, many in old.items() for one in _unlike(new[kind], many, _moving(kind[0], new_texts, texts))]
    found = _less_restated(found, gone, lambda path: _moving("" if path in moved else path, texts, new_texts))
    return tuple(sorted(found, key=lambda one: (one.path, one.line, one.code, one.message)))


def _less_restated(
    found: Sequence[Diagnostic], gone: Sequence[Diagnostic], moving: Callable[[str], Callable[[int], int]]
) -> list[Diagnostic]:
    """Return the complaints without those that replace one that is `gone`, and differ only in the quoted text."""
    old = Counter((one.path, moving(one.path)(one.line), one.code, _QUOTED.sub("", one.message)) for one in gone)
    left: list[Diagnostic] = []
    for one in found:
        place = one.path, one.line, one.code, _QUOTED.sub("", one.message)
        if old[place] > 0:
            old[place] -= 1
        else:
            left.append(one)
    return left


def _by_kind(findings: Findings, moved: set[str]) -> defaultdict[_Kind, list[Diagnostic]]:
    kinds: defaultdict[_Kind, list[Diagnostic]] = defaultdict(list)
    for path, many in findings.items():
        for one in many:
            kinds["" if path in moved else path, one.code, one.message].append(one)
    return kinds


def _unlike(old: Sequence[Diagnostic], new: Sequence[Diagnostic], moving: Callable[[int], int]) -> Sequence[Diagnostic]:
    """Return the surplus of `new` over `old`: complaints on lines without an old one come first."""
    if len(new) <= len(old):
        return ()
    places = Counter(moving(one.line) for one in old)
    elsewhere: list[Diagnostic] = []
    there: list[Diagnostic] = []
    for one in new:
        (there if places[one.line] > 0 else elsewhere).append(one)
        places[one.line] -= 1
    return (elsewhere + there)[: len(new) - len(old)]


def _moving(path: str, texts: Texts, new_texts: Texts) -> Callable[[int], int]:
    """Return a map from old to new lines: above all changes a line stays, below them it moves with the end."""
    if not path or texts[path] == new_texts[path]:
        return int
    old, new = texts[path].splitlines(), new_texts[path].splitlines()
    same = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), len(old))
    shift = len(new) - len(old)
    return lambda line: line if line <= same else line + shift
