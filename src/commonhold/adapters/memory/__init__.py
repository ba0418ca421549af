"""State in memory: a store for tests and trials, the index of leases that a daemon answers from,
and an index of files for tests.
"""

from commonhold.adapters.memory.index import LeaseIndex
from commonhold.adapters.memory.store import MemoryStore
from commonhold.adapters.memory.summaries import MemoryIndex

__all__ = ["LeaseIndex", "MemoryIndex", "MemoryStore"]
