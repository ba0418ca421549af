"""One connection to the server. All statements that are due go there and back in one round trip."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

import psycopg
from psycopg.pq import Escaping, TransactionStatus
from psycopg.types.string import TextLoader

from commonhold.kernel.errors import Code, StoreError
from commonhold.stores.postgres.faults import not_connected, taken_back, translate, unsure
from commonhold.stores.postgres.literals import Value, literal
from commonhold.stores.postgres.statements import load
from commonhold.stores.postgres.target import Target

Rows = list[tuple[Any, ...]]
_COMMIT: Final = "COMMIT"


class Link:
    """A connection, for one thread at a time.

    Values are put into the text of a statement here, and a batch of statements is one message: the pipelines and
    prepared statements of the extended protocol cost more, and not every pooler can carry them.
    """

    def __init__(self, target: Target, given: Mapping[str, Value]) -> None:
        """Connect; `given` are values that every statement may use. Raises StoreError."""
        self._target = target
        self._given = given
        self._sql = load(target.schema)
        self._quoted: dict[str, str] = {}
        self._pid = os.getpid()
        try:
            self._connection = psycopg.connect(target.connection, autocommit=True, prepare_threshold=None)
        except psycopg.Error as fault:
            raise not_connected(fault, target) from fault
        self._connection.adapters.register_loader("json", TextLoader)
        self._cursor = self._connection.cursor()
        self._escape = Escaping(self._connection.pgconn).escape_literal

    def quote(self, name: str, values: Mapping[str, Value]) -> str:
        """A named statement with its values in it. Raises StoreError."""
        if values:
            return self._merge(name, {**self._given, **values})
        if name not in self._quoted:
            self._quoted[name] = self._merge(name, self._given)
        return self._quoted[name]

    def _merge(self, name: str, values: Mapping[str, Value]) -> str:
        self._check_process()
        try:
            return self._sql[name] % {each: literal(value, self._escape) for each, value in values.items()}
        except psycopg.Error as fault:
            raise translate(fault, self._target, is_lost=self.is_lost) from fault

    def run(self, batch: Sequence[str]) -> list[Rows]:
        """The rows that each statement gives. Raises StoreError."""
        try:
            return self._run(batch)
        except psycopg.Error as fault:
            raise translate(fault, self._target, is_lost=self.is_lost) from fault

    def commit(self, batch: Sequence[str]) -> None:
        """Run the last statements of a transaction, and end it. Raises StoreError, also if the outcome is unknown."""
        try:
            self._run([*batch, _COMMIT])
        except psycopg.Error as fault:
            told = unsure(fault, self._target) if self.is_lost else translate(fault, self._target, is_lost=False)
            raise told from fault
        if self._cursor.statusmessage != _COMMIT:
            raise taken_back(self._target)

    def _run(self, batch: Sequence[str]) -> list[Rows]:
        self._check_process()
        cursor = self._cursor.execute("; ".join(batch).encode())
        rows = [_rows(cursor)]
        while cursor.nextset():
            rows.append(_rows(cursor))
        return rows

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            raise StoreError(
                Code.STORE_UNSAFE,
                "this process was forked in the middle of a transaction, which is its parent's",
                hint="fork outside of transactions",
            )

    @property
    def is_lost(self) -> bool:
        """Whether the connection has broken."""
        return self._connection.closed

    @property
    def is_idle(self) -> bool:
        """Whether the connection is good for another transaction."""
        return self._connection.info.transaction_status is TransactionStatus.IDLE

    def close(self) -> None:
        """Hang up; idempotent."""
        self._connection.close()

    def abandon(self) -> None:
        """Close, in a forked child, the copied connection without a word to the server: it belongs to the parent.

        Were the child's copy of the socket left open, the server would not notice if the parent died.
        """
        if not self.is_lost:
            nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            os.dup2(nowhere, self._connection.fileno(), inheritable=False)
            os.close(nowhere)
            self.close()


def _rows(cursor: psycopg.Cursor[tuple[Any, ...]]) -> Rows:
    return cursor.fetchall() if cursor.pgresult and cursor.pgresult.nfields else []
