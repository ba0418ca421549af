"""Files that a session wrote and a person or program without a session deleted since: offered, not restored."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.events import Committed, Recorded
from commonhold.kernel.texts import NOBODY

BY_GIT: Final = "git went to another commit"
"""The intent of changes by a git checkout: git can bring back the files that it removed."""
OFFERED_SECONDS: Final = 86_400.0
"""The time after its deletion during which a file is offered."""


@dataclass(frozen=True, slots=True)
class LostFile:
    """A deleted file: the hash of its content, its last author, and that commit's intent; wall time."""

    path: str
    hash: str
    holder: str
    intent: str
    lost_at: float


def lost_files(events: Iterable[Recorded], worktree: str, now: float) -> list[LostFile]:
    """Return the lost files in the log, oldest loss first, even if they exist again; `events` are in order."""
    authors: dict[str, Committed] = {}
    lost: dict[str, LostFile] = {}
    for each in events:
        commit = each.event
        if not isinstance(commit, Committed) or commit.worktree != worktree:
            continue
        for file in commit.files:
            lost.pop(file.path, None)
            author = authors.get(file.path)
            if commit.holder != NOBODY:
                authors[file.path] = commit
            elif file.after is None and file.before is not None and author is not None and commit.intent != BY_GIT:
                lost[file.path] = LostFile(file.path, file.before, author.holder, author.intent, each.at)
    return [found for found in lost.values() if now - found.lost_at < OFFERED_SECONDS]
