"""The answer to undo."""

from dataclasses import dataclass
from typing import Literal

from commonhold.kernel.answers import CommitAnswer, Next, Unmerged
from commonhold.kernel.pictures import Change


@dataclass(frozen=True, slots=True)
class UndoneFile:
    """A file that undo changes: its content hashes before and after, None where it is absent, and the diff between.

    `is_merged`: it does not get back the content from before a commit, since others have changed it since; the merge
    keeps their changes. Binary files have no `diff`.
    """

    path: str
    before: str | None
    after: str | None
    is_merged: bool
    diff: str | None = None


@dataclass(frozen=True, slots=True)
class LaterWork:
    """Work at `key` that came after the commits to undo, and its relation to them.

    `holder` and `sequence` are None if no commit is known: the change was made outside Commonhold, or is older.
    """

    key: str
    why: str
    holder: str | None = None
    sequence: int | None = None
    intent: str = ""


@dataclass(frozen=True, slots=True)
class UndoAnswer:
    """The answer to undo.

    `shown`: nothing was written; `undone`: the commit `sequence` inverts `commits` (newest first); `nothing`: there is
    nothing left of them to undo; `refused`: nothing was written, and `later` names the work that builds on them. If
    the answer is no refusal, `later` is the work of others in the same regions, which is kept. `unmerged` has the
    files whose merge was refused, `commit` the verdict on the inverse changeset, and `ways` the calls that lead on.
    """

    outcome: Literal["shown", "undone", "nothing", "refused"]
    commits: tuple[Change, ...] = ()
    files: tuple[UndoneFile, ...] = ()
    later: tuple[LaterWork, ...] = ()
    unmerged: tuple[Unmerged, ...] = ()
    code: str | None = None
    why: str = ""
    commit: CommitAnswer | None = None
    sequence: int | None = None
    ways: tuple[Next, ...] = ()
