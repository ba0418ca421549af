"""Noticing what was changed from outside: by a person, a formatter, git, a program that asks nobody.

A change is known by content, never by time. It is credited to a session only if that is known to have made it.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from commonhold.app.answers import TakeAnswer
from commonhold.app.place import Place
from commonhold.app.ports import Reader
from commonhold.app.proposing import Proposing
from commonhold.app.taking import OUTSIDE, Taking
from commonhold.domain.keys import canonical, file_key

_MOST_COMMITS: Final = 100
"""So many commits to a file are looked through: those of other working trees are among them."""


class Noticing:
    """Compares the files of one working tree with what they are known to be."""

    def __init__(self, place: Place, taking: Taking, proposing: Proposing) -> None:
        """Record what is found with `taking`; leave to `proposing` what a tool is just writing."""
        self._place = place
        self._taking = taking
        self._proposing = proposing

    def notice(self, paths: Iterable[str] | None, intent: str, holder: str = OUTSIDE) -> TakeAnswer:
        """Record what became of those of `paths` (None: of all) that somebody has read or written through us.

        What a tool is writing at the moment is left out. No session is credited, unless a `holder` is known.
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
            answer = self._taking.take(holder, before, intent)
            if holder == OUTSIDE or answer.outcome != "nothing":
                return answer
            return replace(answer, notices=(*answer.notices, *self._taking.noticed_before(known, holder)))

    def _known(self, reader: Reader, path: str) -> str | None:
        """The hash of the content that the file is known to have, None: no file; empty where nothing is known.

        That is what was recorded last. Somebody may have read a later change before it was noticed: others have not.
        """
        for limit in (1, _MOST_COMMITS):  # mostly it is the newest
            for _, commit in reader.commits_on(path, limit):
                if commit.worktree == self._place.files.root:
                    return next(each.after for each in commit.files if each.path == path)
        seen = [each for _, each in reader.seen_by_others("", self._place.files.root, [str(file_key(path))])]
        other = [each for each in seen if not self._taking.holds(path, each.hash)]
        return max(other, key=lambda each: each.sequence).hash if other else ""


def _files(keys: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(canonical(key).file_path for key in keys))
