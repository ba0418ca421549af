"""What a commit leaves to be mended."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Debt:
    """A region that a commit broke, or may have, which its holder leased and promised to mend.

    `since` are the events that made it owed, oldest first (none where that was not recorded yet): they say what the
    files were that it was written against. `evidence` says how it is known.
    """

    key: str
    holder: str
    why: str
    worktree: str
    since: tuple[int, ...] = ()
    evidence: str = ""

    @property
    def place(self) -> str:
        """Where it is owed: one key of one working tree."""
        return place_of_debt(self.worktree, self.key)


def place_of_debt(worktree: str, key: str) -> str:
    """The name of one key of one working tree."""
    return f"{worktree}:{key}"
