"""The three versions of files whose lines git has merged: at the same path, or across renames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from commonhold.merging.branches.histories import Blob, BothChanged, Meeting
from commonhold.workspace.git.by_lines import only_by_lines
from commonhold.workspace.git.objects import Change, changes, loose_commit, tree_of
from commonhold.workspace.git.process import Git, overriding

_RENAMES: Final = ("-M", "-l7000")


def traced(git: Git, meeting: Meeting, base: str, tree: str, paths: Sequence[str]) -> dict[str, BothChanged]:
    """Return the versions of the files at `paths` in `tree`, if they can be found; `base` is the base of both sides."""
    if not paths:
        return {}
    result = changes(git, meeting.ours.commit, tree)
    found = _Diffs.since(git, meeting, base).files(paths, result)
    rest = [path for path in paths if path not in found]
    if rest:
        renamed = _Diffs.since(git, meeting, base, *_RENAMES).files(rest, result)
        found |= _confirmed(git, renamed)
    return found


@dataclass(frozen=True, slots=True)
class _Diffs:
    """The changes of each side since the base."""

    ours: Mapping[str, Change]
    theirs: Mapping[str, Change]

    @classmethod
    def since(cls, git: Git, meeting: Meeting, base: str, *renames: str) -> "_Diffs":
        """Query git for them."""
        return cls(*(changes(git, base, side.commit, *renames) for side in (meeting.ours, meeting.theirs)))

    def files(self, paths: Sequence[str], result: Mapping[str, Change]) -> dict[str, BothChanged]:
        """Return the versions of those files that these changes determine."""
        found = {}
        for path in paths:
            versions = self._versions(path)
            if versions is not None:
                base, ours, theirs = versions
                merged = result[path].new if path in result else ours
                found[path] = BothChanged(path, base, ours, theirs, merged)
        return found

    def _versions(self, path: str) -> tuple[Blob, Blob, Blob] | None:
        """Return base, ours and theirs of the file at `path` in the result."""
        mine, other = self.ours.get(path), self.theirs.get(path)
        old_path = (mine or other or _NOWHERE).old_path
        mine, other = mine or _from(old_path, self.ours), other or _from(old_path, self.theirs)
        if mine is None or other is None or mine.old_path != other.old_path:
            return None
        if mine.old is None or mine.new is None or other.new is None:
            return None
        return mine.old, mine.new, other.new


_NOWHERE: Final = Change("", "", None, None)


def _from(old_path: str, found: Mapping[str, Change]) -> Change | None:
    """Return the change of the file that was at `old_path`, wherever it is now."""
    if old_path in found:
        return found[old_path]
    return next((each for each in found.values() if each.old_path == old_path), None)


def _confirmed(git: Git, files: Mapping[str, BothChanged]) -> dict[str, BothChanged]:
    """Return those files whose versions git merges to the same result again.

    Which file was renamed to which is a guess, and another guess would leave out changes of one side: so git merges the
    versions again, under names that no side has renamed.
    """
    names = dict(enumerate(files.values()))
    base = loose_commit(git, tree_of(git, {str(number): each.base for number, each in names.items()}))
    ours = loose_commit(git, tree_of(git, {str(number): each.ours for number, each in names.items()}), base)
    theirs = loose_commit(git, tree_of(git, {str(number): each.theirs for number, each in names.items()}), base)
    done = git.run("merge-tree", "--write-tree", "-z", ours, theirs, settings=overriding(only_by_lines(git)))
    tree = done.stdout.partition(b"\0")[0].decode("ascii")
    again = {number: each.new for number, each in changes(git, tree_of(git, {}), tree).items()} if tree else {}
    return {
        each.path: each
        for number, each in names.items()
        if (blob := again.get(str(number))) is not None and each.merged is not None and blob.id == each.merged.id
    }
