"""What a session has read, and what others have made of it since.

None of it is explained by the log: a session that reads changes nothing for others. It is kept beside the log, for as
long as the bytes that were read.
"""

from dataclasses import dataclass, replace
from typing import Final

# Who does not come back is told of the newest changes when it does, not of all.
MOST_CHANGES: Final = 8


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a session saw of a file or region: its hash, and the number of the newest event then.

    `lines` are those of it that the session saw, as `written` gives them; empty: all.
    """

    key: str
    hash: str
    sequence: int
    lines: str = ""


@dataclass(frozen=True, slots=True)
class Overtaking:
    """A commit of another that changed what a session had read.

    `what` says, as a clause, what became of its contract; empty where only its body changed.
    """

    sequence: int
    holder: str
    intent: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class Overtaken:
    """Something that a session has read and others have changed since, newest changes last.

    `base` is the hash that it had when it was read last, `now` the one that the newest change gave it (None: gone).
    `seen` is the number of the newest event when it was read last: what changed it later is still to be read. `told`
    is that of the newest change that the session was told of.
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
        """The changes that the session was not told of yet."""
        return tuple(each for each in self.changes if each.sequence > self.told)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to be told or to be read."""
        return not (self.unread or self.untold)

    def after(self, change: Overtaking, before: str | None, now: str | None) -> "Overtaken":
        """The same after one more change, each commit counting once; `before` is what it was until then."""
        if any(each.sequence == change.sequence for each in self.changes):
            return self
        base = self.base if self.unread else before
        return replace(self, base=base, now=now, changes=(*self.changes, change)[-MOST_CHANGES:])

    def read_at(self, sequence: int) -> "Overtaken":
        """The same after the session has read it, when the newest event had that number."""
        return replace(self, seen=max(self.seen, sequence))

    def once_told(self) -> "Overtaken":
        """The same after the session has been told of all changes."""
        return replace(self, told=self.changes[-1].sequence if self.changes else self.told)
