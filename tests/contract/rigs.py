"""The stores that the suite is run on, each with a clock that a test moves."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.in_memory.store import MemoryStore

from commonhold.kernel.lease_ports import Registry
from commonhold.landing.queue import EntryQueue
from commonhold.leases.registry import TableRegistry
from commonhold.runs.queue import RunQueue
from commonhold.sessions.queue import SessionQueue
from commonhold.stores.postgres import open_postgres
from commonhold.stores.postgres.tables import PostgresTables
from commonhold.stores.redis import open_redis
from commonhold.stores.sqlite.store import SqliteStore
from commonhold.tasks.queue import TaskQueue
from commonhold.testing import FakeClock


@dataclass
class MemoryRig:
    """One store in memory, which all clients share."""

    store: MemoryStore = field(default_factory=MemoryStore)
    clock: FakeClock = field(default_factory=FakeClock)

    def registry(self) -> TableRegistry:
        return TableRegistry(self.store, self.clock)

    def queue(self) -> TaskQueue:
        return TaskQueue(self.store, self.clock)

    def runs(self) -> RunQueue:
        return RunQueue(self.store, self.clock)

    def entries(self) -> EntryQueue:
        return EntryQueue(self.store, self.clock)

    def managed_sessions(self) -> SessionQueue:
        return SessionQueue(self.store, self.clock)

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    def close(self) -> None:
        self.store.close()


@dataclass
class SqliteRig:
    """One database in a folder, with a connection for each client."""

    folder: str
    clock: FakeClock = field(default_factory=FakeClock)
    stores: list[SqliteStore] = field(default_factory=list)

    def registry(self) -> TableRegistry:
        self.stores.append(SqliteStore(self.folder, synchronous="OFF"))
        return TableRegistry(self.stores[-1], self.clock)

    def queue(self) -> TaskQueue:
        self.stores.append(SqliteStore(self.folder, synchronous="OFF"))
        return TaskQueue(self.stores[-1], self.clock)

    def runs(self) -> RunQueue:
        self.stores.append(SqliteStore(self.folder, synchronous="OFF"))
        return RunQueue(self.stores[-1], self.clock)

    def entries(self) -> EntryQueue:
        self.stores.append(SqliteStore(self.folder, synchronous="OFF"))
        return EntryQueue(self.stores[-1], self.clock)

    def managed_sessions(self) -> SessionQueue:
        self.stores.append(SqliteStore(self.folder, synchronous="OFF"))
        return SessionQueue(self.stores[-1], self.clock)

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    def close(self) -> None:
        for store in self.stores:
            store.close()


@dataclass
class ServerRig:
    """A namespace on a server, whose clock is moved by adding to it."""

    connect: Callable[[Callable[[], float]], Registry]
    skew: float = 0.0
    registries: list[Registry] = field(default_factory=list)

    def registry(self) -> Registry:
        self.registries.append(self.connect(lambda: self.skew))
        return self.registries[-1]

    def advance(self, seconds: float) -> None:
        self.skew += seconds

    def close(self) -> None:
        for registry in self.registries:
            registry.close()


def postgres_rig(url: str, namespace: str) -> ServerRig:
    """A namespace in PostgreSQL."""

    def connect(skew: Callable[[], float]) -> Registry:
        tables = open_postgres(url, namespace, skew=skew)
        return TableRegistry(tables, tables)

    return ServerRig(connect)


@dataclass
class PostgresTaskRig:
    """The tasks of a namespace in PostgreSQL, whose clock is moved by adding to it."""

    url: str
    namespace: str
    skew: float = 0.0
    tables: list[PostgresTables] = field(default_factory=list)

    def queue(self) -> TaskQueue:
        self.tables.append(open_postgres(self.url, self.namespace, skew=lambda: self.skew))
        return TaskQueue(self.tables[-1], self.tables[-1])

    def runs(self) -> RunQueue:
        self.tables.append(open_postgres(self.url, self.namespace, skew=lambda: self.skew))
        return RunQueue(self.tables[-1], self.tables[-1])

    def entries(self) -> EntryQueue:
        self.tables.append(open_postgres(self.url, self.namespace, skew=lambda: self.skew))
        return EntryQueue(self.tables[-1], self.tables[-1])

    def registry(self) -> TableRegistry:
        self.tables.append(open_postgres(self.url, self.namespace, skew=lambda: self.skew))
        return TableRegistry(self.tables[-1], self.tables[-1])

    def managed_sessions(self) -> SessionQueue:
        self.tables.append(open_postgres(self.url, self.namespace, skew=lambda: self.skew))
        return SessionQueue(self.tables[-1], self.tables[-1])

    def advance(self, seconds: float) -> None:
        self.skew += seconds

    def close(self) -> None:
        for tables in self.tables:
            tables.close()


def redis_rig(url: str, namespace: str) -> ServerRig:
    """A namespace on a Redis server."""
    return ServerRig(lambda skew: open_redis(url, namespace, skew=skew))
