"""Sessions that write files with their own tools: their presence and their proposed writes.

The log does not record this: it is the present state, not history.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Presence:
    """A session that works in a working tree. `intent` is its user's last request; `process` tells two runs apart.

    `is_at_rest`: it has answered its last request and waits for its user. Times are wall times.
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
    """A message that a session gets once, at its next call in a working tree, about an action of `by` at a wall time.

    A text that already waits for a session is not queued twice.
    """

    holder: str
    worktree: str
    text: str
    by: str
    at: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """An admitted write of one file by a session's tool that has not been observed on the disk yet.

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
