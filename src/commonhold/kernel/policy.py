"""The project's policies: which keys need a lease before a change, are never merged, or must be read again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from commonhold.kernel.keys import Key, contains

W = TypeVar("W", bound=StrEnum)


class Policy(StrEnum):
    """How a key is protected.

    OPTIMISTIC: a change needs no lease, only an unchanged base. PESSIMISTIC: a writer must hold a lease on it, so that
    no work on it is in vain.
    """

    OPTIMISTIC = "optimistic"
    PESSIMISTIC = "pessimistic"


class Merging(StrEnum):
    """The treatment of an edit whose base has changed.

    PROVEN: it is merged if the merge is proven correct, and refused otherwise. NEVER: it is refused.
    """

    PROVEN = "proven"
    NEVER = "never"


class Suspicion(StrEnum):
    """The treatment of a commit that others are suspected to depend on, by name only.

    ESCALATE: the committer must first lease the files that may depend on it. TESTS: the tests that it may affect are
    run on it, and it escalates if they fail or there are none. NOTICE: the committer gets a notice.
    """

    ESCALATE = "escalate"
    TESTS = "tests"
    NOTICE = "notice"


class Rereading(StrEnum):
    """The treatment of new text that uses code whose body another changed since its author read it.

    NOTICE: the author gets one notice, and continues. CHECK: the text is refused until the author has read the code
    again.
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
        """Return the policy of one key."""
        return _innermost(self.by_pattern, key, Policy.OPTIMISTIC)

    def on_suspicion(self, key: Key) -> Suspicion:
        """Return the treatment of a change to `key` that others are suspected to depend on."""
        return _innermost(self.suspicions, key, Suspicion.ESCALATE)

    def merges(self, key: Key) -> bool:
        """Whether an edit of `key` may be merged: no pattern around it or in it says never."""
        inside = [pattern for pattern in self.merging if contains(key, pattern)]
        return all(_innermost(self.merging, each, Merging.PROVEN) is Merging.PROVEN for each in (key, *inside))

    def wants_reread(self, key: Key) -> bool:
        """Whether code with a changed body must be read again before new text may use it."""
        return _innermost(self.rereading, key, Rereading.NOTICE) is Rereading.CHECK

    def held_first(self, keys: Iterable[Key]) -> tuple[Key, ...]:
        """Return the pessimistic keys among `keys` and inside them: they must be held before `keys` are written."""
        if not self.by_pattern:
            return ()
        written = tuple(keys)
        held = [key for key in written if self.of(key) is Policy.PESSIMISTIC]
        inside = [pattern for pattern in self.by_pattern if any(contains(key, pattern) for key in written)]
        return tuple(dict.fromkeys((*held, *(key for key in inside if self.of(key) is Policy.PESSIMISTIC))))


def _innermost(words: Mapping[Key, W], key: Key, usual: W) -> W:
    """Return the word of the innermost pattern around a key."""
    patterns = [pattern for pattern in words if contains(pattern, key)]
    innermost = max(patterns, key=lambda pattern: (len(pattern.path), len(pattern.names)), default=None)
    return usual if innermost is None else words[innermost]
