"""Read sets: the regions and files that a session has read, and later changes to them by others.

The log does not record them, since reading changes nothing for others. They are kept beside the log, for as long as the
bytes that were read.
"""

from dataclasses import dataclass, replace
from typing import Final

# A session that stays away for long hears about the newest changes only.
MOST_CHANGES: Final = 8


@dataclass(frozen=True, slots=True)
class Sighting:
    """A version of a file or region that a session read: its hash, and the number of the newest event at that time.

    `lines` are the lines that the session saw, as `written` gives them; empty if it saw all.
    """

    key: str
    hash: str
    sequence: int
    lines: str = ""


@dataclass(frozen=True, slots=True)
class Overtaking:
    """A commit by another session that changed a region or file that this one had read.

    `what` describes the change of its contract as a clause; empty if only its body changed.
    """

    sequence: int
    holder: str
    intent: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class StaleRead:
    """A region or file that a session has read and others have changed since, newest changes last.

    `base` is its hash when the session last read it, `now` its hash after the newest change (None if it is gone).
    `seen` is the number of the newest event at the last read: later changes are unread. `told` is the number of the
    newest change of which the session was notified.
    """

    holder: str
    worktree: str
    key: str
    base: str | None
    now: str | None
    changes: tuple[Overtaking, ...] = ()
    seen: int = 0
    told: int = 0

    @property
    def unread(self) -> tuple[Overtaking, ...]:
        """The changes that came after it was read last."""
        return tuple(each for each in self.changes if each.sequence > self.seen)

    @property
    def untold(self) -> tuple[Overtaking, ...]:
        """The changes of which the session has not been notified yet."""
        return tuple(each for each in self.changes if each.sequence > self.told)

    @property
    def is_over(self) -> bool:
        """Whether the session has read all changes and been notified of all."""
        return not (self.unread or self.untold)

    def after(self, change: Overtaking, before: str | None, now: str | None) -> "StaleRead":
        """Return this after one more change, each commit counting once; `before` is the hash until then."""
        if any(each.sequence == change.sequence for each in self.changes):
            return self
        base = self.base if self.unread else before
        return replace(self, base=base, now=now, changes=(*self.changes, change)[-MOST_CHANGES:])

    def read_at(self, sequence: int) -> "StaleRead":
        """Return this after the session has read it, when the newest event had that number."""
        return replace(self, seen=max(self.seen, sequence))

    def once_told(self) -> "StaleRead":
        """Return this after the session has been notified of all changes."""
        return replace(self, told=self.changes[-1].sequence if self.changes else self.told)
