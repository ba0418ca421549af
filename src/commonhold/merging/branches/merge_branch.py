"""Merge a branch into the current one: all of it, each file proven or verified, or nothing.

A merge by lines lists the files that both sides changed. Each of those is merged again, even if the lines did not
conflict: lines that merge cleanly may still be a broken program.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final, Literal

from commonhold.merging.branches.candidate_verification import Failed, Passed, Trial, try_choices
from commonhold.merging.branches.contracts import OpenIndex, broken_contracts
from commonhold.merging.branches.histories import (
    Blocked,
    BothChanged,
    Held,
    History,
    Leases,
    LineMerge,
    Meeting,
    Settled,
)
from commonhold.merging.branches.merge_file import FileMerge, Merge, after, as_chosen, refused
from commonhold.merging.cross_file_interference import Bearing
from commonhold.merging.merge import merge
from commonhold.merging.result_checks import fault_in
from commonhold.merging.tree import bearings, concerns
from commonhold.merging.verdict import Candidate, Proven, Reason, Unproven, Verdict

_BY_LINES: Final = "the lines of both sides joined, as git does it"


class Ending(Enum):
    """How a merge that succeeds ends: committed, left under way for the caller, or only reported."""

    COMMIT = auto()
    STAND = auto()
    TELL = auto()


@dataclass(frozen=True, slots=True)
class BranchWish:
    """The branch to merge, how to try changes that cannot be proven, and how to end.

    `trial_on` returns the trial for a tree of the history. `keeps_conflicts`: a merge that is refused because of its
    files is left under way, with markers in them.
    """

    name: str
    trial_on: Callable[[str], Trial] | None = None
    ending: Ending = Ending.COMMIT
    message: str | None = None
    keeps_conflicts: bool = False


@dataclass(frozen=True, slots=True)
class BranchMerge:
    """The result of merging a branch.

    `files` are those that both sides changed, `blocked` the conflicts outside the text of files, `in_the_way` the paths
    of the working tree that would be overwritten, `held` the leases of others on files that would be changed. `met` are
    the changes of one side to one file on which the other side relies in another. `trial` is the result of the check on
    the whole. `commit` is the merge commit, if one was made. `is_standing`: the merge is left under way, and the caller
    must end it.
    """

    outcome: Literal["merged", "forwarded", "up_to_date", "refused"]
    meeting: Meeting
    verdict: Verdict = Verdict.PROVEN
    files: tuple[FileMerge, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    in_the_way: tuple[str, ...] = ()
    held: tuple[Held, ...] = ()
    met: tuple[Bearing, ...] = ()
    why: str = ""
    trial: Passed | Failed | None = None
    commit: str | None = None
    is_standing: bool = False
    is_dry_run: bool = False


def merge_branch(
    history: History, wish: BranchWish, leases: Leases, open_index: OpenIndex, *, merge: Merge = merge
) -> BranchMerge:
    """Merge a branch, or return the reason for a refusal; that changes nothing, unless `wish` keeps the conflicts."""
    meeting = history.meeting(wish.name)
    if meeting.theirs.commit in meeting.bases:
        return BranchMerge("up_to_date", meeting)
    if what := history.under_way():
        return _refused(meeting, f"{what} in this working tree")
    if not meeting.bases:
        return _refused(meeting, "the branches have no commit in common")
    if meeting.ours.commit in meeting.bases:
        stopped = _stopped(history, leases, meeting, meeting.theirs.commit)
        return stopped or _forwarded(history, meeting, wish)
    lines = history.merge_lines(meeting)
    stopped = _stopped(history, leases, meeting, lines.tree)
    return stopped or _BranchMerging(history, leases, meeting, lines, wish, open_index, merge).run()


def _stopped(history: History, leases: Leases, meeting: Meeting, tree: str) -> BranchMerge | None:
    """Return a refusal if `tree` would change files that are not committed, or that others hold."""
    if paths := history.in_the_way(meeting, tree):
        why = "files of the working tree are not as committed, and would be overwritten"
        return replace(_refused(meeting, why), in_the_way=paths)
    if held := leases.on(history.touched(meeting, tree)):
        return replace(_refused(meeting, "others hold files that would be changed"), held=held)
    return None


def _refused(meeting: Meeting, why: str) -> BranchMerge:
    return BranchMerge("refused", meeting, Verdict.REFUSED, why=why)


def _forwarded(history: History, meeting: Meeting, wish: BranchWish) -> BranchMerge:
    """Move to the other branch's commit: only that branch has commits of its own, so nothing is merged."""
    made = BranchMerge("forwarded", meeting, commit=meeting.theirs.commit)
    if wish.ending is Ending.TELL:
        return replace(made, is_dry_run=True)
    why = history.advance(meeting, meeting.theirs.commit)
    return _refused(meeting, why) if why else made


