"""Changesets: proposed edits over any number of regions and files, and the reasons to refuse them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from commonhold.kernel.clock import Now
from commonhold.kernel.keys import Key, file_key
from commonhold.kernel.lease import Conflict, Lease, conflicts
from commonhold.kernel.modes import Mode
from commonhold.kernel.texts import short_name


class Op(StrEnum):
    """The operation of an edit.

    REPLACE of a file writes all of it, REWRITE only the regions whose text differs: others may hold the rest.
    """

    REPLACE = "replace"
    INSERT = "insert"
    DELETE = "delete"
    CREATE_FILE = "create_file"
    DELETE_FILE = "delete_file"
    RENAME_FILE = "rename_file"
    CHMOD = "chmod"
    REWRITE = "rewrite"


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit as its author wrote it.

    `key`, `after` and `to` are keys in any form. `base` is the hash of the content that the edit started from (at
    least 16 digits of it); for a header it may be the hash of the edited span. `text` is the new text; `data` are the
    new bytes of a binary file. `span` picks the span of a header, counted from 0. `mode` is
    octal permission bits, such as "755".
    """

    op: Op
    key: str
    base: str | None = None
    text: str | None = None
    after: str | None = None
    to: str | None = None
    mode: str | None = None
    span: int | None = None
    data: bytes | None = None


def made_to_hold(path: str, base: str | None, content: bytes | None) -> Edit:
    """Return the edit that sets a file's content; None deletes it. `base` is None if there is no file yet.

    It is for callers that know the new content of a file, and not which regions it changes.
    """
    key = str(file_key(path))
    if content is None:
        return Edit(Op.DELETE_FILE, key, base=base)
    return Edit(Op.CREATE_FILE if base is None else Op.REWRITE, key, base=base, data=content)


@dataclass(frozen=True, slots=True)
class LeaseRef:
    """A lease that the committer says it holds, with its fencing token."""

    id: str
    fence: int


@dataclass(frozen=True, slots=True)
class Read:
    """A region or file on which the edits rely without writing it, and its hash when the author read it."""

    key: str
    hash: str


@dataclass(frozen=True, slots=True)
class Changeset:
    """Edits that take effect together or not at all.

    `merge`: an edit whose base has moved may be merged if the merge can be proven correct; otherwise it is refused.
    """

    edits: tuple[Edit, ...]
    intent: str = ""
    request_id: str | None = None
    leases: tuple[LeaseRef, ...] = ()
    reads: tuple[Read, ...] = ()
    merge: bool = True


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """A lease that the changeset names is not live, not the committer's, or has another fence."""

    why: str


@dataclass(frozen=True, slots=True)
class LockConflict:
    """Other holders have live leases on keys that the changeset writes."""

    conflicts: tuple[Conflict, ...]


def authorise(
    writes: Iterable[Key], named: Sequence[LeaseRef], holder: str, leases: Sequence[Lease], now: Now
) -> LeaseLost | LockConflict | None:
    """Decide whether `holder` may write; None means yes.

    Every named lease must be live and the holder's own, and no other holder may have a live lease on `writes`. `leases`
    must contain the named leases that exist and all that overlap `writes`. A lost lease refuses the write even if no
    other lease conflicts: a late writer is stopped here, not trusted to stop.
    """
    by_id = {lease.id: lease for lease in leases}
    for ref in named:
        if lost := _why_lost(ref, by_id.get(ref.id), holder, now):
            return LeaseLost(lost)
    found = conflicts(writes, Mode.EXCLUSIVE, holder, leases, now)
    return LockConflict(found) if found else None


def _why_lost(ref: LeaseRef, lease: Lease | None, holder: str, now: Now) -> str | None:
    if lease is None or not lease.is_live(now):
        return f"the lease {ref.id} has ended"
    if lease.holder != holder:
        return f"the lease {ref.id} is held by {short_name(lease.holder)}, not by {short_name(holder)}"
    if lease.fence != ref.fence:
        return f"the lease {ref.id} has the fence {lease.fence}, not {ref.fence}"
    return None
