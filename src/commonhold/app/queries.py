"""Questions about the state that change nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, starmap
from typing import Final

from commonhold.app.leases import Leases
from commonhold.app.ports import Reader, Store
from commonhold.app.reading import Reading
from commonhold.domain.errors import Code, InputError
from commonhold.domain.events import Committed, Debt, Recorded
from commonhold.domain.keys import FILE, Key, canonical, contains, overlaps
from commonhold.domain.lease import Lease

SHOWN: Final = 10
HISTORY: Final = 200


@dataclass(frozen=True, slots=True)
class Change:
    """A commit as somebody sees it who asks about a path."""

    sequence: int
    at: float
    holder: str
    intent: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Who:
    """Who holds what overlaps a key, who changed it last, and what is owed there."""

    key: str
    leases: tuple[Lease, ...]
    changes: tuple[Change, ...]
    debts: tuple[Debt, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """The whole picture in one answer."""

    root: str
    leases: tuple[Lease, ...]
    changes: tuple[Change, ...]
    debts: tuple[Debt, ...]


class Queries:
    """Answers from the state of one repository."""

    def __init__(self, store: Store, reading: Reading, leases: Leases, root: str) -> None:
        """Ask `store`, and `leases` for what is live."""
        self._store = store
        self._reading = reading
        self._leases = leases
        self._root = root

    def who(self, text: str) -> Who:
        """Who holds what overlaps a key, in any form, and who changed what it covers."""
        key = self._reading.locate(text)
        with self._store.read() as reader:
            changes = tuple(islice(_changes(reader, key), SHOWN))
            debts = tuple(debt for debt in reader.debts() if overlaps(canonical(debt.key), key))
        return Who(str(key), self._leases.on(key), changes, debts)

    def status(self) -> Status:
        """Live leases, the newest commits, open debts."""
        with self._store.read() as reader:
            commits = reader.latest_commits(SHOWN)
            debts = reader.debts()
        return Status(self._root, self._leases.live(), tuple(starmap(_change, commits)), debts)

    def log(self, *, after: int | None = None, limit: int = 100, lease_id: str | None = None) -> tuple[Recorded, ...]:
        """Events in order: those after a sequence (with a lease: after 0), or the newest."""
        with self._store.read() as reader:
            if after is None and lease_id is None:
                return reader.latest(limit)
            return reader.events(after=after or 0, limit=limit, lease_id=lease_id)

    def content(self, content_hash: str) -> bytes:
        """Bytes that were kept, by their hash or the beginning of it. Raises InputError `CONTENT_UNKNOWN`."""
        with self._store.read() as reader:
            found = reader.contents_like(content_hash)
            data = reader.content(found[0]) if len(found) == 1 else None
        if data is None:
            why = "more than one content begins so" if found else "no content with that hash is kept (any more)"
            raise InputError(
                Code.CONTENT_UNKNOWN,
                f"{content_hash!r}: {why}",
                hint="take a hash from the log, or from a refusal",
                fields={"hash": content_hash},
            )
        return data


def _changes(reader: Reader, key: Key) -> Iterator[Change]:
    """The commits on what `key` covers, newest first."""
    if key.scheme != FILE:
        return iter(())
    if key.is_folder:
        commits = reader.commits_below("/".join((*key.path, "")), HISTORY)
    else:
        commits = reader.commits_on(key.file_path, HISTORY)
    return (
        _change(recorded, commit)
        for recorded, commit in commits
        if any(contains(key, canonical(change.key)) for change in commit.regions)
    )


def _change(recorded: Recorded, commit: Committed) -> Change:
    keys = tuple(change.key for change in commit.regions)
    return Change(recorded.sequence, recorded.at, commit.holder, commit.intent, keys)
