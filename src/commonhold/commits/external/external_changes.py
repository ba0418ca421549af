"""Detect external changes: by a person, a formatter, git, or any program that does not use Commonhold.

A change is detected by content, never by time. It is credited to a session only if that is known to have made it.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from commonhold.commits.external.external_writes import OUTSIDE, Before, ExternalWrites
from commonhold.commits.external.proposals import Proposals
from commonhold.kernel.answers import RecordAnswer
from commonhold.kernel.keys import canonical, file_key
from commonhold.kernel.ports import Reader
from commonhold.kernel.presence import Proposal
from commonhold.workspace.place import WorktreeState

_MOST_COMMITS: Final = 100
"""The most commits to a file that are searched: those of other working trees are among them."""


class ExternalChanges:
    """Compares the files of one working tree with their known contents."""

    def __init__(self, place: WorktreeState, external_writes: ExternalWrites, proposals: Proposals) -> None:
        """Record the findings with `external_writes`; leave files that a tool is writing to `proposals`."""
        self._place = place
        self._external_writes = external_writes
        self._proposals = proposals

    def record(self, paths: Iterable[str] | None, intent: str, holder: str = OUTSIDE) -> RecordAnswer:
        """Record the changes of those of `paths` (None: of all) that a session has read or written through Commonhold.

        Files that a tool is writing at present are left out. No session is credited, unless a `holder` is known.
        """
        if holder == OUTSIDE and not self._proposals.overdue():
            # Without the gate first: there is usually no change, and then there is no need to wait for commits.
            paths = list(self._changed(self._known(paths)))
            if not paths:
                return RecordAnswer("nothing")
        with self._place.gate():
            known = self._known(paths, self._proposals.finish_overdue())
            before = self._changed(known)
            answer = self._external_writes.record_changes(holder, before, intent) if before else RecordAnswer("nothing")
            if holder == OUTSIDE or answer.outcome != "nothing":
                return answer
            return replace(answer, notices=(*answer.notices, *self._external_writes.noticed_before(known, holder)))

    def _known(self, paths: Iterable[str] | None, overdue: Collection[Proposal] = ()) -> dict[str, str | None]:
        """Return the hashes of known contents by path, without files that a tool is writing (`overdue`: written)."""
        files = self._place.files
        with self._place.store.read() as reader:
            being_written = {each.path for each in reader.proposals(files.root) if each not in overdue}
            if paths is None:
                seen = dict.fromkeys(canonical(key).file_path for key in reader.seen(files.root))
            else:
                seen = dict.fromkeys(map(files.path_of, paths))
            return {path: self._known_content(reader, path) for path in seen if path not in being_written}

    def _changed(self, known: Mapping[str, str | None]) -> Before:
        """Return those files that do not have their known content now."""
        return {path: was for path, was in known.items() if was != "" and not self._external_writes.holds(path, was)}

    def _known_content(self, reader: Reader, path: str) -> str | None:
        """Return the hash of the file's known content, None for no file; empty if nothing is known.

        That is the last recorded content. A session may have read a later change before it was noticed: others have
        not.
        """
        for limit in (1, _MOST_COMMITS):  # usually the newest one is enough
            for _, commit in reader.commits_on(path, limit):
                if commit.worktree == self._place.files.root:
                    return next(each.after for each in commit.files if each.path == path)
        seen = [each for _, each in reader.seen_by_others("", self._place.files.root, [str(file_key(path))])]
        other = [each for each in seen if not self._external_writes.holds(path, each.hash)]
        return max(other, key=lambda each: each.sequence).hash if other else ""
