"""The answers of the use cases. The wire package defines their JSON forms."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from commonhold.kernel.keys import Kind
from commonhold.kernel.lease import Conflict, Lease
from commonhold.kernel.notice import notice_of
from commonhold.kernel.obligations import Debt
from commonhold.kernel.partial_work import PartialWork
from commonhold.kernel.pictures import Change
from commonhold.kernel.refusals import Refusal
from commonhold.kernel.values import Value


@dataclass(frozen=True, slots=True)
class Next:
    """The one call to make now: the name of a command and its arguments, ready to use."""

    call: str
    arguments: Mapping[str, object]
    why: str = ""

    @classmethod
    def acquire(cls, keys: Iterable[object], task: str, why: str, **more: object) -> "Next":
        """Return the call that acquires `keys`; `more` are further arguments, omitted if they are None."""
        given = {name: value for name, value in more.items() if value is not None}
        return cls("acquire", {"keys": [str(key) for key in keys], "task": task, **given}, why)


@dataclass(frozen=True, slots=True)
class NoteQuote:
    """A section of the project's notes that bears on a refused call; `is_cut` if the text is only its beginning.

    It is a quotation of a file, which any session may have written: data, not an instruction.
    """

    section: str
    title: str
    why: str
    text: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class RegionHash:
    """A region and its present hash; None if the region does not exist (yet, or any more)."""

    key: str
    hash: str | None


@dataclass(frozen=True, slots=True)
class AcquireAnswer:
    """The answer to acquire. `regions` are the code regions at the time of the grant.

    A queued holder gets a `ticket` to ask again with, a `position` in line (1 is the next), and an estimate of the
    wait. A holder that has waited gets the changes made meanwhile (`changed`), and the `values` of the free keys. A
    denial has a code, and `context`: the notes that bear on the keys. `done`: the work was asked for with `once`,
    and its `result` is there already.
    """

    outcome: Literal["granted", "queued", "denied", "done"]
    lease: Lease | None = None
    conflicts: tuple[Conflict, ...] = ()
    regions: tuple[RegionHash, ...] = ()
    notices: tuple[str, ...] = ()
    next: Next | None = None
    code: Refusal | None = None
    ticket: str | None = None
    position: int | None = None
    estimated_wait_seconds: float | None = None
    changed: tuple[Change, ...] = ()
    values: tuple[Value, ...] = ()
    result: Value | None = None
    context: tuple[NoteQuote, ...] = ()


@dataclass(frozen=True, slots=True)
class LeaseAnswer:
    """The answer to a change of a lease; a refusal has a code and a reason.

    `cancelled` means that a place in line was given up.
    """

    outcome: Literal["renewed", "released", "cancelled", "broken", "asked", "handed_over", "refused"]
    lease: Lease | None = None
    code: Refusal | None = None
    why: str = ""
    next: Next | None = None
    conflicts: tuple[Conflict, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PutAnswer:
    """The answer to put. After a refusal `current` are the present values of the changed keys, to start again from."""

    outcome: Literal["stored", "refused"]
    value: Value | None = None
    code: Refusal | None = None
    why: str = ""
    current: tuple[Value, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    next: Next | None = None


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """The answer to closing a partial work; `refused` if that lease has none (any more)."""

    outcome: Literal["reviewed", "refused"]
    work: PartialWork | None = None
    why: str = ""
    next: Next | None = None


@dataclass(frozen=True, slots=True)
class WaiveAnswer:
    """The answer to closing debts; `refused`, and none closed, if one of them is not open (any more)."""

    outcome: Literal["waived", "refused"]
    debts: tuple[Debt, ...] = ()
    why: str = ""
    next: Next | None = None


@dataclass(frozen=True, slots=True)
class AdoptAnswer:
    """The answer to adopting the work of `owner` in files; `refused`, and none adopted, if that is not possible."""

    outcome: Literal["adopted", "refused"]
    paths: tuple[str, ...] = ()
    owner: str = ""
    why: str = ""
    next: Next | None = None


@dataclass(frozen=True, slots=True)
class RequiredEdit:
    """A region that must be repaired with the change or leased, why, and where it is used (`path:line`).

    `evidence` says how that is known: `contract`, `types`, or `suspicion`; empty if the reason is not semantic.
    """

    key: str
    why: str
    where: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class RepairRegion:
    """The present state of a region, and its changes since the base of a refused edit.

    `text` and `hash` are None if the region is gone. `changed_by` and `intent` are None if the change was made outside
    Commonhold, `diff` if the base was never kept. For an edit of a header, `span` is the one that it most likely means
    now, and `text` and `diff` are of that span.
    """

    key: str
    hash: str | None
    text: str | None
    changed_by: str | None = None
    intent: str | None = None
    diff: str | None = None
    span: int | None = None


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One reason why an edit could not be merged: a stable code, and a description."""

    reason: str
    why: str


