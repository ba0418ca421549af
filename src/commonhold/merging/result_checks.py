"""The checks that every merged text must pass, however it was made: sound, nothing lost or doubled, all edits there."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.code.regions.syntax import problem_in
from commonhold.merging.doubled import doubled
from commonhold.merging.layout import TOKEN, Element, Shape
from commonhold.merging.prose import lines_of, without_shared_ends
from commonhold.merging.tables import in_another_table
from commonhold.merging.verdict import Reason, Spot

_PUNCTUATION: Final = frozenset({b",", b";"})


def fault_in(merged: bytes, versions: tuple[bytes, bytes, bytes], path: str) -> Spot | None:
    """Return why a text cannot be a merge of base, ours and theirs; None if no check fails."""
    problem = problem_in(merged, path, versions[1])
    if problem is not None and not any(problem_in(side, path) for side in versions[1:]):
        return Spot(Reason.GATE, f"put together it would not be sound: {problem.message}")
    wrong = miscounted(merged, versions)
    if wrong:
        shown = ", ".join(repr(token.decode(errors="replace")) for token in wrong[:3])
        return Spot(Reason.GATE, f"put together it would lose or repeat {shown}")
    return in_another_table(merged, versions) if path.endswith(".toml") else None


def miscounted(merged: bytes, versions: tuple[bytes, bytes, bytes]) -> list[bytes]:
    """Return the tokens that a merge has too few or too many of.

    A token that one side added or removed must be added or removed as often in the merge; if both sides did so, their
    edits may be the same one. This is a necessary condition: a token that it returns is wrong, a text that passes may
    still be wrong.
    """
    base, *others = (Counter(lines_of(text)) for text in without_shared_ends(*versions, merged))
    ours, theirs, now = (_Edited.of(base, each) for each in others)
    return sorted(token for token in _all_tokens(ours, theirs, now) if not _adds_up(token, ours, theirs, now))


@dataclass(frozen=True, slots=True)
class _Edited:
    """How often each token stands in the lines that a version has more of, or fewer of, than the base."""

    added: Counter[bytes]
    removed: Counter[bytes]

    @classmethod
    def of(cls, base: Counter[bytes], version: Counter[bytes]) -> "_Edited":
        """Compare the lines of a version with those of the base."""
        return cls(_tokens(version - base), _tokens(base - version))

    def net(self, token: bytes) -> int:
        """Return how many more of a token there are."""
        return self.added[token] - self.removed[token]


def _all_tokens(*edits: _Edited) -> set[bytes]:
    return {token for each in edits for token in (*each.added, *each.removed)} - _PUNCTUATION


def _adds_up(token: bytes, ours: _Edited, theirs: _Edited, now: _Edited) -> bool:
    added, removed = (ours.added[token], theirs.added[token]), (ours.removed[token], theirs.removed[token])
    return max(added) - sum(removed) <= now.net(token) <= sum(added) - max(removed)


def _tokens(lines: Counter[bytes]) -> Counter[bytes]:
    found: Counter[bytes] = Counter()
    for line, count in lines.items():
        for token in TOKEN.findall(line):
            found[token] += count
    return found


def doubled_names(merged: Element, versions: Sequence[Element]) -> list[bytes]:
    """Return definitions that stand more often in one block of the merge than in any version of it."""
    return sorted(doubled(merged, versions, _names))


def _names(element: Element, around: bytes = b"") -> Iterator[bytes]:
    for child in element.children:
        if child.node.type in child.profile.sections:
            for part in child.children:
                yield from _names(part, around) if part.shape is Shape.BLOCK else ()
        if child.is_definition and child.name is not None:
            yield around + child.name
            if child.definition.type in child.profile.classes:
                bodies = (part for part in child.children if part.shape is Shape.BLOCK)
                for body in bodies:
                    yield from _names(body, around + child.name + b".")
