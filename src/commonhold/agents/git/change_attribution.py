"""Attribute the changes in a working tree to sessions: the log explains them, file by file."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Protocol

from commonhold.commits.external.adoption import is_part_of
from commonhold.kernel.answers import CommitAnswer
from commonhold.kernel.changeset import Changeset
from commonhold.kernel.errors import CommonholdError
from commonhold.kernel.events import Committed, FileChange, Recorded
from commonhold.kernel.keys import can_be_named, file_key
from commonhold.kernel.lease import Lease
from commonhold.kernel.pictures import Status
from commonhold.kernel.texts import listed, quoted, short_name
from commonhold.workspace.files import WorkingTree
from commonhold.workspace.git.differences import Irregular, Tree, head_of, here, in_head
from commonhold.workspace.git.process import Git
from commonhold.workspace.ignore import IsIgnored
from commonhold.workspace.line_ownership import OUTSIDE, Authors, Step, authors_of, replaced

_EXECUTABLE: Final = 0o100
_SHOWN: Final = 6


class Log(Protocol):
    """The calls that attribution makes to a session of the repository."""

    def commits_on(self, path: str) -> Sequence[Recorded]:
        """Return the newest commits that touched a file, oldest first."""
        ...

    def content(self, content_hash: str) -> bytes:
        """Return bytes that were kept. Raises InputError `CONTENT_UNKNOWN`."""
        ...

    def status(self) -> Status:
        """Return the status, which includes the sessions at work in this working tree."""
        ...

    def is_at_work(self, holder: str) -> bool:
        """Whether a session still works here."""
        ...

    def leases(self) -> Sequence[Lease]:
        """Return all leases."""
        ...

    def worktree_id(self) -> str:
        """Return the name of this working tree among all that share the leases."""
        ...

    def store_contents(self, contents: Sequence[bytes]) -> None:
        """Keep bytes."""
        ...

    def commit(self, changeset: Changeset) -> CommitAnswer:
        """Apply all edits of a changeset or none."""
        ...

    def intent(self) -> str:
        """Return the user's last request to the session."""
        ...

    def send(self, holders: Sequence[str], text: str) -> None:
        """Send `text` to other sessions in this working tree, once."""
        ...


@dataclass(frozen=True, slots=True)
class Around:
    """Access to working trees by their roots: the log, as one session sees it, and the files that are ignored."""

    logs: Callable[[str], AbstractContextManager[Log]]
    is_ignored: IsIgnored


@dataclass(slots=True)
class _Past:
    """The recorded changes of a file, oldest first, and its path before `moved_by` moved it."""

    steps: list[Step] = field(default_factory=list)
    origin: str | None = None
    moved_by: str | None = None


