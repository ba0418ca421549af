"""State in memory: stores and an index for tests and trials, and the index of leases that a daemon answers from."""

from commonhold.adapters.memory.index import LeaseIndex
from commonhold.adapters.memory.store import MemoryStore
from commonhold.adapters.memory.summaries import MemoryIndex

__all__ = ["LeaseIndex", "MemoryIndex", "MemoryStore"]
