"""The sections of a working tree in SQLite, searched by FTS5."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import apsw

from commonhold.stores.sqlite.faults import translate
from commonhold.stores.transaction import transaction
from commonhold.tasks.archive import Entry, Found
from commonhold.tasks.notes import Note, Section

T = TypeVar("T")
DATABASE: Final = "notes.db"
APPLICATION_ID: Final = 0x434D484E
# Raised with every change of schema.sql, or of how a note is split.
SCHEMA: Final = 1
_PATIENCE_MS: Final = 2_000
_DAMAGE: Final = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError)
_COLUMNS: Final = "s.path, s.number, s.anchor, s.title, s.trail, s.line, s.text"
# A hit in a heading counts more than one in the headings above it, and that more than one in the text.
_RANK: Final = "bm25(words, 8.0, 3.0, 1.0)"


class SqliteSections:
    """The sections of one working tree, in a database that all working trees of a repository share.

    It is a cache: a damaged one is rebuilt, and if nothing can be stored on disk it is kept in memory.
    """

    def __init__(self, folder: str | None, tree: str) -> None:
        """Keep them in `folder`, or in memory if there is none; `tree` is the root of the working tree."""
        self._tree = tree
        self._connection = _open(folder)

    def stamps(self) -> Mapping[str, str]:
        """Return the stamp of each copied note."""
        return dict(self._rows("SELECT path, stamp FROM notes WHERE tree = ?", self._tree))

    def update(self, changed: Iterable[tuple[str, Note]], gone: Iterable[str]) -> None:
        """Replace the copies of changed notes, and drop those that are gone. Raises StoreError, as all others.

        If another process writes for more than two seconds, all stays as it is: the next call does it.
        """
        try:
            with transaction(self._connection):
                for path in gone:
                    self._drop(path)
                for stamp, note in changed:
                    self._drop(note.path)
                    self._add(stamp, note)
        except apsw.BusyError:
            return
        except apsw.Error as fault:
            raise translate(fault, DATABASE) from fault

    def _drop(self, path: str) -> None:
        where = "WHERE tree = ? AND path = ?"
        self._execute(f"DELETE FROM words WHERE rowid IN (SELECT id FROM sections {where})", self._tree, path)  # noqa: S608
        self._execute(f"DELETE FROM sections {where}", self._tree, path)  # noqa: S608 - no text of others
        self._execute(f"DELETE FROM notes {where}", self._tree, path)  # noqa: S608 - as above

    def _add(self, stamp: str, note: Note) -> None:
        about = (note.kind, note.date, note.by, json.dumps(note.applies_to), note.problem)
        self._execute("INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self._tree, note.path, stamp, *about)
        for each in note.sections:
            place = (self._tree, each.path, each.number, each.anchor, each.title, json.dumps(each.trail), each.line)
            self._execute("INSERT INTO sections VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", *place, each.text)
            words = (each.title, " ".join(each.trail), each.text)
            self._execute("INSERT INTO words (rowid, title, trail, text) VALUES (last_insert_rowid(), ?, ?, ?)", *words)

    def entries(self) -> tuple[Entry, ...]:
        """Return the list of all notes, by path."""
        query = """
            SELECT n.path, coalesce(min(s.title) FILTER (WHERE s.line = (
                SELECT min(line) FROM sections AS f WHERE f.tree = n.tree AND f.path = n.path)), ''), count(s.id),
                n.kind, n.date, n.by, n.applies_to, n.problem
            FROM notes AS n LEFT JOIN sections AS s ON s.tree = n.tree AND s.path = n.path
            WHERE n.tree = ? GROUP BY n.path ORDER BY n.path
            """
        rows = self._rows(query, self._tree)
        return tuple(
            Entry(path, title, count, kind, date, by, tuple(json.loads(applies_to)), problem)
            for path, title, count, kind, date, by, applies_to, problem in rows
        )

    def note(self, path: str) -> Note | None:
        """Return one note."""
        where = "WHERE tree = ? AND path = ?"
        query = f"SELECT path, kind, date, by, applies_to, problem FROM notes {where}"  # noqa: S608 - as above
        row = next(iter(self._rows(query, self._tree, path)), None)
        if row is None:
            return None
        query = f"SELECT {_COLUMNS} FROM sections AS s {where} ORDER BY line"  # noqa: S608 - as above
        sections = tuple(_section(each) for each in self._rows(query, self._tree, path))
        path, kind, date, by, applies_to, problem = row
        return Note(path, sections, kind, date, by, tuple(json.loads(applies_to)), problem)

    def search(self, phrases: Sequence[str], *, needs_all: bool, limit: int) -> tuple[Found, ...]:
        """Return the sections that contain the phrases, best first, by BM25."""
        wanted = [f'"{phrase.replace(chr(34), " ")}"' for phrase in phrases if any(map(str.isalnum, phrase))]
        if not wanted:
            return ()
        query = f"""
            SELECT {_COLUMNS}, {_RANK} AS rank FROM words JOIN sections AS s ON s.id = words.rowid
            WHERE words MATCH ? AND s.tree = ? ORDER BY rank, s.path, s.line LIMIT ?
            """  # noqa: S608 - as above
        rows = self._rows(query, (" AND " if needs_all else " OR ").join(wanted), self._tree, limit)
        return tuple(Found(_section(row), -row[7]) for row in rows)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def _rows(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        try:
            return self._execute(query, *values)
        except apsw.Error as fault:
            raise translate(fault, DATABASE) from fault

    def _execute(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, values).fetchall()


def _section(row: Sequence[Any]) -> Section:
    path, number, anchor, title, trail, line, text = row[:7]
    return Section(path, number, anchor, title, tuple(json.loads(trail)), line, text)


def _open(folder: str | None) -> apsw.Connection:
    if folder is not None and os.path.isdir(folder):
        path = os.path.join(folder, DATABASE)
        with suppress(apsw.Error, OSError):
            try:
                return _prepared(path)
            except _DAMAGE:
                os.unlink(path)
                return _prepared(path)
    return _prepared(":memory:")


def _prepared(path: str) -> apsw.Connection:
    """Open the database, and make its tables if there are none. Raises FormatError if they are of another version."""
    connection = apsw.Connection(path)
    try:
        connection.set_busy_timeout(_PATIENCE_MS)
        # No log beside the database: several processes may use it, and a loss of power may cost it.
        for pragma in ("journal_mode = DELETE", "synchronous = OFF"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("BEGIN IMMEDIATE")
        if not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall():
            connection.execute(Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", SCHEMA)
        if (connection.pragma("application_id"), connection.pragma("user_version")) != (APPLICATION_ID, SCHEMA):
            raise apsw.FormatError("the notes are of another version, or no notes")
        connection.execute("COMMIT")
        connection.execute("SELECT 1 FROM words LIMIT 1").fetchall()
    except apsw.Error:
        connection.close()
        raise
    return connection
