"""The branch of a merge queue in git: merges, admitted as by `commonhold check`, and packets for the refused."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Final

from commonhold.code.analysis.evidence import Evidence
from commonhold.code.indexes import Index
from commonhold.code.regions.discover import discover
from commonhold.code.regions.region import RegionMap
from commonhold.config import Settings
from commonhold.coordinator.request_shapes import one_line
from commonhold.kernel.entry import EntryRecord, Fault, RepairConflict, RepairPacket
from commonhold.kernel.errors import Code, InputError, StoreError
from commonhold.kernel.keys import Key, can_be_named, file_key
from commonhold.merging.branches.check_branches import Checked, CheckWish, check_branches
from commonhold.merging.branches.histories import Settled
from commonhold.merging.branches.merged_state import Unmerged
from commonhold.merging.branches.semantic_conflicts import Finding
from commonhold.merging.verdict import NOWHERE, Lines
from commonhold.typecheck import CopyCheckers
from commonhold.workspace.git.history import GitHistory
from commonhold.workspace.git.integration import IntegrationBranch, Move, Moving
from commonhold.workspace.git.process import Git
from commonhold.workspace.git.remote_branch import RemoteBranch
from commonhold.workspace.git.scratch import TreeCopy

MOST_CONFLICTS: Final = 20
MOST_TEXT: Final = 4_000
"""The most conflicts of a repair packet, and the most characters of text of each."""

_PROBE_BYTES: Final = 16

OpenIndex = Callable[[], AbstractContextManager[Index]]


class GitBranch:
    """The branch `ref` of a repository; see `BranchPort`."""

    def __init__(
        self,
        git: Git,
        git_dir: str,
        ref: str,
        settings: Settings,
        open_index: OpenIndex,
        remote: RemoteBranch | None = None,
    ) -> None:
        """Merge in the repository of `git`, by its settings; `open_index` opens the index of its files.

        With a `remote`, that branch is the one that counts: it moves first, and the local one follows it.
        """
        self._git = git
        self._history = GitHistory(git, git_dir)
        self._branch = IntegrationBranch(git, ref)
        self._settings = settings
        self._open_index = open_index
        self._remote = remote

    def head(self) -> str:
        """Return the commit of the branch, after it has followed its remote.

        Raises InputError `REVISION_UNKNOWN`, and `BRANCH_DIVERGED` if it has commits that the remote lacks; StoreError.
        """
        head = self._branch.head()
        if self._remote is None or (there := self._remote.head()) == head:
            return head
        name, remote = self._branch.name, self._remote
        if not self.is_part(head, there):
            call = "push" if self.is_part(there, head) else "pull --rebase"
            raise InputError(
                Code.BRANCH_DIVERGED,
                f"{name} has commits that {remote.name} lacks, so nothing can land on both",
                hint=f"in a checkout of {name}: git {call} {remote.remote} {name}; the queue then goes on by itself",
            )
        moved = self._branch.move(head, there)
        if moved.moving is not Moving.MOVED:
            raise StoreError(
                Code.GIT_FAILED,
                f"{name} cannot follow {remote.name}: {moved.why or 'others have moved it just now'}",
                hint="the queue goes on by itself when it can",
            )
        return there

    def probe(self) -> None:
        """Write an object and open the index, as a merge does. Raises StoreError or OSError if this machine cannot."""
        self._git.ask("hash-object", "-w", "--stdin", given=os.urandom(_PROBE_BYTES))
        with self._open_index():
            pass

    def is_part(self, commit: str, head: str) -> bool:
        """Whether a commit is part of `head`."""
        return self._branch.is_part(commit, head)

    def touched(self, commit: str, head: str) -> frozenset[str]:
        """Return the keys that a commit changes since it left `head`; none if they have no commit in common."""
        return touched(self._history, commit, head)

    def merged(self, record: EntryRecord, head: str, *, has_checks: bool) -> str | RepairPacket:
        """Return the commit that merges an entry into `head`, or why it cannot."""
        entry = record.entry
        wish = CheckWish(
            entry.commit,
            head,
            policies=self._settings.options().policies,
            types_of=self._types_of if self._settings.types == "on" else None,
        )
        try:
            with self._open_index() as index:
                found = check_branches(self._history, index, wish)
        except InputError as fault:
            return RepairPacket(Fault.COMMIT_GONE, one_line(fault), head)
        if found.outcome == "refused" or (found.outcome == "escalated" and not has_checks):
            return self._packet(found, head)
        return self._branch.merge_commit(head, entry.commit, self._tree(found), message_of(record))

    def _types_of(self, commit: str) -> CopyCheckers:
        return CopyCheckers(TreeCopy(self._git, commit), self._git.root)

    def _tree(self, found: Checked) -> str:
        state = found.state
        if state is None:  # the entry has the head as its ancestor
            return self._git.ask("rev-parse", f"{found.meeting.theirs.commit}^{{tree}}").decode("ascii").strip()
        files = {path: Settled(text, state.modes[path]) for path, text in state.settled.items()}
        return self._history.tree_with(state.tree, files)

    def _packet(self, found: Checked, head: str) -> RepairPacket:
        base = self._history.base_of(found.meeting)
        source = partial(source_at, self._git, head)
        if found.unmerged:
            conflicts = [each for file in found.unmerged for each in _of_file(file, source(file.path))]
            fault, what = Fault.MERGE_CONFLICT, "it cannot be merged"
        else:
            is_sure = any(each.evidence is not Evidence.SUSPICION for each in found.findings)
            conflicts = [_of_finding(each, source) for each in found.findings]
            fault = Fault.SEMANTIC_CONFLICT
            what = (
                "it does not work with the branch"
                if is_sure
                else "it may not work with the branch, and no check decides"
            )
        listed = tuple(
            replace(each, changed_by=self._branch.changes_to(each.path, base, head))
            for each in conflicts[:MOST_CONFLICTS]
        )
        first = f": {listed[0].path}: {listed[0].why}" if listed else ""
        more = f" (and {len(conflicts) - 1} more)" if len(conflicts) > 1 else ""
        return RepairPacket(fault, one_line(f"{what}{first}{more}"), head, listed)

    def beside(self, commit: str, head: str) -> tuple[str, ...]:
        """Return the ids of the entries that have landed since a commit left the branch."""
        base = self._git.line("merge-base", commit, head)
        return self._branch.landed_since(base, head) if base else ()

    def move(self, old: str, new: str) -> Move:
        """Move the branch by compare-and-swap, with its checkout; its remote first, if it has one."""
        remote = self._remote
        return self._branch.move(old, new, partial(remote.push, old, new)) if remote else self._branch.move(old, new)

    def attribute(self, record: EntryRecord) -> None:
        """Note session, agent and task at the merge commit of an entry and at all commits that it adds."""
        self._branch.annotate(f"{record.built}^1", record.built, "\n".join(trailers(record)) + "\n")


def message_of(record: EntryRecord) -> str:
    """Return the message of the merge commit of an entry, with its attribution in trailers."""
    entry = record.entry
    return "\n".join((f"Land {entry.branch}: {entry.title}", "", *trailers(record)))


def trailers(record: EntryRecord) -> Iterator[str]:
    """Yield the lines that attribute an entry: itself, its task, its session, and the agent that added it."""
    entry = record.entry
    named = {"Entry": record.id, "Task": entry.task, "Session": entry.session, "Agent": entry.author}
    yield from (f"Commonhold-{name}: {value}" for name, value in named.items() if value)


def touched(history: GitHistory, commit: str, head: str) -> frozenset[str]:
    """Return the canonical keys of the regions that a commit changes, since it and `head` went apart."""
    try:
        meeting = history.meeting_of(head, commit)
    except InputError:
        return frozenset()
    found: set[str] = set()
    for each in history.changed(meeting, can_be_named):
        if each.base != each.theirs:
            found |= changed_regions(each.path, each.base, each.theirs)
    return frozenset(found)


def changed_regions(path: str, before: bytes | None, after: bytes | None) -> frozenset[str]:
    """Return the keys of the regions of a file that differ; that of the file if it has none, is new or is deleted."""
    if before is None or after is None:
        return frozenset({str(file_key(path))})
    old, new = (_leaves(discover(text, path)) for text in (before, after))
    changed = {key for key in {**old, **new} if old.get(key) != new.get(key)}
    if old.keys() != new.keys():
        # Where a definition was added or removed, the blank lines around it, which are the header's, change as well.
        changed = {key for key in changed if not key.is_header} or changed
    return frozenset(map(str, changed)) or frozenset({str(file_key(path))})


def _leaves(found: RegionMap) -> dict[Key, str]:
    regions = [each for each in found.regions if not each.is_container] or found.regions
    return {each.key: each.hash for each in regions}


def source_at(git: Git, commit: str, path: str) -> bytes:
    """Return the bytes of a file in a commit; empty if it has none."""
    done = git.run("cat-file", "blob", f"{commit}:{path}")
    return done.stdout if done.returncode == 0 else b""


def _of_file(file: Unmerged, source: bytes) -> Iterator[RepairConflict]:
    if not file.spots:
        yield RepairConflict(file.path, one_line(file.why), text=_cut(source))
    for spot in file.spots:
        yield RepairConflict(file.path, one_line(spot.why), *_shown(file.path, source, spot.ours))


def _of_finding(found: Finding, source: Callable[[str], bytes]) -> RepairConflict:
    """Return the place of a finding, with the text of the definition that is relied upon."""
    cause = found.cause
    lines = (cause.ours_line - 1, cause.ours_line) if cause.ours_line else NOWHERE
    why = one_line(f"{found.why} ({found.place.path}:{found.place.line or '?'})")
    return RepairConflict(cause.path, why, *_shown(cause.path, source(cause.path), lines, cause.qualname))


def _shown(path: str, source: bytes, lines: Lines, qualname: str = "") -> tuple[str, str]:
    """Return the name and the text of the innermost definition of that name, or around these lines; else the lines."""
    listed = source.splitlines(keepends=True)
    place = len(b"".join(listed[: lines[0]]))
    around = [
        each
        for each in discover(source, path).regions
        if each.is_definition
        and (each.key.bare().qualname == qualname if qualname else lines != NOWHERE and each.start <= place < each.end)
    ]
    if not around:
        return qualname, _cut(b"".join(listed[lines[0] : lines[1]]))
    inner = min(around, key=lambda each: each.end - each.start)
    return inner.key.qualname, _cut(source[inner.start : inner.end])


def _cut(source: bytes) -> str:
    text = source.decode("utf-8", "replace")
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\n…"
