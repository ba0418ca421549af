"""What a checker says of a state of the files that it did not say of the one before."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from commonhold.app.typing import Diagnostic

Findings = Mapping[str, Sequence[Diagnostic]]
Texts = Mapping[str, str]

_Kind = tuple[str, str, str]


def newly_said(before: Findings, after: Findings, texts: Texts, new_texts: Texts) -> tuple[Diagnostic, ...]:
    """The complaints after that have no like before, by place. `texts` and `new_texts` are those that were checked.

    Two are alike if they say the same of the same file, on whatever line. What went with a file may come with another.
    """
    moved = set(texts) ^ set(new_texts)
    old = _by_kind(before, moved)
    new = _by_kind(after, moved)
    found = [one for kind, many in new.items() for one in _unlike(old[kind], many, _moving(kind[0], texts, new_texts))]
    return tuple(sorted(found, key=lambda one: (one.path, one.line, one.code, one.message)))


def _by_kind(findings: Findings, moved: set[str]) -> defaultdict[_Kind, list[Diagnostic]]:
    kinds: defaultdict[_Kind, list[Diagnostic]] = defaultdict(list)
    for path, many in findings.items():
        for one in many:
            kinds["" if path in moved else path, one.code, one.message].append(one)
    return kinds


def _unlike(old: Sequence[Diagnostic], new: Sequence[Diagnostic], moving: Callable[[int], int]) -> Sequence[Diagnostic]:
    """As many of `new` as are more than `old`: those first that are where none was."""
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
    """Where a line went: above all changes it stays, below them it keeps its distance from the end."""
    if not path or texts[path] == new_texts[path]:
        return int
    old, new = texts[path].splitlines(), new_texts[path].splitlines()
    same = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), len(old))
    shift = len(new) - len(old)
    return lambda line: line if line <= same else line + shift
