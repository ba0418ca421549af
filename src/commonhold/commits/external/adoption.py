"""Adoption: a session explicitly takes over the uncommitted work of one that has ended, and the log records it."""

from collections.abc import Callable, Sequence
from typing import Final

from commonhold.code.regions.region import hash_bytes
from commonhold.kernel.answers import AdoptAnswer, Next
from commonhold.kernel.errors import Code, UsageError
from commonhold.kernel.events import Committed, FileChange
from commonhold.kernel.ports import Reader, Writer
from commonhold.kernel.texts import NOBODY, check_holder
from commonhold.reads.reading import RegionReader
from commonhold.workspace.place import WorktreeState

_COMMITS: Final = 200


class Adoption:
    """Lets a session adopt the work of another in one working tree."""

    def __init__(self, place: WorktreeState, reading: RegionReader, is_at_work: Callable[[str], bool]) -> None:
        """Record it in the state of `place`; a session that `is_at_work` still commits its work itself."""
        self._place = place
        self._reading = reading
        self._is_at_work = is_at_work

    def adopt(self, holder: str, keys: Sequence[str], owner: str) -> AdoptAnswer:
        """Credit the changes of `owner` to files to `holder`: all of them, or none. No file is touched.

        Raises UsageError if no file is named, or if `owner` cannot be another session.
        """
        if not keys or check_holder(owner) in (holder, NOBODY):
            raise UsageError(Code.USAGE, "name files, and a session that has ended", hint="see `commonhold status`")
        paths = list(dict.fromkeys(self._reading.locate(key).file_path for key in keys))
        if self._is_at_work(owner):
            why = f"{owner} is still at work, and commits its work itself"
            return AdoptAnswer("refused", why=why, next=Next("status", {}, "see the sessions at work"))
        with self._place.together(), self._place.store.write() as writer:
            strange = [path for path in paths if not self._has_changed(writer, owner, path)]
            if strange:
                why = f"Commonhold knows of no change of {', '.join(strange)} by {owner} in this working tree"
                return AdoptAnswer("refused", why=why, next=Next("log", {}, "see who changed what"))
            wall = self._place.clock.now().wall
            files = [self._as_it_is(writer, path, wall) for path in paths]
            intent = f"adopted what {owner} had not committed"
            event = Committed(holder, intent, self._place.files.root, (), tuple(files), (), adopts=owner)
            writer.record([event], wall)
        return AdoptAnswer("adopted", tuple(paths), owner)

    def _has_changed(self, reader: Reader, owner: str, path: str) -> bool:
        commits = (commit for _, commit in reader.commits_on(path, _COMMITS))
        return any(each.worktree == self._place.files.root and is_part_of(each.holder, owner) for each in commits)

    def _as_it_is(self, writer: Writer, path: str, wall: float) -> FileChange:
        state = self._place.files.load(path)
        if state is None:
            return FileChange(path, None, None, None, None)
        now = hash_bytes(state.content)
        writer.keep([(now, state.content)], wall)
        return FileChange(path, now, now, state.mode, state.mode)


def is_part_of(holder: str, session: str) -> bool:
    """Whether a holder is a session, or a subagent of it."""
    return holder == session or holder.startswith(f"{session}/")
