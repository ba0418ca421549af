"""The content that a tool has shown of a file that another session changed before the read was reported."""

from dataclasses import dataclass
from typing import Final

from commonhold.kernel.ports import Reader
from commonhold.reads.partial_reads import can_show

LONGEST_TELLING_SECONDS: Final = 60.0
"""The longest time between a read and its report."""
_MOST_COMMITS: Final = 20


@dataclass(frozen=True, slots=True)
class Earlier:
    """A content of a file, and the newest event at which the file had it."""

    content: bytes
    since: int


def shown_before(reader: Reader, by: tuple[str, str], path: str, shown: str, wall: float) -> Earlier | None:
    """Return the recent content, according to the log, from which a tool has shown this text to a session.

    `by` is the session and its working tree. The session knows its own writes in any case.
    """
    holder, worktree = by
    for recorded, commit in reader.commits_on(path, _MOST_COMMITS):
        if abs(wall - recorded.at) > LONGEST_TELLING_SECONDS:
            return None
        if commit.worktree != worktree:
            continue
        change = next(each for each in commit.files if each.path == path)
        for content_hash, since in ((change.after, recorded.sequence), (change.before, recorded.sequence - 1)):
            content = reader.content(content_hash) if content_hash else None
            if content is not None and (commit.holder == holder or can_show(content, shown)):
                return Earlier(content, since)
    return None
