"""The message to other sessions in a working tree when one has moved HEAD to another branch. Pure."""

import shlex
from dataclasses import dataclass
from typing import Final

from commonhold.kernel.texts import quoted, short_name

_ID: Final = 10


@dataclass(frozen=True, slots=True)
class HeadMove:
    """A call of `by` that moved HEAD from one branch to another (empty: none), and from one commit to another.

    `is_renamed`: the previous branch name no longer exists.
    """

    by: str
    intent: str
    branch_before: str
    branch: str
    before: str
    head: str
    is_renamed: bool = False

    def told(self, root: str) -> str:
        """Return the message, with its consequence and the next step, for a session in the working tree at `root`."""
        by = short_name(self.by)
        who = f"{by} ({quoted(self.intent)})" if self.intent else by
        left = f"branch {self.branch_before}" if self.branch_before else f"commit {self.before[:_ID]}, on no branch"
        come = f"branch {self.branch}" if self.branch else f"commit {self.head[:_ID]}, on no branch"
        if self.is_renamed:
            return f"{who} has renamed the branch of this working tree, {self.branch_before}, to {self.branch}"
        files = "no file changed" if self.before == self.head else "your files changed, so read them again"
        start = self.branch_before or self.before[:_ID]
        beside = shlex.join(("git", "worktree", "add", f"{root}-2", start))
        return (
            f"HEAD of this working tree moved: {who} switched it from {left} to {come}, so your commits now go there; "
            f"{files}. Next: go on; or, to keep working on the old state, use a working tree of your own: {beside}"
        )
