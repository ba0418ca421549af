"""Keeping others away from what a commit writes, from the last check until it has taken effect."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Final, Protocol

from commonhold.app.partial_work import PartialWorks
from commonhold.app.ports import Ids, Registry, Store
from commonhold.domain.commands import Acquire, Release, Show
from commonhold.domain.errors import StoreError
from commonhold.domain.keys import Key
from commonhold.domain.lease import MAX_CONFLICTS, Conflict
from commonhold.domain.modes import Mode
from commonhold.domain.outcomes import Denied, Granted

GUARD_SECONDS: Final = 60.0
GUARD: Final = "guard"
"""The acquisition id of a guard, which is no lease that the committer asked for."""


class Guard(Protocol):
    """Sees to it that no other gets a lease on what is being written."""

    def room(self, store: Store) -> AbstractContextManager[object]:
        """What a commit is decided in."""
        ...

    @contextmanager
    def hold(self, holder: str, intent: str, keys: Sequence[Key]) -> Iterator[tuple[Conflict, ...]]:
        """Guard `keys` until the end of the block, or say what stands against it."""
        ...


class GateGuard:
    """Where leases live in the repository's own store, its gate keeps everybody away already."""

    def __init__(self, registry: Registry, works: PartialWorks) -> None:
        """Clear away what is over in `registry`, and what was left under it."""
        self._registry = registry
        self._works = works

    def room(self, store: Store) -> AbstractContextManager[object]:
        """One transaction."""
        return store.write()

    @contextmanager
    def hold(self, holder: str, intent: str, keys: Sequence[Key]) -> Iterator[tuple[Conflict, ...]]:  # noqa: ARG002
        """Let the holder's leases last on, and end what is over before anything is judged by it."""
        self._registry.execute(Show(holder))
        self._works.look_for(keys)
        yield ()


class LeaseGuard:
    """Where leases are kept elsewhere, a short lease of the committer's own keeps others away."""

    def __init__(self, registry: Registry, works: PartialWorks, ids: Ids) -> None:
        """Lease at `registry`, under names from `ids`; look there for `works` before anything is written over."""
        self._registry = registry
        self._works = works
        self._ids = ids

    def room(self, store: Store) -> AbstractContextManager[object]:
        """The gate alone: who only looks at the state does not wait for the server that keeps the leases."""
        return store.gate()

    @contextmanager
    def hold(self, holder: str, intent: str, keys: Sequence[Key]) -> Iterator[tuple[Conflict, ...]]:
        """Lease the keys for as long as a commit can take."""
        wanted = tuple(sorted(dict.fromkeys(keys)))
        if not wanted:
            yield ()
            return
        lease_id = self._ids.new("guard")
        outcome = self._registry.execute(
            Acquire(lease_id, GUARD, holder, intent, wanted, Mode.EXCLUSIVE, GUARD_SECONDS)
        )
        try:
            self._works.look_for(wanted)
            yield outcome.conflicts[:MAX_CONFLICTS] if isinstance(outcome, Denied) else ()
        finally:
            # The commit is what it is by now; a guard that cannot be released ends by itself.
            with suppress(StoreError):
                if isinstance(outcome, Granted):
                    self._registry.execute(Release(lease_id, holder))
