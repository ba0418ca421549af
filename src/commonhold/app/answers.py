"""What the use cases answer. The wire room gives each its JSON form."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from commonhold.app.notice import notice_of
from commonhold.app.pictures import Change
from commonhold.domain.debt import Debt
from commonhold.domain.keys import Kind
from commonhold.domain.lease import Conflict, Lease
from commonhold.domain.partial_work import PartialWork
from commonhold.domain.refusal import Refusal
from commonhold.domain.value import Value


@dataclass(frozen=True, slots=True)
class Next:
    """The one call to make now: the name of a command and its arguments, ready to use."""

    call: str
    arguments: Mapping[str, object]
    why: str = ""

    @classmethod
    def acquire(cls, keys: Iterable[object], task: str, why: str, **more: object) -> "Next":
        """The call that asks for `keys`; `more` are further arguments, left out where they are None."""
        given = {name: value for name, value in more.items() if value is not None}
        return cls("acquire", {"keys": [str(key) for key in keys], "task": task, **given}, why)


@dataclass(frozen=True, slots=True)
class RegionHash:
    """A region and its hash now; None where the region is not there (yet, or any more)."""

    key: str
    hash: str | None


@dataclass(frozen=True, slots=True)
class AcquireAnswer:
    """The answer to acquire. `regions` are the code regions as they were at the grant.

    Who waits has a `ticket` to ask again with, a `position` in line (1 is the next), and an estimate of how long it
    will be. Who waited is told what was `changed` meanwhile, and the `values` of the free keys. A denial has a code.
    """

    outcome: Literal["granted", "queued", "denied"]
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


@dataclass(frozen=True, slots=True)
class LeaseAnswer:
    """The answer to what is done to a lease; a refusal has a code and says why.

    `cancelled` is a place in line that was given up.
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
    """The answer to put. After a refusal `current` is what the changed keys carry now, to start again from."""

    outcome: Literal["stored", "refused"]
    value: Value | None = None
    code: Refusal | None = None
    why: str = ""
    current: tuple[Value, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    next: Next | None = None


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """The answer to closing a partial work; `refused` where there is none (any more) of that lease."""

    outcome: Literal["reviewed", "refused"]
    work: PartialWork | None = None
    why: str = ""
    next: Next | None = None


@dataclass(frozen=True, slots=True)
class WaiveAnswer:
    """The answer to closing debts; `refused`, and none closed, where one of them is not owed (any more)."""

    outcome: Literal["waived", "refused"]
    debts: tuple[Debt, ...] = ()
    why: str = ""
    next: Next | None = None


@dataclass(frozen=True, slots=True)
class AdoptAnswer:
    """The answer to adopting the work of `owner` in files; `refused`, and none adopted, where it is not to be had."""

    outcome: Literal["adopted", "refused"]
    paths: tuple[str, ...] = ()
    owner: str = ""
    why: str = ""
    next: Next | None = None


@dataclass(frozen=True, slots=True)
class Needed:
    """A region that must be mended with the change or leased, why, and where it is used (`path:line`).

    `evidence` says how that is known: `contract`, `types`, or `suspicion`; empty where it is no matter of meaning.
    """

    key: str
    why: str
    where: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class RepairRegion:
    """A region as it is now, and how it came to be so since the base of a refused edit.

    `text` and `hash` are None where the region is gone. `changed_by` and `intent` are None where the change was made
    outside Commonhold, `diff` where the base was never kept. For an edit of a header, `span` is the one that it means
    now, as far as can be told, and `text` and `diff` are of that span.
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
    """One reason why an edit could not be merged: a stable word, and what it is about."""

    reason: str
    why: str


@dataclass(frozen=True, slots=True)
class Unmerged:
    """Why the edits of a region, or of several in a file, could not be merged with what others had made of it.

    `marked` is the text that is there now with the edits merged in where that could be shown to be right, and with
    conflict markers elsewhere; None where it can hold none.
    """

    key: str
    obstacles: tuple[Obstacle, ...]
    marked: str | None = None


@dataclass(frozen=True, slots=True)
class Repair:
    """What a refused agent needs to succeed next time."""

    regions: tuple[RepairRegion, ...] = ()
    unmerged: tuple[Unmerged, ...] = ()


@dataclass(frozen=True, slots=True)
class MergedRegion:
    """A region whose edit was merged with what others had made of it: its `text` and hash now.

    `changed_by` and `intent` are whose change it was merged with, None where that was made outside Commonhold. `notes`
    say what was joined in the file, `diff` what is other than the edit had it. Of a header, `text` is that of `span`.
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
    """The answer to commit. `regions` are what was written, with the hashes to go on from.

    `merged` are those of them that hold more than the edits, since their bases had moved. `current` is what the free
    keys carry now that the edits relied on and that have changed.
    """

    outcome: Literal["committed", "merged", "refused"]
    code: Refusal | None = None
    why: str = ""
    regions: tuple[RegionHash, ...] = ()
    notices: tuple[str, ...] = ()
    required: tuple[Needed, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    repair: Repair = field(default_factory=Repair)
    next: Next | None = None
    sequence: int | None = None
    is_dry_run: bool = False
    current: tuple[Value, ...] = ()
    merged: tuple[MergedRegion, ...] = ()


@dataclass(frozen=True, slots=True)
class TakeAnswer:
    """What became of a change that had been made already.

    `unadmitted` is recorded all the same; `why` says what is wrong with it, `review` under which name it waits.
    `unknown` are paths whose bytes before are not kept, or at which no file is that could be read: nothing is recorded
    of them.
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
    """Something that this session has read, and others have changed since; without a key, what another has sent it.

    `text` says so in a line. `is_contract`: its contract changed, so that text written for the old one is refused.
    `base` and `now` are its hashes, None where it has no region of its own or is gone; `diff` is between the two,
    where the contract changed and both are kept.
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
        """The text, and below it the difference, where it is not long."""
        return notice_of(self.text, self.diff)


@dataclass(frozen=True, slots=True)
class Piece:
    """One span of a header, with the hash to name it by."""

    span: int
    hash: str
    text: str


@dataclass(frozen=True, slots=True)
class RegionText:
    """A region with its text. A file that is no text has `data` (base64) in its place; a header has its pieces."""

    key: str
    id: str
    kind: Kind
    hash: str
    text: str | None
    data: str | None = None
    pieces: tuple[Piece, ...] = ()


Answer = AcquireAnswer | LeaseAnswer | PutAnswer | ReviewAnswer | CommitAnswer
