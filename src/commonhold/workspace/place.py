"""A working tree with its state."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from commonhold.kernel.files import Files
from commonhold.kernel.lease_ports import Registry
from commonhold.kernel.ports import Clock, Store
from commonhold.workspace.in_flight import InFlight


@dataclass(frozen=True, slots=True)
class WorktreeState:
    """A working tree, its state, its name among all that share the leases, and the commits that are `in_flight`."""

    store: Store
    files: Files
    registry: Registry
    clock: Clock
    name: str
    in_flight: InFlight

    @property
    def is_shared(self) -> bool:
        """Whether leases are kept elsewhere than in the state, for other machines too."""
        return self.name != self.files.root

    @contextmanager
    def gate(self) -> Iterator[None]:
        """Hold the write lock exclusively, with no commit in flight."""
        with self.in_flight.alone(), self.store.gate():
            yield

    @contextmanager
    def together(self) -> Iterator[None]:
        """Run the block as one atomic step, as `Registry.together`, with no commit in flight."""
        with self.in_flight.alone(), self.registry.together():
            yield
