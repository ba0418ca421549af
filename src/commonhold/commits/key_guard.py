"""Keep other holders away from the keys that a commit writes, from the last check until it has taken effect."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Final, Protocol

from commonhold.kernel.commands import Acquire, Heartbeat, Release
from commonhold.kernel.errors import StoreError
from commonhold.kernel.keys import Key
from commonhold.kernel.lease import MAX_CONFLICTS, Conflict
from commonhold.kernel.lease_ports import Registry
from commonhold.kernel.modes import Mode
from commonhold.kernel.outcomes import Denied, Granted
from commonhold.kernel.ports import Ids, Store
from commonhold.leases.partial_work import PartialWorks

GUARD_SECONDS: Final = 60.0
GUARD: Final = "guard"
"""The acquisition id of a guard, which is no lease that the committer asked for."""


class Guard(Protocol):
    """Prevents leases of other holders on keys that are being written."""

    def room(self, store: Store) -> AbstractContextManager[object]:
        """Return the context in which a commit is decided."""
        ...

    @contextmanager
    def hold(self, holder: str, intent: str, keys: Sequence[Key]) -> Iterator[tuple[Conflict, ...]]:
        """Guard `keys` until the end of the block; yield the conflicting leases."""
        ...


class GateGuard:
    """The guard for leases in the repository's own store, whose gate keeps all others away already."""

    def __init__(self, registry: Registry, works: PartialWorks) -> None:
        """End expired leases in `registry`, and find the partial work under them."""
        self._registry = registry
        self._works = works

    def room(self, store: Store) -> AbstractContextManager[object]:
        """Return one transaction."""
        return store.write()

    @contextmanager
    def hold(self, holder: str, intent: str, keys: Sequence[Key]) -> Iterator[tuple[Conflict, ...]]:  # noqa: ARG002
        """Extend the holder's leases, and end expired ones before any verdict depends on them."""
        self._registry.execute(Heartbeat(holder))
        self._works.look_for(keys)
        yield ()


class LeaseGuard:
    """The guard for leases kept elsewhere: a short lease of the committer's own keeps others away."""

    def __init__(self, registry: Registry, works: PartialWorks, ids: Ids) -> None:
        """Lease at `registry`, under names from `ids`; look there for `works` before any file is overwritten."""
        self._registry = registry
        self._works = works
        self._ids = ids

    def room(self, store: Store) -> AbstractContextManager[object]:
        """Return the gate alone: readers of the state then need not wait for the lease server."""
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
            # The commit is decided by now; a guard that cannot be released expires by itself.
            with suppress(StoreError):
                if isinstance(outcome, Granted):
                    self._registry.execute(Release(lease_id, holder))
