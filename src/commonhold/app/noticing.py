"""Noticing what was changed from outside: by a person, a formatter, git, a program that asks nobody.

A change is known by content, never by time. It is laid on nobody unless somebody is known to have made it.
"""

from collections.abc import Iterable
from typing import Final

from commonhold.app.place import Place
from commonhold.app.ports import Reader
from commonhold.app.proposing import Proposing
from commonhold.app.taking import OUTSIDE, TakeAnswer, Taking
from commonhold.domain.errors import InputError
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

    def notice(self, paths: Iterable[str] | None, intent: str) -> TakeAnswer:
        """Record what became of those of `paths` (None: of all) that somebody has read or written through us.

        What a tool is just writing is left out.
        """
        with self._place.store.gate():
            self._settle_overdue()
            with self._place.store.read() as reader:
                being_written = {each.path for each in reader.proposals(self._place.files.root)}
                seen = _files(reader.seen(self._place.files.root)) if paths is None else paths
                known = {path: self._known(reader, path) for path in seen if path not in being_written}
            before = {path: was for path, was in known.items() if was != "" and self._is_other(path, was)}
            return self._taking.take(OUTSIDE, before, intent)

    def _settle_overdue(self) -> None:
        """What tools were about to write, and nobody has said that they did."""
        for each in self._proposing.overdue():
            self._taking.record(self._taking.look(self._taking.late(each)))
            self._proposing.withdraw([each])

    def _known(self, reader: Reader, path: str) -> str | None:
        """The hash of the content that the file is known to have, None: no file; empty where nothing is known."""
        found: list[tuple[int, str | None]] = []
        for recorded, commit in reader.commits_on(path, _MOST_COMMITS):
            if commit.worktree == self._place.files.root:
                found = [(recorded.sequence, each.after) for each in commit.files if each.path == path]
                break
        seen = reader.seen_by_others("", self._place.files.root, [str(file_key(path))])
        found += [(each.sequence, each.hash) for _, each in seen]
        return max(found, key=lambda each: each[0])[1] if found else ""

    def _is_other(self, path: str, was: str | None) -> bool:
        try:
            stamp = self._place.files.stamp(path)
        except InputError:  # a folder, or too large: not what it was in any case
            return True
        return (stamp.hash if stamp else None) != was


def _files(keys: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(canonical(key).file_path for key in keys))
