"""The leases of one namespace in a PostgreSQL database, and its clock."""

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from commonhold.kernel.clock import Now
from commonhold.kernel.commands import Command
from commonhold.kernel.errors import Code, StoreError
from commonhold.kernel.texts import MAX_ID_LENGTH, check_line
from commonhold.stores.postgres.links import Links
from commonhold.stores.postgres.locks import lock_of
from commonhold.stores.postgres.names import Names
from commonhold.stores.postgres.reading import PostgresReader
from commonhold.stores.postgres.start import instant
from commonhold.stores.postgres.target import read_url
from commonhold.stores.postgres.transaction import Transaction
from commonhold.stores.postgres.writing import PostgresWriter
from commonhold.stores.seen import Seen

S = TypeVar("S", bound=PostgresReader)
_LONGEST_WAIT_SECONDS: Final = 30.0
_LOOKING: Final = ("begin_looking",)
_WRITING: Final = ("begin_writing", "wait_at_most", "hang_at_most", "lock")


class PostgresTables:
    """Leases that many machines share; the implementation of the ports LeaseTables and Clock.

    Threads of one process take turns to write, so that they wait on one connection; each reads on one of its own. A
    forked child makes its own connections.
    """

    def __init__(self, url: str, namespace: str, *, skew: Callable[[], float], seen: Seen) -> None:
        """Keep the leases of `namespace`; nothing is connected to before the first use. See `open_postgres`."""
        target = read_url(url)
        self._names = Names(check_line(namespace, "namespace", MAX_ID_LENGTH))
        self._skew = skew
        self._seen = seen
        self._links = Links(target, {"namespace": namespace, "lock": lock_of(target.schema, namespace)})
        self._threads = threading.Lock()
        self._mine = threading.local()
        _all.add(self)

    @contextmanager
    def read(self) -> Iterator[PostgresReader]:
        """Yield one consistent view; inside a transaction of the same thread, that of the transaction."""
        current = self._current
        if current is not None:
            yield current
            return
        transaction = Transaction(self._links, _LOOKING)
        with self._be_current(PostgresReader(transaction, self._names, self._skew)) as reader:
            try:
                yield reader
            finally:
                transaction.leave()

    @contextmanager
    def write(self, command: Command[Any] | None = None) -> Iterator[PostgresWriter]:
        """A transaction that excludes all others, durable at its end. One that is begun inside another is part of it.

        `command` is the command to decide on: the rows that it needs are then read with the first query.
        """
        current = self._current
        if isinstance(current, PostgresWriter):
            yield _expecting(current, command)
            return
        with self._turn():
            transaction = Transaction(self._links, _WRITING)
            newest, _ = self._seen.newest()
            with self._be_current(PostgresWriter(transaction, self._names, self._skew, newest)) as writer:
                try:
                    yield _expecting(writer, command)
                    transaction.commit()
                    self._seen.note(writer.newest)
                finally:
                    transaction.leave()

    def now(self) -> Now:
        """Return the present instant on the server's clock; inside a transaction, that of its first query."""
        if self._current is not None:
            return self._current.now()
        transaction = Transaction(self._links, ())
        try:
            (((seconds,),),) = transaction.ask(("clock", {}))
        finally:
            transaction.leave()
        return instant(seconds + self._skew())

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._links.close()
        self._seen.close()

    def after_fork(self) -> None:
        """Begin again in a forked child: its parent's connections and locks are not its own."""
        self._links.abandon()
        self._threads = threading.Lock()

    @property
    def _current(self) -> PostgresReader | None:
        """The transaction that this thread is in."""
        found: PostgresReader | None = getattr(self._mine, "session", None)
        return found

    @contextmanager
    def _be_current(self, session: S) -> Iterator[S]:
        before, self._mine.session = self._current, session
        try:
            yield session
        finally:
            self._mine.session = before

    @contextmanager
    def _turn(self) -> Iterator[None]:
        threads = self._threads
        if not threads.acquire(timeout=_LONGEST_WAIT_SECONDS):
            raise StoreError(
                Code.STORE_BUSY,
                "another thread of this process is busy with the leases",
                hint="repeat the same call in a moment",
                retry_after_seconds=1.0,
            )
        try:
            yield
        finally:
            threads.release()


_all: weakref.WeakSet[PostgresTables] = weakref.WeakSet()


def _after_fork() -> None:
    for tables in _all:
        tables.after_fork()


os.register_at_fork(after_in_child=_after_fork)


def _expecting(writer: PostgresWriter, command: Command[Any] | None) -> PostgresWriter:
    if command is not None:
        writer.expect(command)
    return writer
