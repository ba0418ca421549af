"""A commit whose hooks run in a private working tree: they see and stage only the session's own changes."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonhold.agents.git.change_attribution import ChangeAttribution, Log
from commonhold.agents.git.private_trees import Taken
from commonhold.agents.git.staging import Staging
from commonhold.code.regions.region import hash_bytes
from commonhold.kernel.changeset import Changeset, made_to_hold
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.texts import listed
from commonhold.merging.branches.histories import Blob
from commonhold.shell.git_words import Words
from commonhold.workspace.git.commit_copy import changed_tree
from commonhold.workspace.git.differences import Tree
from commonhold.workspace.git.indexes import Index
from commonhold.workspace.git.objects import changes
from commonhold.workspace.git.private_tree import Made, PrivateTree, has_hook
from commonhold.workspace.git.process import Git
from commonhold.workspace.line_ownership import OUTSIDE

_INTENT: Final = "changes by a hook of `git commit`"
_SHOWN: Final = 6


def runs_hooks(tree: Tree, words: Words) -> bool:
    """Whether a commit runs hooks that may change its content."""
    return not words.has("-n", "--no-verify", "--dry-run") and has_hook(tree, "pre-commit")


@dataclass(frozen=True, slots=True)
class HookRun:
    """A commit in a private working tree, with an index of its own. `begun` is the tree of that index at the start.

    `is_of_staged`: the commit was to hold exactly the entries that the session had staged.
    """

    tree: Tree
    taken: Taken
    index: Index
    begun: str
    is_of_staged: bool

    @property
    def private(self) -> PrivateTree:
        """The private working tree."""
        return self.taken.private

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables of git's environment."""
        return self.private.settings(self.index.path)

    def staged(self) -> dict[str, Blob | None]:
        """Return the entries that hooks staged for good.

        If a commit stages files itself, git drops the hooks' entries after it.
        """
        now = self.index.tree() if self.is_of_staged else ""
        return {path: each.new for path, each in changes(self.index.git, self.begun, now).items()} if now else {}

    def ended(self, log: Log, *, is_committed: bool) -> str:
        """Merge the changes of hooks into the true working tree; return a message for the caller.

        Others' work is never overwritten: if a merge cannot be proven, their version stays, and the message says so.
        """
        made = [each for each in self.private.ended() if each.after != _bytes_at(self.tree.root, each.path)]
        left = [each.path for each in made if not _is_clear(self.tree.root, each)]
        wanted = [each for each in made if each.path not in left]
        if wanted and not _committed(log, wanted):
            left += [each.path for each in wanted if len(wanted) == 1 or not _committed(log, [each])]
        return _told(left, is_committed=is_committed)

    def let_go(self) -> None:
        """Release the index and the private tree; the tree is kept for the next commit."""
        self.taken.give_back()
        Path(self.index.path).unlink(missing_ok=True)


def sweepings(git: Git, whose: ChangeAttribution, intended: str, made: str) -> tuple[str, str]:
    """Return the tree `made` without other sessions' changes that hooks added to `intended`, and a description of them.

    Both are empty if hooks added nothing of other sessions.
    """
    found = changes(git, intended, made)
    foreign = {path: by - {whose.holder, OUTSIDE} for path, by in whose.of_others(found).items()}
    swept = {path: found[path] for path, by in foreign.items() if by}
    if not swept:
        return "", ""
    before, after = {path: each.old for path, each in swept.items()}, {path: each.new for path, each in swept.items()}
    own = Staging(whose, ()).own(before, after).entries
    return changed_tree(git, made, before | own), whose.told({path: foreign[path] for path in swept})


def _bytes_at(root: str, path: str) -> bytes | None:
    with suppress(OSError):
        return Path(root, path).read_bytes()
    return None


def _is_clear(root: str, made: Made) -> bool:
    """Whether a file that the hook created does not exist here yet, and one that it changed still exists here."""
    return os.path.lexists(f"{root}/{made.path}") == (made.before is not None)


def _committed(log: Log, made: Sequence[Made]) -> bool:
    edits = (
        made_to_hold(each.path, hash_bytes(each.before) if each.before is not None else None, each.after)
        for each in made
    )
    try:
        log.store_contents([each.before for each in made if each.before is not None])
        return log.commit(Changeset(tuple(edits), _INTENT)).outcome != "refused"
    except CommonholdError:  # too large to be judged, for example
        return False


def _told(left: Sequence[str], *, is_committed: bool) -> str:
    if not left:
        return ""
    paths = listed(sorted(left), _SHOWN)
    if is_committed:
        return (
            f"the changes that a hook made to {paths} are in the commit, but not in the working tree: other sessions "
            "edit or hold the same lines there. Nothing is lost, and you need do nothing; git diff shows the difference"
        )
    return (
        f"a hook changed {paths}, but not in the working tree: others are at work on the same lines there, or hold "
        "them, and theirs was left as it is. Next: change your own lines as the hook says with your edit tool, then "
        "commit again"
    )
