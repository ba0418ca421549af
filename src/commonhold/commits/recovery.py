"""Take back commits that were interrupted before they took effect (invariant I6)."""

from commonhold.kernel.errors import Code, CommonholdError, StoreError
from commonhold.kernel.events import CommitUndone
from commonhold.kernel.files import Contents, Files, Journal
from commonhold.kernel.ports import Clock, Store
from commonhold.workspace.place import WorktreeState


def recover(place: WorktreeState) -> tuple[CommitUndone, ...]:
    """Undo every commit left behind in the journal, in any working tree. The caller is inside the gate.

    Those in a working tree that is out of reach stay in the journal until it is back.

    Raises StoreError `RECOVERY_BLOCKED` while a file cannot be put back; nothing is deleted from the journal then.
    """
    return tuple(undo(place.store, place.files, place.clock, journal) for journal in reversed(left_behind(place)))


def left_behind(place: WorktreeState) -> list[Journal]:
    """Return the journals of interrupted commits, the oldest first, but those in working trees that may come back."""
    with place.store.read() as reader:
        journals = place.in_flight.left_behind(reader.journals())
    return [each for each in journals if not place.files.may_come_back(each.root)]


def undo(store: Store, files: Files, clock: Clock, journal: Journal) -> CommitUndone:
    """Take one commit back, wherever it stopped."""
    try:
        restored, left = files.at(journal.root).undo(journal, contents_of_store(store))
    except CommonholdError as fault:
        raise StoreError(
            Code.RECOVERY_BLOCKED,
            f"an interrupted commit of {journal.holder} cannot be taken back: {fault.message}",
            hint=f"{fault.hint}; until then nothing is committed; the overwritten content is kept in the state",
            fields={"paths": [write.path for write in journal.writes], "root": journal.root},
        ) from fault
    event = CommitUndone(journal.holder, journal.intent, restored, left)
    with store.write() as writer:
        writer.record([event], clock.now().wall)
        writer.end(journal.id)
    return event


def contents_of_store(store: Store) -> Contents:
    """Return the kept contents as a function."""

    def content(content_hash: str) -> bytes:
        with store.read() as reader:
            data = reader.content(content_hash)
        if data is None:
            raise StoreError(
                Code.STORE_CORRUPT,
                f"the bytes with hash {content_hash} are gone from the state",
                hint="restore the state folder from a copy; nothing was changed",
            )
        return data

    return content