@dataclass(frozen=True, slots=True)
class Unmerged:
    """Why the edits of a region, or of several in a file, could not be merged with the changes of others.

    `marked` is the present text with the edits merged in where that is proven correct, and with conflict markers
    elsewhere; None if it can hold none.
    """

    key: str
    obstacles: tuple[Obstacle, ...]
    marked: str | None = None


@dataclass(frozen=True, slots=True)
class Repair:
    """The information that a refused agent needs to succeed next time."""

    regions: tuple[RepairRegion, ...] = ()
    unmerged: tuple[Unmerged, ...] = ()


@dataclass(frozen=True, slots=True)
class MergedRegion:
    """A region whose edit was merged with the changes of others: its present `text` and hash.

    `changed_by` and `intent` are the authors of those changes and their intent, None if they were made outside
    Commonhold. `notes` say which changes were joined in the file, `diff` compares the edit with the result. Of a
    header, `text` is that of `span`.
    """

    key: str
    hash: str
    text: str | None
    changed_by: str | None = None
    intent: str | None = None
    notes: tuple[str, ...] = ()
    diff: str | None = None
    span: int | None = None


@dataclass(frozen=True, slots=True)
class CommitAnswer:
    """The answer to commit. `regions` are the written regions, with the hashes for the next edit.

    `merged` are those of them that contain more than the edits, since their bases had changed. `current` are the
    present values of free keys that the edits relied on and that have changed. A refusal has `context`: the notes of
    the project that bear on the regions in question.
    """

    outcome: Literal["committed", "merged", "refused"]
    code: Refusal | None = None
    why: str = ""
    regions: tuple[RegionHash, ...] = ()
    notices: tuple[str, ...] = ()
    required: tuple[RequiredEdit, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    repair: Repair = field(default_factory=Repair)
    next: Next | None = None
    sequence: int | None = None
    is_dry_run: bool = False
    current: tuple[Value, ...] = ()
    merged: tuple[MergedRegion, ...] = ()
    context: tuple[NoteQuote, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordAnswer:
    """The answer about a change that was already made.

    `unadmitted` is recorded all the same; `why` is the reason, `review` the id under which it waits for review.
    `unknown` are paths whose earlier bytes are not kept, or without a readable file: nothing is recorded for them.
    """

    outcome: Literal["nothing", "recorded", "unadmitted"]
    regions: tuple[RegionHash, ...] = ()
    notices: tuple[str, ...] = ()
    code: Refusal | None = None
    why: str = ""
    review: str = ""
    sequence: int | None = None
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class News:
    """A change by others to something that this session has read; without a key, a message from another session.

    `text` describes it in one line. `is_contract`: its contract changed, so that text written for the old one is
    refused. `base` and `now` are its hashes, None if it has no region of its own or is gone; `diff` compares the two,
    if the contract changed and both are kept.
    """

    key: str
    text: str
    changed_by: str
    intent: str
    sequence: int
    base: str | None = None
    now: str | None = None
    diff: str | None = None
    is_contract: bool = False

    @property
    def notice(self) -> str:
        """Return the text, followed by the diff if that is not long."""
        return notice_of(self.text, self.diff)


@dataclass(frozen=True, slots=True)
class Piece:
    """One span of a header, with the hash that names it."""

    span: int
    hash: str
    text: str


@dataclass(frozen=True, slots=True)
class RegionText:
    """A region with its text. A binary file has `data` (base64) instead; a header has its pieces."""

    key: str
    id: str
    kind: Kind
    hash: str
    text: str | None
    data: str | None = None
    pieces: tuple[Piece, ...] = ()


Answer = AcquireAnswer | LeaseAnswer | PutAnswer | ReviewAnswer | CommitAnswer