@dataclass(frozen=True, slots=True)
class _BranchMerging:
    """One merge of two branches that both have commits of their own."""

    history: History
    leases: Leases
    meeting: Meeting
    lines: LineMerge
    wish: BranchWish
    open_index: OpenIndex
    merge: Merge

    def run(self) -> BranchMerge:
        blobs = self.history.read([blob.id for file in self.lines.files for blob in file.versions])
        found = {file: self._examined(file, blobs) for file in self.lines.files}
        settled = {file.path: each.source for file, each in found.items() if isinstance(each, Proven)}
        unproven = {file: each for file, each in found.items() if isinstance(each, Unproven)}
        trial = self._tried(settled, unproven, blobs)
        files = tuple(_file_merge(file.path, each, trial) for file, each in found.items())
        met = self._met(settled, is_whole=not unproven and not self.lines.blocked)
        made = BranchMerge(
            "merged", self.meeting, _verdict(files, met), files, self.lines.blocked, met=met, trial=trial
        )
        if why := _why_not(made):
            return self._kept(replace(made, outcome="refused", verdict=Verdict.REFUSED, why=why), unproven)
        return self._landed(made)

    def _met(self, settled: Mapping[str, bytes], *, is_whole: bool) -> tuple[Bearing, ...]:
        """Return changes of one side on which the other relies: by name, and by contract if all the rest is proven."""
        changed = self.history.changed(self.meeting, concerns)
        by_name = tuple(bearings(changed))
        if by_name or not is_whole:
            return by_name
        tree = self.lines.tree
        return tuple(broken_contracts(self.history, self.open_index, self.meeting, tree, settled, changed))

    def _examined(self, file: BothChanged, blobs: Mapping[str, bytes]) -> Proven | Unproven:
        return self.merge(*_texts(file, blobs), file.path, self.meeting.sides)

    def _tried(
        self, settled: Mapping[str, bytes], unproven: Mapping[BothChanged, Unproven], blobs: Mapping[str, bytes]
    ) -> Passed | Failed | None:
        """Run the check on the whole, even if every file is proven: files that are correct alone may clash."""
        if self.wish.trial_on is None or self.lines.blocked:
            return None
        found = {**blobs, **self.history.read([file.merged.id for file in unproven if file.merged])}
        open_files = {file.path: after(_by_lines(file, found), each.candidates) for file, each in unproven.items()}
        return try_choices(open_files, settled, self.wish.trial_on(self.lines.tree))

    def _landed(self, made: BranchMerge) -> BranchMerge:
        settled = self._settled(made.files)
        if self.wish.ending is Ending.TELL:
            return replace(made, is_dry_run=True)
        if stopped := self._stopped_late():
            return stopped
        if self.wish.ending is Ending.STAND:
            why = self.history.stand(self.meeting, settled, {}, self.wish.message)
            return _refused(self.meeting, why) if why else replace(made, is_standing=True)
        as_git_has_it = {
            file.path
            for file in self.lines.files
            if file.merged is not None and self.history.holds(file.merged, settled[file.path].source)
        }
        others = {path: each for path, each in settled.items() if path not in as_git_has_it}
        tree = self.history.tree_with(self.lines.tree, others)
        commit = self.history.commit(self.meeting, tree, self.wish.message)
        why = self.history.advance(self.meeting, commit)
        return _refused(self.meeting, why) if why else replace(made, commit=commit)

    def _kept(self, made: BranchMerge, unproven: Mapping[BothChanged, Unproven]) -> BranchMerge:
        if self.wish.ending is Ending.TELL:
            return replace(made, is_dry_run=True)
        if not self.wish.keeps_conflicts:
            return made
        if stopped := self._stopped_late():
            return stopped
        conflicts = {file: each.marked for file, each in unproven.items()}
        why = self.history.stand(self.meeting, self._settled(made.files), conflicts, self.wish.message)
        return _refused(self.meeting, why) if why else replace(made, is_standing=True)

    def _stopped_late(self) -> BranchMerge | None:
        """Look for obstacles again after a check: it may take minutes, in which others may have begun to work here."""
        return (
            None if self.wish.trial_on is None else _stopped(self.history, self.leases, self.meeting, self.lines.tree)
        )

    def _settled(self, files: Sequence[FileMerge]) -> dict[str, Settled]:
        modes = {file.path: file.mode for file in self.lines.files}
        return {each.path: Settled(each.source, modes[each.path]) for each in files if each.source is not None}


def _texts(file: BothChanged, blobs: Mapping[str, bytes]) -> tuple[bytes, bytes, bytes]:
    """Return base, ours and theirs; the base is empty if both sides made the file."""
    return b"" if file.base is None else blobs[file.base.id], blobs[file.ours.id], blobs[file.theirs.id]


def _by_lines(file: BothChanged, blobs: Mapping[str, bytes]) -> Candidate | None:
    """Return the merge by lines as a candidate, if it passes the gate for all candidates."""
    if file.merged is None or fault_in(blobs[file.merged.id], _texts(file, blobs), file.path) is not None:
        return None
    return Candidate(blobs[file.merged.id], _BY_LINES)


def _file_merge(path: str, found: Proven | Unproven, trial: Passed | Failed | None) -> FileMerge:
    if isinstance(found, Proven):
        return FileMerge(path, Verdict.PROVEN, found.source, found.notes)
    return as_chosen(path, found, trial) if isinstance(trial, Passed) else refused(path, found, trial)


def _verdict(files: Sequence[FileMerge], met: Sequence[Bearing]) -> Verdict:
    found = {each.verdict for each in files} | ({Verdict.VERIFIED} if met else set())
    return next((each for each in (Verdict.REFUSED, Verdict.VERIFIED) if each in found), Verdict.PROVEN)


def _why_not(made: BranchMerge) -> str:
    if made.blocked:
        return "the branches conflict in more than the text of files"
    if made.verdict is Verdict.REFUSED:
        tried = f"; {made.trial.why}" if isinstance(made.trial, Failed) else ""
        return f"not all files can be shown to merge{tried}"
    if made.met and made.trial is None:
        is_one_name = all(each.spot.reason is Reason.SAME_NAME for each in made.met)
        return (
            "both sides define one name, in two files of one package"
            if is_one_name
            else "one side relies, in one file, on code that the other changed in another file"
        )
    return made.trial.why if isinstance(made.trial, Failed) else ""
