"""Merging a branch into the current one: all of it, each file proven or verified, or nothing.

A merge by lines says which files both sides changed. Each of those is merged anew, also where the lines did not
conflict: lines that merge cleanly may still be a broken program.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final, Literal

from commonhold.app.branch_contracts import OpenIndex, broken_contracts
from commonhold.app.histories import Blocked, BothChanged, Held, History, Leases, LineMerge, Meeting, Settled
from commonhold.app.merging import FileMerge, Merge, after, as_chosen, refused
from commonhold.app.trying import Failed, Passed, Trial, try_choices
from commonhold.merging.bearing import Bearing
from commonhold.merging.gate import fault_in
from commonhold.merging.merge import merge
from commonhold.merging.tree import bearings, concerns
from commonhold.merging.verdict import Candidate, Proven, Unproven, Verdict

_BY_LINES: Final = "the lines of both sides joined, as git does it"


class Ending(Enum):
    """What is done with a merge that succeeds."""

    COMMIT = auto()
    STAND = auto()
    TELL = auto()


@dataclass(frozen=True, slots=True)
class BranchWish:
    """Which branch to merge, how to try what cannot be proven, and what to do then.

    `trial_on` gives the trial for a tree of the history. `keeps_conflicts`: a merge that is refused for its files is
    left under way, with markers in them.
    """

    name: str
    trial_on: Callable[[str], Trial] | None = None
    ending: Ending = Ending.COMMIT
    message: str | None = None
    keeps_conflicts: bool = False


@dataclass(frozen=True, slots=True)
class BranchMerge:
    """What came of a branch.

    `files` are those that both sides changed, `blocked` what is no matter of text, `in_the_way` the paths of the
    working tree that would be overwritten, `held` what others hold of what would be changed. `met` is what one side
    changed in one file and the other counts on in another. `trial`: what the check said of the whole. `commit` is the
    merge, if one was made. `is_standing`: it is left under way, to be ended by the caller.
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
    """Merge a branch, or say why not; nothing is changed then, unless the wish is to keep the conflicts."""
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
    """The refusal where `tree` would change what is not committed, or what others hold."""
    if paths := history.in_the_way(meeting, tree):
        why = "files of the working tree are not as committed, and would be overwritten"
        return replace(_refused(meeting, why), in_the_way=paths)
    if held := leases.on(history.touched(meeting, tree)):
        return replace(_refused(meeting, "others hold files that would be changed"), held=held)
    return None


def _refused(meeting: Meeting, why: str) -> BranchMerge:
    return BranchMerge("refused", meeting, Verdict.REFUSED, why=why)


def _forwarded(history: History, meeting: Meeting, wish: BranchWish) -> BranchMerge:
    """Only the other branch has commits: it is taken as it is, and nothing is merged."""
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
        """What one side changed and the other counts on: by names, and in a whole that would be proven by contracts."""
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
        """What the check says of the whole: also where all is proven, since files that fit by themselves may clash."""
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
        """A check may take minutes, in which others may have begun to work here."""
        return (
            None if self.wish.trial_on is None else _stopped(self.history, self.leases, self.meeting, self.lines.tree)
        )

    def _settled(self, files: Sequence[FileMerge]) -> dict[str, Settled]:
        modes = {file.path: _mode(file) for file in self.lines.files}
        return {each.path: Settled(each.source, modes[each.path]) for each in files if each.source is not None}


def _texts(file: BothChanged, blobs: Mapping[str, bytes]) -> tuple[bytes, bytes, bytes]:
    """Base, ours and theirs; what both made has an empty base."""
    return b"" if file.base is None else blobs[file.base.id], blobs[file.ours.id], blobs[file.theirs.id]


def _by_lines(file: BothChanged, blobs: Mapping[str, bytes]) -> Candidate | None:
    """What git made of the file, if it passes the gate that every candidate passes."""
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
        return "what one side changed in one file, the other counts on in another"
    return made.trial.why if isinstance(made.trial, Failed) else ""


def _mode(file: BothChanged) -> str:
    """The permission bits: those of the side that changed them."""
    if file.merged is not None:
        return file.merged.mode
    is_theirs = file.base is not None and file.ours.mode == file.base.mode
    return file.theirs.mode if is_theirs else file.ours.mode
