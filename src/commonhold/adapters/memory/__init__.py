"""State in memory: a store for tests and trials, and the index of leases that a daemon answers from."""

from commonhold.adapters.memory.index import LeaseIndex
from commonhold.adapters.memory.store import MemoryStore

__all__ = ["LeaseIndex", "MemoryStore"]
