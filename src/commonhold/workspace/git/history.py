"""The history around one working tree, for merges."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.refs import BRANCHES
from commonhold.merging.branches.histories import Blob, BothChanged, LineMerge, Meeting, Settled, Side
from commonhold.merging.tree import Changed
from commonhold.workspace.git import apply_merge, line_merge, objects
from commonhold.workspace.git.process import Git

_LONGEST_INTENT: Final = 72
_KINDS: Final = {
    BRANCHES: "branch",
    "refs/remotes/": "remote-tracking branch",
    "refs/tags/": "tag",
}


class GitHistory:
    """The history of a git repository, seen from one of its working trees."""

    def __init__(self, git: Git, git_dir: str) -> None:
        """Look from the working tree of `git`, whose own git folder is `git_dir`."""
        self._git = git
        self._git_dir = git_dir

    def meeting(self, name: str) -> Meeting:
        """The current branch and the one named `name`."""
        ours = self._commit("HEAD")
        if ours is None:
            raise no_commit_yet("HEAD")
        theirs = self._known(name)
        bases = (self._git.line("merge-base", "--all", ours, theirs) or "").split()
        mine, other = self._intents(ours, theirs)
        return Meeting(
            Side(self._lasting("HEAD"), ours, mine), Side(name, theirs, other), tuple(bases), self._branch(name)
        )

    def meeting_of(self, ours: str, theirs: str, base: str | None = None) -> Meeting:
        """Return two revisions and their merge base: `base`, or the one that the history shows."""
        mine, other = self._known(ours), self._known(theirs)
        intents = self._intents(mine, other)
        sides = Side(self._lasting(ours), mine, intents[0]), Side(self._lasting(theirs), other, intents[1])
        if base is not None:
            return Meeting(*sides, (self._known(base),), self._branch(theirs), is_told=True)
        bases = (self._git.line("merge-base", "--all", mine, other) or "").split()
        if not bases:
            raise _unknown(
                theirs, f"{ours!r} and {theirs!r} have no commit in common", "name with --base what both come from"
            )
        return Meeting(*sides, tuple(bases), self._branch(theirs))

    def _lasting(self, name: str) -> str:
        """Return the current branch for `HEAD`, which is another after the next `git switch`."""
        return (name == "HEAD" and self._git.line("symbolic-ref", "--quiet", "--short", "HEAD")) or name

    def _known(self, name: str) -> str:
        commit = self._commit(name)
        if commit is None:
            unborn = self._git.line("symbolic-ref", "--quiet", "--short", "HEAD")
            if name in ("HEAD", unborn):
                raise no_commit_yet(name)
            raise _unknown(name, f"there is no branch, tag or commit {name!r}")
        return commit

    def base_of(self, meeting: Meeting) -> str:
        """One tree or commit that both sides come from."""
        return line_merge.common_base(self._git, meeting.bases)

    def _commit(self, name: str) -> str | None:
        return self._git.line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")

    def _intents(self, *commits: str) -> list[str]:
        words = ("log", "--no-walk=unsorted", "-z", "--no-show-signature", "--encoding=UTF-8", "--format=%s")
        listed = self._git.ask(*words, *commits).decode("utf-8", "replace").split("\0")
        # Git lists a commit that is named twice only once.
        told = dict(zip(dict.fromkeys(commits), listed, strict=False))
        return [one_line(told.get(commit, "")) for commit in commits]

    def _branch(self, name: str) -> str:
        full = self._git.line("rev-parse", "--symbolic-full-name", "--end-of-options", name) or ""
        full = full.rpartition("\n")[2]
        for prefix, kind in _KINDS.items():
            if full.startswith(prefix):
                return f"{kind} '{full.removeprefix(prefix)}'"
        return f"'{name}'"

    def merge_lines(self, meeting: Meeting) -> LineMerge:
        """The merge by lines."""
        return line_merge.merge_lines(self._git, meeting)

    def read(self, ids: Sequence[str]) -> Mapping[str, bytes]:
        """Bytes by id."""
        return objects.read_blobs(self._git, ids)

    def changed(self, meeting: Meeting, concerns: Callable[[str], bool]) -> tuple[Changed, ...]:
        """The files that either side changed and whose path `concerns` us, as base, ours and theirs have them."""
        base = self.base_of(meeting)
        ours, theirs = (objects.changes(self._git, base, side.commit) for side in (meeting.ours, meeting.theirs))
        return objects.read_changes(self._git, ours, theirs, concerns)

    def holds(self, blob: Blob, content: bytes) -> bool:
        """Whether the bytes of `blob` are these."""
        return objects.holds(blob, content)

    def tree_with(self, tree: str, files: Mapping[str, Settled]) -> str:
        """A tree with other bytes in these files."""
        return objects.tree_with(self._git, tree, files)

    def under_way(self) -> str | None:
        """Return the unfinished operation that prevents a merge; None if there is none."""
        return apply_merge.under_way(self._git, self._git_dir)

    def touched(self, meeting: Meeting, tree: str) -> tuple[str, ...]:
        """The paths that `tree` would change."""
        return apply_merge.touched(self._git, meeting, tree)

    def in_the_way(self, meeting: Meeting, tree: str) -> tuple[str, ...]:
        """The paths that are not as committed and that `tree` would change."""
        return apply_merge.in_the_way(self._git, meeting, tree)

    def commit(self, meeting: Meeting, tree: str, message: str | None) -> str:
        """A commit of `tree` with both sides as its parents."""
        return apply_merge.commit(self._git, meeting, tree, message)

    def advance(self, meeting: Meeting, commit: str) -> str | None:
        """Move branch and files to `commit`."""
        return apply_merge.advance(self._git, meeting, commit)

    def stand(
        self,
        meeting: Meeting,
        settled: Mapping[str, Settled],
        conflicts: Mapping[BothChanged, bytes | None],
        message: str | None,
    ) -> str | None:
        """Leave an unfinished merge in the working tree."""
        return apply_merge.stand(self._git, self._git_dir, meeting, settled, conflicts, message)


def one_line(text: str) -> str:
    """Return the subject of a commit as it may stand at a marker, in a terminal and in a file."""
    plain = "".join(char if unicodedata.category(char)[0] != "C" else " " for char in text).strip()
    return plain if len(plain) <= _LONGEST_INTENT else plain[: _LONGEST_INTENT - 1] + "…"


_LISTED: Final = "`git branch --all` lists the branches; fetch remote ones first"


def no_commit_yet(name: str) -> InputError:
    """Return the error about a revision that names the current branch before its first commit."""
    return _unknown(name, "the current branch has no commit yet", "make the first commit: git add -A && git commit")


def _unknown(name: str, why: str, hint: str = _LISTED) -> InputError:
    return InputError(
        Code.REVISION_UNKNOWN,
        why,
        hint=hint,
        fields={"name": name},
    )