class ChangeAttribution:
    """Says of each file that differs from HEAD who made the difference, from the view of `holder`.

    Changes by a session's subagents count as its own: they work for it, and no other session could commit them.
    """

    def __init__(
        self, tree: Tree, log: Log, holder: str, is_ignored: IsIgnored, *, since: str = "", at: str = ""
    ) -> None:
        """Compare `tree` with its HEAD (or the commit `at`), as `log` explains it; ignored files have no owner.

        On a branch without a commit yet, compare with the commit `since`.
        """
        self.tree = tree
        self.git = Git(tree.root)
        self._log = log
        self.holder = holder
        self._is_ignored = is_ignored
        self._since = since
        self._at = at
        self._intents: dict[tuple[str, str], str] = {}

    @cached_property
    def head(self) -> str:
        """The commit to compare with; empty if there is none yet."""
        return self._at or head_of(self.git) or self._since

    def authors(self, path: str) -> Authors | None:
        """Return the authors of the difference; None for an irregular file, or a name that the log cannot hold."""
        if not can_be_named(path):
            return None
        # Git may name the file in another Unicode form than the log does.
        past = self._past(path if path.isascii() else WorkingTree(self.tree.root).path_of(path))
        try:
            old, new = in_head(self.git, self.head, path), here(self.tree.root, path)
            moved_by = None
            if old is None and past.origin is not None:
                old, moved_by = in_head(self.git, self.head, past.origin), past.moved_by
        except Irregular:
            return None
        return authors_of(old, new, past.steps, moved_by=moved_by)

    def replaced(self, path: str) -> dict[str, tuple[bytes, ...]]:
        """Return the uncommitted lines that the last change of a file removed, by holder. Raises Irregular."""
        past = self._past(path) if can_be_named(path) else _Past()
        if not past.steps or {each.holder for each in past.steps} <= {past.steps[-1].holder, OUTSIDE}:
            return {}
        place = path if past.origin is None else past.origin
        return replaced(in_head(self.git, self.head, place), past.steps, past.moved_by)

    def _past(self, path: str, until: int | None = None) -> _Past:
        """Return the recorded changes of a file before the event `until`."""
        past = _Past()
        for recorded in self._log.commits_on(path):
            commit = recorded.event
            if not isinstance(commit, Committed) or (until is not None and recorded.sequence >= until):
                continue
            change = next((each for each in commit.files if each.path == path), None)
            if change is None:
                continue
            if commit.intent:
                self._intents[path, commit.holder] = commit.intent
            maker = self.holder if commit.holder.startswith(f"{self.holder}/") else commit.holder
            origin = _origin(commit, change)
            if origin is not None:
                before = self._past(origin, recorded.sequence)
                past.steps, past.origin = before.steps, before.origin or origin
                past.moved_by = maker
            elif commit.adopts:
                self._hand_over(past, commit.adopts, maker)
            else:
                self._add(past, maker, change)
        return past

    def _hand_over(self, past: _Past, owner: str, to: str) -> None:
        """Attribute one holder's changes to a file so far to another holder."""
        past.steps = [replace(each, holder=to) if is_part_of(each.holder, owner) else each for each in past.steps]
        if past.moved_by is not None and is_part_of(past.moved_by, owner):
            past.moved_by = to

    def _add(self, past: _Past, holder: str, change: FileChange) -> None:
        before, after = self._kept(change.before), self._kept(change.after)
        if _is_lost(change.after, after):
            past.steps = []  # a version without content explains nothing, nor do the changes before it
            return
        if _is_lost(change.before, before):
            past.steps, before = [], after
        mode = change.mode_after
        past.steps.append(Step(holder, before, after, None if mode is None else bool(mode & _EXECUTABLE)))

    def _kept(self, content_hash: str | None) -> bytes | None:
        if content_hash is None:
            return None
        try:
            return self._log.content(content_hash)
        except CommonholdError:
            return None

    def is_ignored(self, path: str) -> bool:
        """Whether a file is ignored."""
        return self._is_ignored(self.tree.root, path)

    def of_others(self, paths: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return the paths whose changes are not all the holder's, each with its authors."""
        found = {path: self._holders(path) for path in paths}
        return {path: holders for path, holders in found.items() if not holders <= {self.holder}}

    def _holders(self, path: str) -> frozenset[str]:
        authors = self.authors(path)
        return frozenset({OUTSIDE}) if authors is None else authors.holders

    def is_any_at_work(self, holders: Iterable[str]) -> bool:
        """Whether any of these sessions, or a session that one is part of, is still at work here."""
        there = {each.holder for each in self._log.status().sessions}
        return any(each in there or each.partition("/")[0] in there or self._log.is_at_work(each) for each in holders)

    def way_on(self, paths: Iterable[str], holders: Iterable[str]) -> str:
        """Return the next step while `holders` have uncommitted work in these files: the text after `Next:`."""
        makers = sorted(set(holders) - {self.holder, OUTSIDE})
        if not makers:
            return "ask your user to commit that or take it away"
        if self.is_any_at_work(makers):
            return "wait until they have committed"
        keys = [str(file_key(path)) for path in paths if can_be_named(path)]
        calls = (("commonhold", "adopt", *keys, "--from", each, "--agent", self.holder) for each in makers)
        return f"none of them is known to be at work any more, so make it yours: {' && '.join(map(shlex.join, calls))}"

    def told(self, paths: dict[str, frozenset[str]]) -> str:
        """Return the paths for a reader, with the authors of the changes and their intents."""
        return listed([f"{path} ({', '.join(self._names(path, by))})" for path, by in paths.items()], _SHOWN)

    def _names(self, path: str, holders: frozenset[str]) -> Iterator[str]:
        for holder in sorted(holders - {self.holder}):
            intent = self._intents.get((path, holder))
            if holder == OUTSIDE:
                yield "changed by an unknown author, probably a person"
            else:
                name = short_name(holder)
                yield f"{name}: {quoted(intent)}" if intent else name


def _origin(commit: Committed, change: FileChange) -> str | None:
    """Return the path from which a commit moved a file unchanged to its present path; None if it did not."""
    if change.before is not None or change.after is None:
        return None
    gone = (each.path for each in commit.files if each.after is None and each.before == change.after)
    return next(gone, None)


def _is_lost(content_hash: str | None, content: bytes | None) -> bool:
    return content_hash is not None and content is None
