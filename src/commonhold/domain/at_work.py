"""Sessions whose own tools write files: who is at work, and what is about to be written.

None of it is explained by the log: it says who is there now, and what the next change of a file will be.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Presence:
    """A session that works in a working tree. `intent` is what it was asked for last; `process` tells two runs apart.

    `is_at_rest`: it has done what it was asked, and waits for its user. Times are wall times.
    """

    holder: str
    worktree: str
    intent: str
    process: str
    began_at: float
    seen_at: float
    is_at_rest: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """What a session is to be told once, at its next call in a working tree: about what `by` did there, at a wall time.

    What waits for a session already is not sent to it again.
    """

    holder: str
    worktree: str
    text: str
    by: str
    at: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a tool of a session is about to write to one file: admitted, and not yet seen done.

    `before` and `after` are content hashes, None where the file is not there; the bytes before are kept. `call` names
    the tool's call, `slot` the lease that keeps other writers from the file meanwhile; `since` is the newest event when
    it was admitted.
    """

    holder: str
    worktree: str
    call: str
    path: str
    before: str | None
    after: str | None
    intent: str
    slot: str
    since: int
