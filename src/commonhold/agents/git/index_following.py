"""Keep the indexes in step with HEAD: each session's own, and the shared one."""

from collections.abc import Sequence
from typing import Final

from commonhold.agents.git.session_indexes import Home
from commonhold.merging.branches.histories import Blob
from commonhold.merging.merge import merge
from commonhold.merging.verdict import Proven, Unproven
from commonhold.workspace.git import differences, indexes
from commonhold.workspace.git.indexes import Index, staged_stays
from commonhold.workspace.git.objects import Change, read_blobs
from commonhold.workspace.git.process import Git

_REGULAR: Final = "100"


class Following:
    """Lets the index of one session and the shared index of its working tree follow HEAD."""

    def __init__(self, git: Git, home: Home, shared_index: str) -> None:
        """Follow the HEAD of the working tree of `git`."""
        self._git = git
        self._home = home
        self._shared = shared_index
        self.lost: list[str] = []

    def catch_up(self) -> None:
        """Bring the session's index in step with HEAD, or create it."""
        index, known, head = Index(self._git, self._home.index), self._home.head, differences.head_of(self._git)
        # On a branch without a commit git keeps entries staged before: so do the indexes, until there is a commit.
        head = head or self._home.owed or known or ""
        if known is None or not index.exists:
            index.begin(head, self._shared)
        elif known != head:
            index.follow(self._tree(known), self._tree(head), self._joined)
        else:
            return
        self._home.head = head

    def went(self, before: str, head: str, called: Index, *, committed: bool) -> None:
        """Let the indexes follow HEAD after a call of the session that moved it from `before` to `head`.

        Git itself has updated the index that it was `called` with. If the call `committed`, the commit holds the
        entries that the session had staged.
        """
        if before == head:
            return
        if not head:
            self._home.owed = self._home.owed or before
            return
        index = Index(self._git, self._home.index)
        if index.exists and index.path != called.path:
            on_conflict = _as_committed if committed else self._joined
            index.follow(self._tree(before), self._tree(head), on_conflict)
        self._home.head = head
        in_step_with = self._home.owed or before
        with indexes.locked(self._git, self._shared) as shared:
            if shared is not None:
                shared.follow(self._tree(in_step_with), self._tree(head), staged_stays)
        self._home.owed = in_step_with if shared is None else None

    def _tree(self, commit: str) -> str:
        tree = self._git.line("rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}") if commit else None
        return tree or indexes.empty_tree(self._git)

    def _joined(self, path: str, change: Change, staged: Blob | None) -> Blob | None:
        """Return the staged entry merged with HEAD's new one.

        If that cannot be proven, return HEAD's and list the path as lost.
        """
        blobs: Sequence[Blob | None] = (change.old, staged, change.new)
        known = [each for each in blobs if each is not None]
        if staged == change.new:
            return staged
        answer = self._merged(path, known) if len(known) == len(blobs) else None
        if not isinstance(answer, Proven):
            self.lost.append(path)
            return change.new
        done = self._git.ask("hash-object", "-w", "--stdin", "--no-filters", given=answer.source)
        return Blob(known[1].mode, done.decode().strip())

    def _merged(self, path: str, blobs: Sequence[Blob]) -> Proven | Unproven | None:
        if not all(each.mode.startswith(_REGULAR) for each in blobs):
            return None
        read = read_blobs(self._git, [each.id for each in blobs])
        base, mine, theirs = (read[each.id] for each in blobs)
        return merge(base, mine, theirs, path)


def _as_committed(_path: str, change: Change, _staged: Blob | None) -> Blob | None:
    return change.new
