"""Which keys need a lease before they are changed, are never merged, or must be read again: the project says so."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from commonhold.domain.keys import Key, contains

W = TypeVar("W", bound=StrEnum)


class Policy(StrEnum):
    """How a key is protected.

    OPTIMISTIC: a change needs no lease, only that what it was based on is still there. PESSIMISTIC: whoever changes
    it must hold it, so nobody thinks over it in vain.
    """

    OPTIMISTIC = "optimistic"
    PESSIMISTIC = "pessimistic"


class Merging(StrEnum):
    """What becomes of an edit whose base has moved.

    PROVEN: it is merged where that can be shown to be right, and refused elsewhere. NEVER: it is refused.
    """

    PROVEN = "proven"
    NEVER = "never"


class Suspicion(StrEnum):
    """What becomes of a commit that may concern others of whom nothing but a name tells.

    ESCALATE: whoever commits has to lease what they are in first. TESTS: the tests that it may concern are run on it,
    and it escalates if they fail or there are none. NOTICE: it is told.
    """

    ESCALATE = "escalate"
    TESTS = "tests"
    NOTICE = "notice"


class Rereading(StrEnum):
    """What becomes of new text that uses code whose body another changed since its author read it.

    NOTICE: the author is told, once, and writes on. CHECK: it is refused until the author has read the code again.
    """

    NOTICE = "notice"
    CHECK = "check"


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies of a project, by the key that each is for: the innermost pattern around a key decides."""

    by_pattern: Mapping[Key, Policy] = field(default_factory=dict)
    merging: Mapping[Key, Merging] = field(default_factory=dict)
    rereading: Mapping[Key, Rereading] = field(default_factory=dict)
    suspicions: Mapping[Key, Suspicion] = field(default_factory=dict)

    def of(self, key: Key) -> Policy:
        """The policy of one key."""
        return _innermost(self.by_pattern, key, Policy.OPTIMISTIC)

    def on_suspicion(self, key: Key) -> Suspicion:
        """What becomes of a change of `key` that may concern others."""
        return _innermost(self.suspicions, key, Suspicion.ESCALATE)

    def merges(self, key: Key) -> bool:
        """Whether an edit of `key` may be merged: nothing around it or in it says never."""
        inside = [pattern for pattern in self.merging if contains(key, pattern)]
        return all(_innermost(self.merging, each, Merging.PROVEN) is Merging.PROVEN for each in (key, *inside))

    def wants_reread(self, key: Key) -> bool:
        """Whether code that was changed in its body has to be read again before new text may use it."""
        return _innermost(self.rereading, key, Rereading.NOTICE) is Rereading.CHECK

    def held_first(self, keys: Iterable[Key]) -> tuple[Key, ...]:
        """What must be held before `keys` are written: those of them, and what is in them, that are pessimistic."""
        if not self.by_pattern:
            return ()
        written = tuple(keys)
        held = [key for key in written if self.of(key) is Policy.PESSIMISTIC]
        inside = [pattern for pattern in self.by_pattern if any(contains(key, pattern) for key in written)]
        return tuple(dict.fromkeys((*held, *(key for key in inside if self.of(key) is Policy.PESSIMISTIC))))


def _innermost(words: Mapping[Key, W], key: Key, usual: W) -> W:
    """What is said of a key by the innermost of the patterns around it."""
    patterns = [pattern for pattern in words if contains(pattern, key)]
    innermost = max(patterns, key=lambda pattern: (len(pattern.path), len(pattern.names)), default=None)
    return usual if innermost is None else words[innermost]
