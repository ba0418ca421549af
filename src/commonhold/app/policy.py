"""Which keys need a lease before they are changed: the project says so, by pattern."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from commonhold.domain.keys import Key, contains


class Policy(StrEnum):
    """How a key is protected.

    OPTIMISTIC: a change needs no lease, only that what it was based on is still there. PESSIMISTIC: whoever changes
    it must hold it, so nobody thinks over it in vain.
    """

    OPTIMISTIC = "optimistic"
    PESSIMISTIC = "pessimistic"


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies of a project, by the key that each is for: the innermost pattern around a key decides."""

    by_pattern: Mapping[Key, Policy] = field(default_factory=dict)

    def of(self, key: Key) -> Policy:
        """The policy of one key."""
        patterns = [pattern for pattern in self.by_pattern if contains(pattern, key)]
        innermost = max(patterns, key=lambda pattern: (len(pattern.path), len(pattern.names)), default=None)
        return Policy.OPTIMISTIC if innermost is None else self.by_pattern[innermost]

    def held_first(self, keys: Iterable[Key]) -> tuple[Key, ...]:
        """What must be held before `keys` are written: those of them, and what is in them, that are pessimistic."""
        if not self.by_pattern:
            return ()
        written = tuple(keys)
        held = [key for key in written if self.of(key) is Policy.PESSIMISTIC]
        inside = [pattern for pattern in self.by_pattern if any(contains(key, pattern) for key in written)]
        return tuple(dict.fromkeys((*held, *(key for key in inside if self.of(key) is Policy.PESSIMISTIC))))
