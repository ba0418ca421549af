"""The tables of the index: summaries by hash, names, the state of working trees, git's objects."""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw
import msgspec

from commonhold.code.analysis.repository.summary import Summary
from commonhold.index import opening
from commonhold.index.packed_summaries import Packed, number_of, unpacked
from commonhold.machine import file_stamps
from commonhold.stores.statements import by_name
from commonhold.workspace.folder_watch import Changes
from commonhold.workspace.scan.state import File, Folder, Tree

T = TypeVar("T")

NONE: Final = 0
"""The number of the summary of a file that has none."""


class Cache:
    """One connection to the database. Every method raises apsw.Error if it cannot be used any more.

    Not safe for threads: callers take turns.
    """

    def __init__(self, folder: str | None) -> None:
        """Open the database in `folder`, or one in memory."""
        self._connection = opening.open_database(folder)
        self._statements = _statements()

    def close(self) -> None:
        """Close the database; idempotent."""
        self._connection.close()

    def _rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - any type of SQLite
        return self._connection.execute(self._statements[statement], values).fetchall()

    def _value(self, statement: str, *values: Any) -> Any:  # noqa: ANN401 - any type of SQLite
        return self._connection.execute(self._statements[statement], values).get

    def _many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(self._statements[statement], rows)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def number(self, digest: bytes, maker: str) -> int | None:
        """Return the number of a summary; None if it is not stored."""
        found: int | None = self._value("summary_of", digest, maker)
        return found

    def summary(self, number: int) -> tuple[Summary, int]:
        """Return a summary, and roughly its size in memory. Raises apsw.NotFoundError if it was dropped."""
        body: bytes | None = self._value("body_of", number)
        if body is None:
            raise apsw.NotFoundError(f"the summary {number} was dropped")
        return _unpacked(body)

    def keep(self, digest: bytes, maker: str, packed: Packed) -> int:
        """Store a summary, and return its number. Inside of `writing`."""
        new: int | None = self._value("add_summary", digest, maker, packed.body)
        if new is None:
            return self.number(digest, maker) or NONE
        self._many("add_use", ((name, new) for name in packed.uses))
        self._many("add_offer", ((name, new) for name in packed.offers))
        return new

    def users(self, name: str) -> list[int]:
        """The numbers of the summaries that use a name."""
        return [number for (number,) in self._rows("users_of", number_of(name))]

    def definers(self, name: str) -> list[int]:
        """The numbers of the summaries that offer a name."""
        return [number for (number,) in self._rows("definers_of", number_of(name))]

    def numbers_of_blobs(self, blobs: Iterable[tuple[bytes, str]]) -> list[int | None]:
        """The numbers of the summaries of git's objects, by id and maker, in order."""
        return [self._value("summary_of_blob", *blob) for blob in blobs]

    def keep_blobs(self, numbers: Mapping[tuple[bytes, str], int]) -> None:
        """Store which summaries git's objects have. Inside of `writing`."""
        self._many("put_blob", ((*blob, number) for blob, number in numbers.items()))

    def tree(self, root: str, makers: str) -> Tree:
        """The stored state of a working tree for these makers of summaries; empty if there is none."""
        rows = self._rows("root_of", root, makers)
        if not rows:
            return Tree()
        number, turn, rules = rows[0]
        files = {
            path: File(file_stamps.unpacked(stamp), summary) for path, stamp, summary in self._rows("files_of", number)
        }
        folders = {path: Folder.unpacked(*row) for path, *row in self._rows("folders_of", number)}
        return Tree(files, folders, rules, turn)

    def keep_tree(self, root: str, makers: str, known: Tree, now: Tree, among: Changes | None) -> Tree:
        """Store the changes of a working tree since the known state, or all of it if others wrote; return the result.

        It differs at most `among` these files and folders; None: anywhere.
        """
        with self.writing():
            rows = self._rows("root_of", root, makers)
            number, turn, _ = rows[0] if rows else (self._value("add_root", root, makers), 0, b"")
            if turn != known.turn:
                self._rows("drop_files", number)
                self._rows("drop_folders", number)
                known, among = Tree(), None
            files = _different(known.files, now.files, among.files if among else None)
            folders = _different(known.folders, now.folders, among.folders if among else None)
            self._many("drop_file", ((number, path) for path, file in files.items() if file is None))
            self._many("drop_folder", ((number, path) for path, each in folders.items() if each is None))
            there = ((path, file) for path, file in files.items() if file)
            self._many(
                "put_file", ((number, path, file_stamps.packed(file.stamp), file.summary) for path, file in there)
            )
            self._many("put_folder", ((number, path, *each.packed()) for path, each in folders.items() if each))
            self._rows("write_root", now.rules, number)
        return replace(now, turn=turn + 1)

    def counts(self) -> tuple[int, int]:
        """Return how many summaries are stored, and how many of them belong to files of working trees."""
        ((kept, used),) = self._rows("counts")
        return kept, used

    def roots(self) -> dict[int, str]:
        """The working trees by number."""
        return dict(self._rows("roots"))

    def drop_root(self, number: int) -> None:
        """Forget a working tree. Inside of `writing`."""
        for statement in ("drop_files", "drop_folders", "drop_root"):
            self._rows(statement, number)

    def drop_oldest(self, count: int) -> None:
        """Forget the oldest summaries that no file has. Inside of `writing`."""
        for number, body in self._rows("oldest", count):
            names, _ = _unpacked(body)
            self._many("drop_use", ((number_of(name), number) for name in names.used_names))
            self._many("drop_offer", ((number_of(name), number) for name in names.offered_names))
            self._rows("drop_summary", number)

    def drop_blobs(self) -> None:
        """Forget the objects whose summaries are gone. Inside of `writing`."""
        self._rows("drop_blobs")


@cache
def _statements() -> dict[str, str]:
    """Return every statement of `queries.sql` by its name."""
    return by_name(Path(__file__).with_name("queries.sql").read_text(encoding="utf-8"))


def _different(known: Mapping[str, T], now: Mapping[str, T], among: Iterable[str] | None) -> dict[str, T | None]:
    """The differences now, `among` some paths or all; None for each path that is gone."""
    paths = known.keys() | now.keys() if among is None else among
    return {path: now.get(path) for path in paths if known.get(path) != now.get(path)}


def _unpacked(body: bytes) -> tuple[Summary, int]:
    try:
        return unpacked(body)
    except (zlib.error, msgspec.DecodeError) as fault:
        raise apsw.CorruptError(f"a summary is damaged: {fault}") from fault
