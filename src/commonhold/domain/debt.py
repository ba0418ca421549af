"""What a commit leaves to be mended."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Debt:
    """A region that a commit broke, or may have, which its holder leased and promised to mend."""

    key: str
    holder: str
    why: str
    worktree: str

    @property
    def place(self) -> str:
        """Where it is owed: one key of one working tree."""
        return place_of_debt(self.worktree, self.key)


def place_of_debt(worktree: str, key: str) -> str:
    """The name of one key of one working tree."""
    return f"{worktree}:{key}"
