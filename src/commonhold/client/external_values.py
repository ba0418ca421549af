"""Keys that stand for an external value: a row of a database, an answer of a service.

Such a key is checked optimistically like any other: its value is read with its hash, and a commit that relies on it is
refused if the value has changed. The check is made right before the commit, not in one step with it: between the two
the value can change. If that must not happen, hold a lease on the key, and let every writer of the value hold one too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from commonhold.client.effects import Call, Steps
from commonhold.kernel.keys import contains, parse, pattern_key
from commonhold.kernel.refusals import Refusal

if TYPE_CHECKING:
    from commonhold.kernel.answers import CommitAnswer
    from commonhold.kernel.changeset import Changeset
    from commonhold.kernel.values import Value

Resolver = Callable[[str], bytes]
"""Returns the present value of a key as bytes: equal bytes mean that the value is the same."""


class Resolvers:
    """The resolvers of a session, each by the key that it serves, with all keys below it."""

    def __init__(self, by_pattern: Mapping[str, Resolver]) -> None:
        """Take resolvers by keys such as `account:*`."""
        self._by_key = {pattern_key(pattern): resolver for pattern, resolver in by_pattern.items()}

    def hash_of(self, text: str) -> str | None:
        """Return the hash of the external value of a key; None if it has none."""
        key = parse(text).key()
        around = [pattern for pattern in self._by_key if contains(pattern, key)]
        innermost = max(around, key=lambda pattern: len(pattern.path), default=None)
        # Loaded here, as below: few sessions have resolvers.
        from commonhold.code.regions.region import hash_bytes  # noqa: PLC0415

        return None if innermost is None else hash_bytes(self._by_key[innermost](text))


def version_of(resolvers: Resolvers, key: str) -> Steps[str]:
    """Return the hash to name for a free key in the reads of a changeset: of its external value, or its version."""
    outside = resolvers.hash_of(key)
    if outside is not None:
        return outside
    value: Value = yield Call("get", (key,))
    return str(value.version)


def commit(resolvers: Resolvers, changeset: Changeset, *, dry_run: bool = False) -> Steps[CommitAnswer]:
    """Apply all edits of a changeset or none, if the external values that they rely on are unchanged."""
    outside = {read: now for read in changeset.reads if (now := resolvers.hash_of(read.key)) is not None}
    changed = [read.key for read, now in outside.items() if read.hash != now]
    if changed:
        return _refused(changed)
    inside = tuple(read for read in changeset.reads if read not in outside)
    answer: CommitAnswer = yield Call("commit", (replace(changeset, reads=inside),), {"dry_run": dry_run})
    return answer


def _refused(changed: Sequence[str]) -> CommitAnswer:
    why = f"{', '.join(changed)}, which the edits rely on, stands for something else than when it was read"
    from commonhold.kernel.answers import CommitAnswer, Next  # noqa: PLC0415

    step = Next("get", {"keys": list(changed)}, "look at it again, decide again, then commit with its current version")
    return CommitAnswer("refused", Refusal.READ_CHANGED, why, next=step)
