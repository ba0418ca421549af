"""A commit whose hooks run in a private working tree: they see and stage only the session's own changes."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commonhold.adapters.git.differing import Tree
from commonhold.adapters.git.indexes import Index
from commonhold.adapters.git.objects import changes
from commonhold.adapters.git.private_tree import Made, PrivateTree, has_hook
from commonhold.adapters.git.remaking import changed_tree
from commonhold.adapters.git.running import Git
from commonhold.app.git_words import Words
from commonhold.app.histories import Blob
from commonhold.app.ownership import OUTSIDE
from commonhold.app.whole_files import made_to_hold
from commonhold.domain.changeset import Changeset
from commonhold.domain.errors import CommonholdError
from commonhold.domain.texts import listed
from commonhold.regions.region import hash_bytes
from commonhold.server.git_private import Taken
from commonhold.server.git_staging import Staging
from commonhold.server.whose import Log, Whose

_INTENT: Final = "what a hook of `git commit` made of it"
_SHOWN: Final = 6


def runs_hooks(tree: Tree, words: Words) -> bool:
    """Whether a commit runs hooks that may change what it holds."""
    return not words.has("-n", "--no-verify", "--dry-run") and has_hook(tree, "pre-commit")


@dataclass(frozen=True, slots=True)
class HookRun:
    """A commit in a private working tree, with an index that has no other user. `begun` is the tree that it had.

    `is_of_staged`: it was to hold what the session had staged, as that was.
    """

    tree: Tree
    taken: Taken
    index: Index
    begun: str
    is_of_staged: bool

    @property
    def private(self) -> PrivateTree:
        """Where it runs."""
        return self.taken.private

    @property
    def environment(self) -> Mapping[str, str]:
        """What git is told by its environment."""
        return self.private.settings(self.index.path)

    def staged(self) -> dict[str, Blob | None]:
        """What the hooks have staged for good: where a commit stages files itself, git forgets that with the commit."""
        now = self.index.tree() if self.is_of_staged else ""
        return {path: each.new for path, each in changes(self.index.git, self.begun, now).items()} if now else {}

    def ended(self, log: Log, *, is_committed: bool) -> str:
        """Bring what hooks changed into the true working tree, merged with what others have there; what is to be told.

        Nothing of others is overwritten: where both cannot be proven to go together theirs stays, and that is told.
        """
        made = [each for each in self.private.ended() if each.after != _bytes_at(self.tree.root, each.path)]
        left = [each.path for each in made if not _is_clear(self.tree.root, each)]
        wanted = [each for each in made if each.path not in left]
        if wanted and not _committed(log, wanted):
            left += [each.path for each in wanted if len(wanted) == 1 or not _committed(log, [each])]
        return _told(left, is_committed=is_committed)

    def let_go(self) -> None:
        """Take away what was made for it; the private tree is kept for the next commit."""
        self.taken.give_back()
        Path(self.index.path).unlink(missing_ok=True)


def sweepings(git: Git, whose: Whose, intended: str, made: str) -> tuple[str, str]:
    """The tree `made` less what other sessions did, which hooks have added to what was `intended`, and that in words.

    Empty where nothing of others was added.
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
    """Whether a file that is new to the hook is new here, too, and one that it changed is here still."""
    return os.path.lexists(f"{root}/{made.path}") == (made.before is not None)


def _committed(log: Log, made: Sequence[Made]) -> bool:
    edits = (
        made_to_hold(each.path, hash_bytes(each.before) if each.before is not None else None, each.after)
        for each in made
    )
    try:
        log.keep([each.before for each in made if each.before is not None])
        return log.commit(Changeset(tuple(edits), _INTENT)).outcome != "refused"
    except CommonholdError:  # too large to be judged, for example
        return False


def _told(left: Sequence[str], *, is_committed: bool) -> str:
    if not left:
        return ""
    paths = listed(sorted(left), _SHOWN)
    if is_committed:
        return (
            f"what a hook made of {paths} is in the commit, but not in the working tree: others are at work on the "
            "same lines there, or hold them, and theirs was left as it is. Nothing has to be done; git diff shows it"
        )
    return (
        f"a hook changed {paths}, but not in the working tree: others are at work on the same lines there, or hold "
        "them, and theirs was left as it is. Next: change your own lines as the hook says with your edit tool, then "
        "commit again"
    )
