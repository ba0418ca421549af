"""A working tree with its state."""

from dataclasses import dataclass

from commonhold.app.ports import Clock, Files, Registry, Store


@dataclass(frozen=True, slots=True)
class Place:
    """A working tree, its state, and its name among all that share the leases."""

    store: Store
    files: Files
    registry: Registry
    clock: Clock
    name: str
