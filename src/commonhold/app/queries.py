"""Questions about the state that change nothing."""

from dataclasses import dataclass

from commonhold.app.leases import Leases
from commonhold.app.ports import Store
from commonhold.app.reading import Reading
from commonhold.domain.errors import Code, InputError
from commonhold.domain.events import Committed, Debt, Recorded
from commonhold.domain.keys import FILE, canonical, overlaps
from commonhold.domain.lease import Lease


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

    def who(self, text: str, limit: int = 10) -> Who:
        """Who holds and who changed what is at a key, in any form."""
        key = self._reading.locate(text)
        with self._store.read() as reader:
            commits = reader.commits_on(key.file_path, limit) if key.scheme == FILE else ()
            debts = tuple(debt for debt in reader.debts() if overlaps(canonical(debt.key), key))
        changes = tuple(
            _change(recorded, commit)
            for recorded, commit in commits
            if any(overlaps(canonical(change.key), key) for change in commit.regions)
        )
        return Who(str(key), self._leases.on(key), changes, debts)

    def status(self, limit: int = 5) -> Status:
        """Live leases, the newest commits, open debts."""
        with self._store.read() as reader:
            recent = reader.latest(limit * 10)
            debts = reader.debts()
        commits = [(each, each.event) for each in recent if isinstance(each.event, Committed)]
        changes = tuple(_change(recorded, commit) for recorded, commit in commits[-limit:])
        return Status(self._root, self._leases.live(), changes, debts)

    def log(self, *, after: int | None = None, limit: int = 100, lease_id: str | None = None) -> tuple[Recorded, ...]:
        """Events in order: those after a sequence, or (without one) the newest."""
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
                hint="take a hash from `commonhold log --json` or `commonhold who PATH --json`",
                fields={"hash": content_hash},
            )
        return data


def _change(recorded: Recorded, commit: Committed) -> Change:
    keys = tuple(change.key for change in commit.regions)
    return Change(recorded.sequence, recorded.at, commit.holder, commit.intent, keys)
