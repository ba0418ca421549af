"""Detect external changes: by a person, a formatter, git, or any program that does not use Commonhold.

A change is detected by content, never by time. It is credited to a session only if that is known to have made it.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from commonhold.commits.external.external_writes import OUTSIDE, ExternalWrites
from commonhold.commits.external.proposals import Proposals
from commonhold.kernel.answers import TakeAnswer
from commonhold.kernel.keys import canonical, file_key
from commonhold.kernel.ports import Reader
from commonhold.workspace.place import WorktreeState

_MOST_COMMITS: Final = 100
"""The most commits to a file that are searched: those of other working trees are among them."""


class ExternalChanges:
    """Compares the files of one working tree with their known contents."""

    def __init__(self, place: WorktreeState, taking: ExternalWrites, proposing: Proposals) -> None:
        """Record the findings with `taking`; leave files that a tool is writing to `proposing`."""
        self._place = place
        self._taking = taking
        self._proposing = proposing

    def notice(self, paths: Iterable[str] | None, intent: str, holder: str = OUTSIDE) -> TakeAnswer:
        """Record the changes of those of `paths` (None: of all) that a session has read or written through Commonhold.

        Files that a tool is writing at present are left out. No session is credited, unless a `holder` is known.
        """
        files = self._place.files
        with self._place.gate():
            overdue = self._proposing.settle_overdue()
            with self._place.store.read() as reader:
                waiting = reader.proposals(files.root)
                being_written = {each.path for each in waiting if each not in overdue}
                seen = _files(reader.seen(files.root)) if paths is None else map(files.path_of, paths)
                known = {path: self._known(reader, path) for path in seen if path not in being_written}
            before = {path: was for path, was in known.items() if was != "" and not self._taking.holds(path, was)}
            answer = self._taking.take(holder, before, intent) if before else TakeAnswer("nothing")
            if holder == OUTSIDE or answer.outcome != "nothing":
                return answer
            return replace(answer, notices=(*answer.notices, *self._taking.noticed_before(known, holder)))

    def _known(self, reader: Reader, path: str) -> str | None:
        """Return the hash of the file's known content, None for no file; empty if nothing is known.

        That is the last recorded content. A session may have read a later change before it was noticed: others have
        not.
        """
        for limit in (1, _MOST_COMMITS):  # usually the newest one is enough
            for _, commit in reader.commits_on(path, limit):
                if commit.worktree == self._place.files.root:
                    return next(each.after for each in commit.files if each.path == path)
        seen = [each for _, each in reader.seen_by_others("", self._place.files.root, [str(file_key(path))])]
        other = [each for each in seen if not self._taking.holds(path, each.hash)]
        return max(other, key=lambda each: each.sequence).hash if other else ""


def _files(keys: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(canonical(key).file_path for key in keys))
