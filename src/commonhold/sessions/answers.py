"""The answers to calls about managed sessions."""

from dataclasses import dataclass
from typing import Literal

from commonhold.kernel.answers import Next
from commonhold.kernel.entry import EntryRecord
from commonhold.kernel.managed_session import ManagedSessionRecord
from commonhold.kernel.refusals import Refusal


@dataclass(frozen=True, slots=True)
class ManagedSessionView:
    """A managed session, and how its state is known.

    `is_supervised`: its supervisor's lease is live; it ends in `lease_seconds` unless renewed. A running session that
    is not supervised was lost, and the next command about sessions says so. `why` says why a queued or paused one does
    not run now (empty if it waits for nothing but its turn). `age_seconds` counts from the last change of its state.
    `entry` is the newest entry of the merge queue that was added for it, once it is approved; None if there is none.
    `needs_person`: its turn has ended, and nothing happens unless a person reviews its work.
    """

    record: ManagedSessionRecord
    is_supervised: bool
    lease_seconds: float
    why: str
    age_seconds: float
    entry: EntryRecord | None = None
    needs_person: bool = False


@dataclass(frozen=True, slots=True)
class ManagedSessionAnswer:
    """The answer to every call about managed sessions; a refusal has a code and a reason, a list may `has_older`."""

    outcome: Literal["started", "changed", "listed", "refused"]
    sessions: tuple[ManagedSessionView, ...] = ()
    code: Refusal | None = None
    why: str = ""
    next: Next | None = None
    has_older: bool = False
