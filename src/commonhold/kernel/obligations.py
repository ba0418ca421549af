"""Debts: regions that a commit broke and its author promised to repair."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Debt:
    """A region that a commit broke, or may have broken, and that its holder leased in order to repair it.

    `since` are the events that created the debt, oldest first (empty in logs that did not record them): they tell
    which versions of the files the region was written against. `evidence` says how the breakage is known.
    """

    key: str
    holder: str
    why: str
    worktree: str
    since: tuple[int, ...] = ()
    evidence: str = ""

    @property
    def place(self) -> str:
        """The place of the debt: one key of one working tree."""
        return place_of_debt(self.worktree, self.key)


def place_of_debt(worktree: str, key: str) -> str:
    """The name of one key of one working tree."""
    return f"{worktree}:{key}"
