"""Workspaces and processes whose session has ended, or whose supervisor was lost: ended, harvested and removed."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Final

from commonhold.client.session import Commonhold
from commonhold.kernel.errors import StoreError
from commonhold.kernel.managed_session import ManagedSessionRecord, SessionState
from commonhold.machine.logs import Log
from commonhold.machine.process_groups import SESSION_LABEL
from commonhold.machine.process_tree import kill_with_variable
from commonhold.session_host.containers import started
from commonhold.session_host.docker import remove_containers, sessions_with_containers
from commonhold.session_host.limits import remove_limits
from commonhold.session_host.session_files import SessionFiles, WorkspaceNote
from commonhold.session_host.turn import SHELL
from commonhold.session_host.worktrees import Worktrees

TEARDOWN_SECONDS: Final = 60.0
_log: Final = Log(__name__)


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Clears up after sessions, with `environment` for their tear-down commands, which get their own variables, too.

    The caller is alone with the session: see `SessionFiles.alone`. For `spared` see `Turn`.
    """

    worktrees: Worktrees
    files: SessionFiles
    environment: Mapping[str, str]
    spared: Callable[[], Collection[int]] = tuple

    def clear(self, note: WorkspaceNote) -> None:
        """End all processes of a session, keep its work, and remove its workspace. Raises as `remove` does."""
        end_session(self.files, note.session)
        self.remove(note)

    def remove(self, note: WorkspaceNote) -> None:
        """Keep the work, run the tear-down command, and remove the workspace; it stays if its work cannot be kept.

        Raises StoreError `GIT_FAILED`, `IO_FAILED`, OSError, and `SANDBOX_FAILED` if an engine that does not answer has
        a container in it: then all stays, for a later sweep.
        """
        if note.container:
            remove_containers(self.files.mark, note.session)
        try:
            _, is_complete = self.worktrees.harvest(note)
        finally:
            if note.teardown:
                self._tear_down(note)
                self.files.put_note(replace(note, teardown=""))  # a workspace that stays is torn down once
        if is_complete:
            self.worktrees.remove(note)

    def _tear_down(self, note: WorkspaceNote) -> None:
        words, log = (SHELL, "-c", note.teardown), self.files.log(note.session, note.attempt)
        with suppress(OSError):
            variables = {**self.environment, **dict(note.variables)}
            command = started(note, words, variables, log, spared=self.spared)
            has_ended = command.has_ended(TEARDOWN_SECONDS)
            command.end(is_asked=not has_ended)
            _log.info("teardown ended", session=note.session, status=command.outcome()[0])


@contextmanager
def guarded(end: Callable[[], None]) -> Iterator[None]:
    """Have a process beside this one that calls `end` if this one is killed.

    It waits for the end of a pipe that the kernel closes with this process; a byte says that this one ends as it
    should. It is no child of this one. The caller has no other threads yet.
    """
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.setsid()
            if os.fork() == 0:
                os.close(writing)
                if not os.read(reading, 1):
                    end()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(reading)
    try:
        yield
    finally:
        os.write(writing, b"x")
        os.close(writing)


def end_session(files: SessionFiles, session: str) -> None:
    """Kill the processes that a lost supervisor has left behind, with their containers and control groups.

    Processes are known by a variable of their environment, containers by their labels. Raises StoreError
    `SANDBOX_FAILED` if a container may be left.
    """
    kill_with_variable(SESSION_LABEL, files.label(session))
    remove_limits(files.group(session))
    note = files.note(session)
    if note is not None and note.container:
        remove_containers(files.mark, session)


def sweep(hold: Commonhold, leftovers: Leftovers) -> tuple[str, ...]:
    """Clear the workspaces of this machine that no session needs any more. Return the ids of their sessions.

    A workspace that a supervisor works on is left to it. One fault does not keep the others from being cleared.
    """
    cleared = []
    files = leftovers.files
    for session in sorted({*files.with_workspaces(), *_with_containers(files)}):
        with files.alone(session, wait=False) as is_alone:
            if not is_alone:
                continue
            note = files.note(session)
            try:
                if note is None:
                    remove_containers(files.mark, session)
                    continue
                (view,) = hold.managed_sessions(session).sessions
                if not needs_workspace(view.record, note.attempt):
                    leftovers.clear(note)
                    cleared.append(session)
            except Exception as fault:  # noqa: BLE001 - an agent may have left anything in its workspace
                _log.warning("workspace stays", session=session, path=note.path if note else "", why=str(fault))
    leftovers.worktrees.empty_trash()
    return tuple(cleared)


def _with_containers(files: SessionFiles) -> frozenset[str]:
    """Return the sessions that have a container; none if no session here has had one yet."""
    if not files.containers.exists():
        return frozenset()
    try:
        return sessions_with_containers(files.mark)
    except StoreError as fault:
        _log.warning("containers are not swept", why=str(fault))
        return frozenset()


def needs_workspace(record: ManagedSessionRecord, attempt: int) -> bool:
    """Whether the workspace of an attempt is still in use: it runs, or is paused."""
    return record.attempt == attempt and record.state in (SessionState.RUNNING, SessionState.PAUSED)
