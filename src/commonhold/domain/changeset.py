"""Changesets: proposed edits over any number of regions and files, and what refuses them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from commonhold.domain.clock import Now
from commonhold.domain.keys import Key
from commonhold.domain.lease import Conflict, Lease, conflicts
from commonhold.domain.modes import Mode
from commonhold.domain.texts import short_name


class Op(StrEnum):
    """What an edit does.

    REPLACE of a file writes all of it, REWRITE the regions in which the new text differs: others may hold the rest.
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
    """One edit as it was written down.

    `key`, `after` and `to` are keys in any form. `base` is the hash of what the edit started from (at least 16
    digits of it); for a header also the hash of the one span that is edited. `text` is the new text, `data` new
    bytes in its place for a file that is no text. `span` picks the span of a header, counted from 0. `mode` is
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


@dataclass(frozen=True, slots=True)
class LeaseRef:
    """A lease that the committer says it holds, with its fencing token."""

    id: str
    fence: int


@dataclass(frozen=True, slots=True)
class Read:
    """Something that the edits rely on though they do not write it, and its hash when it was read."""

    key: str
    hash: str


@dataclass(frozen=True, slots=True)
class Changeset:
    """Edits that take effect together or not at all.

    `merge`: where the base of one has moved, it may be merged, if that can be shown to be right; else it is refused.
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
    """Live leases of others stand on what the changeset writes."""

    conflicts: tuple[Conflict, ...]


def authorise(
    writes: Iterable[Key], named: Sequence[LeaseRef], holder: str, leases: Sequence[Lease], now: Now
) -> LeaseLost | LockConflict | None:
    """Whether `holder` may write: every named lease must be live and its own, and no other's live lease in the way.

    `leases` must hold the named leases that exist and all that overlap `writes`. None means yes. A named lease that
    is lost refuses even where nobody else holds anything: a late writer is stopped here, not trusted to stop.
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
